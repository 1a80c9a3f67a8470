"""Epochs: where a source began its log anew, so that places before and after it are not compared as of one log.

A log begins anew after a failover, a restore, or with another connector. Which epoch a message is of follows from where
it lies in its topic or file.

Source: docs/reference/warehouse-model.md, "Epochs".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from metl_gui.core.dimensional.rows.messages import Message, Position

MOST_EPOCHS = 9999
HEAD = 4
"""Digits of an epoch at the beginning of an order key."""

KIND = HEAD + 1
"""The kind of a log is one letter behind it; places of different kinds are not compared."""

ALWAYS = -1
"""Stands for the offset from which messages are of the first epoch."""


class EpochStart(msgspec.Struct, frozen=True):
    """An answer to why the log of a schema went back.

    Args:
        schema: its name.
        position: from which on it holds, in one partition or file.
        epoch: of the messages from there on; that of those before where they were old ones sent again.
    """

    schema: str
    position: Position
    epoch: int


class Fall(msgspec.Struct, frozen=True):
    """A message that lies behind others and was written before them.

    Args:
        schema: that sent it.
        position: of it.
    """

    schema: str
    position: Position


def head(epoch: int) -> str:
    """Return how order keys of an epoch begin."""
    return f"{epoch:0{HEAD}}"


def start_of(schema: str, position: Position, starts: Iterable[EpochStart]) -> EpochStart:
    """Return the last answer that holds at a position."""
    place = (schema, position.log, position.partition)
    before = [
        one
        for one in starts
        if (one.schema, one.position.log, one.position.partition) == place and one.position.offset <= position.offset
    ]
    first = EpochStart(schema, position._replace(offset=ALWAYS), 0)
    return max(before, key=lambda one: one.position.offset, default=first)


def in_epochs(messages: Iterable[Message], starts: Sequence[EpochStart]) -> Iterator[Message]:
    """Yield messages with their epoch before their place in the log."""
    for one in messages:
        epoch = start_of(one.schema, one.position, starts).epoch
        yield msgspec.structs.replace(one, order_key=head(epoch) + one.order_key)


def falls(messages: Iterable[Message], starts: Sequence[EpochStart]) -> Iterator[Fall]:
    """Yield the messages that go back in the log of their source though they lie behind, and are not known.

    Args:
        messages: with their epochs.
        starts: the answers that are known.
    """
    greatest: dict[tuple[object, ...], str] = {}
    known: set[tuple[object, ...]] = set()
    for one in sorted(messages, key=lambda message: message.position):
        since = start_of(one.schema, one.position, starts).position.offset
        log = (one.schema, one.position.log, one.position.partition, since, one.order_key[:KIND])
        if one.identity not in known and one.order_key < greatest.get(log, ""):
            yield Fall(one.schema, one.position)
        known.add(one.identity)
        greatest[log] = max(greatest.get(log, ""), one.order_key)
