"""The skeleton of a JSON text: every name it has, and where its leaves stand.

A text that decodes by the skeleton of another one has the same members; when its length is that of the fixed parts and
the leaves, it has them in no other way and no name twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Raw

from metl_gui.core.json_text import Members, is_compact, is_null, is_object, members, text_of

Leaves: TypeAlias = tuple[Raw | bytes, ...]
Path: TypeAlias = tuple[str, ...]

ROWS = ("before", "after")
_PARTS = (*ROWS, "source", "transaction")
_FIXED_TEXTS = frozenset({"version", "connector", "name", "db", "schema", "table", "collection"})
"""Texts of a source block that stay the same from message to message."""


class Skeleton:
    """The members of one compact text.

    Args:
        found: its members.
        parts: those of its members that are objects and looked into, with their members.
    """

    def __init__(self, found: Members, parts: Mapping[str, Members]) -> None:
        self.found = found
        self.parts = parts
        self.paths = tuple(_leaf_paths(found, parts))
        kinds = [_part_kind(name, parts[name]) if name in parts else _kind(name, raw) for name, raw in found.items()]
        self.decode: Callable[[bytes], Any] = msgspec.json.Decoder(_struct(list(found), kinds)).decode
        self.leaves = _getter(tuple(found), parts, self.paths)

    @classmethod
    def of(cls, text: bytes, *, is_flat: bool = False) -> Skeleton | None:
        """Make the skeleton of a text; ``None`` when space, escapes or repeated names are in it.

        Raises:
            RecordError: the text is malformed.
        """
        found = members(text)
        looked_into = () if is_flat else _PARTS
        parts = {name: members(found[name]) for name in looked_into if name in found and is_object(found[name])}
        texts = ((text, found), *((found[name], part) for name, part in parts.items()))
        return cls(found, parts) if all(part and is_compact(whole, part) for whole, part in texts) else None

    def fixed_bytes(self, text: bytes) -> int:
        """Return the length of all of the text that is not a leaf."""
        return len(text) - len(b"".join(self.leaves(self.decode(text), b"")))

    def rewritten(self, leaves: Mapping[Path, bytes]) -> bytes:
        """Write the text again with other leaves."""
        written = []
        for name, raw in self.found.items():
            inner = self.parts.get(name)
            if inner is None:
                value = leaves.get((name,), bytes(raw))
            else:
                value = _object((below, leaves.get((name, below), bytes(kept))) for below, kept in inner.items())
            written.append((name, value))
        return _object(written)


def _object(written: Iterator[tuple[str, bytes]] | Sequence[tuple[str, bytes]]) -> bytes:
    return b"{" + b",".join(b'"%b":%b' % (name.encode(), value) for name, value in written) + b"}"


def _leaf_paths(found: Members, parts: Mapping[str, Members]) -> list[Path]:
    """List the paths of the leaves: the log sequence, whose brackets are expected, first; the row that counts last."""
    paths: list[Path] = [(name,) for name, raw in found.items() if name not in parts and _kind(name, raw) is Raw]
    for name, inner in parts.items():
        paths += [(name, below) for below, raw in inner.items() if _kind_within(name, below, raw) is Raw]
    rows = [name for name in parts if name in ROWS]
    return sorted(paths, key=lambda path: (path[-1] != "sequence" or path[0] in ROWS, rows and path[0] == rows[-1]))


def _kind(name: str, raw: Raw) -> Any:
    text = text_of(raw) if name in ("op", "status") else None
    if text is not None and b"\\" not in bytes(raw):
        return Literal[text]
    return None if is_null(raw) else Raw


def _kind_within(part: str, name: str, raw: Raw) -> Any:
    if part in ROWS:
        return Raw
    text = text_of(raw)
    if text is not None and name in _FIXED_TEXTS and b"\\" not in bytes(raw):
        return Literal[text]
    return None if is_null(raw) else Raw


def _part_kind(part: str, inner: Members) -> Any:
    return _struct(list(inner), [_kind_within(part, name, raw) for name, raw in inner.items()])


def _struct(names: list[str], kinds: list[Any]) -> Any:
    """Make a struct type of which every member must be there and no other may be."""
    fields = [(f"f{number}", kind) for number, kind in enumerate(kinds)]
    renamed = {f"f{number}": name for number, name in enumerate(names)}
    return msgspec.defstruct("Skeleton", fields, rename=renamed, forbid_unknown_fields=True, gc=False)


def _getter(
    names: tuple[str, ...], parts: Mapping[str, Members], paths: Sequence[Path]
) -> Callable[[Any, bytes], Leaves]:
    """Make the function that takes the leaves out of a decoded text in the order of their paths, with one more behind.

    A row is all leaves, so the last part, when it is a row, is taken as a whole.
    """
    last = paths[-1][0] if paths and len(paths[-1]) > 1 and paths[-1][0] in ROWS else None
    spelled = [".".join(_spelled(path, names, parts)) for path in paths if path[0] != last]
    astuple = msgspec.structs.astuple
    if len(spelled) > 1 and last:
        others, row = attrgetter(*spelled), attrgetter(f"f{names.index(last)}")
        return lambda decoded, behind: (*others(decoded), *astuple(row(decoded)), behind)
    getters = [attrgetter(name) for name in spelled]
    rows = [attrgetter(f"f{names.index(last)}")] if last else []
    return lambda decoded, behind: (
        *(get(decoded) for get in getters),
        *(leaf for get in rows for leaf in astuple(get(decoded))),
        behind,
    )


def _spelled(path: Path, names: tuple[str, ...], parts: Mapping[str, Members]) -> Iterator[str]:
    yield f"f{names.index(path[0])}"
    if len(path) > 1:
        yield f"f{list(parts[path[0]]).index(path[1])}"
