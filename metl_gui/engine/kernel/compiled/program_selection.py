"""What becomes of a record: the object that it is about, and the program that was learned for records like it.

The object is found in the wrapper of the record, in the text that the wrapper carries, or beside its schema.

What a record becomes is decided by the shapes of its objects, by a few short texts (topic, place in the source block),
by its schema half and by its operation: together they are the *key* of a *program*, which was learned from the
reference. A program may ask for more before it decides: the message key, whether the key of the row changed, objects
within the row, the field that names the version.

What was not learned yet is named in the state, and the driver learns it or leaves the record to the reference.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.lookup import (
    facts_of,
    first_of,
    found_facts,
    is_null,
    lacks,
    pair_of,
    program_of,
    shape_of,
    short_text,
    slot_of,
    text_of,
)
from metl_gui.engine.kernel.compiled.memory import compiled, copy, is_same, load8, load64, store64
from metl_gui.engine.kernel.compiled.message_scan import read_key
from metl_gui.engine.kernel.compiled.object_scan import scan_object
from metl_gui.engine.kernel.compiled.record_facts import (
    note_event_time,
    op_of_envelope,
    op_of_event,
    op_of_row,
    snapshot_of,
)
from metl_gui.engine.kernel.compiled.scalars import (
    BACKSLASH,
    OPEN,
    OPEN_LIST,
    QUOTE,
    SPACE,
    past_space,
    unescape,
    word_of,
)

_SCHEMA_MARK, _APICURIO_MARK, _OLD_KEY_MARK = (word_of(mark) for mark in at.HEADER_MARKS)
_PLACE_FACTS = at.F_NAME, at.F_SCHEMA, at.F_DB, at.F_TABLE, at.F_COLLECTION
_EVENT_PLACE_FACTS = at.F_EVENT_NAME, at.F_EVENT_SCHEMA, at.F_EVENT_DB, at.F_EVENT_TABLE, at.F_EVENT_COLLECTION
_KEY_TEXT, _VALUE_TEXT = word_of(b'"key"'), word_of(b'"value"')


@compiled
def object_in(state: int, role: int, offset: int, below: int) -> int:
    """Return the shape of an object within an object, 1 below 0 when it must be left, 0 for null and none.

    Args:
        role: of the outer object.
        offset: of its slot, below 0 when there is none.
        below: the role of the inner object.

    Returns:
        -1 where a shape is not known, which is noted; -2 where the value is something else.
    """
    if offset < 0:
        return 0
    slot = slot_of(state, role, offset)
    if first_of(slot) != OPEN:
        return 0 if is_null(slot) else -2
    head = load64(state + at.S_HEADS) + below * at.HEAD_BYTES
    if load64(head + at.HEAD_PARENT) != role:
        return -2
    shape = shape_of(state, below)
    if shape == 0:
        lacks(state, at.LACKS_SHAPE, below, 0, 0)
        return -1
    return -2 if load64(facts_of(state, shape) + at.FACT_FLAGS) & at.IS_BROKEN else shape


@compiled
def half_in(state: int, role: int, facts: int) -> int:
    """Return the number of the schema half of an object with two members, 0 where it is not known, which is noted."""
    head = load64(state + at.S_HEADS) + role * at.HEAD_BYTES
    half = load64(head + at.HEAD_HALF)
    slot = slot_of(state, role, load64(facts + at.F_SCHEMA))
    if half == 0:
        lacks(state, at.LACKS_HALF, load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH), first_of(slot))
    return half


@compiled
def past_text_value(state: int, slot: int, role: int) -> int:
    """Read the object that a string holds, in a role; 0 when it holds none, or more than it."""
    start, stop = load64(state + at.S_CARRIED), load64(state + at.S_CARRIED_STOP)
    if role != at.BODY or start == 0:
        start = load64(state + at.S_SCRATCH)
        place = load64(slot + at.SLOT_VALUE)
        _, stop = unescape(state, place + 1, place + load64(slot + at.SLOT_LENGTH))
    if stop == 0 or load8(start) != OPEN:
        return 0
    # Names behind a text that was read with its wrapper may lie behind it in the scratch room, too.
    store64(state + at.S_SCRATCH, max(load64(state + at.S_SCRATCH), stop + at.WORD))
    end = scan_object(state, start, stop, role)
    return end if end != 0 and past_space(end, stop) == stop else 0


@compiled
def names_more(slot: int) -> bool:
    """Return whether headers may name what a value or key is written with, or the key before it changed."""
    place = load64(slot + at.SLOT_VALUE)
    for offset in range(load64(slot + at.SLOT_LENGTH)):
        word = load64(place + offset)
        if word == _SCHEMA_MARK or word == _APICURIO_MARK or word == _OLD_KEY_MARK:
            return True
    return False


@compiled
def topic_of(state: int, facts: int) -> int:
    """Note the topic of a wrapper; return 0, or why the record is left."""
    offset = load64(facts + at.F_TOPIC)
    if offset < 0:
        return 0
    slot = slot_of(state, at.TOP, offset)
    place, length = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)
    if load8(place) != QUOTE or length == 2:
        return at.REFUSED
    topic = text_of(state, place, length, at.TOPIC)
    store64(state + at.S_TOPIC, topic)
    return 0 if topic != 0 else lacks(state, at.LACKS_TEXT, place, length, at.TOPIC)


@compiled
def unwrapped(state: int, facts: int) -> int:
    """Read what a wrapper says: its topic, whether it is a key, its value, which becomes the body.

    Returns:
        0, or why the record is left. ``S_OP`` tells records that have no body.
    """
    value = slot_of(state, at.TOP, load64(facts + at.F_VALUE))
    letter = first_of(value)
    if letter != OPEN and letter != QUOTE and not is_null(value):
        # An object with another value is no wrapper.
        return at.REFUSED
    why = topic_of(state, facts)
    if why != 0:
        return why
    offset = load64(facts + at.F_HEADERS)
    if offset >= 0 and names_more(slot_of(state, at.TOP, offset)):
        return at.REFUSED
    offset = load64(facts + at.F_PART)
    if offset >= 0:
        slot = slot_of(state, at.TOP, offset)
        if short_text(slot) == _KEY_TEXT:
            store64(state + at.S_OP, at.OP_IS_KEY)
            return 0
        # Another text may be the same one with escapes; that of a value is longer than "key" in any case.
        if first_of(slot) == QUOTE and short_text(slot) != _VALUE_TEXT:
            return at.REFUSED
    if is_null(value):
        store64(state + at.S_OP, at.OP_TOMBSTONE)
        return 0
    if letter == QUOTE and past_text_value(state, value, at.BODY) == 0:
        return at.REFUSED
    store64(state + at.S_BODY, at.BODY)
    return shape_in(state, at.BODY)


@compiled
def shape_in(state: int, role: int) -> int:
    """Find the shape of an object that may be a body; return 0, or why the record is left."""
    shape = shape_of(state, role)
    if shape == 0:
        return lacks(state, at.LACKS_SHAPE, role, 0, 0)
    flags = load64(facts_of(state, shape) + at.FACT_FLAGS)
    return at.REFUSED if flags & (at.IS_REFUSED | at.IS_BROKEN) else 0


@compiled
def body_of(state: int) -> int:
    """Find the object that a record is about: in its wrapper, beside its schema; note all three in the state.

    Returns:
        0 when it was found, or why the record is left. ``S_OP`` tells records that have no body.
    """
    store64(state + at.S_TOPIC, 0)
    store64(state + at.S_HALF, 0)
    store64(state + at.S_WRAPPER, 0)
    store64(state + at.S_OP, 0)
    store64(state + at.S_BODY, at.TOP)
    why = shape_in(state, at.TOP)
    if why != 0:
        return why
    facts = found_facts(state, at.TOP)
    if load64(facts + at.FACT_FLAGS) & at.IS_WRAPPER:
        store64(state + at.S_WRAPPER, load64(load64(state + at.S_HEADS) + at.HEAD_SHAPE))
        why = unwrapped(state, facts)
        if why != 0 or load64(state + at.S_OP) != 0:
            return why
        facts = found_facts(state, at.BODY)
    if not load64(facts + at.FACT_FLAGS) & at.IS_WITH_SCHEMA:
        return 0
    role = load64(state + at.S_BODY)
    half = half_in(state, role, facts)
    if half == 0:
        return at.LACKS_HALF
    slot = slot_of(state, role, load64(facts + at.F_PAYLOAD))
    if is_null(slot):
        store64(state + at.S_OP, at.OP_TOMBSTONE)
        return 0
    store64(state + at.S_HALF, half)
    if first_of(slot) != OPEN:
        return at.REFUSED
    store64(state + at.S_BODY, at.INNER)
    return shape_in(state, at.INNER)


@compiled
def place_in(state: int, role: int, facts: int, is_event: bool) -> int:
    """Return the number of the place that a record names, 0 where it is not known, which is noted.

    Args:
        state: address of the kernel's state.
        role, facts: of the source block, or of a CloudEvent; no facts for none.
        is_event: which of them.
    """
    start = load64(state + at.S_SCRATCH)
    target = start
    stop = load64(state + at.S_SCRATCH_STOP)
    for number in range(5):
        offset = -1
        if facts != 0:
            offset = load64(facts + (_EVENT_PLACE_FACTS[number] if is_event else _PLACE_FACTS[number]))
        if offset >= 0:
            slot = slot_of(state, role, offset)
            length = load64(slot + at.SLOT_LENGTH)
            if target + length + at.WORD > stop:
                return 0
            target = copy(target, load64(slot + at.SLOT_VALUE), length)
        # Values of JSON hold no such byte, so that two places are never written alike.
        target = copy(target, load64(state + at.S_BLOB), 1)
    entry = text_of(state, start, target - start, at.PLACE)
    if entry == 0:
        lacks(state, at.LACKS_TEXT, start, target - start, at.PLACE)
        return 0
    return load64(entry + at.TEXT_NUMBER)


@compiled
def key_in_line(state: int, slot: int) -> int:
    """Read the key in the wrapper of a line; see ``read_key``. An object stands in it noted, or as text."""
    letter = first_of(slot)
    if letter == OPEN:
        return -1
    if letter != QUOTE:
        return at.KEY_NONE
    inner = load8(load64(slot + at.SLOT_VALUE) + 1)
    if inner != OPEN:
        # Where space or an escape may hide a bracket the reference looks.
        return 0 if inner == BACKSLASH or inner == SPACE else at.KEY_NONE
    start = load64(state + at.S_SCRATCH)
    if past_text_value(state, slot, at.KEY) != 0:
        return -1
    store64(state + at.S_SCRATCH, start)
    return 0


@compiled
def key_shape(state: int) -> int:
    """Return the answer to what the message key names, 0 when the record must be left (the state says why)."""
    store64(state + at.S_LACK_A, -1)
    top = load64(state + at.S_WRAPPER)
    if top == 0:
        return at.KEY_NONE
    offset = load64(facts_of(state, top) + at.F_KEY)
    if offset < 0:
        return at.KEY_NONE
    slot = slot_of(state, at.TOP, offset)
    read = key_in_line(state, slot) if load64(state + at.S_KEY_STARTS) == 0 else read_key(state, slot)
    if read >= 0:
        return read
    shape = shape_of(state, at.KEY)
    if shape == 0:
        lacks(state, at.LACKS_SHAPE, at.KEY, 0, 0)
        return 0
    facts = facts_of(state, shape)
    flags = load64(facts + at.FACT_FLAGS)
    if flags & at.IS_BROKEN:
        return 0
    if flags & at.IS_WITH_SCHEMA:
        if half_in(state, at.KEY, facts) == 0:
            store64(state + at.S_LACK_C, load64(state + at.S_LACK_C) | at.FROM_KEY)
            return 0
        shape = object_in(state, at.KEY, load64(facts + at.F_PAYLOAD), at.KEY_BODY)
        if shape < 0:
            return 0
        return (shape + 1) | at.IN_PAYLOAD if shape > 0 else at.KEY_NONE
    return shape + 1


@compiled
def nested_answer(state: int, program: int) -> int:
    """Inspect objects within the row, and return the number for what is there; 0 when the record must be left."""
    answer = load64(program + 16)
    role = load64(program + 24)
    store64(state + at.S_LACK_A, -1)
    for number in range(load64(program + 8)):
        slot = load64(state + at.S_SLOTS) + load64(program + 40 + number * 8)
        kind = 1
        # These roles are free of what the record before left in them only here, as few records come this way.
        store64(load64(state + at.S_HEADS) + role * at.HEAD_BYTES + at.HEAD_COUNT, -1)
        if first_of(slot) == OPEN:
            start = load64(slot + at.SLOT_VALUE)
            if scan_object(state, start, start + load64(slot + at.SLOT_LENGTH), role) == 0:
                return 0
            shape = shape_of(state, role)
            if shape == 0:
                lacks(state, at.LACKS_SHAPE, role, 0, 0)
                return 0
            if load64(facts_of(state, shape) + at.FACT_FLAGS) & at.IS_BROKEN:
                return 0
            kind = shape + 2
        elif is_null(slot):
            kind = 2
        role += 1
        kind += load64(program + 32)
        below = pair_of(state, answer, kind)
        if below == 0:
            lacks(state, at.LACKS_PAIR, answer, kind, load64(program + 24))
            return 0
        answer = below
    return answer


@compiled
def change_answer(state: int, program: int) -> int:
    """Return whether an update changed the key of its row."""
    slots = load64(state + at.S_SLOTS)
    is_changed = False
    for number in range(load64(program + 8)):
        place = program + 16 + number * 16
        old, after = slots + load64(place), load64(place + 8)
        if is_null(old):
            return at.UNCHANGED
        if after < 0:
            is_changed = True
            continue
        new = slots + after
        length = load64(old + at.SLOT_LENGTH)
        if length != load64(new + at.SLOT_LENGTH) or not is_same(
            load64(old + at.SLOT_VALUE), load64(new + at.SLOT_VALUE), length
        ):
            is_changed = True
    return at.CHANGED if is_changed else at.UNCHANGED


@compiled
def why_not_found(least: int) -> int:
    """Return why a record is left by the least of what ``object_in`` and ``rows_of_event`` said, 0 where it is not."""
    if least >= 0:
        return 0
    return at.LACKS_SHAPE if least == -1 else at.REFUSED if least == -2 else at.LACKS_HALF


@compiled
def rows_of_event(state: int, role: int, facts: int) -> tuple[int, int, int]:
    """Return the role and shape of the object with the rows of a CloudEvent, and the shape of its data.

    The rows are in its data, or in the payload that stands there beside a schema.

    Args:
        state: address of the kernel's state.
        role, facts: of the event.

    Returns:
        The shapes as ``object_in`` does; -3 where a schema half is not known, which is noted.
    """
    shape = object_in(state, role, load64(facts + at.F_DATA), at.DATA)
    if shape <= 0:
        return at.DATA, shape, 0
    data = facts_of(state, shape)
    if not load64(data + at.FACT_FLAGS) & at.IS_WITH_SCHEMA:
        return at.DATA, shape, shape
    if load64(state + at.S_HALF) != 0:
        # Two schemas, one around the event and one within it.
        return at.DATA, -2, 0
    half = half_in(state, at.DATA, data)
    if half == 0:
        return at.DATA, -3, 0
    store64(state + at.S_HALF, half)
    return at.DATA_BODY, object_in(state, at.DATA, load64(data + at.F_PAYLOAD), at.DATA_BODY), shape


@compiled
def read_change(state: int, role: int, facts: int) -> tuple[int, int, int]:
    """Read an envelope or a CloudEvent, and note in the key its rows and what says more of them: transaction or data.

    Args:
        state: address of the kernel's state.
        role, facts: of the body.

    Returns:
        0 or why the record is left; the code of its operation; the shape of its source block, 0 for none.
    """
    rows, holder, shape, source, beside = facts, role, 1, 0, 0
    if load64(facts + at.FACT_FLAGS) & at.IS_EVENT:
        op = op_of_event(state, role, facts)
        if op == 0 or not note_event_time(state, role, facts):
            return at.REFUSED, 0, 0
        holder, shape, beside = rows_of_event(state, role, facts)
        rows = facts_of(state, max(shape, 0))
    else:
        op = op_of_envelope(slot_of(state, role, load64(facts + at.F_OP)))
        if op == 0:
            return at.REFUSED, 0, 0
        source = object_in(state, role, load64(facts + at.F_SOURCE), at.SOURCE)
        beside = object_in(state, role, load64(facts + at.F_TRANSACTION), at.TRANSACTION)
    before, after = 0, 0
    if shape > 0:
        before = object_in(state, holder, load64(rows + at.F_BEFORE), at.BEFORE)
        after = object_in(state, holder, load64(rows + at.F_AFTER), at.AFTER)
    store64(state + at.S_KEY_1, beside | before << 20 | after << 40)
    why = why_not_found(shape)
    if why == 0:
        # What is too rare comes before what can be learned.
        why = why_not_found(min(before, after, source, beside))
    return why, op, source


@compiled
def find_program(state: int) -> int:
    """Find the program for the record that was scanned, asking what it wants to know.

    Returns:
        Its address, or why the record is left, which is a small number.
    """
    why = body_of(state)
    if why != 0:
        return why
    op, role, topic = load64(state + at.S_OP), load64(state + at.S_BODY), load64(state + at.S_TOPIC)
    body, source, place, snapshot, facts, is_event = 0, 0, 0, 0, 0, False
    store64(state + at.S_KEY_1, 0)
    if op == 0:
        body = load64(load64(state + at.S_HEADS) + role * at.HEAD_BYTES + at.HEAD_SHAPE)
        facts = facts_of(state, body)
        flags = load64(facts + at.FACT_FLAGS)
        is_event = flags & at.IS_EVENT != 0
        if flags & (at.IS_ENVELOPE | at.IS_EVENT):
            why, op, source = read_change(state, role, facts)
            if why != 0:
                return why
        else:
            op = op_of_row(state, role, facts, flags)
        snapshot = snapshot_of(state, role, facts, source)
        if op < 0 or snapshot < 0:
            return at.REFUSED
    if topic != 0:
        place = load64(topic + at.TEXT_NUMBER)
    elif op != at.OP_TOMBSTONE and op != at.OP_IS_KEY:
        if not is_event:
            role, facts = at.SOURCE, (facts_of(state, source) if source != 0 else 0)
        place = place_in(state, role, facts, is_event)
        if place == 0:
            return at.LACKS_TEXT
    store64(state + at.S_OP, op)
    is_body = 1 if load64(state + at.S_BODY) == at.TOP else 0
    store64(state + at.S_KEY_0, load64(state + at.S_WRAPPER) | body << 20 | source << 40 | is_body << 60)
    store64(state + at.S_KEY_2, place | load64(state + at.S_HALF) << 24 | op << 48 | snapshot << at.SNAPSHOT_SHIFT)
    store64(state + at.S_KEY_3, 0)
    return asked(state)


@compiled
def asked(state: int) -> int:
    """Follow the questions of programs until one decides; return it, or why the record is left."""
    while True:
        program = program_of(state)
        if program == 0:
            return at.LACKS_PROGRAM
        kind = load64(program)
        if kind <= at.SKIP:
            return program
        if kind == at.REFUSE:
            return at.REFUSED
        if kind == at.ASK_CHANGE:
            answer = change_answer(state, program) << at.CHANGE_SHIFT
        elif kind == at.ASK_KEY:
            answer = key_shape(state)
            if answer == 0:
                return why_left(state)
        elif kind == at.ASK_NESTED:
            answer = nested_answer(state, program)
            if answer == 0:
                return why_left(state)
            # The answer stands for all before it too.
            store64(state + at.S_KEY_3, load64(state + at.S_KEY_3) & ~(at.NUMBER_MASK << at.NESTED_SHIFT))
            answer <<= at.NESTED_SHIFT
        else:
            slot = load64(state + at.S_SLOTS) + load64(program + 8)
            start, length = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)
            entry = text_of(state, start, length, at.FIELD)
            if entry == 0:
                return lacks(state, at.LACKS_TEXT, start, length, at.FIELD)
            answer = load64(entry + at.TEXT_NUMBER) << at.FIELD_SHIFT
        store64(state + at.S_KEY_3, load64(state + at.S_KEY_3) | answer)


@compiled
def is_placeholder(state: int, forms: int, place: int, length: int) -> bool:
    """Say whether a value is one of the forms of an unavailable value: a text, list or object of a certain length."""
    letter = load8(place)
    if letter != QUOTE and letter != OPEN_LIST and letter != OPEN:
        return False
    blob = load64(state + at.S_BLOB)
    for number in range(load64(forms + 8)):
        form = forms + 16 + number * 16
        if load64(form + 8) == length and is_same(place, blob + load64(form), length):
            return True
    return False


@compiled
def program_without_unavailable(state: int, program: int) -> int:
    """Find the program for a record some of whose values are unavailable, which told another one that it is not for it.

    Returns:
        As ``find_program``.
    """
    answer = (load64(state + at.S_KEY_3) >> at.NESTED_SHIFT) & at.NUMBER_MASK
    forms = load64(state + at.S_CODE) + load64(program + at.P_FORMS)
    output, number = program + at.P_OUTPUTS, at.UNAVAILABLE
    for _ in range(load64(program + at.P_OUTPUT_COUNT)):
        before, count = load64(output + at.O_BEFORE), load64(output + at.O_PIECE_COUNT)
        piece = output + at.O_PIECES + before * at.PIECE_BYTES
        for _ in range(count - before):
            slot = load64(state + at.S_SLOTS) + load64(piece + at.PIECE_SLOT)
            if is_placeholder(state, forms, load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)):
                below = pair_of(state, answer, number)
                if below == 0:
                    return lacks(state, at.LACKS_PAIR, answer, number, 0)
                answer = below
            number += 1
            piece += at.PIECE_BYTES
        output = piece
    others = load64(state + at.S_KEY_3) & ~(at.NUMBER_MASK << at.NESTED_SHIFT)
    store64(state + at.S_KEY_3, others | answer << at.NESTED_SHIFT)
    return asked(state)


@compiled
def why_left(state: int) -> int:
    """Return what an unanswered question lacked: nothing that can be learned, a schema half, a shape or a pair."""
    first, second, third = load64(state + at.S_LACK_A), load64(state + at.S_LACK_B), load64(state + at.S_LACK_C)
    if first < 0:
        return at.REFUSED
    if third & at.FROM_KEY:
        store64(state + at.S_LACK_C, third & ~at.FROM_KEY)
        return at.LACKS_HALF
    return at.LACKS_PAIR if second != 0 else at.LACKS_SHAPE
