"""Writer schemas as programs that machine code walks Avro bytes by, and where both lie in memory.

A *program* is made of instructions of the same size, one behind the other, that walk the bytes of a value and write its
text. The numbers of places (``A_...``) are what machine code and Python share to write framed Avro as text; ``layout``
has those of the compiled kernel.

Units: places are bytes; every number has 8.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final

import numpy as np

from metl_gui.engine.kernel.compiled.tables import Growing
from metl_gui.formats.avro_schema import is_decimal, is_map_entry
from metl_gui.formats.avro_types import MAX_NESTING, AvroType
from metl_gui.formats.json_text import quoted

_places = count(0, 8)
# How many records, and the next one; whether only those that lacked texts of numbers are written.
A_COUNT, A_NEXT, A_IS_AGAIN = (next(_places) for _ in range(3))
# Of each record: where its key and value lie, how long they are, what program reads them; what is written in front of
# the value, in which something stands for its schema.
A_KEYS, A_KEY_LENGTHS, A_KEY_PROGRAMS = (next(_places) for _ in range(3))
A_VALUES, A_VALUE_LENGTHS, A_VALUE_PROGRAMS, A_FRONTS, A_FRONT_OF = (next(_places) for _ in range(5))
# Programs, their fixed text, and what loops remember.
A_CODE, A_BLOB, A_FRAMES = (next(_places) for _ in range(3))
# Where text goes to; where each key begins there, where its value does and ends. What is left ends where it begins.
A_OUT, A_OUT_USED, A_OUT_ROOM, A_STARTS, A_MIDDLES, A_STOPS = (next(_places) for _ in range(6))
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
"""Instead of a program: the record is left; it has no key that says anything; its key stays as it is."""

LETTERS_64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
"""They stand at the beginning of the fixed text."""

MOST_TEXT_BYTES = 4 << 20
"""A record whose text is longer is left."""

IS_FLOAT, IS_DOUBLE = 0, 1


MOST_INSTRUCTIONS = 20_000
MOST_BYTES = 64 << 20
_SCALARS = {"boolean": BOOLEAN, "int": INT, "long": LONG, "float": FLOAT, "double": DOUBLE}
_WORD = 8


class Unfit(Exception):
    """A schema that machine code has no program for: it leads back to itself, or its items take no bytes."""


class Programs:
    """The programs of one kernel, and their fixed text."""

    def __init__(self) -> None:
        self.code, self.blob = Growing(np.int64, 1 << 10), Growing(np.uint8, 1 << 12)
        self.code.extend([0])  # so that no program has the place 0
        self.blob.extend(np.frombuffer(LETTERS_64, np.uint8))
        self._texts: dict[bytes, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether there is no room for more."""
        return self.code.column.nbytes + self.blob.column.nbytes > MOST_BYTES

    def add(self, avro: AvroType) -> int:
        """Return the place of the program that reads values of a schema.

        Raises:
            Unfit: there is none.
        """
        made = _Maker(self, self.code.used * _WORD)
        made.value(avro)
        return self.code.extend(made.finished()) * _WORD

    def text(self, text: bytes) -> int:
        """Keep a text and return where it lies."""
        if text not in self._texts:
            self._texts[text] = self.blob.extend(np.frombuffer(text, np.uint8))
        return self._texts[text]


