"""Machine code that reads the common values of a column; only loaded by ``machine_code``.

What is no null and not of the wanted form is *left* to others, marked row by row, so nothing here decides that a value
does not fit.

Texts and numbers, which most values are, are read a vector or a word at a time from their addresses, as records are in
the kernel: ``PADDING`` bytes lie behind the text of a batch, and behind where values are gathered. Loops over bytes are
for the others.

All columns are read in one pass over blocks of ``BLOCK`` messages: what a value of a message lies beside is near then,
where column by column over a whole batch each value would be fetched from far off again.

Units: starts and stops are places in the text of a batch, in bytes, and what is named ``at`` or ``end`` an address; a
value that is missing has length 0. Shape: ``starts`` and ``stops`` of one column (rows,).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.compiled.memory import (
    IS_CHECKED,
    allow,
    compiled_beside,
    copy,
    first_bit,
    load8,
    load64,
    no_digit,
    special,
)
from metl_gui.engine.kernel.row_code import stamp
from metl_gui.engine.sinks.column_code import SOURCE
from metl_gui.engine.sinks.value_forms import (
    DECIMAL,
    DIGITS,
    DOUBLE,
    FLOAT,
    JSON,
    OTHER_DIGITS,
    TEXT,
    TRUTH,
    WHOLE,
)

_Places: TypeAlias = "NDArray[np.int64]"
_Form: TypeAlias = "tuple[int, int, bool, int]"
"""Kind, scale and whether there are texts, as of ``value_forms``, and the address of the text of the batch."""

BLOCK = 256
"""So many messages of usual lengths fit the nearest memory of a core that holds more than a few."""

_QUOTE, _SLASH, _MINUS, _POINT, _ZERO, _NINE, _N = 0x22, 0x5C, 0x2D, 0x2E, 0x30, 0x39, 0x6E
_EQUALS = 0x3D
_T, _F = 0x74, 0x66
_MOST_DIGITS = 18
"""So many digits are always below 2**63."""

_POWERS = 10 ** np.arange(_MOST_DIGITS + 1, dtype=np.int64)
_LINE = 64
"""Bytes that memory is fetched in."""

_NEAR_BYTES = 4096
"""So much of a message at most is looked at ahead."""

_ZEROS = 0x3030303030303030
_LONGEST = 32
_BASE64 = np.full(256, -1, np.int64)
_BASE64[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")] = np.arange(64)


_compiled = compiled_beside(stamp(SOURCE))


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
def point_of(at: int, end: int) -> int:
    """Return where the point stands in a number without sign and exponent; its end where it has none, else 0."""
    if at == end:
        return 0
    point = end
    for place in range(at, end, VECTOR):
        marks = no_digit(place) & ((1 << min(end - place, VECTOR)) - 1)
        if marks == 0:
            continue
        if point < end or marks & (marks - 1) != 0:
            return 0
        point = place + first_bit(marks)
        if load8(point) != _POINT or point + 1 == end:
            return 0
    return point


@_compiled
def is_sure_fraction(at: int, end: int, few: int, many: int) -> bool:
    """Say whether a number without exponent is held by binary floating point without a look at what it becomes.

    Args:
        at, end: the number.
        few: numbers of so many letters are held exactly enough, whatever they are.
        many: so many digits are told apart, where some of them stand behind a point.
    """
    if end - at > _LONGEST:
        return False
    is_negative = load8(at) == _MINUS
    if end - at <= few and not is_negative and point_of(at, end) > 0:
        return True
    digits, is_broken = 0, False
    for place in range(at, end):
        letter = load8(place)
        if letter == _POINT:
            is_broken = True
        elif letter >= _ZERO and letter <= _NINE:
            if digits > 0 or letter != _ZERO:
                digits += 1
        elif letter != _MINUS:
            return False
    if digits == 0 and is_negative:
        # Whether a zero keeps its sign is for others to say.
        return False
    return end - at <= few or (is_broken and digits <= many and load8(end - 1) != _ZERO)


@_compiled
def is_of_scale(at: int, end: int, scale: int) -> bool:
    """Say whether a number is written as decimals of a scale are: all its places, and no zero or sign too many."""
    is_negative = load8(at) == _MINUS
    at += 1 if is_negative else 0
    point = point_of(at, end)
    if point == 0 or end - point != (scale + 1 if scale > 0 else 0):
        return False
    if load8(at) != _ZERO:
        return True
    if point - at > 1:
        return False
    is_zero = True
    for place in range(point + 1, end):
        is_zero = is_zero and load8(place) == _ZERO
    return not (is_zero and is_negative)


@_compiled
def gather(
    starts: _Places,
    stops: _Places,
    rows: tuple[int, int],
    form: _Form,
    room: int,
    offsets: NDArray[np.int32],
    present: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> int:
    """Copy values of one form one behind the other; return how many are left.

    Args:
        starts, stops: the values, from the text of the batch on.
        rows: the first of them, and where they end.
        form: see there.
        room: the address of what the values are copied to; there is room for all of them.
        offsets: where each begins there, of the first one given; the others are filled in.
        present, left: are filled in.
    """
    kind, scale, has_texts, source = form
    to, lefts = offsets[rows[0]], 0
    for row in range(rows[0], rows[1]):
        at, end = source + starts[row], source + stops[row]
        letter = _N if at == end else load8(at)
        is_nothing = letter == _N or (has_texts and letter == _QUOTE)
        is_taken = kind == JSON
        if is_nothing:
            is_taken = False
        elif kind == TEXT and letter == _QUOTE:
            at, end = at + 1, end - 1
            is_taken = not has_escape(at, end)
        elif kind == DIGITS or kind == OTHER_DIGITS:
            is_taken = letter == _MINUS or (letter >= _ZERO and letter <= _NINE)
            if kind == OTHER_DIGITS and is_taken and is_of_scale(at, end, scale):
                is_nothing, is_taken = True, False
        elif kind == DOUBLE:
            is_taken = is_sure_fraction(at, end, 15, 17)
        elif kind == FLOAT:
            is_taken = is_sure_fraction(at, end, 7, 9)
        if is_taken:
            if end > at:
                copy(room + to, at, end - at)
            to += end - at
        is_left = not is_taken and not is_nothing
        present[row], left[row], offsets[row + 1] = is_taken, is_left, to
        lefts += is_left
    return lefts


@_compiled
def read_whole(
    starts: _Places,
    stops: _Places,
    rows: tuple[int, int],
    form: _Form,
    values: _Places,
    present: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> int:
    """Read whole numbers of up to 18 digits; return how many values are left. Arguments as of ``gather``."""
    source, lefts = form[3], 0
    for row in range(rows[0], rows[1]):
        at, end = source + starts[row], source + stops[row]
        number, is_taken = 0, False
        is_nothing = at == end or load8(at) == _N
        if not is_nothing:
            is_negative = load8(at) == _MINUS
            at += 1 if is_negative else 0
            is_taken = are_digits(at, end)
            if is_taken:
                number = whole_number(at, end)
                number = -number if is_negative else number
        is_left = not is_taken and not is_nothing
        values[row], present[row], left[row] = number, is_taken, is_left
        lefts += is_left
    return lefts


@_compiled
def read_truths(
    starts: _Places,
    stops: _Places,
    rows: tuple[int, int],
    form: _Form,
    values: NDArray[np.bool_],
    present: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> int:
    """Read true and false; return how many values are left. Arguments as of ``gather``."""
    source, lefts = form[3], 0
    for row in range(rows[0], rows[1]):
        letter = _N if starts[row] == stops[row] else load8(source + starts[row])
        is_taken = letter == _T or letter == _F
        is_left = not is_taken and letter != _N
        values[row], present[row], left[row] = letter == _T, is_taken, is_left
        lefts += is_left
    return lefts


@_compiled
def scaled(at: int, end: int, scale: int) -> tuple[int, bool]:
    """Read a decimal number without exponent as a count of units of a scale; whether that is one of 18 digits."""
    is_negative = load8(at) == _MINUS
    at += 1 if is_negative else 0
    point = point_of(at, end)
    behind = max(end - point - 1, 0)
    digits, missing = point - at + behind, scale - behind
    if point == 0 or missing < 0 or digits + missing > _MOST_DIGITS:
        return 0, False
    number = whole_number(at, point)
    if behind > 0:
        number = number * _POWERS[behind] + whole_number(point + 1, end)
    number *= _POWERS[missing]
    return (-number if is_negative else number), True


@_compiled
def decoded(at: int, end: int) -> tuple[int, bool]:
    """Read up to 8 bytes in base64, between quotes, as one number, the highest byte first; whether they are that."""
    at, end = at + 1, end - 1
    if end <= at or (end - at) % 4 != 0 or end - at > 12:
        return 0, False
    padding = 0 if load8(end - 1) != _EQUALS else 1 if load8(end - 2) != _EQUALS else 2
    size = (end - at) // 4 * 3 - padding
    if size > 8:
        return 0, False
    number, bad = 0, 0
    for place in range(at, end - 4, 4):
        number, bad = with_four(number, bad, place, 4)
    last, bad = with_four(0, bad, end - 4, 4 - padding)
    if bad < 0 or last & ((1 << (8 * padding)) - 1) != 0:
        return 0, False
    number = (number << (8 * (3 - padding))) | (last >> (8 * padding))
    # The first byte carries the sign.
    unused = 64 - 8 * size
    return (number << unused) >> unused, True


@_compiled
def with_four(number: int, bad: int, place: int, count: int) -> tuple[int, int]:
    """Put the bytes of four letters of base64 behind a number, as if those beyond a count were zero.

    Returns:
        The number, and something below zero where one of the letters, or ``bad`` already, is none.
    """
    for letter in range(4):
        code = _BASE64[load8(place + letter)] if letter < count else 0
        number = (number << 6) | (code & 63)
        bad |= code
    return number, bad


@_compiled
def read_decimals(
    starts: _Places,
    stops: _Places,
    rows: tuple[int, int],
    form: _Form,
    values: _Places,
    present: NDArray[np.bool_],
    left: NDArray[np.bool_],
) -> int:
    """Read decimals that fit 64 bits as halves of 128, the lower first; return how many values are left.

    Arguments as of ``gather``.

    Shape: ``values`` (2 * rows,).
    """
    _, scale, has_texts, source = form
    lefts = 0
    for row in range(rows[0], rows[1]):
        at, end = source + starts[row], source + stops[row]
        number, is_taken = 0, False
        is_nothing = at == end or load8(at) == _N
        if not is_nothing:
            if load8(at) != _QUOTE:
                number, is_taken = scaled(at, end, scale)
            elif has_texts:
                number, is_taken = decoded(at, end)
        number = number if is_taken else 0
        values[2 * row], values[2 * row + 1] = number, -1 if number < 0 else 0
        is_left = not is_taken and not is_nothing
        present[row], left[row] = is_taken, is_left
        lefts += is_left
    return lefts


@_compiled
def bring_near(source: int, starts: _Places) -> int:
    """Look at the text of messages that are about to be read, in order: memory that is read so comes ahead of time.

    Args:
        source: the address of the text of the batch.
        starts: of the first value of each message.

    Returns:
        Something that is made of what was seen, so that no compiler leaves the looking out.
    """
    seen = 0
    for row in range(len(starts) - 1):
        for place in range(starts[row], min(starts[row + 1], starts[row] + _NEAR_BYTES), _LINE):
            seen ^= load64(source + place)
    return seen


@_compiled
def read_columns(
    addresses: _Places,
    places: NDArray[np.int64],
    jobs: NDArray[np.int64],
    offsets: NDArray[np.int32],
    numbers: _Places,
    truths: NDArray[np.bool_],
    masks: NDArray[np.bool_],
    seen: _Places,
) -> int:
    """Read the values of many columns, a block of messages after the other; return how many are left.

    Args:
        addresses: of the text of the batch, and behind it those that the values which are gathered are copied to.
        places: where the values begin and end.
        jobs: what is made of a column, a row each: kind, scale, whether there are texts, the column, and where its
            values lie: of those that are gathered, their row of ``offsets``; of others, how many rows of messages lie
            before them in ``numbers`` or ``truths``.
        offsets, numbers, truths: are filled in; of ``offsets`` the first ones are given.
        masks: are filled in: which values are there, and which are left.
        seen: of length 1, see ``bring_near``; nobody else needs it.

    Shape: ``addresses`` (1 + texts,); ``places`` (2, columns, rows); ``jobs`` (jobs, 5); ``offsets`` (texts, rows + 1);
        ``numbers`` and ``truths`` (columns of them * rows,); ``masks`` (2, jobs, rows).
    """
    count, lefts, source = places.shape[2], 0, addresses[0]
    for first in range(0, count, BLOCK):
        rows = (first, min(first + BLOCK, count))
        seen[0] ^= bring_near(source, places[0, 0, rows[0] : rows[1]])
        for job in range(len(jobs)):
            kind, column, slot = jobs[job, 0], jobs[job, 3], jobs[job, 4]
            form = (kind, jobs[job, 1], jobs[job, 2] != 0, source)
            starts, stops = places[0, column], places[1, column]
            present, left = masks[0, job], masks[1, job]
            if kind == WHOLE:
                lefts += read_whole(starts, stops, rows, form, numbers[slot * count :], present, left)
            elif kind == TRUTH:
                lefts += read_truths(starts, stops, rows, form, truths[slot * count :], present, left)
            elif kind == DECIMAL:
                lefts += read_decimals(starts, stops, rows, form, numbers[slot * count :], present, left)
            else:
                lefts += gather(starts, stops, rows, form, addresses[slot + 1], offsets[slot], present, left)
    return lefts


def allow_text(text: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    """Name what a checked build may touch: the text, with what lies behind it, and where values are gathered."""
    if IS_CHECKED:
        ends = (text.ctypes.data + text.nbytes + PADDING, target.ctypes.data + target.nbytes)
        allow([(text.ctypes.data, ends[0]), (target.ctypes.data, ends[1])])


def warm() -> None:
    """Make all machine code, or load it where it was kept, by using it on nothing."""
    places, jobs = np.zeros((2, 0, 0), np.int64), np.zeros((0, 5), np.int64)
    none, mask, masks = np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros((2, 0, 0), np.bool_)
    read_columns(
        np.zeros(1, np.int64), places, jobs, np.zeros((0, 1), np.int32), none, mask, masks, np.zeros(1, np.int64)
    )
