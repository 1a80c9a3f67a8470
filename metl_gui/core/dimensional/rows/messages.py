"""Messages of a history: which of those stored hold, and the order in which their source wrote them.

Source: docs/reference/warehouse-model.md, "From messages to versions".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

NEVER = datetime.min.replace(tzinfo=UTC)
"""Before all times."""

DELETES = "dt"
OPERATIONS = "dtrcu"
"""In log order where positions are equal: a change of key is a delete and a create at one position."""

MOST_AHEAD = timedelta(hours=24)
"""A commit time that lies further behind the time at which the message was seen is a clock that went wrong."""


class Position(NamedTuple):
    """Where a message came from.

    Args:
        log: topic or file.
        partition: of the topic, 0 of a file.
        offset: in it.
    """

    log: str
    partition: int
    offset: int


class LogOrder(NamedTuple):
    """The place of a message in the log of its source.

    Args:
        order_key: epoch and position of the source's log, as text that sorts.
        rank: of its operation, of ``OPERATIONS``.
    """

    order_key: str
    rank: int


class Message(msgspec.Struct, frozen=True):
    """A message of the history of an entity.

    Args:
        schema: that sent it.
        row_key: canonical text of its key; ``None`` for a truncate.
        order_key: see ``LogOrder``.
        op: of ``OPERATIONS``.
        values: of the attributes that it carries, by the names of the history's columns.
        publication: of the mapping under which it was made.
        position: where it came from.
        committed_at: by the clock of the source, ``None`` where it says none.
        seen_at: by the clock of the connector.
        old_key: of the row before its key changed.
    """

    schema: str
    row_key: str | None
    order_key: str
    op: str
    values: Mapping[str, Any] = {}
    publication: int = 0
    position: Position = Position("", 0, 0)
    committed_at: datetime | None = None
    seen_at: datetime = NEVER
    old_key: str | None = None

    @property
    def order(self) -> LogOrder:
        """Return its place in the log."""
        return LogOrder(self.order_key, OPERATIONS.index(self.op))

    @property
    def is_delete(self) -> bool:
        """Return whether it ends a life."""
        return self.op in DELETES

    @property
    def commit(self) -> datetime:
        """Return the time of the commit as far as it can be right."""
        is_wrong = self.committed_at is None or self.committed_at > self.seen_at + MOST_AHEAD
        return self.seen_at if is_wrong or self.committed_at is None else self.committed_at

    @property
    def identity(self) -> tuple[str, str | None, str, str]:
        """Return what makes two messages one."""
        return self.schema, self.row_key, self.op, self.order_key


class Replay(msgspec.Struct, frozen=True):
    """A replay: what it covered and the publication that it was mapped under.

    Messages that lie in one of its ranges and come from a lower publication are void.

    Args:
        publication: of the mapping.
        ranges: log, partition, first offset and the offset behind the last.
    """

    publication: int
    ranges: tuple[tuple[str, int, int, int], ...]

    def voids(self, message: Message) -> bool:
        """Return whether a message no longer counts."""
        log, partition, offset = message.position
        return message.publication < self.publication and any(
            (log, partition) == (in_log, in_partition) and first <= offset < behind
            for in_log, in_partition, first, behind in self.ranges
        )


def held(messages: Iterable[Message], replays: Iterable[Replay] = ()) -> tuple[Message, ...]:
    """Return the messages that hold, in log order: each identity once.

    Of several publications the highest holds. Repeats of one message are seen where and when they were first seen; of
    different messages of one identity and publication that with the greatest position holds.

    Cost: sorts the messages.
    """
    stored: dict[tuple[object, ...], Message] = {}
    for message in messages:
        content = (sorted(message.values.items(), key=lambda item: item[0]), message.committed_at, message.old_key)
        key = (*message.identity, message.publication, repr(content))
        known = stored.get(key)
        stored[key] = message if known is None else _first_seen(known, message)
    by_identity: dict[object, list[Message]] = defaultdict(list)
    replays = tuple(replays)
    for message in stored.values():
        if not any(one.voids(message) for one in replays):
            by_identity[message.identity].append(message)
    holding = (max(same, key=lambda one: (one.publication, one.position)) for same in by_identity.values())
    return tuple(sorted(holding, key=lambda one: (one.order, one.schema, one.row_key or "")))


def _first_seen(one: Message, other: Message) -> Message:
    return msgspec.structs.replace(
        one, seen_at=min(one.seen_at, other.seen_at), position=min(one.position, other.position)
    )
