"""Drive machine code over a batch: it maps what it is certain of, and names what it leaves.

What it lacks is learned from the reference when it is worth it, and the first record of everything learned is mapped
by both and compared. What it leaves goes to the reference, one record at a time, into the same columns in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, groupby
from operator import is_not
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.avro.records import Unframer
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.compiled.learner import Learner
from metl_gui.engine.kernel.compiled.memory import IS_CHECKED, allow
from metl_gui.engine.kernel.compiled.message_writer import map_records
from metl_gui.engine.kernel.compiled.tables import Tables, address_of, table_of
from metl_gui.engine.kernel.message_records import MessageRecords, RecordBatch
from metl_gui.engine.kernel.numbered_counts import NumberedCounts
from metl_gui.engine.kernel.outcomes import BatchOutput
from metl_gui.engine.kernel.records import Int64Array
from metl_gui.engine.kernel.reference import ReferenceKernel
from metl_gui.formats.json_text import quoted

MOST_TRIES = 64
"""How often one record is tried again after something was learned for it."""

FIRST_CREDIT = 2048.0
MOST_CREDIT = 1 << 15
EARNED = 1 / 16
"""Learning costs about as much as mapping so many records by the reference; a record earns that part of a lesson."""

PATIENCE = 2
"""How often a key must come before a program is learned for it."""

MOST_RECORD_BYTES = 4 << 20
"""Longer records go to the reference, so that room for output and scratch stays small."""

_SMALL_LESSON = 1 / 8
_MOST_SIGHTS = 1 << 16
_SCRATCH_BYTES = 1 << 16


_PLACES = (
    at.S_FILE, at.S_SCRATCH_START, at.S_TEXT, at.S_OUT_STARTS, at.S_OUT_STOPS, at.S_OUT_ENTITIES, at.S_OUT_RECORDS,
    at.S_OUT_LAYOUTS, at.S_LENGTHS, at.S_FATES,
)  # fmt: skip
_SCRATCH = 1 + _PLACES.index(at.S_SCRATCH_START)
"""Where the columns of a batch lie is written there, in this order, the buffer coming before all."""


class Driver:
    """Maps batches for one kernel.

    Args:
        reference: maps what machine code leaves, and teaches it.
        gathering: the columns of the batch.
        patience: see ``PATIENCE``; 0 learns at once.
    """

    def __init__(self, reference: ReferenceKernel, gathering: BatchOutput, patience: int = PATIENCE) -> None:
        self.reference = reference
        self.gathering = gathering
        self.patience = patience
        self.tables = Tables()
        self.unframer = Unframer(reference.wire)
        self.learner = Learner(reference, self.tables, gathering, self.unframer.stand_ins)
        self.credit = FIRST_CREDIT
        self._sights: Counter[tuple[int, ...]] = Counter()
        self._proof = BatchOutput()
        self._scratch: NDArray[np.uint8] = np.zeros(_SCRATCH_BYTES + PADDING, np.uint8)

    @property
    def evictions(self) -> int:
        """How many programs were dropped for want of room."""
        return self.tables.evictions

    @property
    def column_sets(self) -> int:
        """How many programs are at hand."""
        return len(self.tables.programs.hashes)

    def map(self, records: RecordBatch, otherwise: Callable[[int], None]) -> int:
        """Map all records of a batch that has begun.

        Args:
            records: the batch.
            otherwise: takes those of which only the beginning is there, and those that are too long for this.

        Returns:
            How many machine code mapped.
        """
        self.credit = min(self.credit + len(records) * EARNED, MOST_CREDIT)
        if self.tables.is_full():
            self.tables.clear()
            self.gathering.forget_layouts()
            self._sights.clear()
        work = _Batch(self, self.unframer.of(records), records)
        hits = 0
        for name, start, stop in _runs(records):
            if name is None:
                otherwise(start)
            else:
                hits += work.map(name, start, stop)
        self._count()
        return hits

    def scratch(self, longest: int) -> NDArray[np.uint8]:
        """Return a scratch buffer for records of at most ``longest`` bytes; it grows and is used again."""
        wanted = 2 * longest + _SCRATCH_BYTES + PADDING
        if len(self._scratch) < wanted:
            self._scratch = np.zeros(wanted, np.uint8)
        return self._scratch

    def learn(self, why: int, records: RecordBatch, record: int) -> bool:
        """Learn what is lacking for a record, if it is worth it."""
        if self.credit <= 0 or self.tables.is_full():
            return False
        if why == at.LACKS_PROGRAM:
            key = self.key()
            self._sights[key] += 1
            if self._sights[key] <= self.patience:
                if len(self._sights) > _MOST_SIGHTS:
                    self._sights.clear()
                return False
        self.credit -= 1 if why == at.LACKS_PROGRAM else _SMALL_LESSON
        return self.learner.learn(why, records.raw(record))

    def key(self) -> tuple[int, int, int, int]:
        """Return the key of the program that was looked for."""
        get = self.tables.get
        return get(at.S_KEY_0), get(at.S_KEY_1), get(at.S_KEY_2), get(at.S_KEY_3)

    def agrees(self, records: RecordBatch, record: int, start: int, message: int) -> bool:
        """Return whether the reference makes of a record what machine code has just made of it."""
        proof, gathering = self._proof, self.gathering
        proof.begin(1)
        self.reference.map_record(records, record, proof)
        entities = [gathering.entity_names[n] for n in gathering.entities[message : gathering.messages].tolist()]
        return (
            bytes(proof.text[: proof.bytes_out]) == bytes(gathering.text[start : gathering.bytes_out])
            and proof.fates[0] == gathering.fates[record]
            and [proof.entity_names[n] for n in proof.entities[: proof.messages].tolist()] == entities
        )

    def _count(self) -> None:
        """Add what machine code counted to the counts of the batch."""
        tables, gathering = self.tables, self.gathering
        counters = tables.counters
        counted = np.flatnonzero(counters)
        counts = counters[counted]
        counters[counted] = 0
        later = tables.are_named_later[counted]
        gathering.numbered = NumberedCounts(tables.count_names, counted[later], counts[later])
        for number, count in zip(counted[~later].tolist(), counts[~later].tolist(), strict=True):
            kind, name = tables.counter_names[number]
            of_kind = gathering.from_unreviewed if kind == "unreviewed" else gathering.by_skip
            of_kind[name] += count


class _Batch:
    """One batch under way.

    Args:
        driver: maps it.
        records: what machine code reads: text in place of what came framed.
        originals: the same records as they came.
    """

    def __init__(self, driver: Driver, records: RecordBatch, originals: RecordBatch) -> None:
        self.driver = driver
        self.tables = driver.tables
        self.gathering = driver.gathering
        self.records = records
        self.originals = originals
        self.given, self.texts = _columns_of(records)
        self.longest = min(int(records.lengths.max(initial=0)), MOST_RECORD_BYTES)
        self.buffer = np.frombuffer(records.buffer, np.uint8)
        self.file = np.empty(0, np.uint8)
        self.columns: tuple[NDArray[Any], ...] = ()
        self.base = 0
        self._give()
        driver.gathering.reserve(min(len(records.buffer), MOST_RECORD_BYTES) + 2 * PADDING, len(records), PADDING)

    def map(self, name: str, start: int, stop: int) -> int:
        """Map the records of one file."""
        written = quoted(name)[1:-1]
        self.file = np.frombuffer(written.ljust(len(written) + PADDING, b"\0"), np.uint8)
        self.tables.put(at.S_FILE_LENGTH, len(written))
        inside = self._inside(start, stop)
        buffer = self.buffer
        hits = self._map(buffer, 0, start, inside)
        if inside < stop:
            # Behind the last records there is no room to read; they are mapped from a copy that has it.
            first = int(self.records.starts[inside:stop].min())
            hits += self._map(np.concatenate((buffer[first:], np.zeros(PADDING, np.uint8))), first, inside, stop)
        return hits

    def _inside(self, start: int, stop: int) -> int:
        """Return the first record of some that ends too near to the end of the buffer."""
        near = np.flatnonzero(self.records.stops[start:stop] + PADDING > len(self.buffer))
        return start + int(near[0]) if len(near) else stop

    def _map(self, buffer: NDArray[np.uint8], base: int, start: int, stop: int) -> int:
        hits, record = 0, start
        while record < stop:
            self._enter(buffer, base, record, stop)
            why = self._go()
            hits += self.gathering.done - record
            record = self.gathering.done
            if why == at.LACKS_ROOM:
                self._make_room()
            elif why != at.DONE:
                hits += self._left(why, buffer, base, record)
                record += 1
        return hits

    def _enter(self, buffer: NDArray[np.uint8], base: int, record: int, stop: int) -> None:
        """Write into the state what is to be mapped, and where to."""
        put, gathering = self.tables.put, self.gathering
        columns = (
            buffer, self.file, self.driver.scratch(self.longest), gathering.text, gathering.starts, gathering.stops,
            gathering.entities, gathering.records, gathering.layouts, gathering.lengths, gathering.fates,
        )  # fmt: skip
        # Most often nothing has moved since the record before, which was left.
        if IS_CHECKED or not self.columns or any(map(is_not, columns, self.columns)):
            self.columns = columns
            self._point(base)
        put(at.S_NEXT, record)
        put(at.S_LAST, stop)
        put(at.S_TEXT_USED, gathering.bytes_out)
        put(at.S_MESSAGES, gathering.messages)
        put(at.S_VALUES, gathering.values)

    def _give(self) -> None:
        """Write into the state where the columns of the records lie, which never move."""
        self.tables.put(at.S_KEY_STARTS, 0)
        for place, column in self.given.items():
            self.tables.put(place, address_of(column))

    def _point(self, base: int) -> None:
        """Write into the state where the columns lie."""
        put, gathering = self.tables.put, self.gathering
        buffer, *others = map(address_of, self.columns)
        scratch = self.columns[_SCRATCH]
        put(at.S_BASE, buffer - base)
        for place, address in zip(_PLACES, others, strict=True):
            put(place, address)
        put(at.S_SCRATCH_STOP, address_of(scratch) + len(scratch) - PADDING)
        put(at.S_TEXT_ROOM, len(gathering.text))
        put(at.S_MESSAGE_ROOM, len(gathering.starts))
        put(at.S_VALUE_ROOM, len(gathering.lengths) - PADDING // 4)
        if IS_CHECKED:
            columns = (*self.columns, *self.given.values(), *self.texts)
            ranges = [(address_of(column), address_of(column) + column.nbytes) for column in columns]
            allow([*ranges, *self.tables.ranges()])

    def _go(self) -> int:
        """Let machine code map on; return why it stopped."""
        why: int = map_records(address_of(self.tables.state))
        get, gathering = self.tables.get, self.gathering
        gathering.done = get(at.S_NEXT)
        gathering.bytes_out = get(at.S_TEXT_USED)
        gathering.messages = get(at.S_MESSAGES)
        gathering.values = get(at.S_VALUES)
        return why

    def _make_room(self) -> None:
        room, messages, values = (self.tables.get(place) for place in (at.S_LACK_A, at.S_LACK_B, at.S_LACK_C))
        self.gathering.reserve(room + 4 * PADDING, messages, values + PADDING)

    def _left(self, why: int, buffer: NDArray[np.uint8], base: int, record: int) -> int:
        """Map a record that was left: after learning what it lacks, or by the reference."""
        gathering = self.gathering
        start, message, values = gathering.bytes_out, gathering.messages, gathering.values
        for _ in range(MOST_TRIES):
            if why == at.LACKS_ROOM:
                self._make_room()
            elif why == at.REFUSED or not self.driver.learn(why, self.records, record):
                break
            counters = self.tables.counters.copy()
            self._enter(buffer, base, record, record + 1)
            why = self._go()
            if why == at.DONE:
                if self.driver.agrees(self.originals, record, start, message):
                    return 1
                self.tables.refuse(self.driver.key())
                self.tables.counters[: len(counters)] = counters
                gathering.done, gathering.bytes_out = record, start
                gathering.messages, gathering.values = message, values
                break
        self.driver.reference.map_record(self.originals, record, gathering)
        return 0


def _columns_of(records: RecordBatch) -> tuple[dict[int, Int64Array], list[NDArray[np.uint8]]]:
    """Return the columns of records by their places in the state, and the texts that some of them point to."""
    columns: dict[int, NDArray[Any]] = {
        at.S_STARTS: records.starts,
        at.S_STOPS: records.stops,
        at.S_OFFSETS: records.offsets,
    }
    texts: list[NDArray[np.uint8]] = []
    if isinstance(records, MessageRecords):
        places = [(quoted(records.topic or topic), b"%d" % partition) for topic, partition in records.places]
        places_at, text = table_of(list(chain(*places)))
        texts.append(text)
        columns |= {
            at.S_KEY_STARTS: records.key_starts, at.S_KEY_STOPS: records.key_stops, at.S_TIMES: records.times,
            at.S_PLACES: places_at, at.S_PLACE_OF: records.place_of, at.S_IS_LEFT: _is_left(records),
        }  # fmt: skip
    return {place: np.ascontiguousarray(column, np.int64) for place, column in columns.items()}, texts


def _is_left(records: MessageRecords) -> NDArray[np.bool_]:
    """Return which messages are left to the reference, whatever they are: those at no place, and by their headers."""
    is_nowhere = np.array([partition < 0 for _, partition in records.places], np.bool_)
    is_named = np.array([any(mark in text for mark in at.HEADER_MARKS) for text in records.headers], np.bool_)
    found: NDArray[np.bool_] = (records.offsets < 0) | is_nowhere[records.place_of] | is_named[records.headers_of]
    return found


def _runs(records: RecordBatch) -> Iterator[tuple[str | None, int, int]]:
    """Yield the runs of records of one file, with its name; one that is not whole or long is alone and has none."""
    place = 0
    is_apart = (records.lengths > MOST_RECORD_BYTES) | records.is_cut
    for cut in [*np.flatnonzero(is_apart).tolist(), len(records)]:
        if not records.names:
            yield records.name, place, cut
        else:
            start = place
            for name, of_it in groupby(records.names[start:cut]):
                count = sum(1 for _ in of_it)
                yield name, place, place + count
                place += count
        if cut < len(records):
            yield None, cut, cut + 1
        place = cut + 1
