"""Machine code that writes framed Avro as text, each key and value by the program of its writer schema.

Single values are written as ``kernel.avro_values`` writes them; what is unusual is left to it. What machine code does
not read (bytes that their schema did not write, values that are no objects, text that grows too long) is left too: the
reference then looks at the record as it came. So nothing is read here that the reference refuses.

Functions take where text goes and return where it ends, or one of the numbers that say why it does not.
"""

from __future__ import annotations

import struct

from metl_gui.engine.kernel.compiled.avro import programs as at
from metl_gui.engine.kernel.compiled.avro.programs import (
    A_BLOB,
    A_GIVEN,
    A_GIVEN_COUNT,
    A_IS_AGAIN,
    A_WANTED,
    A_WANTED_COUNT,
    LEFT,
    NO_ROOM,
)
from metl_gui.engine.kernel.compiled.instructions import VECTOR, nearest, product, quotient, real_of
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.compiled.memory import (
    compiled,
    copy,
    copy_fixed,
    copy_vector,
    first_bit,
    load8,
    load64,
    special,
    store8,
    store64,
)
from metl_gui.engine.kernel.compiled.scalars import (
    BACKSLASH,
    CLOSE,
    COMMA,
    DOT,
    MINUS,
    OPEN,
    QUOTE,
    SMALL_U,
    SPACE,
    ZERO,
    past_character,
    word_of,
    write_number,
)

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
    """Skip the bytes in front of a number in two's complement that it does not need."""
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


_NULL, _TRUE, _FALSE = word_of(b"null"), word_of(b"true"), word_of(b"false")
_INT_LIMIT = 1 << 31
_FOUR_BYTES = 0xFFFFFFFF


@compiled
def content_at(place: int, end: int) -> tuple[int, int]:
    """Read a length and return where its bytes begin and end, which is 0 for none."""
    length, start = long_at(place, end)
    if start == 0 or length < 0 or length > end - start:
        return 0, 0
    return start, start + length


@compiled
def write_bytes(state: int, program: int, target: int, start: int, end: int, stop: int) -> int:
    """Write bytes in base64, those of a decimal as few as it takes."""
    if load64(program + at.SECOND) != 0:
        start = past_sign(start, end)
    return write_base64(state, target, start, end - start, stop)


@compiled
def write_sized(state: int, program: int, op: int, place: int, end: int, target: int, stop: int) -> tuple[int, int]:
    """Write a value of one instruction that is no number of variable length and no string.

    Args:
        state: address of the state.
        program: its instruction, and
        op: what that does.
        place, end: where the value lies, and where its bytes end.
        target, stop: where text goes, and where there is no more room.

    Returns:
        Where the value ends, and where its text ends or why it does not.
    """
    if op == at.BOOLEAN:
        if place >= end or load8(place) > 1:
            return 0, at.LEFT
        is_true = load8(place) == 1
        store64(target, _TRUE if is_true else _FALSE)
        return place + 1, target + (4 if is_true else 5)
    if op == at.DOUBLE:
        if end - place < 8:
            return 0, at.LEFT
        return place + 8, write_double(state, target, load64(place), at.IS_DOUBLE, stop)
    if op == at.FLOAT:
        if end - place < 4:
            return 0, at.LEFT
        return place + 4, write_wanted(state, target, load64(place) & _FOUR_BYTES, at.IS_FLOAT, stop)
    if op == at.ENUM:
        number, place = long_at(place, end)
        if place == 0 or number < 0 or number >= load64(program + at.FIRST):
            return 0, at.LEFT
        kept, blob = load64(state + at.A_CODE) + load64(program + at.SECOND), load64(state + at.A_BLOB)
        length = load64(kept + number * 16 + 8)
        if target + length + PADDING > stop:
            return 0, at.NO_ROOM
        return place, copy(target, blob + load64(kept + number * 16), length)
    if op == at.BYTES:
        start, place = content_at(place, end)
        return place, (write_bytes(state, program, target, start, place, stop) if place != 0 else at.LEFT)
    start, place = place, place + load64(program + at.FIRST)
    return place, (write_bytes(state, program, target, start, place, stop) if place <= end else at.LEFT)


