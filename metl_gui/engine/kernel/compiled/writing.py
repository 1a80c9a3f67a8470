"""Write the messages of a record by its program, after everything that could forbid them was looked at.

A program that sends lists its *outputs*, one for each message: pieces of fixed text with slots between them. A slot is
a value of the record, its position or its time. Slots of the payload come with a counter of values that are not null.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.finding import first_of, is_digits, is_null, slot_of
from metl_gui.engine.kernel.compiled.matching import find_program, first_time
from metl_gui.engine.kernel.compiled.memory import (
    PADDING,
    compiled,
    copy,
    is_same,
    load8,
    load64,
    store8,
    store32,
    store64,
)
from metl_gui.engine.kernel.compiled.scalars import FEED, OPEN, OPEN_LIST, QUOTE, ZERO, past_space
from metl_gui.engine.kernel.compiled.scanning import scan_object

_SLASH, _AT = 0x2F, 0x40
_MOST_DIGITS = 19
"""Of a number of 8 bytes."""


@compiled
def count_up(state: int, counter: int) -> int:
    """Add one to a counter; one below 0 is none."""
    if counter >= 0:
        place = load64(state + at.S_COUNTERS) + counter * 8
        store64(place, load64(place) + 1)
    return 0


@compiled
def write_number(target: int, number: int) -> int:
    """Write a number that is not negative in decimal digits."""
    digits, least = 1, 10
    while digits < _MOST_DIGITS and number >= least:
        least *= 10
        digits += 1
    end = target + digits
    place = end
    while place > target:
        place -= 1
        store8(place, ZERO + number % 10)
        number //= 10
    return end


@compiled
def write_position(state: int, record: int) -> int:
    """Write the position of a record, as it stands within a JSON string, into the scratch room and note where."""
    start = load64(state + at.S_SCRATCH)
    target = start
    topic, wrapper = load64(state + at.S_TOPIC), load64(state + at.S_WRAPPER)
    is_placed = False
    if topic != 0:
        facts = load64(state + at.S_SHAPE_FACTS) + wrapper * at.FACT_BYTES
        partition, offset = load64(facts + at.F_PARTITION), load64(facts + at.F_OFFSET)
        if partition >= 0 and offset >= 0:
            partition, offset = slot_of(state, at.TOP, partition), slot_of(state, at.TOP, offset)
            if is_digits(partition) and is_digits(offset):
                is_placed = True
                length = load64(topic + at.TEXT_QUOTED_LENGTH)
                lengths = length + load64(partition + at.SLOT_LENGTH) + load64(offset + at.SLOT_LENGTH)
                if target + lengths + 2 > load64(state + at.S_SCRATCH_STOP):
                    return 0
                target = copy(target, load64(state + at.S_BLOB) + load64(topic + at.TEXT_QUOTED), length)
                store8(target, _SLASH)
                target = copy(target + 1, load64(partition + at.SLOT_VALUE), load64(partition + at.SLOT_LENGTH))
                store8(target, _SLASH)
                target = copy(target + 1, load64(offset + at.SLOT_VALUE), load64(offset + at.SLOT_LENGTH))
    if not is_placed:
        length = load64(state + at.S_FILE_LENGTH)
        if target + length + 24 > load64(state + at.S_SCRATCH_STOP):
            return 0
        target = copy(target, load64(state + at.S_FILE), length)
        store8(target, _AT)
        target = write_number(target + 1, load64(load64(state + at.S_OFFSETS) + record * 8))
    register = load64(state + at.S_SLOTS) + at.POSITION
    store64(register + at.SLOT_VALUE, start)
    store64(register + at.SLOT_LENGTH, target - start)
    store64(state + at.S_SCRATCH, target)
    return 1


@compiled
def is_placeholder(state: int, forms: int, slot: int) -> bool:
    """Say whether a value is one of the forms of an unavailable value: a text, list or object of a certain length."""
    length = load64(slot + at.SLOT_LENGTH)
    letter = first_of(slot)
    if letter != QUOTE and letter != OPEN_LIST and letter != OPEN:
        return False
    if (load64(forms) >> (length & 63)) & 1 == 0:
        return False
    blob = load64(state + at.S_BLOB)
    for number in range(load64(forms + 8)):
        form = forms + 16 + number * 16
        if load64(form + 8) == length and is_same(load64(slot + at.SLOT_VALUE), blob + load64(form), length):
            return True
    return False


@compiled
def judge_outputs(state: int, program: int) -> int:
    """Decide which outputs are sent and how much room they need.

    Returns:
        Bytes, 0 for none; below 0 when the record must be left: a value is a placeholder, or a delete has no key.
    """
    slots = load64(state + at.S_SLOTS)
    room, messages = 0, 0
    forms = load64(state + at.S_CODE) + load64(program + at.P_FORMS)
    output = program + at.P_OUTPUTS
    for _ in range(load64(program + at.P_OUTPUT_COUNT)):
        size = load64(output + at.O_FIXED)
        is_filled, is_identified = False, load64(output + at.O_WANTS_KEY) == 0
        piece = output + at.O_PIECES
        for _ in range(load64(output + at.O_PIECE_COUNT)):
            slot = slots + load64(piece + at.PIECE_SLOT)
            length = load64(slot + at.SLOT_LENGTH)
            size += length
            counter = load64(piece + at.PIECE_COUNTER)
            if counter >= 0:
                if is_placeholder(state, forms, slot):
                    return -1
                if not is_filled and not is_null(slot):
                    is_filled = True
            elif not is_identified and counter == at.IN_KEY and not is_null(slot):
                is_identified = True
            piece += at.PIECE_BYTES
        if not is_identified:
            return -1
        if is_filled or load64(output + at.O_IS_IMAGE) == 0:
            room += size + 1
            messages += 1
            store64(output + at.O_IS_SENT, 1)
        else:
            store64(output + at.O_IS_SENT, 0)
        output = piece
    store64(state + at.S_LACK_A, room + 2 * PADDING)
    store64(state + at.S_LACK_B, messages)
    return room


@compiled
def write_outputs(state: int, program: int, record: int) -> int:
    """Write the outputs that are sent, one message each, and count them."""
    slots, code = load64(state + at.S_SLOTS), load64(state + at.S_BLOB)
    text, used = load64(state + at.S_TEXT), load64(state + at.S_TEXT_USED)
    message = load64(state + at.S_MESSAGES)
    output = program + at.P_OUTPUTS
    for _ in range(load64(program + at.P_OUTPUT_COUNT)):
        pieces = load64(output + at.O_PIECE_COUNT)
        piece = output + at.O_PIECES
        if load64(output + at.O_IS_SENT) == 0:
            output = piece + pieces * at.PIECE_BYTES
            continue
        target = copy(text + used, code + load64(output + at.O_HEAD), load64(output + at.O_HEAD_LENGTH))
        for _ in range(pieces):
            slot = slots + load64(piece + at.PIECE_SLOT)
            counter = load64(piece + at.PIECE_COUNTER)
            if counter >= 0 and not is_null(slot):
                count_up(state, counter)
            target = copy(target, load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH))
            target = copy(target, code + load64(piece + at.PIECE_TEXT), load64(piece + at.PIECE_LENGTH))
            piece += at.PIECE_BYTES
        store8(target, FEED)
        store64(load64(state + at.S_OUT_STARTS) + message * 8, used)
        store64(load64(state + at.S_OUT_STOPS) + message * 8, target - text)
        store32(load64(state + at.S_OUT_ENTITIES) + message * 4, load64(output + at.O_ENTITY))
        store32(load64(state + at.S_OUT_RECORDS) + message * 4, record)
        count_up(state, load64(output + at.O_UNREVIEWED))
        used = target - text + 1
        message += 1
        output = piece
    store64(state + at.S_TEXT_USED, used)
    store64(state + at.S_MESSAGES, message)
    return 0


@compiled
def map_record(state: int, start: int, stop: int, record: int) -> int:
    """Map one record, or say why it is left; then nothing of it was written."""
    head = load64(state + at.S_HEADS)
    for _ in range(at.FIRST_NESTED):
        store64(head + at.HEAD_COUNT, -1)
        store64(head + at.HEAD_HALF, 0)
        head += at.HEAD_BYTES
    store64(state + at.S_SCRATCH, load64(state + at.S_SCRATCH_START))
    start = past_space(start, stop)
    if start >= stop or load8(start) != OPEN:
        return at.REFUSED
    end = scan_object(state, start, stop, at.TOP)
    if end == 0 or past_space(end, stop) != stop:
        return at.REFUSED
    program = find_program(state)
    if program <= at.LACKS_ROOM:
        return program
    fate = load64(state + at.S_FATES) + record
    if load64(program) == at.SKIP:
        count_up(state, load64(program + 8))
        store8(fate, at.FATE_SKIPPED)
        return at.DONE
    room = judge_outputs(state, program)
    if room < 0:
        return at.REFUSED
    if room > 0:
        if write_position(state, record) == 0 or first_time(state, program, at.P_TIMES) == 0:
            return at.REFUSED
        # Its length was not known when room was judged.
        room += load64(program + at.P_OUTPUT_COUNT) * (
            load64(load64(state + at.S_SLOTS) + at.POSITION + at.SLOT_LENGTH)
            + load64(load64(state + at.S_SLOTS) + at.TIME + at.SLOT_LENGTH)
        )
        is_full = load64(state + at.S_TEXT_USED) + room + 2 * PADDING > load64(state + at.S_TEXT_ROOM)
        if is_full or load64(state + at.S_MESSAGES) + load64(state + at.S_LACK_B) > load64(state + at.S_MESSAGE_ROOM):
            store64(state + at.S_LACK_A, room + 2 * PADDING)
            return at.LACKS_ROOM
        write_outputs(state, program, record)
    count_up(state, load64(program + at.P_VERSION))
    store8(fate, at.FATE_MAPPED if room > 0 else at.FATE_FILTERED)
    return at.DONE


@compiled
def map_records(state: int) -> int:
    """Map records from the next one on; stop behind the last one, or at the first that is left, and say why."""
    record, last = load64(state + at.S_NEXT), load64(state + at.S_LAST)
    starts, stops, base = load64(state + at.S_STARTS), load64(state + at.S_STOPS), load64(state + at.S_BASE)
    why = at.DONE
    while record < last and why == at.DONE:
        why = map_record(state, base + load64(starts + record * 8), base + load64(stops + record * 8), record)
        if why == at.DONE:
            record += 1
    store64(state + at.S_NEXT, record)
    return why
