"""What a record says of itself, and messages repeat: its operation, whether a snapshot read it, its times."""

from __future__ import annotations

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.lookup import facts_of, is_null, short_text, slot_of
from metl_gui.engine.kernel.compiled.memory import compiled, load8, load64, no_digit, store64
from metl_gui.engine.kernel.compiled.scalars import NINE, OPEN_LIST, QUOTE, ZERO, word_of


def _words_in(text: bytes) -> tuple[int, ...]:
    """Return the length of a text of 8 to 32 bytes, then places and words at them that together make it up."""
    places = [min(place, len(text) - at.WORD) for place in range(0, 4 * at.WORD, at.WORD)]
    return (len(text), *(part for place in places for part in (place, word_of(text[place : place + at.WORD]))))


_OP_TEXTS = tuple(word_of(b'"%c"' % letter) for letter in b"crudm")
_TRUNCATE_TEXT = word_of(b'"t"')
_TRUE_TEXT, _FALSE_TEXT = word_of(b'"true"'), word_of(b'"false"')
_BEGIN_TEXT, _END_TEXT = word_of(b'"BEGIN"'), word_of(b'"END"')
_SHORT_SNAPSHOTS = tuple(word_of(text) for text in at.SHORT_SNAPSHOTS)
_LONG_SNAPSHOTS = tuple(_words_in(text) for text in at.LONG_SNAPSHOTS)


@compiled
def op_of_envelope(slot: int) -> int:
    """Return the code of the operation of an envelope, 0 for what is too rare."""
    text = short_text(slot)
    for number in range(5):
        if text == _OP_TEXTS[number]:
            return number + 1
    return at.OP_T if text == _TRUNCATE_TEXT else 0


@compiled
def op_of_event(state: int, role: int, facts: int) -> int:
    """Return the code of the operation of a CloudEvent, 0 for what is too rare."""
    offset = load64(facts + at.F_EVENT_OP)
    return op_of_envelope(slot_of(state, role, offset)) if offset >= 0 else 0


@compiled
def note_event_time(state: int, role: int, facts: int) -> bool:
    """Note the time of the commit of a CloudEvent, which is text, as a number, null where there is none.

    Args:
        state: address of the kernel's state.
        role, facts: of the body.

    Returns:
        Whether it is what is not too rare.
    """
    register = load64(state + at.S_SLOTS) + at.COMMITTED
    store64(register + at.SLOT_VALUE, load64(state + at.S_BLOB) + at.NULL_PLACE)
    store64(register + at.SLOT_LENGTH, 4)
    offset = load64(facts + at.F_EVENT_TS_MS)
    if offset < 0:
        return True
    slot = slot_of(state, role, offset)
    if is_null(slot):
        return True
    start, length = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)
    if load8(start) == QUOTE:
        start, length = start + 1, length - 2
    if length < 1 or length > at.MOST_TIME_DIGITS or (load8(start) == ZERO and length > 1):
        return False
    store64(register + at.SLOT_VALUE, start)
    store64(register + at.SLOT_LENGTH, length)
    return no_digit(start) & ((1 << length) - 1) == 0


@compiled
def op_of_row(state: int, role: int, facts: int, flags: int) -> int:
    """Return the code of what a body without rows says of its operation, below 0 for what is too rare."""
    code = 0
    if flags & at.IS_TRANSACTION:
        text = short_text(slot_of(state, role, load64(facts + at.F_STATUS)))
        return at.OP_BEGIN if text == _BEGIN_TEXT else at.OP_END if text == _END_TEXT else -1
    offset = load64(facts + at.F_ROW_OP)
    if offset >= 0:
        slot = slot_of(state, role, offset)
        code = at.OP_NULL if is_null(slot) else op_of_envelope(slot)
        if code == 0 or code == at.OP_T:
            return -1
    offset = load64(facts + at.F_DELETED)
    if offset >= 0:
        slot = slot_of(state, role, offset)
        text = short_text(slot)
        if text == _TRUE_TEXT:
            code += at.DELETED_TRUE
        elif text == _FALSE_TEXT:
            code += at.DELETED_FALSE
        elif is_null(slot):
            code += at.DELETED_NULL
        else:
            return -1
    return code


