"""What was learned, as numpy tables that Python builds and grows and machine code reads.

Everything is numbered from 1 on; 0 is none. Tables that are searched by hash stay at most half full. Nothing is ever
taken out of one; when there is too much, all is dropped and learned anew (``Tables.clear``).

``facts_of`` tells what the names of an object say of it, whatever its values are.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.compiled.lookup import hash_of, mix_pair, mix_program
from metl_gui.engine.kernel.compiled.memory import IS_CHECKED, allow
from metl_gui.engine.kernel.numbered_counts import CountNames
from metl_gui.formats.json_text import quoted
from metl_gui.formats.record_wrapper import VALUE_NAMES, WRAPPER_NAMES

Numbers = NDArray[np.int64]

MOST_NUMBERED = 1 << 18
MOST_HALVES = 1 << 12
MOST_BYTES = 128 << 20
"""All that is learned takes up at most about this much, and as much again while a table grows."""

_NOTHING_ELSE = (0,) * ((at.FACT_BYTES - at.FACT_NAMES) // at.WORD)
_LEAST_ORDERED = 2


def address_of(column: NDArray[Any]) -> int:
    """Return where the numbers of an array lie."""
    return int(column.ctypes.data)


class Growing:
    """An array that grows at its end, with at least ``PADDING`` bytes behind what was added.

    Args:
        kind: of its numbers.
        room: how many there is room for at first.
    """

    def __init__(self, kind: type[np.int64 | np.uint8], room: int) -> None:
        self.column: NDArray[Any] = np.zeros(room, kind)
        self.used = 0

    def extend(self, values: NDArray[Any] | Sequence[int]) -> int:
        """Add values; return where they begin."""
        start, stop = self.used, self.used + len(values)
        if stop + PADDING > len(self.column):
            larger = np.zeros(max(stop + PADDING, 2 * len(self.column)), self.column.dtype)
            larger[:start] = self.column[:start]
            self.column = larger
        self.column[start:stop] = values
        self.used = stop
        return start


class Hashed:
    """A table that is searched by hash: the first free place from where the hash points to.

    Args:
        width: numbers in one entry.
        number: which of them is 0 in a free entry.
    """

    def __init__(self, width: int, number: int) -> None:
        self.width = width
        self.number = number
        self.entries: Numbers = np.zeros((256, width), np.int64)
        self.hashes: list[tuple[int, tuple[int, ...]]] = []

    @property
    def mask(self) -> int:
        """What cuts a hash to a place."""
        return len(self.entries) - 1

    def add(self, mixed: int, entry: tuple[int, ...]) -> None:
        """Add an entry under its hash."""
        self.hashes.append((mixed, entry))
        if 2 * len(self.hashes) <= len(self.entries):
            self._put(mixed, entry)
            return
        self.entries = np.zeros((2 * len(self.entries), self.width), np.int64)
        for one in self.hashes:
            self._put(*one)

    def _put(self, mixed: int, entry: tuple[int, ...]) -> None:
        place = mixed & self.mask
        while self.entries[place, self.number]:
            place = (place + 1) & self.mask
        self.entries[place, : len(entry)] = entry


class Tables:
    """All tables of one kernel, and the state that leads to them."""

    def __init__(self) -> None:
        self.state: Numbers = np.zeros(at.STATE_WORDS, np.int64)
        self.heads: Numbers = np.zeros(at.ROLES * at.HEAD_BYTES // at.WORD, np.int64)
        self.slots: Numbers = np.zeros(at.ROLES * at.ROLE_BYTES // at.WORD, np.int64)
        self.evictions = 0
        self._begin()

    def _begin(self) -> None:
        self.blob = Growing(np.uint8, 1 << 16)
        self.blob.extend(np.zeros(at.NULL_PLACE, np.uint8))
        self.blob.extend(np.frombuffer(b"null".ljust(at.WORD, b"\0"), np.uint8))
        no_names = self.blob.extend(np.zeros(at.WORD, np.uint8))
        self.code = Growing(np.int64, 1 << 14)
        self.code.extend([0])
        self.facts = Growing(np.int64, 64 * at.FACT_BYTES // at.WORD)
        for known in ([0] * (at.FACT_GUESSES // at.WORD), facts_of(at.MESSAGE_NAMES)):
            self.facts.extend([*known, no_names, *_NOTHING_ELSE])
        self.heads[:] = 0
        self.counter_names: list[tuple[str, ...]] = []
        self.count_names = CountNames()
        self.counters: Numbers = np.zeros(1024, np.int64)
        self.are_named_later: NDArray[np.bool_] = np.zeros(1024, np.bool_)
        self._counter_numbers: dict[tuple[str, ...], int] = {}
        self.shapes = Hashed(at.SHAPE_BYTES // at.WORD, 1)
        self.sets = Hashed(at.SHAPE_BYTES // at.WORD, 1)
        self.texts = Hashed(at.TEXT_BYTES // at.WORD, 1)
        self.programs = Hashed(at.PROGRAM_BYTES // at.WORD, 4)
        self.pairs = Hashed(at.PAIR_BYTES // at.WORD, 2)
        self.shape_names: list[tuple[bytes, ...]] = [(), at.MESSAGE_NAMES]
        self._sets: set[frozenset[bytes]] = set()
        self.text_bytes: list[bytes] = [b""]
        self.half_nodes = Growing(np.int64, 256)
        self.half_leaves = Growing(np.int64, 256)
        self.halves: list[tuple[int, bytes]] = []
        self.half_root = -1
        self._fixed: dict[bytes, int] = {}
        self._forms: dict[frozenset[bytes], int] = {}
        self._program_places: dict[tuple[int, int, int, int], int] = {}
        self._point()

    def clear(self) -> None:
        """Drop everything that was learned."""
        self.evictions += len(self.programs.hashes)
        self._begin()

    def is_full(self) -> bool:
        """Return whether there is no room for more."""
        size = self.blob.column.nbytes + self.code.column.nbytes
        programs, pairs = len(self.programs.hashes), len(self.pairs.hashes)
        numbered = max(len(self.shape_names), len(self.text_bytes), programs, pairs)
        return size > MOST_BYTES or numbered > MOST_NUMBERED or len(self.halves) > MOST_HALVES

    def _point(self) -> None:
        """Write into the state where everything lies now."""
        for place, column in (
            (at.S_HEADS, self.heads),
            (at.S_SLOTS, self.slots),
            (at.S_BLOB, self.blob.column),
            (at.S_SHAPES, self.shapes.entries),
            (at.S_SETS, self.sets.entries),
            (at.S_SHAPE_FACTS, self.facts.column),
            (at.S_TEXTS, self.texts.entries),
            (at.S_PROGRAMS, self.programs.entries),
            (at.S_PAIRS, self.pairs.entries),
            (at.S_CODE, self.code.column),
            (at.S_HALF_NODES, self.half_nodes.column),
            (at.S_HALF_LEAVES, self.half_leaves.column),
            (at.S_COUNTERS, self.counters),
        ):
            self.state[place // at.WORD] = address_of(column)
        for place, table in (
            (at.S_SHAPE_MASK, self.shapes),
            (at.S_SET_MASK, self.sets),
            (at.S_TEXT_MASK, self.texts),
            (at.S_PROGRAM_MASK, self.programs),
            (at.S_PAIR_MASK, self.pairs),
        ):
            self.state[place // at.WORD] = table.mask
        self.state[at.S_HALF_ROOT // at.WORD] = self.half_root
        nothing = self.slots[at.NOTHING // at.WORD :]
        nothing[at.SLOT_VALUE // at.WORD] = address_of(self.blob.column) + at.NULL_PLACE
        nothing[at.SLOT_LENGTH // at.WORD] = 0

    def ranges(self) -> list[tuple[int, int]]:
        """Return what machine code may touch of all this, for the checked build."""
        columns: list[NDArray[Any]] = [
            self.state, self.heads, self.slots, self.counters, self.blob.column, self.code.column, self.facts.column,
            self.shapes.entries, self.sets.entries, self.texts.entries, self.programs.entries, self.pairs.entries,
            self.half_nodes.column, self.half_leaves.column,
        ]  # fmt: skip
        return [(address_of(column), address_of(column) + column.nbytes) for column in columns]

    def get(self, place: int) -> int:
        """Return a number of the state."""
        return int(self.state[place // at.WORD])

    def put(self, place: int, number: int) -> None:
        """Set a number of the state."""
        self.state[place // at.WORD] = number

    def fixed(self, text: bytes) -> int:
        """Keep bytes for good and return where they lie."""
        found = self._fixed.get(text)
        if found is None:
            found = self._fixed[text] = self.blob.extend(np.frombuffer(text, np.uint8))
            self._point()
        return found

    def forms(self, texts: frozenset[bytes]) -> int:
        """Keep what stands for an unavailable value, with its lengths in front; return where, in the code."""
        found = self._forms.get(texts)
        if found is None:
            lengths = sum({1 << min(len(text), at.MOST_FORM_LENGTH) for text in texts})
            signed = lengths - (1 << 64) if lengths >> 63 else lengths
            code = [signed, len(texts)]
            for text in sorted(texts):
                code += self.fixed(text), len(text)
            found = self._forms[texts] = self.code.extend(code) * at.WORD
        return found

    def counter(self, *name: str) -> int:
        """Return the number of a counter."""
        number = self._counter_numbers.get(name)
        if number is None:
            number = self._counter_numbers[name] = len(self.counter_names)
            self.counter_names.append(name)
            if number >= len(self.counters):
                self.counters = np.concatenate((self.counters, np.zeros_like(self.counters)))
                later = self.are_named_later
                self.are_named_later = np.concatenate((later, np.zeros_like(later)))
                self._point()
            self.are_named_later[number] = self._is_named_later(number, name)
        return number

    def _is_named_later(self, number: int, name: tuple[str, ...]) -> bool:
        """Say whether a counter is one of those that there may be many of, whose names are noted then."""
        names = self.count_names
        names.size = number + 1
        if name[0] == "filled":
            names.filled[number] = name[1], name[2], name[3]
        elif name[0] == "version":
            names.versions[number] = name[1]
        return name[0] in ("filled", "version", "sent")

    def sent_counter(self, filled: Sequence[int]) -> int:
        """Return the number of a counter of messages, each of which stands for one in each of some other counters."""
        number = self.counter("sent", ",".join(map(str, filled)))
        self.count_names.sent[number] = np.array(filled, np.int64)
        return number

    def add_shape(self, role: int, facts: Sequence[int]) -> bool:
        """Remember the shape of the object in a role, with where members of known names stand; say whether it fits.

        Args:
            role: of the object.
            facts: what its names say of it.
        """
        members = self.members(role)
        names = [name for name, _, _ in members]
        guessed = [_spelled(name, value) for name, value, _ in members]
        if max(map(len, guessed), default=0) > at.MOST_GUESSED:
            return False
        number = len(self.shape_names)
        self.shape_names.append(tuple(names))
        mixed = int(self.heads[(role * at.HEAD_BYTES + at.HEAD_HASH) // at.WORD])
        hashes = self._hashes(role)
        rows: list[int] = []
        guesses: list[int] = []
        place = self.blob.extend(np.frombuffer(b"".join(guessed), np.uint8))
        for name, text, up_to in zip(names, guessed, hashes, strict=True):
            word = int.from_bytes(name[:8].ljust(8, b"\0"), "little", signed=True)
            guesses.append(len(text) | place << at.GUESS_SHIFT)
            rows += word, len(name), place + 1 if text[1:-2] == name else self.fixed(name), up_to
            place += len(text)
        named = self._words(rows)
        self.facts.extend(
            [*facts, self._words([*guesses, 0]), named, len(names), self._index(number, rows[2::4]), 0, 0]
        )
        self.shapes.add(_folded(mixed), (mixed, number))
        self._point()
        return True

    def _words(self, numbers: Sequence[int]) -> int:
        """Keep numbers in the blob; return where they lie."""
        self.blob.extend([0] * (-self.blob.used % at.WORD))
        return self.blob.extend(np.frombuffer(np.array(numbers, np.int64).tobytes(), np.uint8))

    def _index(self, number: int, places: Sequence[int]) -> int:
        """Keep where each name of a shape stands by its hash, so that it is found in any order.

        Args:
            number: of the shape.
            places: of its names in the blob.

        Returns:
            Where it lies, 0 where a name is there twice or another shape has the same names.
        """
        names = self.shape_names[number]
        found = frozenset(names)
        if len(names) < _LEAST_ORDERED or len(found) < len(names) or found in self._sets:
            return 0
        self._sets.add(found)
        if IS_CHECKED:
            allow(self.ranges())
        blob = address_of(self.blob.column)
        hashes = [int(hash_of(blob + place, len(name))) for place, name in zip(places, names, strict=True)]
        mask = (1 << (2 * len(names) - 1).bit_length()) - 1
        spots = [0] * (mask + 1)
        for place, mixed in enumerate(hashes):
            spot = mixed & mask
            while spots[spot]:
                spot = (spot + 1) & mask
            spots[spot] = (mixed & ~at.INDEX_MASK) | (place + 1)
        total = _signed(sum(hashes))
        self.sets.add(_folded(total), (total, number))
        return self._words([mask, *spots])

    def add_text(self, text: bytes, kind: int, quoted: bytes) -> None:
        """Remember a short text, with what is written in its place."""
        place, written = self.fixed(text), self.fixed(quoted)
        if IS_CHECKED:
            allow(self.ranges())
        mixed = int(hash_of(address_of(self.blob.column) + place, len(text))) ^ kind
        number = len(self.text_bytes)
        self.text_bytes.append(text)
        self.texts.add(mixed, (mixed, number, place, len(text), kind, written, len(quoted)))
        self._point()

    def add_pair(self, first: int, second: int) -> int:
        """Give two numbers one that stands for both."""
        number = len(self.pairs.hashes) + 1
        self.pairs.add(_folded(mix_pair(first, second)), (first, second, number))
        self._point()
        return number

    def add_program(self, key: tuple[int, int, int, int], code: Sequence[int]) -> None:
        """Remember what is done under a key; what was under it before is no more."""
        place = self.code.extend(code) * at.WORD
        self.programs.add(_folded(mix_program(*key)), (*key, place))
        self._program_places[key] = place
        self._point()

    def refuse(self, key: tuple[int, int, int, int]) -> None:
        """Leave what has a key to the reference from now on, whatever was learned of it."""
        self.code.column[self._program_places[key] // at.WORD] = at.REFUSE

    def add_half(self, text: bytes) -> None:
        """Remember the schema half of messages; a byte in which it differs leads to it from now on.

        Offsets grow on every way down, and all halves below a node are the same up to its offset. No half is the
        beginning of another one, so that a search for one that is known never looks behind its end.
        """
        number = len(self.halves)
        node, _ = self._half_above(text, MOST_BYTES)
        if node != -1 and self.halves[-2 - node][1] == text:
            return
        place = self.fixed(text)
        self.halves.append((place, text))
        self.half_leaves.extend([place, len(text)])
        if node == -1:
            self.half_root = -2 - number
        else:
            neighbour = self.halves[-2 - node][1]
            offset = next(i for i, (one, two) in enumerate(zip(text, neighbour, strict=False)) if one != two)
            node, link = self._half_above(text, offset)
            mine = self.half_nodes.extend([offset, text[offset], -2 - number, node]) // 4
            if link < 0:
                self.half_root = mine
            else:
                self.half_nodes.column[link] = mine
        self._point()

    def _half_above(self, text: bytes, offset: int) -> tuple[int, int]:
        """Walk down to the first leaf or node that looks behind an offset; return it, and what links to it."""
        node, link = self.half_root, -1
        while node >= 0:
            looks_at, byte = self.half_nodes.column[4 * node : 4 * node + 2].tolist()
            if offset < looks_at:
                break
            is_equal = looks_at < len(text) and text[looks_at] == byte
            link = 4 * node + (2 if is_equal else 3)
            node = int(self.half_nodes.column[link])
        return node, link

    def names(self, role: int) -> list[bytes]:
        """Return the names of the object in a role, in the order of its shape where it has one."""
        head = role * at.HEAD_BYTES // at.WORD
        shape = int(self.heads[head + at.HEAD_SHAPE // at.WORD])
        if shape and self.is_scanned(role):
            return list(self.shape_names[shape])
        return [bytes_at(row[0], row[1]) for row in self._rows(role)]

    def members(self, role: int) -> list[tuple[bytes, int, int]]:
        """Return the names of the object in a role, with place and length of each value."""
        return [(name, row[3], row[4]) for name, row in zip(self.names(role), self._rows(role), strict=True)]

    def _rows(self, role: int) -> list[list[int]]:
        """Return the slots of the object in a role."""
        count = int(self.heads[(role * at.HEAD_BYTES + at.HEAD_COUNT) // at.WORD])
        first, width = role * at.ROLE_BYTES // at.WORD, at.SLOT_BYTES // at.WORD
        rows: list[list[int]] = self.slots[first : first + max(count, 0) * width].reshape(-1, width).tolist()
        return rows

    def _hashes(self, role: int) -> list[int]:
        """Return the hash of the names up to each of the object in a role."""
        count = int(self.heads[(role * at.HEAD_BYTES + at.HEAD_COUNT) // at.WORD])
        first, width = (role * at.ROLE_BYTES + at.SLOT_HASH) // at.WORD, at.SLOT_BYTES // at.WORD
        found: list[int] = self.slots[first : first + count * width : width].tolist()
        return found

    def is_scanned(self, role: int) -> bool:
        """Return whether the record at hand has an object in a role."""
        return bool(self.heads[(role * at.HEAD_BYTES + at.HEAD_COUNT) // at.WORD] >= 0)

    def parent(self, role: int) -> int:
        """Return the role of the object around the one in a role."""
        return int(self.heads[(role * at.HEAD_BYTES + at.HEAD_PARENT) // at.WORD])


def bytes_at(address: int, length: int) -> bytes:
    """Return the bytes at an address."""
    return ctypes.string_at(address, length)


def table_of(texts: Sequence[bytes]) -> tuple[Numbers, NDArray[np.uint8]]:
    """Return address and length of each text, and what they lie in; at least one pair.

    Shape: int64 of (n, 2); bytes with room to read behind them.
    """
    text = np.frombuffer(b"".join((*texts, bytes(PADDING))), np.uint8)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    places = np.cumsum(lengths) - lengths + address_of(text)
    return np.column_stack((places, lengths)) if len(texts) else np.zeros((1, 2), np.int64), text


def _folded(mixed: int) -> int:
    return int(mixed) ^ (int(mixed) >> 32)


def _signed(number: int) -> int:
    """Return a number as machine code counts, in 64 bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _spelled(name: bytes, value: int) -> bytes:
    """Return a name as it is spelled in front of its value, with quotes and colon; as it is most often behind space.

    Args:
        name: without escapes.
        value: where the value begins.
    """
    plain = b"%b:" % quoted(name.decode())
    is_plain = plain[1:-2] == name and name.isascii()
    if is_plain or len(name) > at.MOST_GUESSED or bytes_at(value - 2, 2) != b'":':
        return plain
    # Escapes make it longer. A quote within it has a backslash in front; before its first there is none.
    start = value - len(name) - 3
    while bytes_at(start, 1) != b'"' or bytes_at(start - 1, 1) == b"\\":
        start -= 1
    return bytes_at(start, value - start)


