"""What consumers have read of one table, kept small: arrays by id, by number of the change and by offset."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

KEPT_EACH = 400
"""Of the rows whose id divides by this the last message is kept whole."""
DELETED = -1


class Key(msgspec.Struct, gc=False):
    """The key of a row."""

    id: int


class Payload(msgspec.Struct, gc=False):
    """The part of a payload that every entity has."""

    change: int | None = None


class Source(msgspec.Struct, gc=False):
    """Where a message comes from."""

    schema: str
    position: str
    origin: msgspec.Raw


class Message(msgspec.Struct, gc=False):
    """What is looked at of each message."""

    op: str
    state: int
    ts_ms: int
    key: Key
    source: Source
    payload: Payload
    replayed: bool = False


read_message = msgspec.json.Decoder(Message).decode


class _Payload(msgspec.Struct):
    payload: msgspec.Raw


_payload = msgspec.json.Decoder(_Payload).decode


class Marks:
    """Counts by a whole number that is not negative, up to 255 each."""

    def __init__(self) -> None:
        self._counts = bytearray()

    def add(self, number: int) -> int:
        """Count a number, and return how often it came by now."""
        if number >= len(self._counts):
            self._counts.extend(bytes(max(number + 1 - len(self._counts), 1 << 16)))
        now = min(self._counts[number] + 1, 255)
        self._counts[number] = now
        return now

    def __contains__(self, number: int) -> bool:
        """Whether a number came."""
        return number < len(self._counts) and self._counts[number] > 0

    @property
    def seen(self) -> int:
        """How many different numbers came."""
        return int(np.count_nonzero(self.counts))

    @property
    def counts(self) -> npt.NDArray[np.uint8]:
        """How often each came."""
        return np.frombuffer(self._counts, np.uint8)


class Received:
    """Everything that came of one table.

    Args:
        first: its ids begin behind this.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.plain = Counter[str]()
        self.distinct = Counter[str]()
        self.live = 0
        self.replayed = 0
        self.mapped_twice = 0
        self.replayed_twice = 0
        self.went_back = 0
        self.kept: dict[int, tuple[int, bytes]] = {}
        self.states = Counter[int]()
        self._origins = array("q")
        self._changes = Marks()
        self._deletes = Marks()
        self._live_positions: dict[int, Marks] = {}
        self._replayed_positions: dict[int, Marks] = {}
        self._offsets = array("q")
        self._last = array("q")

    def take(self, message: Message, value: bytes) -> None:
        """Take a message."""
        op = "c" if message.op == "r" else message.op
        index = message.key.id - self.first
        _, partition, place = message.source.position.rsplit("/", 2)
        offset = int(place)
        self.plain[op] += 1
        self.states[message.state] += 1
        self._note_position(int(partition), offset, is_replay=message.replayed)
        marks, number = (self._deletes, index) if op == "d" else (self._changes, message.payload.change or 0)
        if marks.add(number) == 1:
            self.distinct[op] += 1
        self._origins.append(hash((op, index, bytes(message.source.origin))))
        self._note_row(index, offset, DELETED if op == "d" else number, value, is_replay=message.replayed)

    def _note_position(self, partition: int, offset: int, *, is_replay: bool) -> None:
        live = self._live_positions.setdefault(partition, Marks())
        again = self._replayed_positions.setdefault(partition, Marks())
        if is_replay:
            self.replayed += 1
            self.replayed_twice += again.add(offset) > 1 or offset in live
        else:
            self.live += 1
            self.mapped_twice += live.add(offset) > 1

    def _note_row(self, index: int, offset: int, change: int, value: bytes, *, is_replay: bool) -> None:
        """Keep the row as a consumer does that never lets a lower position overwrite a higher one."""
        short = index + 1 - len(self._last)
        if short > 0:
            more = max(short, 1 << 14)
            self._offsets.extend([-1] * more)
            self._last.extend([0] * more)
        if offset < self._offsets[index]:
            self.went_back += not is_replay
            return
        self._offsets[index], self._last[index] = offset, change
        if index % KEPT_EACH == 0:
            self.kept[index] = offset, b"" if change == DELETED else bytes(_payload(value).payload)

    @property
    def origins(self) -> int:
        """How many different changes came by what the connector says of them: op, key and origin."""
        return len(np.unique(np.frombuffer(self._origins, np.int64))) if self._origins else 0

    @property
    def positions(self) -> int:
        """How many different records became messages, at once or by a replay."""
        total = 0
        for partition, live in self._live_positions.items():
            again = self._replayed_positions[partition]
            total += live.seen + sum(1 for at in np.flatnonzero(again.counts) if int(at) not in live)
        return total

    def differing(self, rows: Iterable[tuple[int, int]]) -> tuple[int, int]:
        """Compare the rows that stand with those of the table.

        Args:
            rows: id and change of each.

        Returns:
            How many rows the table has, and how many of either side are not the same on the other.
        """
        size = len(self._last)
        standing = np.frombuffer(self._last, np.int64).copy() if size else np.zeros(0, np.int64)
        standing[standing == DELETED] = 0
        wanted, beyond, total = np.zeros(size, np.int64), 0, 0
        for id_, change in rows:
            total += 1
            index = id_ - self.first
            if index < size:
                wanted[index] = change
            else:
                beyond += 1
        return total, int(np.count_nonzero(standing != wanted)) + beyond

    def payloads(self) -> dict[int, Any]:
        """Return the payload that is kept of each row that stands, by id; texts of numbers as they are."""
        return {self.first + index: value for index, (_, value) in self.kept.items() if value}
