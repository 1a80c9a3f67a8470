"""Texts that a spreadsheet would take for formulas, written so that it takes them for texts, and back again.

An apostrophe goes before every place where a formula could begin: at the beginning of a text, and behind a separator,
a quotation mark or a line break within it, as a table is cut there that is opened with other separators than it was
written with. A text that has apostrophes in such a place gets one more, so that each text is written in one way and
reading takes away what writing added, no more. Whoever writes a table so says it in a column of its own (``MARK``):
without that an apostrophe is a part of the name.

Source: OWASP, CSV injection.
"""

from __future__ import annotations

import re

MARK, MARKED = "safe_cells", "yes"
"""The column that says of a row whether its cells are written so, and what it says then."""

_SIGNS = "=+\\-@＝＋－＠﹦﹢﹣﹫−"  # noqa: RUF001 - look-alikes of these signs, which some programs take for them
_UNSEEN = r"[^\S\t\r\n]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2060\ufeff]"
_FORMULA = rf"(?:[\t\r\n]|(?:{_UNSEEN})*[{_SIGNS}])"
_BEGINNING = r"(?:\A|(?<=[,;|\t\r\n\"]))"
_BEGINS = re.compile(rf"{_BEGINNING}{_FORMULA}")
_WRITTEN = re.compile(rf"{_BEGINNING}(?='*{_FORMULA})")
_READ = re.compile(rf"{_BEGINNING}'(?='*{_FORMULA})")


def has_formula(text: str) -> bool:
    """Tell whether a spreadsheet might take a cell with this text, or a part of it, for a formula."""
    return _BEGINS.search(text) is not None


def safe(text: str) -> str:
    """Write a text such that no spreadsheet takes it for a formula."""
    return _WRITTEN.sub("'", text)


def exact(cell: str) -> str:
    """Read what ``safe`` wrote."""
    return _READ.sub("", cell)
