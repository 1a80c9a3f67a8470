"""Gather what becomes of the records of a batch, in columns that grow and are used again for the next batch."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metl_gui.engine.kernel.outcomes import Fate, Filled, Outcome, SetAside
from metl_gui.engine.kernel.plan import BlockPlan
from metl_gui.errors import RecordError
from metl_gui.formats.record_kind import Kind

_TEXT_BYTES = 1 << 16
_MESSAGES = 1024
_OWN_REFERENCES = 3
"""What counts as one holder: the column, the argument of the question, and the one of ``getrefcount``."""


class Sent(NamedTuple):
    """One message as it is sent.

    Args:
        block: what made it.
        text: the message.
        filled: CDM paths of the payload that are not null.
        members: CDM path and value of each member of the payload.
    """

    block: BlockPlan
    text: bytes
    filled: Sequence[str] = ()
    members: Sequence[tuple[str, bytes]] = ()


class Gathering:
    """The columns of an ``Outcome`` while they grow.

    They are handed out without a copy, and used again for the next batch when nobody holds them any more.
    """

    def __init__(self) -> None:
        self.entity_names: list[str] = []
        self._entity_numbers: dict[str, int] = {}
        self.text: NDArray[np.uint8] = np.empty(_TEXT_BYTES, np.uint8)
        self.starts: NDArray[np.int64] = np.empty(_MESSAGES, np.int64)
        self.stops: NDArray[np.int64] = np.empty(_MESSAGES, np.int64)
        self.entities: NDArray[np.int32] = np.empty(_MESSAGES, np.int32)
        self.records: NDArray[np.int32] = np.empty(_MESSAGES, np.int32)
        self.fates: NDArray[np.int8] = np.empty(0, np.int8)
        self.begin(0)

    def begin(self, records: int) -> None:
        """Begin a batch of so many records."""
        self.bytes_out = self.messages = self.done = 0
        self.fates = np.empty(records, np.int8)
        self.set_aside: list[SetAside] = []
        self.by_skip: Counter[str] = Counter()
        self.from_unreviewed: Counter[str] = Counter()
        self.by_version: Counter[str] = Counter()
        self.filled: Filled = Counter()
        for name in ("text", "starts", "stops", "entities", "records"):
            if not _is_held_once(getattr(self, name)):
                setattr(self, name, np.empty_like(getattr(self, name)))

    def reserve(self, more_bytes: int, more_messages: int) -> None:
        """Make room for what comes next."""
        if self.bytes_out + more_bytes > len(self.text):
            self.text = _grown(self.text, self.bytes_out, self.bytes_out + more_bytes)
        if self.messages + more_messages > len(self.starts):
            wanted = self.messages + more_messages
            for name in ("starts", "stops", "entities", "records"):
                setattr(self, name, _grown(getattr(self, name), self.messages, wanted))

    def entity_number(self, entity: str) -> int:
        """Return the index of an entity among the names."""
        number = self._entity_numbers.get(entity)
        if number is None:
            number = self._entity_numbers[entity] = len(self.entity_names)
            self.entity_names.append(entity)
        return number

    def skip(self, kind: Kind) -> None:
        """Count a record without a row."""
        self._end(Fate.SKIPPED)
        self.by_skip[str(kind)] += 1

    def send(self, sent: Iterable[Sent]) -> None:
        """Keep the messages of one record."""
        before = self.messages
        for block, text, filled, _ in sent:
            self._append(block.entity, text)
            if block.is_unreviewed:
                self.from_unreviewed[block.entity] += 1
            for path in filled:
                self.filled[block.entity, block.entity_version, path] += 1
        self._end(Fate.MAPPED if self.messages > before else Fate.FILTERED)

    def put_aside(self, error: RecordError, row: bytes) -> None:
        """Keep a record that cannot be mapped, with its row of the error store."""
        self.set_aside.append(SetAside(self.done, error.reason, row))
        self._end(Fate.SET_ASIDE)

    def outcome(self, bytes_in: int, hits: int = 0) -> Outcome:
        """Return what was gathered."""
        count = self.messages
        return Outcome(
            text=self.text.data[: self.bytes_out],
            starts=self.starts[:count],
            stops=self.stops[:count],
            entities=self.entities[:count],
            records=self.records[:count],
            fates=self.fates[: self.done],
            entity_names=tuple(self.entity_names),
            set_aside=self.set_aside,
            by_skip=self.by_skip,
            from_unreviewed=self.from_unreviewed,
            by_version=self.by_version,
            filled=self.filled,
            bytes_in=bytes_in,
            hits=hits,
        )

    def _append(self, entity: str, text: bytes) -> None:
        self.reserve(len(text) + 1, 1)
        start, at = self.bytes_out, self.messages
        stop = start + len(text)
        self.text[start : stop + 1] = np.frombuffer(text + b"\n", np.uint8)
        self.starts[at], self.stops[at] = start, stop
        self.entities[at], self.records[at] = self.entity_number(entity), self.done
        self.bytes_out, self.messages = stop + 1, at + 1

    def _end(self, fate: Fate) -> None:
        self.fates[self.done] = fate
        self.done += 1


def _is_held_once(column: NDArray[Any]) -> bool:
    """Say whether no outcome, nor anything cut from one, still shows this column."""
    return sys.getrefcount(column) <= _OWN_REFERENCES


def _grown(column: NDArray[Any], used: int, wanted: int) -> NDArray[Any]:
    larger = np.empty(max(wanted, 2 * len(column)), column.dtype)
    larger[:used] = column[:used]
    return larger