@compiled
def chosen(code: int, program: int, place: int, end: int) -> tuple[int, int]:
    """Read which branch of a choice is written.

    Returns:
        The instruction that it begins with, and where it lies, which is 0 where there is no such branch.
    """
    number, place = long_at(place, end)
    if place == 0 or number < 0 or number >= load64(program + at.FIRST):
        return 0, 0
    return code + load64(code + load64(program + at.SECOND) + number * 8), place


@compiled
def begin_items(frame: int, target: int, letter: int) -> int:
    """Begin a list or a map: note in its frame that nothing of it was written, and write its bracket."""
    store64(frame + at.FRAME_LEFT, 0)
    store64(frame + at.FRAME_IS_BEGUN, 0)
    store8(target, letter)
    return target + 1


@compiled
def items_left(frame: int, place: int, end: int) -> tuple[int, int]:
    """Read how many items of a list or a map come before the next count; none at its end.

    Returns:
        So many, and where the next one lies, which is 0 for counts that cannot be.
    """
    count = load64(frame + at.FRAME_LEFT)
    if count != 0:
        return count, place
    count, place = long_at(place, end)
    if count < 0 and place != 0:
        count = -count
        _, place = long_at(place, end)
    return (count, place) if count >= 0 and count <= end - place else (0, 0)


@compiled
def next_item(code: int, frames: int, program: int, place: int, end: int, target: int) -> tuple[int, int, int]:
    """Begin an item behind a comma where it is not the first, or write the bracket behind the last.

    Returns:
        The instruction that follows, where the value goes on, and where its text does or why it does not.
    """
    frame = frames + load64(program + at.FIRST)
    count, place = items_left(frame, place, end)
    if place == 0:
        return program, 0, at.LEFT
    if count == 0:
        store8(target, load64(program + at.SECOND))
        return code + load64(program + at.THIRD), place, target + 1
    store64(frame + at.FRAME_LEFT, count - 1)
    if load64(frame + at.FRAME_IS_BEGUN) != 0:
        store8(target, COMMA)
        return program + at.INSTRUCTION_BYTES, place, target + 1
    store64(frame + at.FRAME_IS_BEGUN, 1)
    return program + at.INSTRUCTION_BYTES, place, target


@compiled
def write_value(state: int, program: int, place: int, end: int, target: int, stop: int) -> int:  # noqa: C901, PLR0912 - an interpreter
    """Write a value by a program.

    Args:
        state: address of the state.
        program: place of the first instruction.
        place, end: where the value lies, and where its bytes end.
        target, stop: where text goes, and where there is no more room.
    """
    code, blob, frames = load64(state + at.A_CODE), load64(state + at.A_BLOB), load64(state + at.A_FRAMES)
    program += code
    while target > 0:
        if target + PADDING > stop:
            return at.NO_ROOM
        op = load64(program)
        if op == at.TEXT:
            length = load64(program + at.SECOND)
            if target + length + PADDING > stop:
                return at.NO_ROOM
            target = copy_fixed(target, blob + load64(program + at.FIRST), length)
        elif op == at.OPTIONAL:
            branch = load8(place) if place < end else -1
            place += 1
            if branch == load64(program + at.FIRST):
                store64(target, _NULL)
                target += 4
                program = code + load64(program + at.THIRD)
                continue
            if branch != load64(program + at.SECOND):
                return at.LEFT
        elif op == at.LONG or op == at.INT:
            number, place = long_at(place, end)
            if place == 0 or (op == at.INT and (number < -_INT_LIMIT or number >= _INT_LIMIT)):
                return at.LEFT
            target = write_long(target, number)
        elif op == at.STRING:
            start, place = content_at(place, end)
            if place == 0:
                return at.LEFT
            target = write_text(target, start, place - start, stop)
        elif op == at.CHOICE:
            program, place = chosen(code, program, place, end)
            if place == 0:
                return at.LEFT
            continue
        elif op == at.JUMP:
            program = code + load64(program + at.FIRST)
            continue
        elif op == at.ITEMS:
            target = begin_items(frames + load64(program + at.FIRST), target, load64(program + at.SECOND))
        elif op == at.NEXT_ITEM:
            program, place, target = next_item(code, frames, program, place, end, target)
            continue
        elif op == at.END:
            return target if place == end else at.LEFT
        else:
            place, target = write_sized(state, program, op, place, end, target, stop)
        program += at.INSTRUCTION_BYTES
    return target


