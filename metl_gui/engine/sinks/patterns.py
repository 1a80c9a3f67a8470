"""Patterns of messages: the fixed text around their values, learned from messages that none fits yet.

The messages of an entity version differ in little but their values: which columns their block fills, whether a snapshot
read them, whether they were replayed, whether something is unchanged. So a few patterns fit all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from metl_gui.formats.json_text import quoted

_Tree: TypeAlias = "Mapping[str, _Tree | int]"
_members = msgspec.json.Decoder(dict[str, Raw]).decode
HEAD = ("op", "key", "ts_ms", "schema", "version", "position", "origin", "committed_at_ms", "old_key")
"""Columns that stand beside the payload, in every message; ``unchanged`` stands in some."""

OP, KEY, TS_MS, SCHEMA, VERSION, POSITION, ORIGIN, COMMITTED_AT_MS, OLD_KEY, UNCHANGED = range(len(HEAD) + 1)
FIRST_LEAF = UNCHANGED + 1
MOST_PATTERNS = 64
_NOWHERE, _FIXED = -1, -2


class Fixed(NamedTuple):
    """What all messages of a pattern say alike."""

    entity: str
    state: int
    snapshot: bool | None
    publication: int | None
    is_replayed: bool


class _FixedSource(msgspec.Struct, gc=False):
    snapshot: bool | None
    publication: int | None


class _Fixed(msgspec.Struct, gc=False):
    entity: str
    version: str | None
    state: int
    source: _FixedSource
    replayed: bool = False


_fixed = msgspec.json.Decoder(_Fixed).decode


class Patterns:
    """The patterns of one entity version.

    Args:
        tree: CDM paths laid out as nested objects.
        leaves: the column of each CDM path, from 0.
    """

    def __init__(self, tree: Mapping[str, object], leaves: Mapping[str, int]) -> None:
        self._tree: _Tree = {
            "entity": _FIXED,
            "version": _FIXED,
            "state": _FIXED,
            "op": OP,
            "key": KEY,
            "ts_ms": TS_MS,
            "source": {
                "schema": SCHEMA,
                "version": VERSION,
                "position": POSITION,
                "origin": ORIGIN,
                "committed_at_ms": COMMITTED_AT_MS,
                "snapshot": _FIXED,
                "old_key": OLD_KEY,
                "publication": _FIXED,
            },
            "payload": _numbered(tree, leaves),
            "unchanged": UNCHANGED,
            "replayed": _FIXED,
        }
        self.fixed: list[Fixed] = []
        self.text: NDArray[np.uint8] = np.empty(0, np.uint8)
        self.ends: NDArray[np.int64] = np.zeros(1, np.int64)
        """Where each piece of fixed text begins, and the last one ends."""

        self.firsts: NDArray[np.int64] = np.zeros(1, np.int64)
        """The first piece of each pattern, and how many pieces there are."""

        self.columns: NDArray[np.int64] = np.empty(0, np.int64)
        """For each piece the column of the value behind it; -1 where none is wanted."""

    def learn(self, message: bytes) -> bool:
        """Make a pattern of a message; ``False`` where it is none that the kernel writes, or there are too many."""
        pieces, values, columns = [b""], list[bytes](), list[int]()
        try:
            for fixed, value, column in _parts(message, self._tree):
                pieces[-1] += fixed
                if column is None:
                    continue
                if column == _FIXED:
                    pieces[-1] += value
                    continue
                columns.append(column)
                values.append(value)
                pieces.append(b"")
            told = _fixed(message)
        except ValueError:
            return False
        again = b"".join(piece + value for piece, value in zip(pieces, [*values, b""], strict=True))
        is_whole = set(range(len(HEAD))) <= set(columns) and again == message
        if not is_whole or not all(pieces) or len(self.fixed) == MOST_PATTERNS:
            return False
        source = told.source
        self._add(pieces, columns, Fixed(told.entity, told.state, source.snapshot, source.publication, told.replayed))
        return True

    def _add(self, pieces: list[bytes], columns: list[int], fixed: Fixed) -> None:
        lengths = np.cumsum([len(piece) for piece in pieces])
        self.fixed.append(fixed)
        self.text = np.concatenate([self.text, np.frombuffer(b"".join(pieces), np.uint8)])
        self.ends = np.concatenate([self.ends, self.ends[-1] + lengths])
        self.firsts = np.append(self.firsts, self.firsts[-1] + len(pieces))
        self.columns = np.concatenate([self.columns, np.array([*columns, _NOWHERE], np.int64)])


def _numbered(tree: Mapping[str, object], leaves: Mapping[str, int]) -> _Tree:
    return {
        name: _numbered(below, leaves) if isinstance(below, Mapping) else FIRST_LEAF + leaves[str(below)]
        for name, below in tree.items()
    }


def _parts(text: bytes, tree: _Tree) -> Iterator[tuple[bytes, bytes, int | None]]:
    """Yield the fixed texts of an object in order, each with the value behind it and its column.

    No column: only fixed text. The value of an object that the tree does not go into is one value.
    """
    before = b"{"
    for name, raw in _members(text).items():
        before += quoted(name) + b":"
        below = tree.get(name, _NOWHERE)
        if isinstance(below, int):
            yield before, bytes(raw), below
        else:
            yield before, b"", None
            yield from _parts(bytes(raw), below)
        before = b","
    yield (b"}" if before == b"," else b"{}"), b"", None
