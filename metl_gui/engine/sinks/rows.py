"""Messages taken apart: the values of each of their members, still as JSON.

One class for each layout of a message, made by msgspec, so that a message is read in one call of compiled code and no
value is looked at yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw

from metl_gui.core.trees.paths import split

_Tree: TypeAlias = "dict[str, _Tree | str]"
_NULL = Raw(b"null")


class MessageSource(msgspec.Struct, frozen=True, gc=False):
    """Where a message says that it comes from; messages of earlier versions say nothing behind ``origin``."""

    schema: str
    version: str | None
    position: str
    origin: Raw
    committed_at_ms: int | None = None
    snapshot: bool | None = None
    old_key: Raw = _NULL
    publication: int | None = None


class Rows:
    """Takes the messages of one entity version apart.

    Args:
        paths: the CDM paths of its attributes.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self.tree = tree_of(paths)
        fields: list[Any] = [
            ("entity", str),
            ("version", str | None),
            ("state", int),
            ("op", str),
            ("key", Raw),
            ("ts_ms", Raw),
            ("source", MessageSource),
            ("payload", _struct("Payload", self.tree)),
            ("unchanged", list[str], msgspec.field(default_factory=list)),
            ("replayed", bool, False),
        ]
        kind = msgspec.defstruct("Message", fields, frozen=True, gc=False)
        self._decode = msgspec.json.Decoder(kind).decode_lines
        self._getters = {path: attrgetter(f"payload.{at}") for path, at in _places(self.tree)}

    def read(self, lines: bytes | memoryview) -> list[Any]:
        """Return the messages in some lines: values with the members of a message."""
        return self._decode(lines)

    def values(self, messages: Iterable[Any], path: str) -> list[Raw]:
        """Return what stands at a CDM path in each message, null where nothing does."""
        return list(map(self._getters[path], messages))


def tree_of(paths: Sequence[str]) -> _Tree:
    """Lay paths out as nested objects, as messages have them; a path that runs into a leaf stands whole as one name."""
    tree: _Tree = {}
    for path in paths:
        *parents, leaf = split(path)
        place: _Tree | str = tree
        for parent in parents:
            place = place.setdefault(parent, {}) if isinstance(place, dict) else path
        if isinstance(place, str) or leaf in place:
            tree[path] = path
        else:
            place[leaf] = path
    return tree


def joined(values: Sequence[bytes | Raw]) -> bytes:
    """Write values as one JSON array."""
    return b"[" + b",".join(values) + b"]"


def _struct(name: str, tree: _Tree) -> Any:
    fields: list[Any] = []
    names: dict[str, str] = {}
    for number, (called, below) in enumerate(tree.items()):
        own = f"f{number}"
        names[own] = called
        if isinstance(below, dict):
            kind = _struct(f"{name}_{number}", below)
            fields.append((own, kind, msgspec.field(default_factory=kind)))
        else:
            fields.append((own, Raw, _NULL))
    return msgspec.defstruct(name, fields, frozen=True, gc=False, rename=names)


def _places(tree: _Tree, before: str = "") -> Iterable[tuple[str, str]]:
    for number, below in enumerate(tree.values()):
        own = f"{before}f{number}"
        if isinstance(below, dict):
            yield from _places(below, f"{own}.")
        else:
            yield below, own
