"""Write single Avro values as JSON text, as ``kernel.avro_primitives`` does; what is unusual is left to it.

Functions take where text goes and return where it ends, or one of the numbers that say why it does not.
"""

from __future__ import annotations

import struct

from metl_gui.engine.kernel.compiled.avro_layout import (
    A_BLOB,
    A_GIVEN,
    A_GIVEN_COUNT,
    A_IS_AGAIN,
    A_WANTED,
    A_WANTED_COUNT,
    LEFT,
    NO_ROOM,
)
from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.memory import (
    PADDING,
    compiled,
    copy,
    copy_vector,
    first_bit,
    load8,
    load64,
    special,
    store8,
    store64,
)
from metl_gui.engine.kernel.compiled.reals import nearest, product, quotient, real_of
from metl_gui.engine.kernel.compiled.scalars import BACKSLASH, DOT, MINUS, QUOTE, SMALL_U, SPACE, ZERO, past_character
from metl_gui.engine.kernel.compiled.writing import write_number

_SHORT = tuple(ord(letter) for letter in "00000000btn0fr000000000000000000")
"""The letters behind a backslash for control bytes; a zero for those that have none."""


def _bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


_POWERS = tuple(_bits(10.0**power) for power in range(18))
_TENS = tuple(10**power for power in range(18))
_LARGE, _SMALL = _bits(1e7), _bits(1e-3)
_MOST_DIGITS = 10**15
"""Below it, no two numbers with so few digits have the same bits: digits that give the bits are the shortest."""

_ALL_BUT_SIGN = (1 << 63) - 1
_LEAST_TENTH = (1 << 63) // 10
_PAIR = 16


@compiled
def long_at(at: int, end: int) -> tuple[int, int]:
    """Read a number of variable length; return it and where it ends, which is 0 for none."""
    value, shift = 0, 0
    while at < end and shift < 64:
        byte = load8(at)
        at += 1
        if shift == 63 and byte > 1:
            return 0, 0
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return ((value >> 1) & _ALL_BUT_SIGN) ^ -(value & 1), at
        shift += 7
    return 0, 0


@compiled
def write_long(target: int, number: int) -> int:
    """Write a whole number."""
    if number >= 0:
        return write_number(target, number)
    store8(target, MINUS)
    if -number > 0:
        return write_number(target + 1, -number)
    # The least number has no positive counterpart: its last digit is written apart.
    target = write_number(target + 1, _LEAST_TENTH)
    store8(target, ZERO + 8)
    return target + 1


@compiled
def write_text(target: int, at: int, length: int, stop: int) -> int:
    """Write bytes that must be strict UTF-8 as a JSON string."""
    end = at + length
    if target + length + PADDING > stop:
        return NO_ROOM
    store8(target, QUOTE)
    target += 1
    while at < end:
        copy_vector(target, at)
        marks = special(at)
        if marks == 0:
            at += VECTOR
            target += VECTOR
            continue
        place = first_bit(marks)
        if at + place >= end:
            break
        at += place
        target += place
        letter = load8(at)
        if letter >= 0x80:
            after = past_character(at)
            if after == 0 or after > end:
                return LEFT
            copy_vector(target, at)
            target += after - at
            at = after
            continue
        if target + (end - at) + PADDING > stop:
            return NO_ROOM
        target = write_escape(target, letter)
        at += 1
    # A vector may have gone beyond the end.
    target += end - at
    store8(target, QUOTE)
    return target + 1


@compiled
def write_escape(target: int, letter: int) -> int:
    """Write a quote, a backslash or a control byte with its escape."""
    store8(target, BACKSLASH)
    if letter >= SPACE:
        store8(target + 1, letter)
        return target + 2
    short = _SHORT[letter]
    if short != ZERO:
        store8(target + 1, short)
        return target + 2
    store8(target + 1, SMALL_U)
    store8(target + 2, ZERO)
    store8(target + 3, ZERO)
    store8(target + 4, ZERO + (letter >> 4))
    low = letter & 15
    store8(target + 5, ZERO + low if low < 10 else 0x37 + low)
    return target + 6


@compiled
def write_base64(state: int, target: int, at: int, length: int, stop: int) -> int:
    """Write bytes as a JSON string in base64."""
    if target + (length // 3 + 1) * 4 + PADDING > stop:
        return NO_ROOM
    letters, end = load64(state + A_BLOB), at + length
    store8(target, QUOTE)
    target += 1
    while at < end:
        left = end - at
        bits = load8(at) << 16
        bits |= load8(at + 1) << 8 if left > 1 else 0
        bits |= load8(at + 2) if left > 2 else 0
        store8(target, load8(letters + (bits >> 18)))
        store8(target + 1, load8(letters + ((bits >> 12) & 63)))
        store8(target + 2, load8(letters + ((bits >> 6) & 63)) if left > 1 else 0x3D)
        store8(target + 3, load8(letters + (bits & 63)) if left > 2 else 0x3D)
        at += 3
        target += 4
    store8(target, QUOTE)
    return target + 1


@compiled
def past_sign(at: int, end: int) -> int:
    """Go past the bytes in front of a number in two's complement that it does not need."""
    while at + 1 < end:
        first, second = load8(at), load8(at + 1)
        if not ((first == 0 and second < 0x80) or (first == 0xFF and second >= 0x80)):
            break
        at += 1
    return at


@compiled
def write_wanted(state: int, target: int, bits: int, kind: int, stop: int) -> int:
    """Write the text of a number that Python was asked for; the first time, ask for it."""
    if load64(state + A_IS_AGAIN) == 0:
        number = load64(state + A_WANTED_COUNT)
        place = load64(state + A_WANTED) + number * _PAIR
        store64(place, bits)
        store64(place + 8, kind)
        store64(state + A_WANTED_COUNT, number + 1)
        return target
    number = load64(state + A_GIVEN_COUNT)
    place = load64(state + A_GIVEN) + number * _PAIR
    store64(state + A_GIVEN_COUNT, number + 1)
    length = load64(place + 8)
    return copy(target, load64(place), length) if target + length + PADDING <= stop else NO_ROOM


@compiled
def write_double(state: int, target: int, bits: int, kind: int, stop: int) -> int:
    """Write a number of 64 bits; one of more than 15 digits, or with an exponent, is Python's."""
    size = bits & _ALL_BUT_SIGN
    if size != 0 and (size < _SMALL or size >= _LARGE):
        return write_wanted(state, target, bits, kind, stop)
    digits, power = 0, 0
    while power < 18:
        digits = nearest(product(size, _POWERS[power]))
        if digits >= _MOST_DIGITS:
            return write_wanted(state, target, bits, kind, stop)
        if quotient(real_of(digits), _POWERS[power]) == size:
            break
        power += 1
    if power == 18:
        return write_wanted(state, target, bits, kind, stop)
    if bits < 0:
        store8(target, MINUS)
        target += 1
    whole = digits // _TENS[power]
    target = write_number(target, whole)
    store8(target, DOT)
    if power == 0:
        store8(target + 1, ZERO)
        return target + 2
    # A one in front keeps the zeros; the point is written over it.
    end = write_number(target, digits - whole * _TENS[power] + _TENS[power])
    store8(target, DOT)
    return end
