"""Messages as they go into topics: where to, under which key, with which headers.

    topic     the sink's with the name of the entity in it
    key       the message's own ``key`` as JSON, none when it is null, so that the messages of a row keep their order
    value     the message, exactly as a file has it
    headers   metl.state, metl.schema, metl.version, metl.position; metl.replayed for what was set aside before

What is set aside goes into the error topic as it came: key, value and headers, and behind them headers that say why.
Source: docs/reference/message.md; docs/reference/set-aside.md.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np

from metl_gui.core.runs.kafka import ENTITY
from metl_gui.engine.kernel import message_layout as at
from metl_gui.engine.kernel.message_fields import Places, spans_of
from metl_gui.engine.kernel.message_layout import Layout
from metl_gui.engine.kernel.outcomes import MappedBatch, SetAside
from metl_gui.formats.json_text import NULL, text_of

if TYPE_CHECKING:
    from confluent_kafka import Message

Header: TypeAlias = "tuple[str, str | bytes | None]"

PARTITIONER: Final = "murmur2_random"
"""How librdkafka chooses a partition as clients in Java do: by the key, at random without one."""

REASON: Final = "metl.reason"
DETAIL: Final = "metl.detail"
STATE: Final = "metl.state"
SCHEMA: Final = "metl.schema"
VERSION: Final = "metl.version"
POSITION: Final = "metl.position"
REPLAYED: Final = "metl.replayed"
TIMESTAMP: Final = "metl.timestamp"
"""Of a record that is set aside: its own time, as its message in the error topic has a time of its own."""

FORM: Final = "metl.form"
RECORD: Final = "record"
"""The form of a record that is set aside and came from a file: its value is the whole record, as it stood there."""

CUT: Final = "metl.cut"
"""Of a record that is set aside without all of its value: how many bytes that has."""

OF_SET_ASIDE: Final = frozenset((REASON, DETAIL, STATE, SCHEMA, VERSION, POSITION, TIMESTAMP, REPLAYED, FORM, CUT))
"""The headers of ours that a record which is set aside may have."""

_UNSAFE = re.compile(r"[^a-zA-Z0-9._-]")
_LONGEST = 249
_HASH_LETTERS = 8


class Outgoing(NamedTuple):
    """One message as a producer takes it.

    Args:
        topic: where to.
        value: what it says; None for a tombstone.
        key: None when it has none.
        headers: in their order.
    """

    topic: str
    value: bytes | None
    key: bytes | None
    headers: list[Header]


class _Why(msgspec.Struct, gc=False):
    reason: str
    detail: str = ""
    state: int = 0
    schema: str | None = None
    version: str | None = None
    position: str | None = None


_why = msgspec.json.Decoder(_Why).decode


def topic_of(pattern: str, entity: str) -> str:
    """Return the topic of an entity; different entities have different topics where the pattern names them.

    Args:
        pattern: the topic of a sink, which may hold ``{entity}``.
        entity: as the CDM writes it; letters that no topic may have become underscores, with a hash behind them.
    """
    if ENTITY not in pattern:
        return pattern
    name = _UNSAFE.sub("_", entity)
    room = _LONGEST - len(pattern) + len(ENTITY)
    if name != entity or len(name) > room:
        told = hashlib.sha256(entity.encode()).hexdigest()[:_HASH_LETTERS]
        name = f"{name[: room - _HASH_LETTERS - 1]}-{told}"
    return pattern.replace(ENTITY, name)


class Outgoings:
    """Writes outcomes of the kernel as messages for topics.

    Args:
        pattern: the topic of the sink, which may hold ``{entity}``.
        state: what the kernel maps with.
        has_tombstones: send a null value under the same key after each delete that has one.
    """

    def __init__(self, pattern: str, state: int, *, has_tombstones: bool = False) -> None:
        self.pattern = pattern
        self.has_tombstones = has_tombstones
        self._state: Header = (STATE, str(state))

    def of(self, outcome: MappedBatch) -> list[Outgoing]:
        """Return what a batch became, in its order; a tombstone stands right behind its delete."""
        text = bytes(outcome.text)
        starts, stops = spans_of(outcome, (at.KEY, at.POSITION))
        values = _cut(text, outcome.starts, outcome.stops)
        keys = [None if key == NULL else key for key in _cut(text, starts[0], stops[0])]
        positions = _unquoted(_cut(text, starts[1], stops[1]))
        alike = {number: self._alike(outcome.layout(number)) for number in np.unique(outcome.layouts).tolist()}
        heads = [alike[number] for number in outcome.layouts.tolist()]
        made = [
            Outgoing(topic, value, key, [*shared, (POSITION, position), *replayed])
            for (topic, shared, replayed, _), value, key, position in zip(heads, values, keys, positions, strict=True)
        ]
        if any(has_tombstone for *_, has_tombstone in alike.values()):
            return [one for head, sent in zip(heads, made, strict=True) for one in _with_tombstone(sent, head[3])]
        return made

    def _alike(self, layout: Layout) -> tuple[str, list[Header], list[Header], bool]:
        """Return the topic, the headers before and behind the position, and whether there may be a tombstone."""
        kind = layout.kind
        version = [] if kind.version is None else [(VERSION, kind.version)]
        replayed: list[Header] = [(REPLAYED, "true")] if kind.is_replay else []
        topic = topic_of(self.pattern, kind.entity)
        return topic, [self._state, (SCHEMA, kind.schema), *version], replayed, self.has_tombstones and kind.op == "d"


def _cut(text: bytes, starts: Places, stops: Places) -> list[bytes]:
    return [text[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


def _with_tombstone(sent: Outgoing, has_tombstone: bool) -> Iterator[Outgoing]:
    yield sent
    if has_tombstone and sent.key is not None:
        yield sent._replace(value=None)


def _unquoted(positions: list[bytes]) -> list[str]:
    """Return positions as they are, from how they stand in JSON; where no line ends within a text."""
    joined = b"\n".join(positions)
    if b"\\" in joined:
        return [text_of(b'"%b"' % position) or "" for position in positions]
    return joined.decode().split("\n") if positions else []


def set_aside_message(topic: str, row: SetAside, message: Message, *, is_replay: bool = False) -> Outgoing:
    """Write a record that is set aside: as it came, with the reason in headers.

    All headers of ours are there and stand last, so that none of the record's own is taken for one of them.

    Args:
        topic: the error topic.
        row: says why.
        message: the record.
        is_replay: it was set aside before.
    """
    # Whoever only names topics needs no client of Kafka.
    from confluent_kafka import TIMESTAMP_NOT_AVAILABLE

    why = _why(row.text)
    told: list[Header] = [
        (REASON, why.reason),
        (DETAIL, why.detail),
        (STATE, str(why.state)),
        (SCHEMA, why.schema or ""),
        (VERSION, why.version or ""),
        (POSITION, why.position or ""),
    ]
    kind, milliseconds = message.timestamp()
    told += [(TIMESTAMP, str(milliseconds))] if kind != TIMESTAMP_NOT_AVAILABLE else []
    told += [(REPLAYED, "true")] if is_replay else []
    return Outgoing(topic, message.value(), message.key(), [*(message.headers() or ()), *told])
