"""Machine code that reads the common values of a column; only loaded by ``machine_code``.

What is no null and not of the wanted form is *left* to others, marked row by row, so nothing here decides that a value
does not fit.

Texts and whole numbers, which most values are, are read a vector or a word at a time from their addresses, as records
are in the kernel: ``PADDING`` bytes lie behind the text of a batch, and behind where values are gathered. Loops over
bytes are for the others.

Units: places are bytes in the text of a batch; a value that is missing has length 0. Shape: ``starts`` and ``stops``
of one column (rows,).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.jit_cache import Locator, keep
from metl_gui.engine.kernel.compiled.memory import (
    IS_CHECKED,
    PADDING,
    allow,
    copy,
    first_bit,
    load8,
    load64,
    no_digit,
    special,
)
from metl_gui.engine.sinks.machine_code import stamp

Function = TypeVar("Function", bound=Callable[..., Any])
_Bytes: TypeAlias = Any
"""An array of bytes, which numba counts with as plain numbers."""

_Places: TypeAlias = "NDArray[np.int64]"

JSON, TEXT, DIGITS, DOUBLE, FLOAT = range(5)
"""Forms of values that are gathered: as they stand; texts without escapes; numbers; those that a fraction in binary
floating point of 64 or 32 bits surely holds."""

_QUOTE, _SLASH, _MINUS, _POINT, _ZERO, _NINE, _N = 0x22, 0x5C, 0x2D, 0x2E, 0x30, 0x39, 0x6E
_EQUALS = 0x3D
_T, _F = 0x74, 0x66
_MOST_DIGITS = 18
"""So many digits are always below 2**63."""

_ZEROS = 0x3030303030303030
_LONGEST = 32
_BASE64 = np.full(256, -1, np.int64)
_BASE64[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")] = np.arange(64)


class _Locator(Locator):
    """Has machine code kept beside the kernel's, as long as this source is the same too."""

    def get_source_stamp(self) -> str:
        return f"{super().get_source_stamp()} {stamp()}"


def _compiled(function: Function) -> Function:
    return keep(njit(function, nogil=True, error_model="numpy"), _Locator)  # type: ignore[no-any-return]  # numba has no types for it


@_compiled
def has_escape(at: int, end: int) -> bool:
    """Say whether a backslash stands in a text of JSON."""
    while at < end:
        marks = special(at)
        while marks != 0:
            place = at + first_bit(marks)
            if place < end and load8(place) == _SLASH:
                return True
            marks &= marks - 1
        at += VECTOR
    return False


@_compiled
def are_digits(at: int, end: int) -> bool:
    """Say whether up to ``_MOST_DIGITS`` letters, at least one, are all digits."""
    count = end - at
    if count <= 0 or count > _MOST_DIGITS:
        return False
    marks = no_digit(at)
    if count < VECTOR:
        return marks & ((1 << count) - 1) == 0
    return marks == 0 and no_digit(end - VECTOR) == 0


@_compiled
def eight_digits(word: int) -> int:
    """Return the number that eight digits are, of which the first lies lowest; bytes of 0 count as digits of 0.

    Pairs of digits become numbers of two, these of four, these of eight; each step works on all of them at once.
    """
    word = word * 10 + (word >> 8)
    first = (word & 0xFF000000FF) * 0xF424000000064
    second = ((word >> 16) & 0xFF000000FF) * 0x271000000001
    return ((first + second) >> 32) & 0xFFFFFFFF


@_compiled
def whole_number(at: int, end: int) -> int:
    """Return the number that up to ``_MOST_DIGITS`` digits are."""
    number, first = 0, (end - at) & 7
    if first:
        shift = 8 * (8 - first)
        number = eight_digits((load64(at) - _ZEROS) << shift)
        at += first
    while at < end:
        number = number * 100_000_000 + eight_digits(load64(at) - _ZEROS)
        at += 8
    return number


@_compiled
def is_sure_fraction(text: _Bytes, at: int, end: int, few: int, many: int) -> bool:
    """Say whether a number without exponent is held by binary floating point without a look at what it becomes.

    Args:
        text, at, end: the number.
        few: numbers of so many letters are held exactly enough, whatever they are.
        many: so many digits are told apart, where some of them stand behind a point.
    """
    if end - at > _LONGEST:
        return False
    digits, is_broken = 0, False
    for place in range(at, end):
        letter = text[place]
        if letter == _POINT:
            is_broken = True
        elif letter >= _ZERO and letter <= _NINE:
            if digits > 0 or letter != _ZERO:
                digits += 1
        elif letter != _MINUS:
            return False
    if digits == 0 and text[at] == _MINUS:
        # Whether a zero keeps its sign is for others to say.
        return False
    return end - at <= few or (is_broken and digits <= many and text[end - 1] != _ZERO)


