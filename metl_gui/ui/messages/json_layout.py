"""JSON texts: laid out for people, and where the members of their objects stand.

Laying a text out touches no digit and no escape: only white space between pieces changes. A member is found with its
path and its place in the text, whatever the white space there.
"""

from __future__ import annotations

import json
import re
from typing import TypeAlias

from metl_gui.values import Value

TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
"""A string, a mark between values, or a number or word."""
_OPEN, _CLOSE = "{[", "}]"
_STEP = "  "


def indented(text: str) -> str:
    """Break one JSON value into lines."""
    parts: list[str] = []
    depth = 0
    pieces = TOKENS.findall(text)
    for at, piece in enumerate(pieces):
        following = pieces[at + 1] if at + 1 < len(pieces) else ""
        if piece in _OPEN:
            depth += 1
            parts.append(piece if following in _CLOSE and following else piece + _line(depth))
        elif piece in _CLOSE:
            depth = max(depth - 1, 0)
            opened = at and pieces[at - 1] in _OPEN
            parts.append(piece if opened else _line(depth) + piece)
        elif piece == ",":
            parts.append("," + _line(depth))
        else:
            parts.append(": " if piece == ":" else piece)
    return "".join(parts)


def _line(depth: int) -> str:
    return "\n" + _STEP * depth


MemberPath: TypeAlias = tuple[str, ...]


class Member(Value):
    """One member of an object.

    Args:
        start: where its name begins. value: where its value begins. stop: where that ends.
    """

    start: int
    value: int
    stop: int


def members_of(text: str) -> dict[MemberPath, Member]:
    """Find every member of the objects that stand in a text, with those of objects within them.

    Several values may follow each other; of members with one path the last is kept. What arrays hold has no path of
    its own. Nothing is refused: a text that ends too early has the members that were complete.

    Order: by where they end.
    """
    found: dict[MemberPath, Member] = {}
    walk = _Walk(found)
    for token in TOKENS.finditer(text):
        walk.take(token.group(), token.start(), token.end())
    return found


class _Walk:
    """Goes through the tokens of a text with the objects and arrays that are open."""

    def __init__(self, found: dict[MemberPath, Member]) -> None:
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