@compiled
def snapshot_in(state: int, role: int, offset: int) -> int:
    """Return the code of what a member says of a snapshot, 0 where it is missing, below 0 for what is too rare."""
    if offset < 0:
        return 0
    slot = slot_of(state, role, offset)
    text = short_text(slot)
    for number in range(len(_SHORT_SNAPSHOTS)):
        if text == _SHORT_SNAPSHOTS[number]:
            return number + 1
    start, length = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)
    for number in range(len(_LONG_SNAPSHOTS)):
        known = _LONG_SNAPSHOTS[number]
        if length == known[0] and has_words(start, known):
            return len(_SHORT_SNAPSHOTS) + number + 1
    return -1


@compiled
def has_words(start: int, known: tuple[int, ...]) -> bool:
    """Compare a text with the words that make one up (``_words_in``)."""
    is_first_half = load64(start + known[1]) == known[2] and load64(start + known[3]) == known[4]
    return is_first_half and load64(start + known[5]) == known[6] and load64(start + known[7]) == known[8]


@compiled
def snapshot_of(state: int, role: int, facts: int, source: int) -> int:
    """Return the code of what a source block, or the metadata of a flattened row, says of a snapshot.

    Args:
        state: address of the kernel's state.
        role, facts: of the body.
        source: shape of its source block, 0 for none.

    Returns:
        As ``snapshot_in``.
    """
    if source != 0:
        return snapshot_in(state, at.SOURCE, load64(facts_of(state, source) + at.F_SNAPSHOT))
    flags = load64(facts + at.FACT_FLAGS)
    if flags & at.IS_EVENT:
        return snapshot_in(state, role, load64(facts + at.F_EVENT_SNAPSHOT))
    if flags & at.IS_ENVELOPE:
        return 0
    offset = load64(facts + at.F_ROW_SOURCE_SNAPSHOT)
    return snapshot_in(state, role, offset if offset >= 0 else load64(facts + at.F_ROW_SNAPSHOT))


@compiled
def is_committed(state: int, program: int) -> bool:
    """Return whether the time of the commit is null or a plain number, which is written as it came."""
    offset = load64(program + at.P_COMMITTED)
    if offset < 0:
        return True
    slot = load64(state + at.S_SLOTS) + offset
    length = load64(slot + at.SLOT_LENGTH)
    if length > at.MOST_TIME_DIGITS:
        return False
    return no_digit(load64(slot + at.SLOT_VALUE)) & ((1 << length) - 1) == 0 or is_null(slot)


@compiled
def first_time(state: int, program: int, place: int) -> int:
    """Find the time of a record among its candidates, which are in order, and note it; 0 for text, which is rare."""
    time = load64(state + at.S_SLOTS) + at.TIME
    store64(time + at.SLOT_VALUE, load64(state + at.S_BLOB) + 8)
    store64(time + at.SLOT_LENGTH, 4)
    for number in range(3):
        offset = load64(program + place + number * 8)
        if offset < 0:
            break
        slot = load64(state + at.S_SLOTS) + offset
        start, length = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)
        last = load8(start + length - 1)
        if ZERO <= last <= NINE:
            store64(time + at.SLOT_VALUE, start)
            store64(time + at.SLOT_LENGTH, length)
            return 1
        if load8(start) == QUOTE or load8(start) == OPEN_LIST:
            return 0
    return 1


@compiled
def is_timed(state: int, program: int) -> bool:
    """Find the time of a record; return whether it and the time of the commit may be written as they came."""
    return first_time(state, program, at.P_TIMES) != 0 and is_committed(state, program)
