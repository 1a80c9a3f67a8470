"""Machine code that reads places of messages of the commonest forms; only loaded by ``machine_code``.

What is of no such form is *left* to others, marked row by row: ``formats.source_positions`` says what is right, and
nothing here decides otherwise. Texts are valid UTF-8, as those of arrays are that were checked.

Units: offsets are places in the texts of a batch, in bytes, and what is named ``at`` or ``end`` an address;
``PADDING`` bytes lie behind texts and rooms. The address 0 stands for nowhere: what is to be read there is not found,
so that one look for the end is enough after many steps.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled.memory import IS_CHECKED, allow, compiled_beside, copy, load8, store8
from metl_gui.engine.kernel.row_code import stamp
from metl_gui.engine.staging.place_code import SOURCE

_Numbers: TypeAlias = "NDArray[np.int64]"
_Offsets: TypeAlias = "NDArray[np.int32]"
_Truths: TypeAlias = "NDArray[np.bool_]"
_Letters: TypeAlias = "NDArray[np.uint8]"

_QUOTE, _ESCAPE, _OPEN, _CLOSED, _SPACE = 0x22, 0x5C, 0x7B, 0x7D, 0x20
_SLASH, _AT, _DOT, _ZERO = 0x2F, 0x40, 0x2E, 0x30
_A, _P, _B = 0x61, 0x70, 0x62
_TEN = 10
_MOST_DIGITS = 18
"""So many digits are always below 2**63."""

_PARTITION_DIGITS = 9
"""So many digits are always the number of a partition."""

KEY_BYTES = 1 + 3 * 16
"""The length of an order key of PostgreSQL's log and of a binlog."""


def _letters(text: bytes) -> _Letters:
    return np.frombuffer(text, np.uint8)


_SEQUENCE = _letters(rb'"sequence":"[')
_NULL_SEQUENCE = _letters(rb'"sequence":null,')
_NULL = _letters(b"null")
_BETWEEN = _letters(rb"\",\"")
_AFTER_NULL = _letters(rb",\"")
_OPENED = _letters(rb"\"")
_ENDED = _letters(rb'\"]",')
_LSN = _letters(rb'"lsn":')
_ORDER = _letters(rb',"total_order":')
_SERVER = _letters(rb'"server_id":')
_GTID = _letters(rb',"gtid":')
_FILE = _letters(rb',"file":"')
_POS = _letters(rb'","pos":')
_ROW = _letters(rb',"row":')

_compiled = compiled_beside(stamp(SOURCE))


@_compiled
def behind(at: int, end: int, wanted: _Letters) -> int:
    """Return where wanted letters end that a text begins with, 0 where it begins with others."""
    if at == 0 or end - at < len(wanted):
        return 0
    for place in range(len(wanted)):
        if load8(at + place) != wanted[place]:
            return 0
    return at + len(wanted)


@_compiled
def number(at: int, end: int) -> tuple[int, int]:
    """Read a number of up to ``_MOST_DIGITS`` digits as JSON writes it, and where it ends: 0 where there is none."""
    if at == 0:
        return 0, 0
    found, place = 0, at
    while place < end and place - at <= _MOST_DIGITS:
        digit = load8(place) - _ZERO
        if digit < 0 or digit > 9:
            break
        found, place = found * _TEN + digit, place + 1
    count = place - at
    is_one = count > 0 and count <= _MOST_DIGITS and (count == 1 or load8(at) != _ZERO)
    return found, place if is_one else 0


@_compiled
def digits_before(at: int, end: int, most: int) -> tuple[int, int]:
    """Read the digits that a text ends with, and where they begin: its end where there are none, or too many."""
    place, found, weight = end, 0, 1
    while place > at and end - place <= most:
        digit = load8(place - 1) - _ZERO
        if digit < 0 or digit > 9:
            break
        if end - place < most:
            found += digit * weight
            weight *= _TEN
        place -= 1
    return found, place if end - place <= most else end


@_compiled
def put_hex(room: int, value: int) -> int:
    """Write a number as 16 hexadecimal digits; return where they end."""
    for place in range(16):
        digit = (value >> (60 - 4 * place)) & 15
        store8(room + place, digit + (_ZERO if digit < 10 else _A - 10))
    return room + 16


@_compiled
def put_key(room: int, letter: int, first: int, second: int, third: int) -> int:
    """Write an order key; return where it ends."""
    store8(room, letter)
    return put_hex(put_hex(put_hex(room + 1, first), second), third)


@_compiled
def commit_of(at: int, end: int) -> tuple[int, int]:
    """Read the last commit of PostgreSQL's sequence, -1 for none, and where the sequence ends: 0 where it is none."""
    commit = -1
    place = behind(at, end, _NULL)
    if place > 0:
        place = behind(place, end, _AFTER_NULL)
    else:
        commit, place = number(behind(at, end, _OPENED), end)
        place = behind(place, end, _BETWEEN)
    _, place = number(place, end)
    return commit, behind(place, end, _ENDED)


