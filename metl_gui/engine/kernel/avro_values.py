"""Avro bytes to JSON text, as Debezium's JSON converter writes the same value.

A writer schema is compiled once to functions that read one value and write its text. Nothing between: no objects, one
pass, so memory and time follow the bytes. What the bytes claim is believed only as far as they can keep it: lengths and
block counts against what is left, items and fields without bytes up to a number, recursion to the depth that records
may have, alternatives and symbols against the schema, and the record must end where the bytes do. (fastavro was looked
at first: it takes negative symbols and overlong numbers for good, has no bound for items without bytes or for
recursion, and leaves the text to be written from objects. The tests hold both to the same values.)

How values are written: bytes and fixed as base64, decimals as base64 of the shortest two's complement, dates and
times as their numbers, floats as Java prints them with ``"NaN"`` and ``"Infinity"`` as strings, enums as their symbol,
maps as objects (as lists of pairs where their keys are no strings), one of several alternatives as an object with a
member for each of them. Null stays null, also where the schema has a default.

The function of a single value reads the value that begins at a place, appends its text, and returns where the next one
begins. Bytes that end too early, or say what cannot be, end in ``IndexError``, ``struct.error``, ``ValueError`` or a
``RecordError``.

Source: docs/reference/message.md; docs/reference/cdc.md, "Types" (how the JSON converter writes a value);
docs/reference/cdc.md, "Avro on the wire".
"""

from __future__ import annotations

import math
import re
import struct
import sys
from base64 import b64encode
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np

from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.errors import RecordError
from metl_gui.formats.avro_container import read_long
from metl_gui.formats.avro_schema import is_decimal, is_map_entry
from metl_gui.formats.avro_types import AvroType
from metl_gui.formats.json_text import DEPTH_LIMIT, quoted

Write: TypeAlias = Callable[[bytes, int, bytearray], int]
"""Reads the value that begins at a place, appends its text, and returns where the next value begins."""

FLOAT, DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_SPECIAL = re.compile(rb'[\x00-\x1f"\\]')
_SHORT = {0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0C: b"\\f", 0x0D: b"\\r", 0x22: b'\\"', 0x5C: b"\\\\"}
_LARGE, _SMALL = 1e7, 1e-3
_LARGEST = sys.float_info.max
_INT_LIMIT = 1 << 31
_SMALL_NUMBERS = tuple(b"%d" % ((byte >> 1) ^ -(byte & 1)) for byte in range(0x80))


def undecodable(detail: str) -> RecordError:
    """Make the error for bytes that their schema did not write."""
    return RecordError("undecodable", detail)


def _too_large() -> RecordError:
    return RecordError("too_large", f"its text would be larger than {LIMIT_BYTES // 2**20} MiB")


def enum_writer(symbols: tuple[str, ...]) -> Write:
    """Make what writes a symbol by its number."""
    texts = [quoted(symbol) for symbol in symbols]

    def write(body: bytes, at: int, out: bytearray) -> int:
        symbol, at = read_long(body, at)
        if not 0 <= symbol < len(texts):
            raise undecodable(f"there is no symbol {symbol}")
        out += texts[symbol]
        return at

    return write


def fixed_writer(size: int, is_number: bool) -> Write:
    """Make what writes so many bytes, those of a decimal as few as it takes."""

    def write(body: bytes, at: int, out: bytearray) -> int:
        end = at + size
        if end > len(body):
            raise undecodable("the bytes end within a value")
        raw = body[at:end]
        out += b'"' + b64encode(_shortest(raw) if is_number else raw) + b'"'
        return end

    return write


def write_null(_body: bytes, at: int, out: bytearray) -> int:
    """Write null, which takes no bytes."""
    out += b"null"
    return at


def write_boolean(body: bytes, at: int, out: bytearray) -> int:
    """Write one byte that is 0 or 1.

    Raises:
        RecordError: it is another byte.
    """
    byte = body[at]
    if byte > 1:
        raise undecodable(f"a boolean is {byte}")
    out += b"true" if byte else b"false"
    return at + 1


def write_int(body: bytes, at: int, out: bytearray) -> int:
    """Write a number of 32 bits.

    Raises:
        RecordError: it has more bits, or its bytes end early.
    """
    value, at = read_long(body, at)
    if not -_INT_LIMIT <= value < _INT_LIMIT:
        raise undecodable(f"the number {value} has more than 32 bits")
    out += b"%d" % value
    return at


def write_long(body: bytes, at: int, out: bytearray) -> int:
    """Write a number of 64 bits."""
    byte = body[at]
    if byte < 0x80:  # most are small, and one call less is a fifth of the time
        out += _SMALL_NUMBERS[byte]
        return at + 1
    value, at = read_long(body, at)
    out += b"%d" % value
    return at


