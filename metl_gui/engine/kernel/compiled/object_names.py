"""Names of the members of an object: guessed, or read and noted.

Names are *guessed*: an object most often has the names of the one that was in its role before. As long as it does, a
name with its quotes and colon is compared at once and not looked into; at the first that differs, those before it are
noted from what was guessed, and names are read. A name with escapes is noted as what it stands for, which is written
into the scratch room.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.layout import (
    FACT_BYTES,
    FACT_GUESSES,
    FACT_NAMES,
    GUESS_SHIFT,
    HEAD_GUESS,
    MOST_GUESSED,
    NAME_BYTES,
    NAME_HASH,
    NAME_LENGTH,
    NAME_PLACE,
    NAME_WORD,
    S_BLOB,
    S_SCRATCH,
    S_SHAPE_FACTS,
    SLOT_BYTES,
    SLOT_HASH,
    SLOT_NAME,
    SLOT_NAME_LENGTH,
    SLOT_WORD,
    WORD,
)
from metl_gui.engine.kernel.compiled.memory import (
    compiled,
    different,
    first_bit,
    inlined,
    load8,
    load64,
    special,
    store64,
)
from metl_gui.engine.kernel.compiled.scalars import (
    COLON,
    QUOTE,
    SPACE,
    past_character,
    past_space,
    unescape,
)

_MULTIPLIER = -7046029254386353131
"""An odd number with bits everywhere: 2^64 over the golden ratio, as a signed number."""


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


@compiled
def mix_name(mixed: int, at: int, length: int) -> tuple[int, int]:
    """Add a name that was read without its escapes to a hash; return it and the first word of the name.

    The hash is the same as without escapes: names of up to 15 plain letters are mixed by words, others as long ones.
    """
    if length >= VECTOR or special(at) & ((1 << length) - 1) != 0:
        return mix_long_name(mixed, at, length)
    return mix_short_name(mixed, at, length)


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


@inlined
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
def guess(state: int, head: int) -> int:
    """Return the place in the blob of the first name that an object in a role may have."""
    return load64(guessed_facts(state, head) + FACT_GUESSES)


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


@inlined
def past_name_in(
    state: int, head: int, slot: int, at: int, end: int, count: int, mixed: int, name: int
) -> tuple[int, int, int]:
    """Skip the name of a member, with its colon and the space around: the one that is guessed, or any other.

    Args:
        state, head, slot: where what is read is noted.
        at, end: where the name should begin, and where the text ends.
        count: members before it.
        mixed: the hash of their names, where they were read.
        name: the name that is guessed as a place in the blob, 0 when names are read.

    Returns:
        Where its value begins, 0 for no name; the hash with it; the name that is guessed next.
    """
    if name != 0:
        blob = load64(state + S_BLOB)
        value = past_guessed(blob, load64(blob + name), at, end)
        if value != 0:
            return value, mixed, name + WORD
        mixed = note_names(state, head, slot - count * SLOT_BYTES, 0, count)
    value, mixed = read_name(state, slot, at, end, mixed)
    return value, mixed, 0
