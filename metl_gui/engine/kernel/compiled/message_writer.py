"""Write the messages of a record by its program; they count only after the last of them was written.

A program that sends lists its *outputs*, one for each message: pieces of fixed text with slots between them. A slot is
a value of the record, its position or its time. Slots of the payload come with a counter of values that are not null.
The length of each value is noted, so that others find every member of a message without reading it.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.compiled.lookup import is_digits, is_null, lacks, slot_of
from metl_gui.engine.kernel.compiled.memory import (
    compiled,
    copy,
    copy_fixed,
    load64,
    store8,
    store32,
    store64,
)
from metl_gui.engine.kernel.compiled.message_scan import is_whole, read_message
from metl_gui.engine.kernel.compiled.program_selection import (
    find_program,
    is_placeholder,
    program_without_unavailable,
)
from metl_gui.engine.kernel.compiled.record_facts import is_timed
from metl_gui.engine.kernel.compiled.scalars import FEED, past_space, write_number

_SLASH, _AT = 0x2F, 0x40
NO_ROOM, LEFT, IS_UNAVAILABLE = -1, -2, -3
"""Instead of messages."""


@compiled
def count_up(state: int, counter: int, more: int) -> int:
    """Add to a counter; one below 0 is none."""
    if counter >= 0:
        place = load64(state + at.S_COUNTERS) + counter * 8
        store64(place, load64(place) + more)
    return 0


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
def room_wanted(state: int, program: int) -> int:
    """Note how much room the outputs may need, and return that there is too little."""
    slots = load64(state + at.S_SLOTS)
    room, values, outputs = 0, 0, load64(program + at.P_OUTPUT_COUNT)
    output = program + at.P_OUTPUTS
    for _ in range(outputs):
        room += load64(output + at.O_FIXED) + 1
        piece = output + at.O_PIECES
        values += load64(output + at.O_PIECE_COUNT)
        for _ in range(load64(output + at.O_PIECE_COUNT)):
            room += load64(slots + load64(piece + at.PIECE_SLOT) + at.SLOT_LENGTH)
            piece += at.PIECE_BYTES
        output = piece
    return lacks(state, at.LACKS_ROOM, room + 4 * PADDING, outputs, values)


@compiled
def write_head(state: int, output: int, target: int, stop: int, lengths: int) -> int:
    """Write what stands before the payload; from the message before this one where it is the same.

    Args:
        state, output: what is written.
        target, stop: where to.
        lengths: where the lengths of its values go.

    Returns:
        Where it ends; 0 when there is no room, ``LEFT`` when the record must be left: a delete has no key.
    """
    slots, blob = load64(state + at.S_SLOTS), load64(state + at.S_BLOB)
    length, count = load64(output + at.O_HEAD_LENGTH), load64(output + at.O_BEFORE)
    is_alike = load64(output + at.O_IS_ALIKE) != 0 and count > 0
    shared, size = load64(state + at.S_SHARED), load64(state + at.S_SHARED_LENGTH)
    is_copied = is_alike and shared != 0
    if target + length + (size if is_copied else 0) > stop:
        return 0
    target = copy_fixed(target, blob + load64(output + at.O_HEAD), length)
    piece = output + at.O_PIECES
    if is_copied:
        target = copy_fixed(target, shared, size)
        copy(lengths, load64(state + at.S_SHARED_VALUES), count * 4)
        piece += (count - 1) * at.PIECE_BYTES
        length = load64(piece + at.PIECE_LENGTH)
        return copy_fixed(target, blob + load64(piece + at.PIECE_TEXT), length) if target + length <= stop else 0
    start, end = target, target
    is_identified = load64(output + at.O_WANTS_KEY) == 0
    for _ in range(count):
        slot = slots + load64(piece + at.PIECE_SLOT)
        value, length = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)
        more = load64(piece + at.PIECE_LENGTH)
        if target + length + more > stop:
            return 0
        if not is_identified and load64(piece + at.PIECE_COUNTER) == at.IN_KEY and not is_null(slot):
            is_identified = True
        end = copy(target, value, length)
        target = copy_fixed(end, blob + load64(piece + at.PIECE_TEXT), more)
        store32(lengths, length)
        lengths += 4
        piece += at.PIECE_BYTES
    if is_alike:
        store64(state + at.S_SHARED, start)
        store64(state + at.S_SHARED_LENGTH, end - start)
        store64(state + at.S_SHARED_VALUES, lengths - count * 4)
    return target if is_identified else LEFT


@compiled
def write_payload(state: int, output: int, target: int, stop: int, lengths: int, program: int) -> int:
    """Write the values of the payload and what is around them, and note how many are null.

    Args:
        state, output, program: what is written.
        target, stop: where to.
        lengths: where the lengths of its values go.

    Returns:
        Where they end; 0 when there is no room, ``IS_UNAVAILABLE`` when another program is for the record, as a value
        is a placeholder.
    """
    slots, blob = load64(state + at.S_SLOTS), load64(state + at.S_BLOB)
    before, forms = load64(output + at.O_BEFORE), load64(state + at.S_CODE) + load64(program + at.P_FORMS)
    sizes = load64(forms)
    count = load64(output + at.O_PIECE_COUNT) - before
    piece, nulls = output + at.O_PIECES + before * at.PIECE_BYTES, 0
    for _ in range(count):
        slot = slots + load64(piece + at.PIECE_SLOT)
        value, length = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)
        more = load64(piece + at.PIECE_LENGTH)
        if target + length + more > stop:
            return 0
        if (sizes >> min(length, at.MOST_FORM_LENGTH)) & 1 != 0 and is_placeholder(state, forms, value, length):
            return IS_UNAVAILABLE
        nulls += 1 if is_null(slot) else 0
        target = copy(target, value, length)
        target = copy_fixed(target, blob + load64(piece + at.PIECE_TEXT), more)
        store32(lengths, length)
        lengths += 4
        piece += at.PIECE_BYTES
    is_sent = nulls < count or load64(output + at.O_IS_IMAGE) == 0
    store64(output + at.O_IS_SENT, nulls + 1 if is_sent else 0)
    return target


@compiled
def write_outputs(state: int, program: int, record: int) -> int:
    """Write the outputs that are sent, one message each; what is not counted afterwards was not written.

    Returns:
        How many; below 0 when there is no room, when the record must be left, or when it needs another program.
    """
    text, start = load64(state + at.S_TEXT), load64(state + at.S_TEXT) + load64(state + at.S_TEXT_USED)
    stop = text + load64(state + at.S_TEXT_ROOM) - 2 * PADDING
    first, values = load64(state + at.S_MESSAGES), load64(state + at.S_VALUES)
    message, count, output = first, load64(program + at.P_OUTPUT_COUNT), program + at.P_OUTPUTS
    store64(state + at.S_SHARED, 0)
    store64(state + at.S_SHARED_LENGTH, 0)
    if message + count > load64(state + at.S_MESSAGE_ROOM):
        return NO_ROOM
    for _ in range(count):
        pieces = load64(output + at.O_PIECE_COUNT)
        if values + pieces > load64(state + at.S_VALUE_ROOM):
            return NO_ROOM
        lengths = load64(state + at.S_LENGTHS) + values * 4
        target = write_head(state, output, start, stop, lengths)
        if target > 0:
            payload_lengths = lengths + load64(output + at.O_BEFORE) * 4
            target = write_payload(state, output, target, stop, payload_lengths, program)
        if target <= 0:
            return NO_ROOM if target == 0 else target
        if load64(output + at.O_IS_SENT) != 0:
            store8(target, FEED)
            store64(load64(state + at.S_OUT_STARTS) + message * 8, start - text)
            store64(load64(state + at.S_OUT_STOPS) + message * 8, target - text)
            store32(load64(state + at.S_OUT_ENTITIES) + message * 4, load64(output + at.O_ENTITY))
            store32(load64(state + at.S_OUT_RECORDS) + message * 4, record)
            store32(load64(state + at.S_OUT_LAYOUTS) + message * 4, load64(output + at.O_LAYOUT))
            start = target + 1
            message += 1
            values += pieces
        else:
            # The next one is written over it.
            store64(state + at.S_SHARED, 0)
        output += at.O_PIECES + pieces * at.PIECE_BYTES
    store64(state + at.S_VALUES, values)
    return count_outputs(state, program, start - text, message - first)


@compiled
def count_outputs(state: int, program: int, used: int, messages: int) -> int:
    """Count what was written: the messages of each output, and the values of them that are null, as less filled."""
    slots, output = load64(state + at.S_SLOTS), program + at.P_OUTPUTS
    for _ in range(load64(program + at.P_OUTPUT_COUNT)):
        pieces = load64(output + at.O_PIECE_COUNT)
        piece, sent = output + at.O_PIECES, load64(output + at.O_IS_SENT)
        output = piece + pieces * at.PIECE_BYTES
        if sent > 0:
            count_up(state, load64(piece - at.O_PIECES + at.O_UNREVIEWED), 1)
            count_up(state, load64(piece - at.O_PIECES + at.O_SENT), 1)
        if sent > 1:
            for _ in range(pieces):
                counter = load64(piece + at.PIECE_COUNTER)
                if counter >= 0 and is_null(slots + load64(piece + at.PIECE_SLOT)):
                    count_up(state, counter, -1)
                piece += at.PIECE_BYTES
    store64(state + at.S_TEXT_USED, used)
    store64(state + at.S_MESSAGES, load64(state + at.S_MESSAGES) + messages)
    return messages


@compiled
def map_record(state: int, start: int, stop: int, record: int) -> int:
    """Map one record, or say why it is left; then nothing of it was written."""
    head = load64(state + at.S_HEADS)
    for _ in range(at.FIRST_NESTED):
        store64(head + at.HEAD_COUNT, -1)
        store64(head + at.HEAD_HALF, 0)
        head += at.HEAD_BYTES
    store64(state + at.S_SCRATCH, load64(state + at.S_SCRATCH_START))
    store64(state + at.S_CARRIED, 0)
    if load64(state + at.S_KEY_STARTS) != 0:
        is_read = read_message(state, start, stop, record)
    else:
        is_read = is_whole(state, past_space(start, stop), stop, at.TOP)
    if not is_read:
        return at.REFUSED
    program = find_program(state)
    if program <= at.LACKS_ROOM:
        return program
    fate = load64(state + at.S_FATES) + record
    if load64(program) == at.SKIP:
        count_up(state, load64(program + 8), 1)
        store8(fate, at.FATE_SKIPPED)
        return at.DONE
    messages = 0
    if load64(program + at.P_OUTPUT_COUNT) > 0:
        if write_position(state, record) == 0 or not is_timed(state, program):
            return at.REFUSED
        messages = write_outputs(state, program, record)
        if messages == IS_UNAVAILABLE:
            program = program_without_unavailable(state, program)
            if program <= at.LACKS_ROOM:
                return program
            messages = write_outputs(state, program, record)
        if messages < 0:
            return room_wanted(state, program) if messages == NO_ROOM else at.REFUSED
    count_up(state, load64(program + at.P_VERSION), 1)
    store8(fate, at.FATE_MAPPED if messages > 0 else at.FATE_FILTERED)
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
