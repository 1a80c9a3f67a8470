"""Find what was learned in its tables: by hash first, then by comparing all of it.

A *shape* is the names of an object in their order. Its hash finds it, comparing every name settles it, so that two
objects of one shape have the same names exactly, each once. Members that come in another order are moved to where the
shape has them, so that everything behind sees one order. Short texts and programs are found in the same way.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.memory import (
    compiled,
    copy,
    copy_vector,
    is_same,
    load8,
    load64,
    no_digit,
    store64,
)
from metl_gui.engine.kernel.compiled.scalars import word_of

_NULL = word_of(b"null")
_FOUR_BYTES = 0xFFFFFFFF
_MULTIPLIER = -7046029254386353131


@compiled
def slot_of(state: int, role: int, offset: int) -> int:
    """Return the address of a slot of a role by its offset."""
    return load64(state + at.S_SLOTS) + role * at.ROLE_BYTES + offset


@compiled
def first_of(slot: int) -> int:
    """Return the first byte of the value of a slot."""
    return load8(load64(slot + at.SLOT_VALUE))


@compiled
def is_null(slot: int) -> bool:
    """Return whether the value of a slot is null."""
    return load64(slot + at.SLOT_LENGTH) == 4 and load64(load64(slot + at.SLOT_VALUE)) & _FOUR_BYTES == _NULL


@compiled
def short_text(slot: int) -> int:
    """Return the bytes of a short value as one number, 0 when it has more than 7."""
    length = load64(slot + at.SLOT_LENGTH)
    if length > 7:
        return 0
    return load64(load64(slot + at.SLOT_VALUE)) & ((1 << (8 * length)) - 1)


@compiled
def is_digits(slot: int) -> bool:
    """Return whether a value is made of digits and nothing else."""
    place, length = load64(slot + at.SLOT_VALUE), load64(slot + at.SLOT_LENGTH)
    while length > VECTOR:
        if no_digit(place) != 0:
            return False
        place, length = place + VECTOR, length - VECTOR
    return length > 0 and no_digit(place) & ((1 << length) - 1) == 0


@compiled
def lacks(state: int, why: int, first: int, second: int, third: int) -> int:
    """Note what is not known, and return why the record is left."""
    store64(state + at.S_LACK_A, first)
    store64(state + at.S_LACK_B, second)
    store64(state + at.S_LACK_C, third)
    return why


@compiled
def has_names(slot: int, name: int, count: int, blob: int) -> bool:
    """Compare the names of an object with those of a shape, byte by byte."""
    for _ in range(count):
        length = load64(slot + at.SLOT_NAME_LENGTH)
        if length != load64(name + at.NAME_LENGTH) or load64(slot + at.SLOT_WORD) != load64(name + at.NAME_WORD):
            return False
        if length > 8 and not is_same(
            load64(slot + at.SLOT_NAME) + 8, blob + load64(name + at.NAME_PLACE) + 8, length - 8
        ):
            return False
        slot += at.SLOT_BYTES
        name += at.NAME_BYTES
    return True


@compiled
def hash_names(slot: int, count: int, target: int) -> int:
    """Write the hash of each name of an object, and return the sum of them, which no order changes."""
    total = 0
    for _ in range(count):
        mixed = hash_of(load64(slot + at.SLOT_NAME), load64(slot + at.SLOT_NAME_LENGTH))
        total += mixed
        store64(target, mixed)
        target += at.WORD
        slot += at.SLOT_BYTES
    return total


@compiled
def set_of(state: int, wanted: int, count: int) -> int:
    """Return the number of the shape whose names have a sum of hashes, 0 when none is known."""
    table, mask = load64(state + at.S_SETS), load64(state + at.S_SET_MASK)
    place, number, is_found = (wanted ^ (wanted >> 32)) & mask, -1, False
    while number != 0 and not is_found:
        entry = table + place * at.SHAPE_BYTES
        number = load64(entry + at.SHAPE_NUMBER)
        is_found = load64(entry + at.SHAPE_HASH) == wanted and load64(facts_of(state, number) + at.FACT_COUNT) == count
        place = (place + 1) & mask
    return number


@compiled
def place_of_name(slot: int, mixed: int, facts: int, blob: int) -> int:
    """Return the number of a name in a shape, below 0 when it has none such."""
    names, index = blob + load64(facts + at.FACT_NAMES), blob + load64(facts + at.FACT_INDEX)
    mask = load64(index)
    spot = mixed & mask
    while True:
        entry = load64(index + at.WORD + spot * at.WORD)
        if entry == 0:
            return -1
        number = (entry & at.INDEX_MASK) - 1
        if (entry ^ mixed) & ~at.INDEX_MASK == 0 and has_names(slot, names + number * at.NAME_BYTES, 1, blob):
            return number
        spot = (spot + 1) & mask


@compiled
def is_steady(facts: int, order: int) -> bool:
    """Note the order in which names came; say whether it has come so often in a row that it should be learned."""
    streak = load64(facts + at.FACT_STREAK) + 1 if load64(facts + at.FACT_ORDER) == order else 1
    store64(facts + at.FACT_ORDER, order)
    store64(facts + at.FACT_STREAK, streak if streak < at.STEADY else 0)
    return streak >= at.STEADY


@compiled
def arranged(state: int, role: int) -> int:
    """Move the members of an object to where a shape of the same names has them; return its number, 0 for none."""
    head, slots = load64(state + at.S_HEADS) + role * at.HEAD_BYTES, slot_of(state, role, 0)
    count, moved = load64(head + at.HEAD_COUNT), load64(state + at.S_SCRATCH)
    hashes = moved + count * at.SLOT_BYTES
    if count < 2 or hashes + count * at.WORD > load64(state + at.S_SCRATCH_STOP):
        return 0
    number = set_of(state, hash_names(slots, count, hashes), count)
    if number == 0:
        return 0
    facts, blob = facts_of(state, number), load64(state + at.S_BLOB)
    # Two members have but one other order, which may come as often as the first; moving two is nothing.
    if count > 2 and is_steady(facts, load64(head + at.HEAD_HASH)):
        return 0
    for place in range(count):
        store64(moved + place * at.SLOT_BYTES + at.SLOT_VALUE, 0)
    for member in range(count):
        slot = slots + member * at.SLOT_BYTES
        place = place_of_name(slot, load64(hashes + member * at.WORD), facts, blob)
        target = moved + place * at.SLOT_BYTES
        # A place that is taken already is that of a name that is there twice.
        if place < 0 or load64(target + at.SLOT_VALUE) != 0:
            return 0
        copy_vector(target, slot)
        copy_vector(target + 2 * at.WORD, slot + 2 * at.WORD)
        copy_vector(target + 4 * at.WORD, slot + 4 * at.WORD)
    copy(slots, moved, count * at.SLOT_BYTES)
    store64(head + at.HEAD_SHAPE, number)
    store64(head + at.HEAD_GUESS, number)
    return number


@compiled
def shape_of(state: int, role: int) -> int:
    """Return the number of the shape of the object in a role, 0 when it is not known."""
    guessed = load64(load64(state + at.S_HEADS) + role * at.HEAD_BYTES + at.HEAD_SHAPE)
    return guessed if guessed != 0 else searched_shape(state, role)


@compiled
def searched_shape(state: int, role: int) -> int:
    """Search the shape of the object in a role, which is none that was guessed; return its number, or 0."""
    head = load64(state + at.S_HEADS) + role * at.HEAD_BYTES
    wanted, count = load64(head + at.HEAD_HASH), load64(head + at.HEAD_COUNT)
    table, mask, blob = load64(state + at.S_SHAPES), load64(state + at.S_SHAPE_MASK), load64(state + at.S_BLOB)
    place = (wanted ^ (wanted >> 32)) & mask
    while True:
        entry = table + place * at.SHAPE_BYTES
        number = load64(entry + at.SHAPE_NUMBER)
        if number == 0:
            # Where nothing else names the columns of a key, they come in the order of the message key.
            return arranged(state, role) if role != at.KEY and role != at.KEY_BODY else 0
        if load64(entry + at.SHAPE_HASH) == wanted:
            facts = facts_of(state, number)
            names = blob + load64(facts + at.FACT_NAMES)
            if load64(facts + at.FACT_COUNT) == count and has_names(slot_of(state, role, 0), names, count, blob):
                store64(head + at.HEAD_SHAPE, number)
                store64(head + at.HEAD_GUESS, number)
                return number
        place = (place + 1) & mask


@compiled
def facts_of(state: int, shape: int) -> int:
    """Return the address of the facts of a shape."""
    return load64(state + at.S_SHAPE_FACTS) + shape * at.FACT_BYTES


@compiled
def found_facts(state: int, role: int) -> int:
    """Return the facts of the shape that was found for a role."""
    return facts_of(state, load64(load64(state + at.S_HEADS) + role * at.HEAD_BYTES + at.HEAD_SHAPE))


@compiled
def hash_of(place: int, length: int) -> int:
    """Mix bytes into one number; what stands behind them does not matter."""
    mixed, done = length, 0
    while done + 8 <= length:
        mixed = (mixed ^ load64(place + done)) * _MULTIPLIER
        mixed ^= mixed >> 31
        done += 8
    if done < length:
        mixed = (mixed ^ (load64(place + done) & ((1 << (8 * (length - done))) - 1))) * _MULTIPLIER
    return mixed ^ (mixed >> 29)


@compiled
def text_of(state: int, place: int, length: int, kind: int) -> int:
    """Return the entry of a remembered text, 0 when it is not known."""
    wanted = hash_of(place, length) ^ kind
    table, mask, blob = load64(state + at.S_TEXTS), load64(state + at.S_TEXT_MASK), load64(state + at.S_BLOB)
    spot = wanted & mask
    while True:
        entry = table + spot * at.TEXT_BYTES
        if load64(entry + at.TEXT_NUMBER) == 0:
            return 0
        if (
            load64(entry + at.TEXT_HASH) == wanted
            and load64(entry + at.TEXT_LENGTH) == length
            and load64(entry + at.TEXT_KIND) == kind
            and is_same(place, blob + load64(entry + at.TEXT_PLACE), length)
        ):
            return entry
        spot = (spot + 1) & mask


@compiled
def mix_program(first: int, second: int, third: int, fourth: int) -> int:
    """Mix the key of a program into one number."""
    mixed = ((first * _MULTIPLIER) ^ second) * _MULTIPLIER
    return (((mixed ^ (mixed >> 32) ^ third) * _MULTIPLIER) ^ fourth) * _MULTIPLIER


@compiled
def mix_pair(first: int, second: int) -> int:
    """Mix two numbers into one."""
    return (first * _MULTIPLIER ^ second) * _MULTIPLIER


@compiled
def program_of(state: int) -> int:
    """Return the address of the program for the key in the state, 0 when there is none."""
    first, second = load64(state + at.S_KEY_0), load64(state + at.S_KEY_1)
    third, fourth = load64(state + at.S_KEY_2), load64(state + at.S_KEY_3)
    mixed = mix_program(first, second, third, fourth)
    table, mask = load64(state + at.S_PROGRAMS), load64(state + at.S_PROGRAM_MASK)
    spot = (mixed ^ (mixed >> 32)) & mask
    while True:
        entry = table + spot * at.PROGRAM_BYTES
        place = load64(entry + at.PROGRAM_PLACE)
        if place == 0:
            return 0
        if (
            load64(entry) == first
            and load64(entry + 8) == second
            and load64(entry + 16) == third
            and load64(entry + 24) == fourth
        ):
            return load64(state + at.S_CODE) + place
        spot = (spot + 1) & mask


@compiled
def pair_of(state: int, first: int, second: int) -> int:
    """Return the number that stands for two numbers, 0 when there is none."""
    mixed = mix_pair(first, second)
    table, mask = load64(state + at.S_PAIRS), load64(state + at.S_PAIR_MASK)
    spot = (mixed ^ (mixed >> 32)) & mask
    while True:
        entry = table + spot * at.PAIR_BYTES
        number = load64(entry + at.PAIR_NUMBER)
        if number == 0 or (load64(entry) == first and load64(entry + 8) == second):
            return number
        spot = (spot + 1) & mask
