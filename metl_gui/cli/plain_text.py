"""Text that a terminal prints and does not obey: names come from files, and files from anywhere."""

from __future__ import annotations

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(10, 32), *range(127, 160))}
# What turns the direction of writing makes a name look like another one; a line separator ends the line for some.
_CONTROLS |= {code: f"\\u{code:04x}" for code in (0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))}
# Bytes of a file name that are no text come from Python as halves of characters, which no stream takes.
_CONTROLS |= {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(128, 256)}


def printable(line: str) -> str:
    """Write the control characters of one line out; tabs stay."""
    return line.translate(_CONTROLS)