def write_float(body: bytes, at: int, out: bytearray) -> int:
    """Write a float of 32 bits."""
    (value,) = FLOAT.unpack_from(body, at)
    # The shortest digits that a float of 32 bits needs are fewer than those of the same number in 64 bits.
    out += java_text(value if value.is_integer() and abs(value) < _LARGE else float(str(np.float32(value))))
    return at + 4


def write_double(body: bytes, at: int, out: bytearray) -> int:
    """Write a float of 64 bits."""
    (value,) = DOUBLE.unpack_from(body, at)
    out += java_text(value)
    return at + 8


def _content(body: bytes, at: int) -> tuple[bytes, int]:
    byte = body[at]
    if byte < 0x80 and not byte & 1:
        size, at = byte >> 1, at + 1
    else:
        size, at = read_long(body, at)
    end = at + size
    if not 0 <= size <= len(body) - at:
        raise undecodable(f"a value claims {size} bytes, and {len(body) - at} are left")
    return body[at:end], end


def write_bytes(body: bytes, at: int, out: bytearray) -> int:
    """Write bytes as base64."""
    raw, at = _content(body, at)
    out += b'"' + b64encode(raw) + b'"'
    return at


def write_decimal(body: bytes, at: int, out: bytearray) -> int:
    """Write the digits of a decimal as base64, as few bytes as it takes."""
    raw, at = _content(body, at)
    out += b'"' + b64encode(_shortest(raw)) + b'"'
    return at


def write_string(body: bytes, at: int, out: bytearray) -> int:
    """Write text, which must be strict UTF-8."""
    raw, at = _content(body, at)
    if not raw.isascii():
        raw.decode()  # refuses what is not strict UTF-8
    out += b'"' + (_SPECIAL.sub(_escaped, raw) if _SPECIAL.search(raw) else raw) + b'"'
    return at


def _escaped(found: re.Match[bytes]) -> bytes:
    (byte,) = found[0]
    return _SHORT.get(byte) or b"\\u%04X" % byte


def _shortest(raw: bytes) -> bytes:
    """Return the same number in two's complement with as few bytes as it takes."""
    at = 0
    while at + 1 < len(raw) and ((raw[at] == 0 and raw[at + 1] < 0x80) or (raw[at] == 0xFF and raw[at + 1] >= 0x80)):
        at += 1
    return raw[at:]


def java_text(value: float) -> bytes:
    """Write a number as Java does, plain from 0.001 up to ten millions, else with an exponent; what is none as text."""
    size = abs(value)
    if not size <= _LARGEST:
        return b'"NaN"' if math.isnan(value) else b'"Infinity"' if value > 0 else b'"-Infinity"'
    if size == 0 or _SMALL <= size < _LARGE:
        return repr(value).encode()
    sign, digits, power = Decimal(repr(value)).normalize().as_tuple()
    whole, *fraction = digits
    exponent = int(power) + len(fraction)
    text = "".join(map(str, fraction)) or "0"
    return f"{'-' if sign else ''}{whole}.{text}E{exponent}".encode()


PRIMITIVES: dict[str, Write] = {
    "null": write_null,
    "boolean": write_boolean,
    "int": write_int,
    "long": write_long,
    "float": write_float,
    "double": write_double,
    "string": write_string,
}


MAX_EMPTY_ITEMS = 65_536
"""Items that take no bytes (nulls, records of nulls) that one value may claim; their fields are counted too."""

MAX_EMPTY_FIELDS = 16_384
"""Fields that take no bytes which a schema may have when it is written out; a long name counts as several."""

MAX_GROWTH = 8
"""The text of a record has at most so many times its bytes, where it is long: a control character is written as six."""

_NAME_LETTERS = 16


class AvroReader:
    """Reads values that one schema wrote.

    Args:
        schema: the writer schema.

    Attributes:
        refusal: why no value of the schema is read, empty where values are.
        empty_fields: how many fields of one value take no bytes; a long name counts as several.
    """

    def __init__(self, schema: AvroType) -> None:
        compiler = _Compiler()
        self._write = compiler.compile(schema)
        self._empty = compiler.empty
        self.refusal = compiler.refusal
        self.empty_fields = compiler.empty_fields(schema)

    def read(self, body: bytes) -> bytes:
        """Write one whole value as JSON text.

        Raises:
            RecordError: ``undecodable``, or ``too_large`` where the text would be larger than a record may be.
        """
        out = bytearray()
        at = self.read_at(body, 0, out)
        if at != len(body):
            raise undecodable(f"the schema reads {at} of {len(body)} bytes")
        return bytes(out)

    def read_at(self, body: bytes, at: int, out: bytearray) -> int:
        """Write the value that begins at a place; return where it ends.

        Raises:
            RecordError: as ``read``.
        """
        if self.refusal:
            raise undecodable(f"its schema cannot be used: {self.refusal}")
        self._empty.left = MAX_EMPTY_ITEMS
        try:
            return self._write(body, at, out)
        except (IndexError, struct.error):
            raise undecodable("the bytes end within a value") from None
        except RecursionError:
            raise undecodable(f"values are nested deeper than {DEPTH_LIMIT}") from None
        except ValueError as error:
            raise undecodable(str(error)) from None


