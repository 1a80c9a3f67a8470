"""Machine code that cuts messages into values and reads the common ones; only loaded by ``machine_code``.

A message matches a *pattern*: pieces of fixed text with one value between any two of them. What is no null and not of
the wanted form is *left* to others, marked row by row, so nothing here decides that a value does not fit.

Loops over bytes count in ``uint64``: an index that may be below 0 counts from the end, which is looked at each time and
makes them half as fast.

Units: places are bytes in the text of a batch; a value that is missing has length 0. Shape: ``starts`` and ``stops``
of one column (rows,).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled.jit_cache import Locator, keep
from metl_gui.engine.sinks.machine_code import stamp

Function = TypeVar("Function", bound=Callable[..., Any])
_Bytes: TypeAlias = Any
"""An array of bytes, which numba counts with as plain numbers."""

_Places: TypeAlias = "NDArray[np.int64]"

JSON, TEXT, DIGITS, DOUBLE, FLOAT = range(5)
"""Forms of values that are gathered: as they stand; texts without escapes; numbers; those that a fraction in binary
floating point of 64 or 32 bits surely holds."""

_QUOTE, _SLASH, _COMMA, _MINUS, _POINT, _ZERO, _NINE, _N = 0x22, 0x5C, 0x2C, 0x2D, 0x2E, 0x30, 0x39, 0x6E
_OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST, _SPACE, _PADDING = 0x7B, 0x7D, 0x5B, 0x5D, 0x20, 0x3D
_T, _F = 0x74, 0x66
_MOST_DIGITS = 18
"""So many digits are always below 2**63."""

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
def past_text(text: _Bytes, at: int, end: int) -> int:
    """Go past a text whose opening quote is here; -1 where it does not end."""
    place, stop = np.uint64(at + 1), np.uint64(end)
    while place < stop:
        letter = text[place]
        if letter == _QUOTE:
            return int(np.int64(place)) + 1
        place += np.uint64(2 if letter == _SLASH else 1)
    return -1


@_compiled
def past_value(text: _Bytes, at: int, end: int) -> int:
    """Go past a value; -1 where none ends before ``end``. The text is known to be JSON."""
    if at >= end:
        return -1
    letter = text[at]
    if letter == _QUOTE:
        return past_text(text, at, end)
    if letter != _OPEN and letter != _OPEN_LIST:
        start = at
        while at < end and text[at] > _SPACE and text[at] != _COMMA and text[at] != _CLOSE and text[at] != _CLOSE_LIST:
            at += 1
        return at if at > start else -1
    depth = 0
    while at < end:
        letter = text[at]
        if letter == _QUOTE:
            at = past_text(text, at, end)
            if at < 0:
                return -1
            continue
        at += 1
        if letter == _OPEN or letter == _OPEN_LIST:
            depth += 1
        elif letter == _CLOSE or letter == _CLOSE_LIST:
            depth -= 1
            if depth == 0:
                return at
    return -1


@_compiled
def is_at(text: _Bytes, at: int, end: int, other: _Bytes, start: int, stop: int) -> bool:
    """Say whether a piece of another text stands at a place."""
    if at + stop - start > end:
        return False
    differ = np.uint8(0)
    one, two = np.uint64(at), np.uint64(start)
    for number in range(np.uint64(stop - start)):
        differ |= text[one + number] ^ other[two + number]
    return bool(differ == 0)


@_compiled
def copy(target: _Bytes, to: int, text: _Bytes, at: int, end: int) -> int:
    """Copy bytes and return where they end."""
    one, two = np.uint64(to), np.uint64(at)
    for number in range(np.uint64(end - at)):
        target[one + number] = text[two + number]
    return to + end - at


@_compiled
def begin_with(text: _Bytes, starts: _Places, stops: _Places, head: _Bytes) -> NDArray[np.bool_]:
    """Say which messages begin with a text."""
    found = np.zeros(len(starts), np.bool_)
    for row in range(len(starts)):
        found[row] = is_at(text, starts[row], stops[row], head, 0, len(head))
    return found


@_compiled
def match(text: _Bytes, at: int, end: int, fixed: _Bytes, ends: _Places, first: int, last: int, spans: _Places) -> bool:
    """Match a message with the pieces from ``first`` to ``last`` of a pattern and note the values between them."""
    for piece in range(first, last):
        start, stop = ends[piece], ends[piece + 1]
        if not is_at(text, at, end, fixed, start, stop):
            return False
        at += stop - start
        if piece == last - 1:
            return at == end
        spans[2 * (piece - first)] = at
        at = past_value(text, at, end)
        if at < 0:
            return False
        spans[2 * (piece - first) + 1] = at
    return False


@_compiled
def cut(  # noqa: PLR0913, PLR0917 - numba knows no objects to put them in
    text: _Bytes,
    starts: _Places,
    stops: _Places,
    fixed: _Bytes,
    ends: _Places,
    firsts: _Places,
    columns: _Places,
    value_starts: NDArray[np.int64],
    value_stops: NDArray[np.int64],
    which: _Places,
) -> int:
    """Cut messages into values.

    Args:
        text, starts, stops: the messages.
        fixed: the pieces of all patterns, one after the other; ``ends`` says where each begins and the last ends.
        firsts: the first piece of each pattern, and how many there are in all.
        columns: for each piece the column of the value behind it, -1 for none.
        value_starts, value_stops: are filled in: (columns, rows), 0 where nothing stands.
        which: is filled in: the pattern of each message.

    Returns:
        The first message that matches no pattern, -1 where all do.
    """
    spans = np.zeros(2 * len(columns), np.int64)
    patterns, pattern = len(firsts) - 1, 0
    for row in range(len(starts)):
        # Messages of one kind mostly follow each other.
        tried = 0
        while not match(text, starts[row], stops[row], fixed, ends, firsts[pattern], firsts[pattern + 1], spans):
            tried += 1
            if tried == patterns:
                return row
            pattern = pattern + 1 if pattern + 1 < patterns else 0
        which[row] = pattern
        for piece in range(firsts[pattern], firsts[pattern + 1] - 1):
            column = columns[piece]
            if column >= 0:
                value_starts[column, row] = spans[2 * (piece - firsts[pattern])]
                value_stops[column, row] = spans[2 * (piece - firsts[pattern]) + 1]
    return -1


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
    """Copy values of one form one behind the other; return how many are left."""
    to, lefts = 0, 0
    for row in range(len(starts)):
        at, end = starts[row], stops[row]
        offsets[row] = to
        letter = _N if at == end else text[at]
        if letter == _N:
            continue
        is_taken = form == JSON
        if form == TEXT and letter == _QUOTE:
            at, end, is_taken = at + 1, end - 1, True
            for place in range(at, end):
                is_taken = is_taken and text[place] != _SLASH
        elif form == DIGITS:
            is_taken = letter == _MINUS or (letter >= _ZERO and letter <= _NINE)
        elif form == DOUBLE:
            is_taken = is_sure_fraction(text, at, end, 15, 17)
        elif form == FLOAT:
            is_taken = is_sure_fraction(text, at, end, 7, 9)
        if is_taken:
            present[row] = True
            to = copy(target, to, text, at, end)
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
    for row in range(len(starts)):
        at, end = starts[row], stops[row]
        if at == end or text[at] == _N:
            continue
        is_negative = text[at] == _MINUS
        at += 1 if is_negative else 0
        number, is_taken = 0, at < end <= at + _MOST_DIGITS
        if is_taken:
            for place in range(at, end):
                digit = text[place] - _ZERO
                is_taken = is_taken and digit >= 0 and digit <= 9
                number = 10 * number + digit
        if is_taken:
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
    padding = (1 if text[end - 1] == _PADDING else 0) + (1 if text[end - 2] == _PADDING else 0)
    size = (end - at) // 4 * 3 - padding
    if size > 8 or (padding > 0 and text[end - 1] != _PADDING):
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


def warm() -> None:
    """Make all machine code, or load it where it was kept, by using it on nothing."""
    text, places = np.zeros(1, np.uint8), np.zeros(1, np.int64)
    text.flags.writeable = False
    frozen = places.view()
    frozen.flags.writeable = False
    none, mask, table = np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros((0, 0), np.int64)
    begin_with(text, none, none, text)
    cut(text, none, none, text, frozen, frozen, frozen, table, table, none)
    gather(text, none, none, JSON, np.zeros(0, np.uint8), np.zeros(1, np.int32), mask, mask)
    read_whole(text, none, none, none, mask, mask)
    read_truths(text, none, none, mask, mask, mask)
    read_decimals(text, none, none, 0, False, table, mask, mask)
