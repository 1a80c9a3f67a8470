"""Dotted attribute paths; a literal dot or backslash inside a name is escaped with a backslash.

A setting that lists paths has commas between them; there a comma inside a name is escaped likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable


def escape(name: str) -> str:
    """Escape one field name for use in a dotted path."""
    if "." not in name and "\\" not in name:
        return name
    return name.replace("\\", "\\\\").replace(".", "\\.")


def join(names: Iterable[str]) -> str:
    """Join raw field names to one dotted path."""
    return ".".join(escape(name) for name in names)


def split(path: str) -> tuple[str, ...]:
    """Split a dotted path into its raw field names.

    Raises:
        ValueError: the path ends in a lone backslash or escapes another character.
    """
    if "\\" not in path:
        return tuple(path.split("."))

    def unescaped(letter: str) -> str:
        if letter not in (".", "\\"):
            raise ValueError(f"a backslash in {path!r} escapes neither a dot nor a backslash")
        return letter

    return tuple(_parted(path, ".", unescaped))


def join_list(listed: Iterable[str]) -> str:
    """Write a list of paths as one text, with commas between; ``split_list`` reads it."""
    return ",".join(path.replace(",", "\\,") for path in listed)


def split_list(text: str) -> list[str]:
    """Read a list of paths with commas between; what stands between two commas stays as it is, were it nothing."""
    if "\\," not in text:
        return text.split(",")
    return _parted(text, ",", lambda letter: letter if letter == "," else f"\\{letter}")


def _parted(text: str, mark: str, unescaped: Callable[[str], str]) -> list[str]:
    """Part a text at a mark.

    Args:
        text: the parts, with marks between.
        mark: one letter.
        unescaped: returns what a backslash and the letter behind it stand for; of a backslash at the end, no letter.
    """
    parts: list[str] = []
    part: list[str] = []
    letters = iter(text)
    for letter in letters:
        if letter == "\\":
            part.append(unescaped(next(letters, "")))
        elif letter == mark:
            parts.append("".join(part))
            part = []
        else:
            part.append(letter)
    return [*parts, "".join(part)]