class _Maker:
    """Makes one program, which will lie at a place."""

    def __init__(self, programs: Programs, start: int) -> None:
        self.programs = programs
        self.start = start
        self.words: list[int] = []
        self.tables: list[tuple[int, list[int]]] = []
        self.open: set[int] = set()
        self.frames = 0
        self._literal = b""

    def finished(self) -> list[int]:
        """Return the program, its tables behind it."""
        self._emit(END)
        for instruction, table in self.tables:
            self.words[instruction + 2] = self._here()
            self.words += table
        return self.words

    def value(self, avro: AvroType) -> None:
        """Write what reads a value."""
        if id(avro) in self.open or len(self.words) > MOST_INSTRUCTIONS * INSTRUCTION_WORDS:
            raise Unfit
        self.open.add(id(avro))
        match avro.kind:
            case "null":
                self._text(b"null")
            case "record":
                self._record(avro)
            case "union":
                self._union(avro)
            case "array":
                self._array(avro.branches[0])
            case "map":
                self._items(b"{}", lambda: self._member(avro.branches[0]))
            case "enum":
                self._enum(avro.symbols)
            case "fixed":
                self._emit(FIXED, avro.size_bytes, int(is_decimal(avro)))
            case "bytes":
                self._emit(BYTES, 0, int(is_decimal(avro)))
            case "string":
                self._emit(STRING)
            case kind:
                self._emit(_SCALARS[kind])
        self.open.remove(id(avro))

    def _record(self, avro: AvroType) -> None:
        for number, one in enumerate(avro.fields):
            self._text((b"," if number else b"{") + quoted(one.name) + b":")
            self.value(one.type)
        self._text(b"}" if avro.fields else b"{}")

    def _union(self, avro: AvroType) -> None:
        nulls = [branch.kind == "null" for branch in avro.branches]
        several = len(avro.alternatives) > 1
        if not several and len(nulls) == 2:
            null = nulls.index(True)
            optional = self._emit(OPTIONAL, 2 * null, 2 * (1 - null))
            self.value(avro.branches[1 - null])
            self._flush()
            self.words[optional + 3] = self._here()
            return
        choice = self._emit(CHOICE, len(avro.branches))
        names = [quoted(one.simple_name or one.kind) + b":" for one in avro.branches if one.kind != "null"]
        table, ends = [], []
        for number, branch in enumerate(avro.branches):
            table.append(self._here())
            if several and not nulls[number]:
                self._one_of(branch, names, number - sum(nulls[:number]))
            else:
                self.value(branch)
            ends.append(self._emit(JUMP))
        for end in ends:
            self.words[end + 1] = self._here()
        self.tables.append((choice, table))

    def _one_of(self, branch: AvroType, names: list[bytes], place: int) -> None:
        """Write an object with a member for each alternative, null but for the one at a place."""
        for number, name in enumerate(names):
            self._text((b"," if number else b"{") + name)
            if number == place:
                self.value(branch)
            else:
                self._text(b"null")
        self._text(b"}")

    def _enum(self, symbols: tuple[str, ...]) -> None:
        texts = [quoted(symbol) for symbol in symbols]
        instruction = self._emit(ENUM, len(texts))
        self.tables.append((instruction, [word for text in texts for word in (self.programs.text(text), len(text))]))

    def _array(self, item: AvroType) -> None:
        if not _takes_bytes(item):
            raise Unfit
        if not is_map_entry(item):
            self._items(b"[]", lambda: self.value(item))
            return
        key, value = (one.type for one in item.fields)
        if all(one.kind in ("string", "enum") for one in key.alternatives) and not is_decimal(key):
            self._items(b"{}", lambda: self._pair(key, value, (b"", b":", b"")))
        else:
            self._items(b"[]", lambda: self._pair(key, value, (b"[", b",", b"]")))

    def _pair(self, key: AvroType, value: AvroType, around: tuple[bytes, bytes, bytes]) -> None:
        self._text(around[0])
        self.value(key)
        self._text(around[1])
        self.value(value)
        self._text(around[2])

    def _member(self, value: AvroType) -> None:
        self._emit(STRING)
        self._text(b":")
        self.value(value)

    def _items(self, brackets: bytes, item: Callable[[], None]) -> None:
        frame = self.frames
        self.frames += 1
        if frame >= MOST_FRAMES:
            raise Unfit
        opening, closing = brackets
        self._emit(ITEMS, frame * FRAME_BYTES, opening)
        loop = self._here()
        instruction = self._emit(NEXT_ITEM, frame * FRAME_BYTES, closing)
        item()
        self._emit(JUMP, loop)
        self.words[instruction + 3] = self._here()
        self.frames -= 1

    def _text(self, text: bytes) -> None:
        """Write a text; one behind the other become one."""
        self._literal += text

    def _flush(self) -> None:
        text, self._literal = self._literal, b""
        if text:
            self.words += [TEXT, self.programs.text(text), len(text), 0, 0]

    def _here(self) -> int:
        """Return the place of the next instruction."""
        self._flush()
        return self.start + len(self.words) * _WORD

    def _emit(self, op: int, first: int = 0, second: int = 0) -> int:
        self._flush()
        self.words += [op, first, second, 0, 0]
        return len(self.words) - INSTRUCTION_WORDS


def _takes_bytes(avro: AvroType, depth: int = 0) -> bool:
    """Return whether every value takes at least one byte; what is nested so deeply leads back to itself."""
    if avro.kind == "record":
        return depth < MAX_NESTING and any(_takes_bytes(one.type, depth + 1) for one in avro.fields)
    return avro.kind != "null" and not (avro.kind == "fixed" and avro.size_bytes == 0)
