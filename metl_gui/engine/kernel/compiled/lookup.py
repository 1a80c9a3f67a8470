"""Find what was learned in its tables: by hash first, then by comparing all of it.

A *shape* is the names of an object in their order. Its hash finds it, comparing every name settles it, so that two
objects of one shape have the same names exactly, each once. Short texts and programs are found in the same way.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.memory import compiled, is_same, load8, load64, store64
from metl_gui.engine.kernel.compiled.scalars import NINE, ZERO, word_of

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
    for offset in range(length):
        letter = load8(place + offset)
        if letter < ZERO or letter > NINE:
            return False
    return length > 0


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
            load64(slot + at.SLOT_NAME) + 8, blob + load64(name + at.NAME_PLACE) + 9, length - 8
        ):
            return False
        slot += at.SLOT_BYTES
        name += at.NAME_BYTES
    return True


@compiled
def shape_of(state: int, role: int) -> int:
    """Return the number of the shape of the object in a role, 0 when it is not known."""
    head = load64(state + at.S_HEADS) + role * at.HEAD_BYTES
    guessed = load64(head + at.HEAD_SHAPE)
    if guessed != 0:
        return guessed
    wanted, count = load64(head + at.HEAD_HASH), load64(head + at.HEAD_COUNT)
    table, mask, blob = load64(state + at.S_SHAPES), load64(state + at.S_SHAPE_MASK), load64(state + at.S_BLOB)
    place = (wanted ^ (wanted >> 32)) & mask
    while True:
        entry = table + place * at.SHAPE_BYTES
        number = load64(entry + at.SHAPE_NUMBER)
        if number == 0:
            return 0
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