@_compiled
def put_postgresql(room: int, at: int, end: int) -> int:
    """Write the order key of an origin of PostgreSQL; return where it ends, 0 where the origin is none."""
    commit, place = -1, behind(at, end, _SEQUENCE)
    if place > 0:
        commit, place = commit_of(place, end)
    else:
        place = at
    lsn, place = number(behind(place, end, _LSN), end)
    order, place_behind = number(behind(place, end, _ORDER), end)
    if place_behind > 0:
        place, order = place_behind, order + 1
    else:
        order = 0
    if place == 0 or place + 1 != end or load8(place) != _CLOSED:
        return 0
    return put_key(room, _P, commit if commit >= 0 else lsn, lsn, order)


@_compiled
def text_end(at: int, end: int) -> int:
    """Return where the quote stands that ends a text of JSON; 0 where something in it is escaped, or none does."""
    if at == 0:
        return 0
    for place in range(at, end):
        letter = load8(place)
        if letter == _QUOTE:
            return place
        if letter == _ESCAPE or letter < _SPACE:
            return 0
    return 0


@_compiled
def put_binlog(room: int, at: int, end: int) -> int:
    """Write the order key of an origin of a binlog; return where it ends, 0 where the origin is none."""
    place = behind(at, end, _NULL_SEQUENCE)
    _, place = number(behind(place if place > 0 else at, end, _SERVER), end)
    place = behind(place, end, _GTID)
    after_null = behind(place, end, _NULL)
    if after_null > 0:
        place = after_null
    elif place > 0 and place < end and load8(place) == _QUOTE:
        place = text_end(place + 1, end)
        place = place + 1 if place > 0 else 0
    else:
        return 0
    first = behind(place, end, _FILE)
    last = text_end(first, end)
    if last == 0:
        return 0
    file, dot = digits_before(first, last, _MOST_DIGITS)
    if dot == last or dot == first or load8(dot - 1) != _DOT:
        return 0
    pos, place = number(behind(last, end, _POS), end)
    row, place = number(behind(place, end, _ROW), end)
    if place == 0 or place + 1 != end or load8(place) != _CLOSED:
        return 0
    return put_key(room, _B, file, pos, row + 1)


@_compiled
def read_origins(source: int, offsets: _Offsets, room: int, ends: _Offsets, left: _Truths) -> None:
    """Write order keys one behind the other.

    Args:
        source: the address of the texts of the origins.
        offsets: where each begins there, and where the last ends.
        room: the address of what keys are written to, ``KEY_BYTES`` for each.
        ends: where each key begins; of the first one given, the others are filled in.
        left: is filled in.

    Shape: ``offsets`` and ``ends`` (rows + 1,); ``left`` (rows,).
    """
    to = room
    for row in range(len(left)):
        at, end = source + offsets[row], source + offsets[row + 1]
        made = 0
        if end > at and load8(at) == _OPEN:
            made = put_postgresql(to, at + 1, end)
            if made == 0:
                made = put_binlog(to, at + 1, end)
        left[row] = made == 0
        to = made if made > 0 else to
        ends[row + 1] = to - room


@_compiled
def read_positions(
    source: int,
    offsets: _Offsets,
    room: int,
    ends: _Offsets,
    partitions: _Numbers,
    numbers: _Numbers,
    left: _Truths,
) -> None:
    """Read transport positions.

    Args:
        source, offsets, left: as of ``read_origins``.
        room: the address of what logs are copied to, with room for the texts of all positions.
        ends: where each log begins, as of ``read_origins``.
        partitions, numbers: are filled in: partitions and offsets.
    """
    to = 0
    for row in range(len(left)):
        at, end = source + offsets[row], source + offsets[row + 1]
        partition, size = 0, -1
        found, first = digits_before(at, end, _MOST_DIGITS)
        if first < end and first > at:
            mark = load8(first - 1)
            if mark == _AT:
                size = first - 1 - at
            elif mark == _SLASH:
                partition, begins = digits_before(at, first - 1, _PARTITION_DIGITS)
                if begins < first - 1 and begins > at and load8(begins - 1) == _SLASH:
                    size = begins - 1 - at
        is_read = size >= 0
        left[row] = not is_read
        if size > 0:
            copy(room + to, at, size)
            to += size
        partitions[row], numbers[row] = (partition, found) if is_read else (0, 0)
        ends[row + 1] = to


def allow_texts(*texts: _Letters) -> None:
    """Name what a checked build may touch."""
    if IS_CHECKED:
        allow([(one.ctypes.data, one.ctypes.data + one.nbytes) for one in texts])


def warm() -> None:
    """Make all machine code, or load it where it was kept, by using it on nothing."""
    offsets, none, mask = np.zeros(1, np.int32), np.zeros(0, np.int64), np.zeros(0, np.bool_)
    read_origins(0, offsets, 0, offsets, mask)
    read_positions(0, offsets, 0, offsets, none, none, mask)
