"""Turn writer schemas into programs that machine code walks bytes by (``avro_layout``)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metl_gui.engine.kernel.compiled import avro_layout as at
from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.tables import Growing
from metl_gui.formats.avro_schema import is_decimal, is_map_entry
from metl_gui.formats.avro_types import MAX_NESTING, AvroType
from metl_gui.formats.json_text import quoted

MOST_INSTRUCTIONS = 20_000
MOST_BYTES = 64 << 20
_SCALARS = {"boolean": at.BOOLEAN, "int": at.INT, "long": at.LONG, "float": at.FLOAT, "double": at.DOUBLE}
_WORD = 8


class Unfit(Exception):
    """A schema that machine code has no program for: it leads back to itself, or its items take no bytes."""


class Programs:
    """The programs of one kernel, and their fixed text."""

    def __init__(self) -> None:
        self.code, self.blob = Growing(np.int64, 1 << 10), Growing(np.uint8, 1 << 12)
        self.code.extend([0])  # so that no program has the place 0
        self.blob.extend(np.frombuffer(at.LETTERS_64, np.uint8))
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
            self._texts[text] = self.blob.extend(np.frombuffer(text, np.uint8), 2 * VECTOR)
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
        self._emit(at.END)
        for instruction, table in self.tables:
            self.words[instruction + 2] = self._here()
            self.words += table
        return self.words

    def value(self, avro: AvroType) -> None:
        """Write what reads a value."""
        if id(avro) in self.open or len(self.words) > MOST_INSTRUCTIONS * at.INSTRUCTION_WORDS:
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
                self._emit(at.FIXED, avro.size_bytes, int(is_decimal(avro)))
            case "bytes":
                self._emit(at.BYTES, 0, int(is_decimal(avro)))
            case "string":
                self._emit(at.STRING)
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
            optional = self._emit(at.OPTIONAL, 2 * null, 2 * (1 - null))
            self.value(avro.branches[1 - null])
            self._flush()
            self.words[optional + 3] = self._here()
            return
        choice = self._emit(at.CHOICE, len(avro.branches))
        names = [quoted(one.simple_name or one.kind) + b":" for one in avro.branches if one.kind != "null"]
        table, ends = [], []
        for number, branch in enumerate(avro.branches):
            table.append(self._here())
            if several and not nulls[number]:
                self._one_of(branch, names, number - sum(nulls[:number]))
            else:
                self.value(branch)
            ends.append(self._emit(at.JUMP))
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
        instruction = self._emit(at.ENUM, len(texts))
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
        self._emit(at.STRING)
        self._text(b":")
        self.value(value)

    def _items(self, brackets: bytes, item: Callable[[], None]) -> None:
        frame = self.frames
        self.frames += 1
        if frame >= at.MOST_FRAMES:
            raise Unfit
        opening, closing = brackets
        self._emit(at.ITEMS, frame * at.FRAME_BYTES, opening)
        loop = self._here()
        instruction = self._emit(at.NEXT_ITEM, frame * at.FRAME_BYTES, closing)
        item()
        self._emit(at.JUMP, loop)
        self.words[instruction + 3] = self._here()
        self.frames -= 1

    def _text(self, text: bytes) -> None:
        """Write a text; one behind the other become one."""
        self._literal += text

    def _flush(self) -> None:
        text, self._literal = self._literal, b""
        if text:
            self.words += [at.TEXT, self.programs.text(text), len(text), 0, 0]

    def _here(self) -> int:
        """Return the place of the next instruction."""
        self._flush()
        return self.start + len(self.words) * _WORD

    def _emit(self, op: int, first: int = 0, second: int = 0) -> int:
        self._flush()
        self.words += [op, first, second, 0, 0]
        return len(self.words) - at.INSTRUCTION_WORDS


def _takes_bytes(avro: AvroType, depth: int = 0) -> bool:
    """Say whether every value takes at least one byte; what is nested so deeply leads back to itself."""
    if avro.kind == "record":
        return depth < MAX_NESTING and any(_takes_bytes(one.type, depth + 1) for one in avro.fields)
    return avro.kind != "null" and not (avro.kind == "fixed" and avro.size_bytes == 0)
