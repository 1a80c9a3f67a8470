"""Where the members of a JSON text stand in it: the path and the place of each, whatever its white space."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeAlias

from metl_gui.ui.run.indent import TOKENS

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object.

    Args:
        start: where its name begins. value: where its value begins. stop: where that ends.
    """

    start: int
    value: int
    stop: int


def members_of(text: str) -> dict[Path, Member]:
    """Find every member of the objects that stand in a text, with those of objects within them.

    Several values may follow each other; of members with one path the last is kept. What arrays hold has no path of
    its own. Nothing is refused: a text that ends too early has the members that were complete.

    Order: by where they end.
    """
    found: dict[Path, Member] = {}
    walk = _Walk(found)
    for token in TOKENS.finditer(text):
        walk.take(token.group(), token.start(), token.end())
    return found


class _Walk:
    """Goes through the tokens of a text with the objects and arrays that are open."""

    def __init__(self, found: dict[Path, Member]) -> None:
        self.found = found
        self.path: list[str] = []
        self.open: list[tuple[str, int, str | None, int]] = []
        """Bracket, where it stands, and the name and its place that the value belongs to."""
        self.name: str | None = None
        self.name_at = 0
        self.is_value = True
        self.in_arrays = 0

    def take(self, piece: str, start: int, stop: int) -> None:
        if piece in ("{", "["):
            self._enter(piece, start)
        elif piece in ("}", "]"):
            self._leave(stop)
        elif piece == ",":
            self.is_value = not self.open or self.open[-1][0] == "["
        elif piece == ":":
            self.is_value = True
        elif self.is_value:
            self._keep(self.name, self.name_at, start, stop)
            self.name = None
        else:
            self.name, self.name_at = _plain(piece), start

    def _enter(self, piece: str, start: int) -> None:
        self.open.append((piece, start, self.name, self.name_at))
        if self.name is not None:
            self.path.append(self.name)
        self.name, self.is_value = None, piece == "["
        self.in_arrays += piece == "["

    def _leave(self, stop: int) -> None:
        if not self.open:
            return
        piece, start, name, name_at = self.open.pop()
        self.in_arrays -= piece == "["
        if name is not None:
            self.path.pop()
        self.name = None
        self._keep(name, name_at, start, stop)

    def _keep(self, name: str | None, name_at: int, start: int, stop: int) -> None:
        if name is not None and not self.in_arrays:
            self.found[(*self.path, name)] = Member(name_at, start, stop)


def _plain(piece: str) -> str:
    """Read a name as it is meant; one that cannot be read stands for itself."""
    try:
        return str(json.loads(piece))
    except ValueError:
        return piece
