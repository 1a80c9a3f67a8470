"""Records of a batch whose values are framed Avro: machine code writes text in place of these and of their keys.

``Ways`` tells which values and keys of a batch are in the framing of a registry, and by which programs they are read.
How bytes are framed is decided by ``kernel.wire_format`` as for the reference, once for all that begin alike.

Only records that ``Unframer`` wrote go on to the driver as other bytes than they came as; position, file and order
stay. A record that machine code does not read stays as it came, and so goes to the reference.

A decoded value is mapped as text beside a schema half that stands for the schema that wrote it
(``SchemaPlaceholders``): a short text that no record can hold, as nobody can guess it. Machine code tells writer
schemas apart by it as it tells schema halves of messages apart, and ``learner`` finds in it what the schema says.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from metl_gui.core.project.writer_schemas import AVRO
from metl_gui.engine.kernel.avro_values import write_double, write_float
from metl_gui.engine.kernel.compiled.avro import programs as at
from metl_gui.engine.kernel.compiled.avro.programs import Programs, Unfit
from metl_gui.engine.kernel.compiled.avro.text import write_records
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.compiled.memory import IS_CHECKED, allow
from metl_gui.engine.kernel.compiled.tables import address_of, table_of
from metl_gui.engine.kernel.headers import names_old_key
from metl_gui.engine.kernel.message_records import MessageRecords, Parts, RecordBatch, distinct, member
from metl_gui.engine.kernel.records import Int64Array, Records
from metl_gui.engine.kernel.wire_format import DecodedValue, FramedPayload, WireDecoder, is_framed, readings
from metl_gui.errors import RecordError
from metl_gui.formats.avro_types import read_avro
from metl_gui.formats.json_text import NULL, bytes_of, members, quoted
from metl_gui.formats.record_wrapper import SINGLE_OBJECT, Wrapped, unwrap


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
_FIRST_BYTES = 0, SINGLE_OBJECT[0]
"""How a value begins that no headers need to name a schema for."""

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

    def of(self, records: RecordBatch) -> RecordBatch:
        """Return a batch with text in place of what is framed, as far as machine code reads it."""
        if self._ways is None:
            return records
        if isinstance(records, MessageRecords):
            return _of_messages(records, _Found(self._ways))
        return _of_lines(records, _Found(self._ways))


class _Found:
    """Records that are read, in columns.

    Args:
        ways: how values and keys are read.
    """

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self.numbers: list[int] = []
        self.key_programs: list[int] = []
        self.key_skipped: list[int] = []
        self.value_ways: list[Way] = []

    def add(self, number: int, topic: str, headers: bytes, key: bytes | None, value: bytes) -> None:
        """Add a record unless its value or key is left.

        Args:
            number: of the record.
            topic: where it comes from.
            headers: its own, empty where they name no schema.
            key, value: as they came.
        """
        way = self.ways.of(value, topic, headers, "value")
        if not isinstance(way, Way):
            return
        program, skipped = at.NO_KEY if key is None else at.PLAIN_KEY, 0
        if key is not None and (headers or key[:1] in (b"\0", b"\xc3")):
            key_way = self.ways.of(key, topic, headers, "key")
            if key_way == "left":
                return
            if isinstance(key_way, Way):
                program, skipped = key_way.program, key_way.skipped
            elif key_way != "plain":
                program = at.NO_KEY
        self.numbers.append(number)
        self.key_programs.append(program)
        self.key_skipped.append(skipped)
        self.value_ways.append(way)


def _of_messages(records: MessageRecords, found: _Found) -> MessageRecords:
    """Return messages with text in place of framed values and keys; the headers that name their schemas are gone."""
    framed = [one if is_framed(b"", one) else b"" for one in records.headers]
    is_named = np.array([bool(one) for one in framed], np.bool_)[records.headers_of]
    is_left = np.array([names_old_key(one) for one in records.headers], np.bool_)[records.headers_of]
    text = np.frombuffer(records.buffer, np.uint8)
    is_there = (records.stops >= records.starts) & ~is_left & ~records.is_cut
    for number in np.flatnonzero(is_there & (is_named | np.isin(text[records.starts], _FIRST_BYTES))).tolist():
        topic, headers = records.topic_of(number), framed[records.headers_of[number]]
        found.add(number, topic, headers, records.key(number), records.value(number) or b"")
    if not found.numbers:
        return records
    numbers = np.array(found.numbers, np.int64)
    work = _Work(found, records)
    work.run()
    is_text, behind = work.stops > work.starts, len(text)
    is_key = is_text & (np.array(found.key_programs, np.int64) != at.PLAIN_KEY)
    # A key that says nothing is missing.
    key_stops = np.where(work.middles > work.starts, work.middles, work.starts - 1)
    return replace(
        records,
        buffer=b"".join((records.buffer, work.out[: work.used].data, bytes(PADDING))),
        starts=_put(records.starts, numbers[is_text], work.middles[is_text] + behind),
        stops=_put(records.stops, numbers[is_text], work.stops[is_text] + behind),
        key_starts=_put(records.key_starts, numbers[is_key], work.starts[is_key] + behind),
        key_stops=_put(records.key_stops, numbers[is_key], key_stops[is_key] + behind),
        headers=[*records.headers, NULL],
        headers_of=_put(records.headers_of, numbers[is_text], len(records.headers)),
    )


def _put(column: Int64Array, numbers: Int64Array, values: Int64Array | int) -> Int64Array:
    """Return a column with other values at some places."""
    column = column.copy()
    column[numbers] = values
    return column


def _of_lines(records: Records, found: _Found) -> Records:
    """Return lines with text in place of what they hold in base64, which is read as messages are."""
    numbers: list[int] = []
    lines: list[Wrapped] = []
    for number in _candidates(records):
        raw = records.raw(number)
        if raw.startswith(_BEGINS) and _ENCODED in raw and records.is_whole(number):
            with contextlib.suppress(RecordError):
                wrapped = unwrap(raw)
                if wrapped.topic and not wrapped.is_key:
                    numbers.append(number)
                    lines.append(wrapped)
    columns = [(one.topic, 0) for one in lines], [0] * len(lines), [0] * len(lines)
    contents = [one.key for one in lines], [one.headers for one in lines], [one.value for one in lines]
    framed = MessageRecords.of(Parts(*columns, *contents))
    texts = _of_messages(framed, found)
    written, end = [records.buffer], len(records.buffer)
    starts, stops = records.starts.copy(), records.stops.copy()
    for at_ in np.flatnonzero(texts.starts != framed.starts).tolist():
        line = b'%b,%b,"value":%b}' % (_head(lines[at_]), member("key", texts.key(at_)), texts.value(at_) or NULL)
        starts[numbers[at_]], stops[numbers[at_]] = end, end + len(line)
        end += len(line)
        written.append(line)
    if len(written) == 1:
        return records
    return replace(records, buffer=b"".join((*written, bytes(PADDING))), starts=starts, stops=stops)


def _head(wrapped: Wrapped) -> bytes:
    """Write what a wrapper begins with, up to its key."""
    head = b'{"topic":' + quoted(wrapped.topic)
    if wrapped.position:
        _, partition, offset = wrapped.position.rsplit("/", 2)
        head += f',"partition":{partition},"offset":{offset}'.encode()
    return head + b',"timestamp":' + (wrapped.timestamp or NULL)


class _Work:
    """Some records on their way through machine code.

    Args:
        found: how they are read.
        records: all messages of the batch.

    Attributes:
        out: text of keys and values, of which ``used`` bytes are written.
        starts, middles, stops: where the text of each key begins, where it ends and that of the value begins, and
            where that ends; a record that is left ends where it begins.
    """

    def __init__(self, found: _Found, records: MessageRecords) -> None:
        numbers = np.array(found.numbers, np.int64)
        key_starts, starts = records.key_starts[numbers], records.starts[numbers]
        key_lengths, lengths = np.maximum(records.key_stops[numbers] - key_starts, 0), records.stops[numbers] - starts
        count, size = len(numbers), int(key_lengths.sum() + lengths.sum())
        fronts, front_of = distinct([way.stand_in for way in found.value_ways])
        key_skipped = np.array(found.key_skipped, np.int64)
        skipped = np.array([way.skipped for way in found.value_ways], np.int64)
        self.text = np.frombuffer(records.buffer, np.uint8)
        self.starts, self.middles, self.stops = (np.zeros(count, np.int64) for _ in range(3))
        self.is_pending = np.zeros(count, np.int64)
        self.programs = np.array([way.program for way in found.value_ways], np.int64)
        # Each number that may be wanted has 4 bytes at least.
        self.wanted: NDArray[Any] = np.empty((size // 4 + 1, 2), np.int64)
        self.out = np.empty(_FIRST_ROOM * size + count * _ROOM_BYTES + 2 * PADDING, np.uint8)
        self.used = 0
        self.tables = [table_of([b'{"schema":%b,"payload":' % one for one in fronts])]
        programs = found.ways.programs
        self.columns: dict[int, NDArray[Any]] = {
            at.A_FRONTS: self.tables[0][0], at.A_FRONT_OF: front_of,
            at.A_KEYS: key_starts + key_skipped + address_of(self.text), at.A_KEY_LENGTHS: key_lengths - key_skipped,
            at.A_KEY_PROGRAMS: np.array(found.key_programs, np.int64),
            at.A_VALUES: starts + skipped + address_of(self.text), at.A_VALUE_LENGTHS: lengths - skipped,
            at.A_VALUE_PROGRAMS: self.programs, at.A_CODE: programs.code.column, at.A_BLOB: programs.blob.column,
            at.A_FRAMES: np.zeros(at.MOST_FRAMES * at.FRAME_BYTES // 8, np.int64),
            at.A_STARTS: self.starts, at.A_MIDDLES: self.middles, at.A_STOPS: self.stops, at.A_WANTED: self.wanted,
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