class _Empty:
    """How many items without bytes the value at hand may still claim."""

    left = MAX_EMPTY_ITEMS


class _Compiler:
    """Compiles one schema; each named type once, so that a recursive one leads back to itself."""

    def __init__(self) -> None:
        self.empty = _Empty()
        self.refusal = ""
        self._done: dict[int, Write] = {}
        self._open: set[int] = set()
        self._sizes: dict[int, int] = {}
        self._empty_fields: dict[int, int] = {}
        self._ending: set[int] = set()

    def compile(self, avro: AvroType) -> Write:
        known = self._done.get(id(avro))
        if known is not None:
            return known
        if id(avro) in self._open:
            return _recursive(self._done, id(avro))
        self._open.add(id(avro))
        made = self._done[id(avro)] = self._made(avro)
        self._check(avro)
        return made

    def empty_fields(self, avro: AvroType) -> int:
        """Return how many fields without bytes a type has that was compiled, written out; one that leads back once."""
        return self._empty_fields.get(id(avro), 0)

    def _check(self, avro: AvroType) -> None:
        """Refuse a type of which a few bytes could make text without end; what is in it was looked at before it."""
        inside = [one.type for one in avro.fields] or avro.branches
        empty = sum(map(self.empty_fields, inside))
        if avro.kind == "record":
            nothing = [one.name for one in avro.fields if not self._least_bytes(one.type, frozenset())]
            empty += sum(1 + len(name) // _NAME_LETTERS for name in nothing)
            if self._is_endless(avro, set()):
                self.refusal = f"a value of {avro.name} holds another one without end"
        if empty > MAX_EMPTY_FIELDS:
            self.refusal = f"it has more than {MAX_EMPTY_FIELDS:,} fields without bytes when it is written out"
        self._empty_fields[id(avro)] = min(empty, MAX_EMPTY_FIELDS + 1)

    def _is_endless(self, avro: AvroType, above: set[int]) -> bool:
        """Return whether records lie in each other in a circle, with no alternative and no list between."""
        if avro.kind != "record" or id(avro) in self._ending:
            return False
        if id(avro) in above:
            return True
        inside = above | {id(avro)}
        if any(self._is_endless(one.type, inside) for one in avro.fields):
            return True
        self._ending.add(id(avro))
        return False

    def _made(self, avro: AvroType) -> Write:
        match avro.kind:
            case "record":
                return _record([(one.name, self.compile(one.type)) for one in avro.fields])
            case "union":
                return self._union(avro)
            case "array":
                return self._array(avro.branches[0])
            case "map":
                return _items(_member(self.compile(avro.branches[0])), _Least(1), b"{}", self.empty)
            case "enum":
                return enum_writer(avro.symbols)
            case "fixed":
                return fixed_writer(avro.size_bytes, is_decimal(avro))
            case "bytes":
                return write_decimal if is_decimal(avro) else write_bytes
            case kind:
                return PRIMITIVES[kind]

    def _union(self, avro: AvroType) -> Write:
        writers = [self.compile(branch) for branch in avro.branches]
        nulls = [branch.kind == "null" for branch in avro.branches]
        if len(avro.alternatives) > 1:
            names = [branch.simple_name or branch.kind for branch in avro.branches if branch.kind != "null"]
            return _alternatives(writers, nulls, names)
        if len(writers) == 2:
            return _optional(writers[nulls.index(False)], nulls.index(True))
        return _choice(writers)

    def _array(self, item: AvroType) -> Write:
        one = self.compile(item)
        least = _Least(self._least_bytes(item, frozenset()), max(self.empty_fields(item), 1))
        if not is_map_entry(item):
            return _items(one, least, b"[]", self.empty)
        key, value = (one.type for one in item.fields)
        has_text_keys = all(one.kind in ("string", "enum") for one in key.alternatives) and not is_decimal(key)
        if has_text_keys:
            return _items(_pair(self.compile(key), self.compile(value), b"", b":", b""), least, b"{}", self.empty)
        return _items(_pair(self.compile(key), self.compile(value), b"[", b",", b"]"), least, b"[]", self.empty)

    def _least_bytes(self, avro: AvroType, above: frozenset[int]) -> int:
        """Return how many bytes a value takes at least; a recursive one needs bytes to come to an end."""
        if id(avro) in above:
            return 1
        if id(avro) not in self._sizes:
            match avro.kind:
                case "null":
                    least = 0
                case "record":
                    inside = above | {id(avro)}
                    least = sum(self._least_bytes(one.type, inside) for one in avro.fields)
                case "fixed":
                    least = avro.size_bytes
                case "float":
                    least = FLOAT.size
                case "double":
                    least = DOUBLE.size
                case _:
                    least = 1
            self._sizes[id(avro)] = least
        return self._sizes[id(avro)]


def _recursive(done: dict[int, Write], id_: int) -> Write:
    """Lead back to a type that is being compiled, counting how deep the values go."""
    depth = 0

    def write(body: bytes, at: int, out: bytearray) -> int:
        nonlocal depth
        if depth >= DEPTH_LIMIT:
            raise undecodable(f"values are nested deeper than {DEPTH_LIMIT}")
        depth += 1
        try:
            return done[id_](body, at, out)
        finally:
            depth -= 1

    return write


def _record(fields: list[tuple[str, Write]]) -> Write:
    heads = [(b"," if number else b"{") + quoted(name) + b":" for number, (name, _) in enumerate(fields)]
    parts = [(head, write) for head, (_, write) in zip(heads, fields, strict=True)]

    def write(body: bytes, at: int, out: bytearray) -> int:
        for head, one in parts:
            out += head
            at = one(body, at, out)
        out += b"}" if parts else b"{}"
        if len(out) > max(LIMIT_BYTES, MAX_GROWTH * len(body)):
            raise _too_large()
        return at

    return write


def _optional(one: Write, null: int) -> Write:
    """Write null or a value; ``null`` is the place of null among the two alternatives."""
    nothing, something = 2 * null, 2 * (1 - null)

    def write(body: bytes, at: int, out: bytearray) -> int:
        branch = body[at]
        if branch == nothing:
            out += b"null"
            return at + 1
        if branch == something:
            return one(body, at + 1, out)
        return _wrong_branch()

    return write


def _choice(writers: list[Write]) -> Write:
    def write(body: bytes, at: int, out: bytearray) -> int:
        branch, at = read_long(body, at)
        if not 0 <= branch < len(writers):
            _wrong_branch()
        return writers[branch](body, at, out)

    return write


def _alternatives(writers: list[Write], nulls: list[bool], names: list[str]) -> Write:
    """Write one of several alternatives as the converter does: a member for each of them, null but for the one."""
    members = [quoted(name) + b":" for name in names]
    places = [index - sum(nulls[:index]) for index in range(len(nulls))]

    def write(body: bytes, at: int, out: bytearray) -> int:
        branch, at = read_long(body, at)
        if not 0 <= branch < len(writers):
            _wrong_branch()
        if nulls[branch]:
            out += b"null"
            return at
        for number, head in enumerate(members):
            out += (b"," if number else b"{") + head
            if number == places[branch]:
                at = writers[branch](body, at, out)
            else:
                out += b"null"
        out += b"}"
        return at

    return write


class _Least(NamedTuple):
    """What an item takes at least.

    Args:
        size_bytes: of its bytes.
        empty: of what one value may claim without bytes, where it takes none.
    """

    size_bytes: int
    empty: int = 1


def _items(one: Write, least: _Least, brackets: bytes, empty: _Empty) -> Write:
    """Write the blocks of an array or map."""
    opening, closing = brackets[:1], brackets[1:]
    least_bytes, least_empty = least

    def write(body: bytes, at: int, out: bytearray) -> int:
        mark = opening
        while True:
            count, at = read_long(body, at)
            if not count:
                break
            if count < 0:
                count = -count
                _, at = read_long(body, at)
            if not least_bytes:
                empty.left -= count * least_empty
            if count * least_bytes > len(body) - at or empty.left < 0:
                raise undecodable(f"a block claims {count} items, more than its bytes can hold")
            for _ in range(count):
                out += mark
                mark = b","
                at = one(body, at, out)
                if len(out) > LIMIT_BYTES:
                    raise _too_large()
        out += closing if mark == b"," else opening + closing
        return at

    return write


def _member(one: Write) -> Write:
    def write(body: bytes, at: int, out: bytearray) -> int:
        at = write_string(body, at, out)
        out += b":"
        return one(body, at, out)

    return write


def _pair(key: Write, value: Write, opening: bytes, between: bytes, closing: bytes) -> Write:
    def write(body: bytes, at: int, out: bytearray) -> int:
        out += opening
        at = key(body, at, out)
        out += between
        at = value(body, at, out)
        out += closing
        return at

    return write


def _wrong_branch() -> NoReturn:
    raise undecodable("a value names an alternative that its schema does not have")
