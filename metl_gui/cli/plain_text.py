r"""Text that a terminal prints and does not obey, and in which nothing is unseen: names come from anywhere.

Control characters are written out, and so is what is there and not seen: what turns the direction of writing, has no
width, or is ignored where it is shown, by which a name looks like another one. JSON says them in its own escapes, so
whoever reads it gets the same values.

Source: Unicode 16, general categories Cc, Cf, Zl, Zp, Cs, and the property Default_Ignorable_Code_Point.
"""

from __future__ import annotations

import logging
import re

_BREAKS = "\t\n"
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def printable(line: str) -> str:
    """Write out what is not to be seen in a line; tabs stay."""
    return _UNSEEN.sub(_in_text, line)


def printable_json(document: str) -> str:
    """Write out what is not to be seen in a JSON document; its values stay what they are, and so does its layout."""
    return _UNSEEN.sub(_in_json, document)


class PlainFormatter(logging.Formatter):
    """Writes what is logged such that a terminal prints it."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record; its lines stay lines."""
        return "\n".join(map(printable, super().format(record).split("\n")))


def _in_text(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] == "\t":
        return "\t"
    if 0xDC80 <= code < 0xDD00:  # bytes of a file name that are no text come from Python as halves of characters
        return f"\\x{code - 0xDC00:02x}"
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def _in_json(found: re.Match[str]) -> str:
    if found[0] in _BREAKS:
        return found[0]
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
