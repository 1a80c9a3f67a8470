"""Records of a batch whose values are framed Avro, written by machine code as records that hold text.

``Ways`` tells which values and keys of a batch are in the framing of a registry, and by which programs they are read.
How bytes are framed is decided by ``kernel.wire_format`` as for the reference, once for all that begin alike.

Only records that ``Unframer`` wrote go on to the driver as other bytes than they came as; position, file and order
stay. A record that machine code does not read stays as it came, and so goes to the reference.

A decoded value is mapped as text beside a schema half that stands for the schema that wrote it
(``SchemaPlaceholders``): a short text that no record can hold, as nobody can guess it. Machine code tells writer
schemas apart by it as it tells schema halves of messages apart, and ``learning`` finds in it what the schema says.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.project.writer_schemas import AVRO
from metl_gui.engine.kernel.avro_values import write_double, write_float
from metl_gui.engine.kernel.compiled import avro_programs as at
from metl_gui.engine.kernel.compiled.avro_programs import Programs, Unfit
from metl_gui.engine.kernel.compiled.avro_text import write_records
from metl_gui.engine.kernel.compiled.memory import IS_CHECKED, PADDING, allow
from metl_gui.engine.kernel.compiled.tables import address_of
from metl_gui.engine.kernel.compiled.wrappers import table_of
from metl_gui.engine.kernel.headers import names_old_key
from metl_gui.engine.kernel.records import Parts, Records, head_of
from metl_gui.engine.kernel.wire_format import DecodedValue, FramedPayload, WireDecoder, is_framed, readings
from metl_gui.errors import RecordError
from metl_gui.formats.avro_types import read_avro
from metl_gui.formats.json_text import NULL, bytes_of, members, quoted
from metl_gui.formats.record_wrapper import SINGLE_OBJECT, unwrap


class SchemaPlaceholders:
    """The placeholders of one kernel for the schemas of decoded values."""

    def __init__(self) -> None:
        self._begins = b'{"type":"%b",' % secrets.token_hex(16).encode()
        self._within = b'{"schema":' + self._begins
        self._written: dict[bytes, DecodedValue] = {}
        self._texts: dict[tuple[str, str], bytes] = {}

    def text(self, topic: str, common: DecodedValue) -> bytes:
        """Return what stands for a schema in a topic; ``common`` is what its values have in common."""
        key = common.id, topic
        if key not in self._texts:
            found = self._texts[key] = self._begins + b'"number":%d}' % len(self._texts)
            self._written[found] = common
        return self._texts[key]

    def written(self, value: bytes | None) -> DecodedValue | None:
        """Return a decoded value by the text that was made of it; ``None`` for any other value."""
        if value is None or not value.startswith(self._within):
            return None
        found = members(value)
        return replace(self._written[bytes(found["schema"])], text=bytes_of(found["payload"]))


_MOST_WAYS = 10_000
_NAMED, _SHORT, _LONG, _PRINT = 0, 5, 9, 10
"""How many bytes in front of a body name its schema: none where headers do."""


class Way(NamedTuple):
    """How to read all values that begin alike.

    Args:
        program: of their schema.
        skipped: bytes in front of what the schema wrote.
        stand_in: stands for the schema.
    """

    program: int
    skipped: int
    stand_in: bytes


Found: TypeAlias = Way | Literal["left", "unknown", "plain", "longer"]
"""``left``: the reference looks at it; ``unknown``: nothing resolves its id; ``plain``: it is in no framing;
``longer``: more bytes decide."""


class Ways:
    """How the values and keys of one kernel are read.

    Args:
        wire: decides.
        stand_ins: what stands for schemas.
    """

    def __init__(self, wire: WireDecoder, stand_ins: SchemaPlaceholders) -> None:
        self.wire = wire
        self.stand_ins = stand_ins
        self.programs = Programs()
        self._by_schema: dict[str, int] = {}
        self._ways: dict[tuple[str, str, bytes, bytes], Found] = {}

    def of(self, content: bytes, topic: str, headers: bytes, part: str) -> Found:
        """Return how to read a value or key.

        Args:
            content: the bytes.
            topic: where they come from.
            headers: of the record, empty where they name no schema.
            part: ``value`` or ``key``.
        """
        sizes = (_PRINT,) if content[:1] == SINGLE_OBJECT[:1] else (_SHORT, _LONG)
        for size in (_NAMED, *sizes) if headers else sizes:
            key = part, topic, headers, content[:size]
            found = self._ways.get(key)
            if found is None:
                if len(self._ways) >= _MOST_WAYS:
                    self._ways.clear()
                found = self._ways[key] = self._found(content, topic, headers, part, size)
            if found != "longer":
                return found
        return "left"

    def _found(self, content: bytes, topic: str, headers: bytes, part: str, size: int) -> Found:
        if not is_framed(content, headers):
            return "plain"
        ways = list(readings(content, headers, part, self.wire.framing(topic)))
        is_named = bool(ways) and ways[0].body is content
        if size == _NAMED:
            return self._first(ways, content, topic, size) if is_named else "longer"
        return self._first(ways, content, topic, size)

    def _first(self, ways: Sequence[FramedPayload], content: bytes, topic: str, size: int) -> Found:
        """Return the way of the first reading whose id resolves, of those that so many bytes decide."""
        for framed in ways:
            skipped = len(content) - len(framed.body)
            if skipped > size:
                return "longer"
            id_ = self.wire.known(framed.ids)
            if id_ is not None:
                return self._way(id_, topic, skipped)
        if not ways:
            return "plain"
        # What a file teaches may resolve a fingerprint later, and text may be named by headers that mean another part.
        return "left" if size in (_NAMED, _PRINT) else "unknown"

    def _way(self, id_: str, topic: str, skipped: int) -> Found:
        try:
            schema, common = self.wire.named(id_, topic)
        except RecordError:
            return "left"
        if schema.kind != AVRO:
            return "left"
        if schema.text not in self._by_schema:
            try:
                self._by_schema[schema.text] = 0 if self.programs.is_full else self._program(schema.text)
            except Unfit:
                self._by_schema[schema.text] = 0
        program = self._by_schema[schema.text]
        return Way(program, skipped, self.stand_ins.text(topic, common)) if program else "left"

    def _program(self, text: str) -> int:
        return self.programs.add(read_avro(json.loads(text)))


_BEGINS, _ENCODED = b'{"topic":', b'"value_b64"'
_LEAST_BYTES = 16
_FIRST_ROOM = 4
_ROOM_BYTES = 1024


class Unframer:
    """Writes framed values of one kernel as text.

    Args:
        wire: decodes them for the reference; ``None`` where it knows no schema.
    """

    def __init__(self, wire: WireDecoder | None) -> None:
        self.stand_ins = SchemaPlaceholders()
        self._ways = None if wire is None else Ways(wire, self.stand_ins)

    def of(self, records: Records) -> Records:
        """Return a batch with text in place of what is framed, as far as machine code reads it."""
        if self._ways is None:
            return records
        found = _Found(self._ways)
        if records.parts is not None:
            found.scan_messages(records, records.parts)
        else:
            found.scan_base64(records)
        return _written(records, found) if found.numbers else records


class _Found:
    """Records that are read, in columns.

    Args:
        ways: how values and keys are read.
    """

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self.numbers: list[int] = []
        self.heads: list[bytes] = []
        self.offsets: list[int] = []
        self.times: list[int] = []
        self.keys: list[bytes] = []
        self.key_programs: list[int] = []
        self.key_skipped: list[int] = []
        self.values: list[bytes] = []
        self.value_ways: list[Way] = []

    def scan_messages(self, records: Records, parts: Parts) -> None:
        """Search for framed values among the messages that records were written from."""
        distinct = set(parts.headers)
        marked = {one: one if is_framed(b"", one) else b"" for one in distinct}
        left = {one for one in distinct if names_old_key(one)}
        heads: dict[tuple[str, int], bytes] = {}
        whole = _whole(records)
        for number in range(len(records)):
            value, headers = parts.values[number], marked[parts.headers[number]]
            if value is None or not (headers or value[:1] in (b"\0", b"\xc3")) or not whole[number]:
                continue
            if parts.headers[number] in left:
                continue
            place, offset = parts.places[number], parts.offsets[number]
            if offset < 0 or not place[0]:
                continue
            if place not in heads:
                heads[place] = head_of(*place)
            if self._add(place[0], headers, parts.keys[number], value):
                self.numbers.append(number)
                self.heads.append(heads[place])
                self.offsets.append(offset)
                self.times.append(parts.times[number])

    def scan_base64(self, records: Records) -> None:
        """Search for framed values in records that hold them in base64."""
        whole = _whole(records)
        for number in _candidates(records):
            raw = records.raw(number)
            if not (raw.startswith(_BEGINS) and _ENCODED in raw and whole[number]):
                continue
            try:
                wrapped = unwrap(raw)
            except RecordError:
                continue
            value, headers = wrapped.value, wrapped.headers if is_framed(b"", wrapped.headers) else b""
            if wrapped.is_key or not wrapped.topic or value is None or not is_framed(value, headers):
                continue
            if names_old_key(wrapped.headers):
                continue
            head = b'{"topic":' + quoted(wrapped.topic)
            if wrapped.position:
                _, partition, offset = wrapped.position.rsplit("/", 2)
                head += f',"partition":{partition},"offset":{offset}'.encode()
            if self._add(wrapped.topic, headers, wrapped.key, value):
                self.numbers.append(number)
                self.heads.append(head + at.PARTS[at.BEFORE_TIME] + (wrapped.timestamp or NULL))
                self.offsets.append(-1)
                self.times.append(-1)

    def _add(self, topic: str, headers: bytes, key: bytes | None, value: bytes) -> bool:
        """Add a value and its key, unless one of them is left."""
        way = self.ways.of(value, topic, headers, "value")
        if not isinstance(way, Way):
            return False
        program, skipped = at.NO_KEY, 0
        if key is not None and (headers or key[:1] in (b"\0", b"\xc3")):
            key_way = self.ways.of(key, topic, headers, "key")
            if isinstance(key_way, Way):
                program, skipped = key_way.program, key_way.skipped
            elif key_way == "left":
                return False
            else:
                program = at.PLAIN_KEY if key_way == "plain" else at.NO_KEY
        elif key is not None:
            program = at.PLAIN_KEY
        self.keys.append(key or b"")
        self.key_programs.append(program)
        self.key_skipped.append(skipped)
        self.values.append(value)
        self.value_ways.append(way)
        return True


def _written(records: Records, found: _Found) -> Records:
    """Return a batch with what machine code wrote of some of its records."""
    work = _Work(found)
    work.run()
    text, is_text = work.out[: work.used], work.stops > work.starts
    numbers = np.array(found.numbers, np.int64)[is_text]
    starts, stops = records.starts.copy(), records.stops.copy()
    before = b"" if len(numbers) == len(records) else records.buffer
    starts[numbers] = work.starts[is_text] + len(before)
    stops[numbers] = work.stops[is_text] + len(before)
    buffer = b"".join((before, text.data, bytes(PADDING)))
    return replace(records, buffer=buffer, starts=starts, stops=stops)


class _Work:
    """Some records on their way through machine code."""

    def __init__(self, found: _Found) -> None:
        count = len(found.numbers)
        heads, head_of_each = _shared(found.heads)
        stand_ins, stand_in_of_each = _shared([way.stand_in for way in found.value_ways])
        self.text = np.frombuffer(b"".join((*found.keys, *found.values, bytes(PADDING))), np.uint8)
        key_lengths, value_lengths = _lengths(found.keys), _lengths(found.values)
        ends = np.cumsum(np.concatenate((key_lengths, value_lengths))) + address_of(self.text)
        key_skipped = np.array(found.key_skipped, np.int64)
        skipped = np.array([way.skipped for way in found.value_ways], np.int64)
        self.starts, self.stops = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.is_pending = np.zeros(count, np.int64)
        self.programs = np.array([way.program for way in found.value_ways], np.int64)
        # Each number that may be wanted has 4 bytes at least.
        self.wanted: NDArray[Any] = np.empty((len(self.text) // 4 + 1, 2), np.int64)
        self.out = np.empty(_FIRST_ROOM * len(self.text) + count * _ROOM_BYTES + 2 * PADDING, np.uint8)
        self.used = 0
        self.tables = [table_of(texts) for texts in (heads, stand_ins, at.PARTS)]
        programs = found.ways.programs
        self.columns: dict[int, NDArray[Any]] = {
            at.A_HEADS: self.tables[0][0], at.A_STAND_INS: self.tables[1][0], at.A_PARTS: self.tables[2][0],
            at.A_HEAD_OF: head_of_each, at.A_STAND_IN_OF: stand_in_of_each,
            at.A_OFFSETS: np.array(found.offsets, np.int64), at.A_TIMES: np.array(found.times, np.int64),
            at.A_KEYS: ends[:count] - key_lengths + key_skipped, at.A_KEY_LENGTHS: key_lengths - key_skipped,
            at.A_KEY_PROGRAMS: np.array(found.key_programs, np.int64),
            at.A_VALUES: ends[count:] - value_lengths + skipped, at.A_VALUE_LENGTHS: value_lengths - skipped,
            at.A_VALUE_PROGRAMS: self.programs, at.A_CODE: programs.code.column, at.A_BLOB: programs.blob.column,
            at.A_FRAMES: np.zeros(at.MOST_FRAMES * at.FRAME_BYTES // 8, np.int64),
            at.A_STARTS: self.starts, at.A_STOPS: self.stops, at.A_WANTED: self.wanted,
            at.A_IS_PENDING: self.is_pending,
        }  # fmt: skip
        self.state = np.zeros(at.AVRO_WORDS, np.int64)
        self.state[at.A_COUNT // 8] = count
        for place, column in self.columns.items():
            self._put(place, address_of(column))

    def run(self) -> None:
        """Write all records; those that lack texts of numbers once more, when these are at hand."""
        self._pass()
        if self.is_pending.any():
            given = table_of(self._texts(int(self.state[at.A_WANTED_COUNT // 8])))
            self.tables.append(given)
            self._put(at.A_GIVEN, address_of(given[0]))
            self._put(at.A_IS_AGAIN, 1)
            self._put(at.A_NEXT, 0)
            self._pass()

    def _pass(self) -> None:
        while True:
            self._put(at.A_OUT, address_of(self.out))
            self._put(at.A_OUT_ROOM, len(self.out) - 2 * PADDING)
            if IS_CHECKED:
                self._allow()
            is_full = write_records(address_of(self.state))
            self.used = int(self.state[at.A_OUT_USED // 8])
            if not is_full:
                return
            if len(self.out) - self.used > 2 * at.MOST_TEXT_BYTES:
                # It is longer than machine code maps.
                self.programs[int(self.state[at.A_NEXT // 8])] = at.NO_PROGRAM
            else:
                larger = np.empty(2 * len(self.out) + at.MOST_TEXT_BYTES, np.uint8)
                larger[: self.used] = self.out[: self.used]
                self.out = larger

    def _put(self, place: int, number: int) -> None:
        self.state[place // 8] = number

    def _texts(self, count: int) -> list[bytes]:
        """Return the texts of the numbers that were wanted."""
        texts = []
        for raw, kind in zip(self.wanted[:count, 0].tolist(), self.wanted[:count, 1].tolist(), strict=True):
            text = bytearray()
            write = write_double if kind == at.IS_DOUBLE else write_float
            write(raw.to_bytes(8, "little", signed=True), 0, text)
            texts.append(bytes(text))
        return texts

    def _allow(self) -> None:
        columns = [self.state, self.text, self.out, *self.columns.values(), *(one for t in self.tables for one in t)]
        allow([(address_of(one), address_of(one) + one.nbytes) for one in columns])


def _candidates(records: Records) -> list[int]:
    """Return the records that may be messages with a value in base64 at their end, as ours are written."""
    buffer, numbers = np.frombuffer(records.buffer, np.uint8), np.flatnonzero(records.lengths > _LEAST_BYTES)
    is_one = (buffer[records.starts[numbers] + 2] == ord("t")) & (buffer[records.stops[numbers] - 2] == ord('"'))
    found: list[int] = numbers[is_one].tolist()
    return found


def _whole(records: Records) -> list[bool]:
    """Say of each record whether all of it is there."""
    if records.sizes is None:
        return [True] * len(records)
    found: list[bool] = (records.sizes <= records.lengths).tolist()
    return found


def _lengths(contents: list[bytes]) -> NDArray[np.int64]:
    return np.fromiter(map(len, contents), np.int64, len(contents))


def _shared(values: list[bytes]) -> tuple[list[bytes], NDArray[np.int64]]:
    """Return the different values, and for each which it is."""
    numbers: dict[bytes, int] = {}
    places = [numbers.setdefault(value, len(numbers)) for value in values]
    return list(numbers), np.array(places, np.int64)
