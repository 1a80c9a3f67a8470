"""Read JSON objects: check every byte of them, and note the members of those that matter.

What is not accepted (``scalars``; nested up to 64 deep) ends the scan with 0: the reference then looks at the record.
So a scan may refuse what the reference takes, never the other way round.

Names are *guessed*: an object most often has the names of the one that was in its role before. As long as it does, a
name with its quotes and colon is compared at once and not looked into; at the first that differs, those before it are
noted from what was guessed, and names are read. A name with escapes is noted as what it stands for, which is written
into the scratch room.

Objects are noted in *roles*: the outermost, the value in a wrapper, the payload beside a schema, the data of a
CloudEvent, the source block, the rows. Each role has a head (how many members, the hash of their names in order) and
one slot a member (where its name lies, where its value lies). A value that has a role itself is gone through where it
stands, once.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.layout import (
    AFTER,
    BEFORE,
    BODY,
    DATA,
    DATA_BODY,
    FACT_BYTES,
    FACT_GUESSES,
    FACT_NAMES,
    GUESS_SHIFT,
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
    MOST_GUESSED,
    MOST_MEMBERS,
    NAME_BYTES,
    NAME_HASH,
    NAME_LENGTH,
    NAME_PLACE,
    NAME_WORD,
    ROLE_BYTES,
    S_BLOB,
    S_CARRIED,
    S_CARRIED_STOP,
    S_HALF_LEAVES,
    S_HALF_NODES,
    S_HALF_ROOT,
    S_HEADS,
    S_SCRATCH,
    S_SHAPE_FACTS,
    S_SLOTS,
    SLOT_BYTES,
    SLOT_HASH,
    SLOT_LENGTH,
    SLOT_NAME,
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
    different,
    first_bit,
    is_same,
    load8,
    load64,
    special,
    store64,
)
from metl_gui.engine.kernel.compiled.scalars import (
    CLOSE,
    CLOSE_LIST,
    COLON,
    COMMA,
    OPEN,
    OPEN_LIST,
    QUOTE,
    SPACE,
    past_character,
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
_MULTIPLIER = -7046029254386353131
"""An odd number with bits everywhere: 2^64 over the golden ratio, as a signed number."""


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
def past_long_name(at: int, end: int) -> int:
    """Skip a name without escapes that begins here and return where its closing quote is; 0 for one with escapes."""
    while at < end:
        marks = special(at)
        if marks == 0:
            at += VECTOR
            continue
        at += first_bit(marks)
        letter = load8(at)
        if letter == QUOTE:
            return at if at < end else 0
        if letter < 0x80:
            return 0
        at = past_character(at)
        if at == 0:
            return 0
    return 0


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
    """Return the role that an object has by its name in an object of a role, -1 for none."""
    if role == TOP:
        if (length == 5 and word == _VALUE) or (length == 7 and word == _MESSAGE):
            return BODY
        if length == 3 and word == _KEY:
            return KEY
    if length == 7 and word == _PAYLOAD:
        return INNER if role < INNER else DATA_BODY if role == DATA else KEY_BODY if role == KEY else -1
    if length == 4 and word == _DATA:
        return DATA if role <= INNER else -1
    return row_or_source(word, length) if role <= DATA_BODY else -1


@compiled
def row_or_source(word: int, length: int) -> int:
    """Return the role of an object by its name in an envelope, -1 for none."""
    if length == 6 and word == _BEFORE:
        return BEFORE
    if length == 5 and word == _AFTER:
        return AFTER
    if length == 6 and word == _SOURCE:
        return SOURCE
    return TRANSACTION if length == 11 and word == _TRANSACT else -1


@compiled
def mix_name(mixed: int, at: int, length: int) -> tuple[int, int]:
    """Add a name that was read without its escapes to a hash; return it and the first word of the name.

    The hash is the same as without escapes: names of up to 15 plain letters are mixed by words, others as long ones.
    """
    if length >= VECTOR or special(at) & ((1 << length) - 1) != 0:
        return mix_long_name(mixed, at, length)
    return mix_short_name(mixed, at, length)


@compiled
def mix_short_name(mixed: int, at: int, length: int) -> tuple[int, int]:
    """Add a name of up to 15 letters to a hash; return it and the first word of the name."""
    word = load64(at)
    if length < 8:
        word &= (1 << (8 * length)) - 1
    mixed = (mixed ^ word ^ length) * _MULTIPLIER
    if length > 8:
        more = load64(at + 8) & ((1 << (8 * (length - 8))) - 1)
        mixed = (mixed ^ (mixed >> 31) ^ more) * _MULTIPLIER
    return mixed, word


@compiled
def read_name(state: int, slot: int, at: int, end: int, mixed: int) -> tuple[int, int]:
    """Read a name, its colon and the space around, and note it.

    Args:
        state: address of the kernel's state.
        slot: where it is noted.
        at: where it should begin.
        end: where the text ends.
        mixed: the hash of the names before it.

    Returns:
        Where its value begins, 0 for no name; the hash with it.
    """
    if at >= end or load8(at) != QUOTE:
        return 0, 0
    at += 1
    store64(slot + SLOT_NAME, at)
    marks = special(at)
    if marks != 0 and load8(at + first_bit(marks)) == QUOTE:
        length = first_bit(marks)
        mixed, word = mix_short_name(mixed, at, length)
        at += length + 1
    else:
        length = past_long_name(at, end) - at
        if length >= 0:
            mixed, word = mix_long_name(mixed, at, length)
            at += length + 1
        else:
            start = load64(state + S_SCRATCH)
            at, stop = unescape(state, at, end)
            if at == 0:
                return 0, 0
            length = stop - start
            store64(slot + SLOT_NAME, start)
            mixed, word = mix_name(mixed, start, length)
    store64(slot + SLOT_WORD, word)
    store64(slot + SLOT_NAME_LENGTH, length)
    if load8(at) != COLON:
        at = past_space(at, end)
        if load8(at) != COLON:
            return 0, 0
    at += 1
    if load8(at) <= SPACE:
        at = past_space(at, end)
    mixed ^= mixed >> 29
    store64(slot + SLOT_HASH, mixed)
    return (at if at < end else 0), mixed


@compiled
def past_guessed(blob: int, name: int, at: int, end: int) -> int:
    """Skip a name with its quotes and colon if it is the one that is guessed, 0 otherwise or where space follows.

    Args:
        blob: address of the blob.
        name: size and place of the name that is guessed.
        at, end: where it should begin, and where the text ends.
    """
    text, size = blob + (name >> GUESS_SHIFT), name & MOST_GUESSED
    if size == 0 or at + size >= end:
        return 0
    while size > VECTOR:
        if different(at, text) != 0:
            return 0
        at += VECTOR
        text += VECTOR
        size -= VECTOR
    if different(at, text) << (64 - size) != 0:
        return 0
    at += size
    return at if load8(at) > SPACE else 0


@compiled
def guessed_facts(state: int, head: int) -> int:
    """Return the facts of the shape that an object in a role may have."""
    return load64(state + S_SHAPE_FACTS) + load64(head + HEAD_GUESS) * FACT_BYTES


@compiled
def note_names(state: int, head: int, slot: int, first: int, count: int) -> int:
    """Note names that were guessed, as if they had been read; return the hash of them.

    Args:
        state: address of the kernel's state.
        head: of the role.
        slot: of the first member.
        first: its number.
        count: how many.
    """
    mixed, blob = 0, load64(state + S_BLOB)
    name = blob + load64(guessed_facts(state, head) + FACT_NAMES) + first * NAME_BYTES
    for _ in range(count):
        mixed = load64(name + NAME_HASH)
        store64(slot + SLOT_NAME, blob + load64(name + NAME_PLACE))
        store64(slot + SLOT_NAME_LENGTH, load64(name + NAME_LENGTH))
        store64(slot + SLOT_WORD, load64(name + NAME_WORD))
        store64(slot + SLOT_HASH, mixed)
        slot += SLOT_BYTES
        name += NAME_BYTES
    return mixed


@compiled
def past_member(state: int, head: int, slot: int, at: int, end: int, depth: int) -> int:
    """Skip a value that has no role; a schema half that was met before is only compared."""
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
def begin_role(state: int, role: int, parent: int) -> bool:
    """Begin an object in a role, unless the record has one already."""
    head = load64(state + S_HEADS) + role * HEAD_BYTES
    if load64(head + HEAD_COUNT) >= 0:
        return False
    store64(head + HEAD_PARENT, parent)
    store64(head + HEAD_SHAPE, 0)
    return True


@compiled
def guess(state: int, head: int) -> int:
    """Return the place in the blob of the first name that an object in a role may have."""
    return load64(guessed_facts(state, head) + FACT_GUESSES)


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


@compiled
def scan_object(state: int, at: int, end: int, outermost: int) -> int:  # noqa: C901, PLR0912, PLR0915 - a state machine
    """Read an object in a role, and those in it that have roles, and note their members.

    Args:
        state: address of the kernel's state.
        at, end: its opening bracket, and where the text ends.
        outermost: its role.
    """
    heads, slots = load64(state + S_HEADS), load64(state + S_SLOTS)
    blob = load64(state + S_BLOB)
    role, depth, count, mixed = outermost, 1, 0, 0
    head, slot, at = heads + role * HEAD_BYTES, slots + role * ROLE_BYTES, past_space(at + 1, end)
    if not begin_role(state, role, -1):
        return 0
    name = guess(state, head)
    is_empty = load8(at) == CLOSE
    while True:
        if not is_empty:
            if count >= MOST_MEMBERS:
                return 0
            start, after = at, 0
            if name != 0:
                after = past_guessed(blob, load64(blob + name), at, end)
                name += WORD
            at = after
            if after == 0:
                if name != 0:
                    mixed = note_names(state, head, slot - count * SLOT_BYTES, 0, count)
                    name = 0
                at, mixed = read_name(state, slot, start, end, mixed)
                if at == 0:
                    return 0
            count += 1
            store64(slot + SLOT_VALUE, at)
            below, is_carried = -1, role == TOP and load8(at) == QUOTE and load8(at + 1) == OPEN
            if load8(at) == OPEN or is_carried:
                note_names(state, head, slot, count - 1, 1 if name != 0 else 0)
                below = (
                    -1 if is_carried else role_below(role, load64(slot + SLOT_WORD), load64(slot + SLOT_NAME_LENGTH))
                )
            if below >= 0:
                # The object is left for the one in it, which is read in the same way.
                if not begin_role(state, below, role):
                    return 0
                note_head(head, count, mixed, slot, name)
                role, depth, count, mixed = below, depth + 1, 0, 0
                head, slot = heads + role * HEAD_BYTES, slots + role * ROLE_BYTES
                name = guess(state, head)
                at = past_space(at + 1, end)
                is_empty = load8(at) == CLOSE
                continue
            at = past_carried(state, slot, at, end) if is_carried else past_member(state, head, slot, at, end, depth)
            store64(slot + SLOT_LENGTH, at - load64(slot + SLOT_VALUE))
            if at == 0:
                return 0
        # Here the last member has ended, or there is none; objects may end until another member comes.
        while True:
            at = at if load8(at) > SPACE else past_space(at, end)
            if at >= end:
                return 0
            if load8(at) == COMMA and not is_empty:
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
            role, depth, is_empty = load64(head + HEAD_PARENT), depth - 1, False
            head = heads + role * HEAD_BYTES
            count, mixed, slot = load64(head + HEAD_COUNT), load64(head + HEAD_HASH), load64(head + HEAD_END)
            name = load64(head + HEAD_NAME)
            store64(slot + SLOT_LENGTH, at - load64(slot + SLOT_VALUE))


@compiled
def mix_long_name(mixed: int, at: int, length: int) -> tuple[int, int]:
    """Add a name of more than 15 bytes, or beyond ASCII, to a hash; return it and the first word of the name."""
    done = 0
    while done + 8 <= length:
        mixed = (mixed ^ load64(at + done) ^ length) * _MULTIPLIER
        mixed ^= mixed >> 31
        done += 8
    if done < length:
        mixed = (mixed ^ (load64(at + done) & ((1 << (8 * (length - done))) - 1)) ^ length) * _MULTIPLIER
    word = load64(at)
    if length < 8:
        word &= (1 << (8 * length)) - 1
    return mixed, word
