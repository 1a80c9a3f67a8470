"""Text that a terminal prints and does not obey: names come from files, and files from anywhere."""

from __future__ import annotations

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(10, 32), *range(127, 160))}


def printable(line: str) -> str:
    """Write the control characters of one line out; tabs stay."""
    return line.translate(_CONTROLS)