_BARE_MARKS = frozenset({"before", "after", "op", "specversion", "ddl", "tableChanges", "payload"})
_TRANSACTION = frozenset({"status", "id", "ts_ms", "ts_us", "ts_ns", "event_count", "data_collections"})
_SIGNAL = frozenset({"id", "type", "data"})
_ENCODED = frozenset({"value_b64", "key_b64"})


def facts_of(names: Sequence[bytes]) -> list[int]:
    """Return where members of known names stand, and the flags of the shape.

    Args:
        names: of the object in order.
    """
    texts = [name.decode() for name in names]
    places = {name: number * at.SLOT_BYTES for number, name in enumerate(texts)}
    facts = [places.get(name, -1) for name in at.FACTS]
    flags = _flags(frozenset(texts))
    if len(places) != len(texts):
        flags = at.IS_BROKEN
    if flags & at.IS_WRAPPER:
        facts[at.FACTS.index("value")] = places["value" if "value" in places else "message"]
    return [*facts, flags]


def _flags(names: frozenset[str]) -> int:
    if names == {"schema", "payload"}:
        return at.IS_WITH_SCHEMA
    if {"specversion", "type"} <= names:
        return at.IS_REFUSED if "data_base64" in names and "data" not in names else at.IS_EVENT
    if "op" in names and not names.isdisjoint(("before", "after", "source")):
        return at.IS_ENVELOPE
    if _BARE_MARKS.isdisjoint(names):
        carriers = [name for name in VALUE_NAMES if name in names]
        if carriers:
            return at.IS_WRAPPER if len(carriers) == 1 and names.isdisjoint(_ENCODED) else at.IS_REFUSED
        if "topic" in names and names <= WRAPPER_NAMES:
            return at.IS_REFUSED
    if {"type", "data"} <= names <= _SIGNAL:
        return at.IS_REFUSED
    return at.IS_TRANSACTION if names <= _TRANSACTION and {"id", "status"} <= names else 0
