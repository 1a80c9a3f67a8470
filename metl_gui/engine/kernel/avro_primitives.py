"""Single Avro values to JSON text: numbers, text, bytes, symbols.

Each function reads the value that begins at a place, appends its text, and returns where the next value begins. What
the bytes end in, or say that cannot be, ends in ``IndexError``, ``struct.error``, ``ValueError`` or a ``RecordError``.

Source: cdc-formats.md §5 (how the JSON converter writes a value).
"""

from __future__ import annotations

import math
import re
import struct
import sys
from base64 import b64encode
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias

import numpy as np

from metl_gui.errors import RecordError
from metl_gui.formats.avro_container import read_long
from metl_gui.formats.json_text import quoted

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
    """Write one byte that is 0 or 1."""
    byte = body[at]
    if byte > 1:
        raise undecodable(f"a boolean is {byte}")
    out += b"true" if byte else b"false"
    return at + 1


def write_int(body: bytes, at: int, out: bytearray) -> int:
    """Write a number of 32 bits."""
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
