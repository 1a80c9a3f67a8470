"""Read JSON objects: check every byte of them, and note the members of those that matter.

What is not accepted (``scalars``; nested up to 64 deep) ends the scan with 0: the reference then looks at the record.
So a scan may refuse what the reference takes, never the other way round.

Most members have a name that was guessed (``object_names``) and a plain value, with no space around them: a loop of
their own skips these. At the first other one all that JSON allows is looked at.

Objects are noted in *roles*: the outermost, the value in a wrapper, the payload beside a schema, the data of a
CloudEvent, the source block, the rows. Each role has a head (how many members, the hash of their names in order) and
one slot a member (where its name lies, where its value lies). A value that has a role itself is gone through where it
stands, once.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled.layout import (
    AFTER,
    BEFORE,
    BODY,
    DATA,
    DATA_BODY,
    HALF_LEAF,
    HALF_NODE,
    HEAD_BYTES,
    HEAD_COUNT,
    HEAD_END,
    HEAD_GUESS,
    HEAD_HALF,
    HEAD_HASH,
    HEAD_NAME,
    HEAD_PARENT,
    HEAD_SHAPE,
    INNER,
    KEY,
    KEY_BODY,
    MOST_DEPTH,
    MOST_MEMBERS,
    ROLE_BYTES,
    S_BLOB,
    S_CARRIED,
    S_CARRIED_STOP,
    S_HALF_LEAVES,
    S_HALF_NODES,
    S_HALF_ROOT,
    S_HEADS,
    S_SCRATCH,
    S_SLOTS,
    SLOT_BYTES,
    SLOT_LENGTH,
    SLOT_NAME_LENGTH,
    SLOT_VALUE,
    SLOT_WORD,
    SOURCE,
    TOP,
    TRANSACTION,
    WORD,
)
from metl_gui.engine.kernel.compiled.memory import (
    compiled,
    inlined,
    is_same,
    load8,
    load64,
    store64,
)
from metl_gui.engine.kernel.compiled.object_names import guess, note_names, past_guessed, past_name_in
from metl_gui.engine.kernel.compiled.scalars import (
    CLOSE,
    CLOSE_LIST,
    COLON,
    COMMA,
    OPEN,
    OPEN_LIST,
    QUOTE,
    SPACE,
    past_plain,
    past_scalar,
    past_space,
    past_string,
    unescape,
    word_of,
)

_VALUE, _MESSAGE, _PAYLOAD, _SCHEMA, _KEY = (
    word_of(name) for name in (b"value", b"message", b"payload", b"schema", b"key")
)
_BEFORE, _AFTER, _SOURCE, _TRANSACT = (word_of(name) for name in (b"before", b"after", b"source", b"transact"))
_DATA = word_of(b"data")
NO_ROLE, CARRIED = -1, -2
_TWO_BYTES = 0xFFFF
_COMMA_QUOTE = word_of(b',"')


@compiled
def past_nested(at: int, end: int, depth: int) -> int:
    """Skip an object or array that has no role.

    Args:
        at: its opening bracket.
        end: where the text ends.
        depth: how many objects and arrays are open around it.
    """
    # Bit 0 says whether the innermost open one is an object; those around it follow.
    kinds, level = 0, depth
    while at < end:
        letter = load8(at)
        if letter == OPEN or letter == OPEN_LIST:
            level += 1
            if level > MOST_DEPTH:
                return 0
            kinds = (kinds << 1) | (1 if letter == OPEN else 0)
            at = past_space(at + 1, end)
            if load8(at) != (CLOSE if letter == OPEN else CLOSE_LIST):
                at = past_name(at, end) if letter == OPEN else at
                if at == 0:
                    return 0
                continue
        else:
            at = past_scalar(at, end, letter)
            if at == 0:
                return 0
        # Here a value has ended, or something empty ends; more may end until another value comes.
        while True:
            at = past_space(at, end)
            letter = load8(at)
            if letter == COMMA:
                break
            if at >= end or letter != (CLOSE if kinds & 1 else CLOSE_LIST):
                return 0
            at, kinds, level = at + 1, kinds >> 1, level - 1
            if level == depth:
                return at
        at = past_space(at + 1, end)
        at = past_name(at, end) if kinds & 1 else at
        if at == 0:
            return 0
    return 0


@compiled
def past_name(at: int, end: int) -> int:
    """Skip a name, its colon and the space around."""
    if at >= end or load8(at) != QUOTE:
        return 0
    at = past_string(at + 1, end)
    if at == 0:
        return 0
    at = past_space(at, end)
    if at >= end or load8(at) != COLON:
        return 0
    return past_space(at + 1, end)


@compiled
def past_known_schema(state: int, at: int, end: int, head: int) -> int:
    """Skip a schema that was met before, as fast as memory is compared; 0 when it was not.

    A tree of single bytes in which the schemas differ leads to the only candidate, which is then compared whole.
    """
    node = load64(state + S_HALF_ROOT)
    nodes = load64(state + S_HALF_NODES)
    while node >= 0:
        place = nodes + node * HALF_NODE
        offset = load64(place)
        is_equal = at + offset < end and load8(at + offset) == load64(place + 8)
        node = load64(place + 16) if is_equal else load64(place + 24)
    if node == -1:
        return 0
    leaf = load64(state + S_HALF_LEAVES) + (-2 - node) * HALF_LEAF
    length = load64(leaf + 8)
    if at + length > end or not is_same(at, load64(state + S_BLOB) + load64(leaf), length):
        return 0
    store64(head + HEAD_HALF, -1 - node)
    return at + length


@compiled
def role_below(role: int, word: int, length: int) -> int:
    """Return the role that an object has by its name in an object of a role, ``NO_ROLE`` for none."""
    if role == TOP:
        if (length == 5 and word == _VALUE) or (length == 7 and word == _MESSAGE):
            return BODY
        if length == 3 and word == _KEY:
            return KEY
    if length == 7 and word == _PAYLOAD:
        return INNER if role < INNER else DATA_BODY if role == DATA else KEY_BODY if role == KEY else NO_ROLE
    if length == 4 and word == _DATA:
        return DATA if role <= INNER else NO_ROLE
    return row_or_source(word, length) if role <= DATA_BODY else NO_ROLE


@compiled
def row_or_source(word: int, length: int) -> int:
    """Return the role of an object by its name in an envelope, ``NO_ROLE`` for none."""
    if length == 6 and word == _BEFORE:
        return BEFORE
    if length == 5 and word == _AFTER:
        return AFTER
    if length == 6 and word == _SOURCE:
        return SOURCE
    return TRANSACTION if length == 11 and word == _TRANSACT else NO_ROLE


@compiled
def past_plain_members(blob: int, slot: int, name: int, at: int, end: int) -> tuple[int, int, bool]:
    """Skip members that have the names that are guessed and plain values, with no space around them.

    One that goes on behind the end of the text is the last; who asks refuses the text.

    Args:
        blob: address of the blob.
        slot: of the first member.
        name: its name, a place in the blob.
        at, end: where it should begin, and where the text ends.

    Returns:
        How many there are; where the first other member begins, or where the object ends; whether it ends there.
    """
    count = 0
    while True:
        value = past_guessed(blob, load64(blob + name), at, end)
        after = past_plain(value, end) if value != 0 else 0
        if after == 0:
            return count, at, False
        is_last = load8(after) == CLOSE
        if load64(after) & _TWO_BYTES != _COMMA_QUOTE and not is_last:
            return count, at, False
        store64(slot + SLOT_VALUE, value)
        store64(slot + SLOT_LENGTH, after - value)
        count += 1
        if is_last:
            return count, after, True
        at = after + 1
        slot += SLOT_BYTES
        name += WORD


@compiled
def past_member(state: int, head: int, slot: int, at: int, end: int, depth: int, is_carried: bool) -> int:
    """Skip a value that has no role; a schema half that was met before is only compared."""
    if is_carried:
        return past_carried(state, slot, at, end)
    letter = load8(at)
    if letter == OPEN and load64(slot + SLOT_WORD) == _SCHEMA and load64(slot + SLOT_NAME_LENGTH) == 6:
        after = past_known_schema(state, at, end, head)
        if after != 0:
            return after
    if letter == OPEN or letter == OPEN_LIST:
        return past_nested(at, end, depth)
    return past_scalar(at, end, letter)


@compiled
def past_carried(state: int, slot: int, at: int, end: int) -> int:
    """Skip a text that may be an object and note what it stands for, where it is what a wrapper carries.

    Args:
        state: address of the kernel's state.
        slot: of the member, its name noted.
        at: the opening quote.
        end: where the text ends.
    """
    length, word = load64(slot + SLOT_NAME_LENGTH), load64(slot + SLOT_WORD)
    is_value = (length == 5 and word == _VALUE) or (length == 7 and word == _MESSAGE)
    if not is_value or load64(state + S_CARRIED) != 0:
        return past_string(at + 1, end)
    start = load64(state + S_SCRATCH)
    after, stop = unescape(state, at + 1, end)
    store64(state + S_CARRIED, start)
    store64(state + S_CARRIED_STOP, stop)
    return after


@compiled
def begin_role(state: int, role: int, parent: int) -> int:
    """Begin an object in a role, unless the record has an object in it already.

    Returns:
        The place in the blob of the name that is guessed first, which is never its beginning; 0 where it has one.
    """
    head = load64(state + S_HEADS) + role * HEAD_BYTES
    if load64(head + HEAD_COUNT) >= 0:
        return 0
    store64(head + HEAD_PARENT, parent)
    store64(head + HEAD_SHAPE, 0)
    return guess(state, head)


@compiled
def note_head(head: int, count: int, mixed: int, slot: int, name: int) -> int:
    """Note how far an object was read: its members so far, their hash, the slot of the last, the next name guessed."""
    store64(head + HEAD_COUNT, count)
    store64(head + HEAD_NAME, name)
    store64(head + HEAD_HASH, mixed)
    store64(head + HEAD_END, slot)
    return head


@compiled
def note_end(state: int, head: int, count: int, mixed: int, slot: int, name: int) -> int:
    """Note an object that was read whole: its shape is told when it has all the names that were guessed."""
    if name != 0 and load64(load64(state + S_BLOB) + name) == 0 and count > 0:
        store64(head + HEAD_SHAPE, load64(head + HEAD_GUESS))
    elif name != 0:
        mixed = note_names(state, head, slot - max(count - 1, 0) * SLOT_BYTES, 0, count)
        name = 0
    return note_head(head, count, mixed, slot, name)


@inlined
def role_of_value(state: int, head: int, slot: int, role: int, before: int, is_guessed: bool) -> int:
    """Return the role of a value in an object, ``NO_ROLE`` for none, ``CARRIED`` for text that may hold an object.

    Args:
        state: address of the kernel's state.
        head, slot: of the object, and of the member.
        role: of the object.
        before: how many members stand before it.
        is_guessed: its name is the one that was guessed, and is noted now.
    """
    place = load64(slot + SLOT_VALUE)
    is_carried = role == TOP and load8(place) == QUOTE and load8(place + 1) == OPEN
    if load8(place) != OPEN and not is_carried:
        return NO_ROLE
    note_names(state, head, slot, before, 1 if is_guessed else 0)
    return CARRIED if is_carried else role_below(role, load64(slot + SLOT_WORD), load64(slot + SLOT_NAME_LENGTH))


@compiled
def scan_object(state: int, at: int, end: int, outermost: int) -> int:  # noqa: C901 - a state machine
    """Read an object in a role, and those in it that have roles, and note their members.

    Args:
        state: address of the kernel's state.
        at, end: its opening bracket, and where the text ends.
        outermost: its role.
    """
    heads, slots, blob = load64(state + S_HEADS), load64(state + S_SLOTS), load64(state + S_BLOB)
    role, below, depth, head, slot, count, mixed, name, is_over = NO_ROLE, outermost, 0, 0, 0, 0, 0, 0, False
    while True:
        if below >= 0:
            name = begin_role(state, below, role)
            if name == 0:
                return 0
            role, below, depth, count, mixed = below, NO_ROLE, depth + 1, 0, 0
            head, slot, at = heads + role * HEAD_BYTES, slots + role * ROLE_BYTES, past_space(at + 1, end)
            is_over = load8(at) == CLOSE
        if name != 0 and not is_over:
            passed, at, is_over = past_plain_members(blob, slot, name, at, end)
            count, name = count + passed, name + passed * WORD
            slot += (passed - 1 if is_over else passed) * SLOT_BYTES
        if not is_over:
            if count >= MOST_MEMBERS:
                return 0
            at, mixed, name = past_name_in(state, head, slot, at, end, count, mixed, name)
            if at == 0:
                return 0
            count += 1
            store64(slot + SLOT_VALUE, at)
            below = role_of_value(state, head, slot, role, count - 1, name != 0)
            if below >= 0:
                # The object is left for the one in it, which is read in the same way.
                note_head(head, count, mixed, slot, name)
                continue
            at = past_member(state, head, slot, at, end, depth, below == CARRIED)
            store64(slot + SLOT_LENGTH, at - load64(slot + SLOT_VALUE))
            if at == 0:
                return 0
        # Here the last member has ended, or there is none; objects may end until another member comes.
        while True:
            at = at if load8(at) > SPACE else past_space(at, end)
            if at >= end:
                return 0
            if load8(at) == COMMA:
                at = past_space(at + 1, end)
                slot += SLOT_BYTES
                break
            if load8(at) != CLOSE:
                return 0
            at += 1
            note_end(state, head, count, mixed, slot, name)
            if role == outermost:
                return at
            # Back to the object around it, whose last member this was.
            role, depth, is_over = load64(head + HEAD_PARENT), depth - 1, False
            head = heads + role * HEAD_BYTES
            count, mixed, slot = load64(head + HEAD_COUNT), load64(head + HEAD_HASH), load64(head + HEAD_END)
            name = load64(head + HEAD_NAME)
            store64(slot + SLOT_LENGTH, at - load64(slot + SLOT_VALUE))