@compiled
def write_key(state: int, record: int, target: int, stop: int) -> int:
    """Write the key of a record where a program reads it; one that is no object says nothing."""
    here, start = record * 8, target
    program = load64(load64(state + at.A_KEY_PROGRAMS) + here)
    if program <= 0:
        return target
    place, length = load64(load64(state + at.A_KEYS) + here), load64(load64(state + at.A_KEY_LENGTHS) + here)
    target = write_value(state, program, place, place + length, target, stop)
    return target if target <= 0 or load8(start) == OPEN else start


@compiled
def write_record(state: int, record: int, target: int, stop: int) -> int:
    """Write the key of one record, and its value behind it."""
    here = record * 8
    program = load64(load64(state + at.A_VALUE_PROGRAMS) + here)
    if program <= 0:
        return at.LEFT
    target = write_key(state, record, target, stop)
    if target <= 0:
        return target
    store64(load64(state + at.A_MIDDLES) + here, target - load64(state + at.A_OUT))
    front = load64(state + at.A_FRONTS) + load64(load64(state + at.A_FRONT_OF) + here) * _PAIR
    length = load64(front + 8)
    if target + length + 3 * PADDING > stop:
        return at.NO_ROOM
    start = copy(target, load64(front), length)
    place, length = load64(load64(state + at.A_VALUES) + here), load64(load64(state + at.A_VALUE_LENGTHS) + here)
    target = write_value(state, program, place, place + length, start, stop)
    if target <= 0:
        return target
    if load8(start) != OPEN:
        return at.LEFT
    store8(target, CLOSE)
    return target + 1


@compiled
def write_records(state: int) -> int:
    """Write records from the next one on; return 1 when there is no room for one, which is then the next."""
    out, room = load64(state + at.A_OUT), load64(state + at.A_OUT_ROOM)
    starts, stops, pending = load64(state + at.A_STARTS), load64(state + at.A_STOPS), load64(state + at.A_IS_PENDING)
    is_again = load64(state + at.A_IS_AGAIN)
    for record in range(load64(state + at.A_NEXT), load64(state + at.A_COUNT)):
        here = record * 8
        if is_again != 0 and load64(pending + here) == 0:
            continue
        wanted, given = load64(state + at.A_WANTED_COUNT), load64(state + at.A_GIVEN_COUNT)
        used = load64(state + at.A_OUT_USED)
        target = write_record(state, record, out + used, out + room)
        if target == at.NO_ROOM:
            store64(state + at.A_WANTED_COUNT, wanted)
            store64(state + at.A_GIVEN_COUNT, given)
            store64(state + at.A_NEXT, record)
            return 1
        store64(starts + here, used)
        store64(stops + here, used)
        if target == at.LEFT:
            store64(state + at.A_WANTED_COUNT, wanted)
        elif load64(state + at.A_WANTED_COUNT) != wanted:
            store64(pending + here, 1)
        else:
            store64(stops + here, target - out)
            store64(state + at.A_OUT_USED, target - out)
    store64(state + at.A_NEXT, load64(state + at.A_COUNT))
    return 0
