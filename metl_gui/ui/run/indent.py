"""JSON laid out for people without touching a digit or an escape: only white space between pieces changes."""

from __future__ import annotations

import re

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
