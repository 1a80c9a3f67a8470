"""Dotted attribute paths; a literal dot or backslash inside a name is escaped with a backslash."""

from __future__ import annotations

from collections.abc import Iterable


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
    names: list[str] = []
    name: list[str] = []
    letters = iter(path)
    for letter in letters:
        if letter == "\\":
            escaped = next(letters, "")
            if escaped not in (".", "\\") or not escaped:
                raise ValueError(f"a backslash in {path!r} escapes neither a dot nor a backslash")
            name.append(escaped)
        elif letter == ".":
            names.append("".join(name))
            name = []
        else:
            name.append(letter)
    names.append("".join(name))
    return tuple(names)
