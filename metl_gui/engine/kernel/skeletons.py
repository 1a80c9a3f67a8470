"""The skeleton of a JSON text: every name it has, and where its leaves stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Raw

from metl_gui.core.json_text import Members, is_compact, is_null, is_object, members, text_of

Path: TypeAlias = tuple[str, ...]

ROWS = ("before", "after")
_PARTS = (*ROWS, "source", "transaction")
_FIXED_NAMES = frozenset({"op", "status"})
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


def is_fixed(path: Path, raw: Raw) -> bool:
    """Whether a member is no leaf: it is the same in all texts of the form."""
    if path[0] in ROWS and len(path) > 1:
        return False
    names = _FIXED_NAMES if len(path) == 1 else _FIXED_TEXTS
    return is_null(raw) or (path[-1] in names and text_of(raw) is not None)


def _leaf_paths(found: Members, parts: Mapping[str, Members]) -> Iterator[Path]:
    for name, raw in found.items():
        members_of = {(name, below): kept for below, kept in parts[name].items()} if name in parts else {(name,): raw}
        yield from (path for path, kept in members_of.items() if not is_fixed(path, kept))
