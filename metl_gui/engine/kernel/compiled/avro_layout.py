"""Where everything lies that machine code and Python share to write framed Avro as text; see ``compiled.layout``.

A writer schema is a *program*: instructions of the same size, one behind the other, that walk the bytes of a value and
write its text. Units: places are bytes; every number has 8.
"""

from __future__ import annotations

from itertools import count
from typing import Final

_places = count(0, 8)
# How many records, and the next one; whether only those that lacked texts of numbers are written.
A_COUNT, A_NEXT, A_IS_AGAIN = (next(_places) for _ in range(3))
# Of each record: what it begins with, its offset and its time (below 0 for none).
A_HEADS, A_HEAD_OF, A_OFFSETS, A_TIMES, A_PARTS = (next(_places) for _ in range(5))
# Of each record: where its key and value lie, how long they are, what program reads them, what stands for the schema.
A_KEYS, A_KEY_LENGTHS, A_KEY_PROGRAMS = (next(_places) for _ in range(3))
A_VALUES, A_VALUE_LENGTHS, A_VALUE_PROGRAMS, A_STAND_INS, A_STAND_IN_OF = (next(_places) for _ in range(5))
# Programs, their fixed text, and what loops remember.
A_CODE, A_BLOB, A_FRAMES = (next(_places) for _ in range(3))
# Where text goes to, and where each record begins and ends there; what is left ends where it begins.
A_OUT, A_OUT_USED, A_OUT_ROOM, A_STARTS, A_STOPS = (next(_places) for _ in range(5))
# Numbers whose text machine code does not know, in order; their texts in the same order when they are written again.
A_WANTED, A_WANTED_COUNT, A_GIVEN, A_GIVEN_COUNT, A_IS_PENDING = (next(_places) for _ in range(5))
AVRO_WORDS: Final = next(_places) // 8

(
    END, TEXT, JUMP, BOOLEAN, INT, LONG, FLOAT, DOUBLE, STRING, BYTES, FIXED, ENUM, OPTIONAL, CHOICE, ITEMS, NEXT_ITEM,
) = range(1, 17)  # fmt: skip

INSTRUCTION_WORDS = 5
OP, FIRST, SECOND, THIRD, FOURTH = range(0, 40, 8)
INSTRUCTION_BYTES = 40

FRAME_LEFT, FRAME_IS_BEGUN, FRAME_BYTES = 0, 8, 16
MOST_FRAMES = 64

LEFT, NO_ROOM = 0, -1
"""Instead of where text ends: the record is left, or there is no room for it."""

NO_PROGRAM, NO_KEY, PLAIN_KEY = 0, -1, -2
"""Instead of a program: the record is left, it has no key, its key is text."""

PARTS = (b',"timestamp":', b',"key":', b',"value":{"schema":', b',"payload":')
BEFORE_TIME, BEFORE_KEY, BEFORE_SCHEMA, BEFORE_PAYLOAD = range(len(PARTS))

LETTERS_64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
"""They stand at the beginning of the fixed text."""

MOST_TEXT_BYTES = 4 << 20
"""A record whose text is longer is left."""

IS_FLOAT, IS_DOUBLE = 0, 1
