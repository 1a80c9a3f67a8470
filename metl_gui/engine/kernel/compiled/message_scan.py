"""Read a message of Kafka from its columns: note what stands beside its value as the members of an outermost object.

Everything behind sees what it would see of the wrapper of the message (``kernel.message_records``), and no wrapper is
written. A value that is no object is left to the reference. A key is read when it is asked for.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.memory import compiled, first_bit, load8, load64, special, store64
from metl_gui.engine.kernel.compiled.object_scan import note_head, scan_object
from metl_gui.engine.kernel.compiled.scalars import OPEN, SPACE, past_space, write_number

_NULL_BYTES = 4


@compiled
def is_plain(start: int, end: int) -> bool:
    """Say whether bytes are ASCII that stands in a JSON string as it is."""
    while start < end:
        marks = special(start)
        if marks != 0 and start + first_bit(marks) < end:
            return False
        start += VECTOR
    return True


@compiled
def note_member(slot: int, start: int, length: int) -> int:
    """Note where a member of a message lies."""
    store64(slot + at.SLOT_VALUE, start)
    return store64(slot + at.SLOT_LENGTH, length)


@compiled
def note_number(state: int, slot: int, number: int) -> int:
    """Note a number that is not negative, which is written into the scratch room; its beginning has room for it."""
    start = load64(state + at.S_SCRATCH)
    end = write_number(start, number)
    store64(state + at.S_SCRATCH, end)
    return note_member(slot, start, end - start)


@compiled
def note_content(state: int, slot: int, start: int, length: int) -> int:
    """Note a key or value, or null for one that is missing; an empty one says no more than that."""
    if length > 0:
        return note_member(slot, start, length)
    return note_member(slot, load64(state + at.S_BLOB) + at.NULL_PLACE, _NULL_BYTES)


@compiled
def is_whole(state: int, start: int, stop: int, role: int) -> bool:
    """Read an object in a role; say whether it is one, with nothing but space behind it."""
    if stop <= start or load8(start) != OPEN:
        return False
    end = scan_object(state, start, stop, role)
    return end != 0 and past_space(end, stop) == stop


@compiled
def read_key(state: int, slot: int) -> int:
    """Read the key of a message in its slot, when it is asked for.

    Returns:
        -1 when it is an object, which is noted then; ``KEY_NONE`` for none and for text in which nothing hides one;
        0 for what only the reference reads.
    """
    start, stop = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_VALUE) + load64(slot + at.SLOT_LENGTH)
    if load8(start) == OPEN:
        return -1 if is_whole(state, start, stop, at.KEY) else 0
    return at.KEY_NONE if load8(start) > SPACE and is_plain(start, stop) else 0


@compiled
def read_message(state: int, start: int, stop: int, record: int) -> bool:
    """Read one message; say whether machine code may go on with it.

    Args:
        state: address of the kernel's state.
        start, stop: where its value begins and ends.
        record: its number.
    """
    here, slots = record * at.WORD, load64(state + at.S_SLOTS)
    if load64(load64(state + at.S_IS_LEFT) + here) != 0:
        return False
    place = load64(state + at.S_PLACES) + load64(load64(state + at.S_PLACE_OF) + here) * at.PLACE_BYTES
    note_member(slots + at.M_TOPIC, load64(place + at.PLACE_TOPIC), load64(place + at.PLACE_TOPIC_LENGTH))
    note_member(slots + at.M_PARTITION, load64(place + at.PLACE_PARTITION), load64(place + at.PLACE_PARTITION_LENGTH))
    note_number(state, slots + at.M_OFFSET, load64(load64(state + at.S_OFFSETS) + here))
    time = load64(load64(state + at.S_TIMES) + here)
    if time >= 0:
        note_number(state, slots + at.M_TIMESTAMP, time)
    else:
        note_content(state, slots + at.M_TIMESTAMP, 0, 0)
    # Headers that say anything are left.
    note_content(state, slots + at.M_HEADERS, 0, 0)
    key = load64(load64(state + at.S_KEY_STARTS) + here)
    note_content(
        state, slots + at.M_KEY, load64(state + at.S_BASE) + key, load64(load64(state + at.S_KEY_STOPS) + here) - key
    )
    note_content(state, slots + at.M_VALUE, start, stop - start)
    head = load64(state + at.S_HEADS)
    note_head(head, len(at.MESSAGE_NAMES), 0, slots + at.M_VALUE, 0)
    store64(head + at.HEAD_PARENT, -1)
    store64(head + at.HEAD_SHAPE, at.MESSAGE_SHAPE)
    return stop < start or is_whole(state, start, stop, at.BODY)