@_compiled
def gather(
    text: _Bytes,
    starts: _Places,
    stops: _Places,
    form: int,
    target: _Bytes,
    offsets: NDArray[np.int32],
    present: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> int:
    """Copy values of one form one behind the other; return how many are left.

    Args:
        text, starts, stops: the values.
        form: see ``JSON`` and those beside it.
        target, offsets: are filled in: the values, and where each begins.
        present, left: are filled in.
    """
    to, lefts = 0, 0
    source: Any = np.int64(text.ctypes.data)
    room: Any = np.int64(target.ctypes.data)
    for row in range(len(starts)):
        at, end = starts[row], stops[row]
        offsets[row] = to
        letter = _N if at == end else text[at]
        if letter == _N:
            continue
        is_taken = form == JSON
        if form == TEXT and letter == _QUOTE:
            at, end = at + 1, end - 1
            is_taken = not has_escape(source + at, source + end)
        elif form == DIGITS:
            is_taken = letter == _MINUS or (letter >= _ZERO and letter <= _NINE)
        elif form == DOUBLE:
            is_taken = is_sure_fraction(text, at, end, 15, 17)
        elif form == FLOAT:
            is_taken = is_sure_fraction(text, at, end, 7, 9)
        if is_taken:
            present[row] = True
            if end > at:
                copy(room + to, source + at, end - at)
            to += end - at
        else:
            left[row] = True
            lefts += 1
    offsets[len(starts)] = to
    return lefts


@_compiled
def read_whole(
    text: _Bytes,
    starts: _Places,
    stops: _Places,
    values: _Places,
    present: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> int:
    """Read whole numbers of up to 18 digits; return how many values are left."""
    lefts = 0
    source: Any = np.int64(text.ctypes.data)
    for row in range(len(starts)):
        at, end = starts[row], stops[row]
        if at == end or text[at] == _N:
            continue
        is_negative = text[at] == _MINUS
        at += source + (1 if is_negative else 0)
        end += source
        if are_digits(at, end):
            number = whole_number(at, end)
            values[row] = -number if is_negative else number
            present[row] = True
        else:
            left[row] = True
            lefts += 1
    return lefts


@_compiled
def read_truths(
    text: _Bytes,
    starts: _Places,
    stops: _Places,
    values: NDArray[np.bool_],
    present: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> int:
    """Read true and false; return how many values are left."""
    lefts = 0
    for row in range(len(starts)):
        letter = _N if starts[row] == stops[row] else text[starts[row]]
        if letter == _T or letter == _F:
            values[row] = letter == _T
            present[row] = True
        elif letter != _N:
            left[row] = True
            lefts += 1
    return lefts


@_compiled
def scaled(text: _Bytes, at: int, end: int, scale: int) -> tuple[int, bool]:
    """Read a decimal number without exponent as a count of units of a scale; whether that is one of 18 digits."""
    is_negative = text[at] == _MINUS
    at += 1 if is_negative else 0
    number, digits, behind = 0, 0, -1
    for place in range(at, end):
        letter = text[place]
        if letter == _POINT and behind < 0:
            behind = 0
        elif letter >= _ZERO and letter <= _NINE and digits < _MOST_DIGITS:
            number = 10 * number + (letter - _ZERO)
            digits += 1
            behind += 1 if behind >= 0 else 0
        else:
            return 0, False
    missing = scale - max(behind, 0)
    if digits == 0 or missing < 0 or digits + missing > _MOST_DIGITS:
        return 0, False
    for _ in range(missing):
        number *= 10
    return (-number if is_negative else number), True


@_compiled
def decoded(text: _Bytes, at: int, end: int) -> tuple[int, bool]:
    """Read up to 8 bytes in base64, between quotes, as one number, the highest byte first; whether they are that."""
    at, end = at + 1, end - 1
    if end <= at or (end - at) % 4 != 0 or end - at > 12:
        return 0, False
    padding = (1 if text[end - 1] == _EQUALS else 0) + (1 if text[end - 2] == _EQUALS else 0)
    size = (end - at) // 4 * 3 - padding
    if size > 8 or (padding > 0 and text[end - 1] != _EQUALS):
        return 0, False
    number, bits, done = 0, 0, 0
    waiting = 0
    for place in range(at, end - padding):
        code = _BASE64[text[place]]
        if code < 0:
            return 0, False
        waiting = ((waiting << 6) | code) & 0xFFFF
        bits += 6
        if bits >= 8:
            bits -= 8
            byte = (waiting >> bits) & 0xFF
            # The first byte carries the sign.
            number = (byte - 256 if byte > 127 else byte) if done == 0 else (number << 8) | byte
            done += 1
    return number, done == size and (waiting & ((1 << bits) - 1)) == 0


@_compiled
def read_decimals(
    text: _Bytes,
    starts: _Places,
    stops: _Places,
    scale: int,
    takes_bytes: bool,
    values: NDArray[np.int64],
    present: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> int:
    """Read decimals that fit 64 bits as halves of 128, the lower first; return how many values are left.

    Args:
        text, starts, stops: the values.
        scale: of the column.
        takes_bytes: texts are bytes in base64 that count in this scale.
        values: is filled in: (rows, 2).
        present, left: are filled in.
    """
    lefts = 0
    for row in range(len(starts)):
        at, end = starts[row], stops[row]
        if at == end or text[at] == _N:
            continue
        number, is_taken = 0, False
        if text[at] != _QUOTE:
            number, is_taken = scaled(text, at, end, scale)
        elif takes_bytes:
            number, is_taken = decoded(text, at, end)
        if is_taken:
            values[row, 0] = number
            values[row, 1] = -1 if number < 0 else 0
            present[row] = True
        else:
            left[row] = True
            lefts += 1
    return lefts


def room_for(size: int) -> NDArray[np.uint8]:
    """Return where values of so many bytes are gathered."""
    return np.empty(size + PADDING, np.uint8)


def allow_text(text: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    """Name what a checked build may touch: the text, with what lies behind it, and where values are gathered."""
    if IS_CHECKED:
        ends = (text.ctypes.data + text.nbytes + PADDING, target.ctypes.data + target.nbytes)
        allow([(text.ctypes.data, ends[0]), (target.ctypes.data, ends[1])])


def warm() -> None:
    """Make all machine code, or load it where it was kept, by using it on nothing."""
    text = np.zeros(1, np.uint8)
    text.flags.writeable = False
    none, mask, table = np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros((0, 0), np.int64)
    gather(text, none, none, JSON, room_for(0), np.zeros(1, np.int32), mask, mask)
    read_whole(text, none, none, none, mask, mask)
    read_truths(text, none, none, mask, mask, mask)
    read_decimals(text, none, none, 0, False, table, mask, mask)
