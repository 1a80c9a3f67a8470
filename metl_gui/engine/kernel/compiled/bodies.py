"""Find the object that a record is about: in its wrapper, in the text that the wrapper carries, beside its schema."""

from __future__ import annotations

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.finding import (
    facts_of,
    first_of,
    found_facts,
    is_null,
    lacks,
    shape_of,
    short_text,
    slot_of,
    text_of,
)
from metl_gui.engine.kernel.compiled.memory import compiled, load8, load64, store64
from metl_gui.engine.kernel.compiled.scalars import OPEN, QUOTE, past_space, unescape, word_of
from metl_gui.engine.kernel.compiled.scanning import scan_object

_SCHEMA_MARK, _APICURIO_MARK = word_of(b"_schema_"), word_of(b"apicurio")
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
    start = load64(state + at.S_SCRATCH)
    place = load64(slot + at.SLOT_VALUE)
    stop = unescape(state, place + 1, place + load64(slot + at.SLOT_LENGTH))
    if stop == 0 or load8(start) != OPEN:
        return 0
    store64(state + at.S_SCRATCH, stop + at.WORD)
    end = scan_object(state, start, stop, role)
    return end if end != 0 and past_space(end, stop) == stop else 0


@compiled
def names_schema(slot: int) -> bool:
    """Say whether headers may name the schema of a registry that a value or key is written with."""
    place = load64(slot + at.SLOT_VALUE)
    for offset in range(load64(slot + at.SLOT_LENGTH)):
        word = load64(place + offset)
        if word == _SCHEMA_MARK or word == _APICURIO_MARK:
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
    if offset >= 0 and names_schema(slot_of(state, at.TOP, offset)):
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
