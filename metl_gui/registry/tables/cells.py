"""Any text in the cells of spreadsheets, and out of them again unchanged.

Formulas: texts that a spreadsheet would take for formulas are written so that it takes them for texts (``safe``,
``exact``). An apostrophe goes before every place where a formula could begin: at the beginning of a text, and behind a
separator, a quotation mark or a line break within it, as a table is cut there that is opened with other separators than
it was written with. A text that has apostrophes in such a place gets one more, so that each text is written in one way
and reading takes away what writing added, no more. Whoever writes a table so says it in a column of its own (``MARK``):
without that an apostrophe is a part of the name.

Cells of a workbook: what a cell cannot hold as it is stands there in the escapes of the format itself (``_x000D_`` for
a carriage return), which spreadsheet programs show and save as what they mean. A text that is too long for a cell
stands whole in the sheet ``Long texts``, in parts; its own cell shows the beginning and where the rest is, and counts
as that text only while nobody has changed it.

Source: OWASP, CSV injection; ECMA-376 part 1, 22.4.2.4 (bstr); 32,767 characters a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

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
    """Return whether a spreadsheet might take a cell with this text, or a part of it, for a formula."""
    return _BEGINS.search(text) is not None


def safe(text: str) -> str:
    """Write a text such that no spreadsheet takes it for a formula."""
    return _WRITTEN.sub("'", text)


def exact(cell: str) -> str:
    """Read what ``safe`` wrote."""
    return _READ.sub("", cell)


LONG_TEXTS = "Long texts"
LONG_COLUMNS = ("number", "part", "text")

_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MOST_UNITS = 32_000
_SHOWN, _PART = 1_000, 4_000
_POINTS_ON = re.compile(r"… \(whole in “Long texts”, ([0-9]{1,9})\)\Z")


def escaped(text: str) -> str:
    """Write a text in the characters that a cell can hold."""
    return _ODD.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def unescaped(text: str) -> str:
    """Read what ``escaped`` wrote."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


class LongTexts:
    """The texts that are too long for their cells, while a workbook is written."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def cell(self, text: str) -> str:
        """Return what stands in the cell of a text."""
        shown = escaped(text)
        if len(text) <= _SHOWN and _POINTS_ON.search(text) is None:
            return shown
        if len(shown.encode("utf-16-le")) <= 2 * _MOST_UNITS and _POINTS_ON.search(text) is None:
            return shown
        return escaped(_beginning(text, self._numbers.setdefault(text, len(self._numbers) + 1)))

    def rows(self) -> tuple[tuple[int, int, str], ...]:
        """Return the rows of the sheet ``Long texts``."""
        return tuple(
            (number, part, escaped(text[at : at + _PART]))
            for text, number in self._numbers.items()
            for part, at in enumerate(range(0, max(len(text), 1), _PART), 1)
        )


def long_texts(rows: Iterable[tuple[str, str, str]]) -> dict[int, str]:
    """Put the rows of the sheet ``Long texts`` together; rows that are none are left alone."""
    parts: dict[int, dict[int, str]] = {}
    for number, part, text in rows:
        if number.isdecimal() and part.isdecimal() and len(number) < 10 and len(part) < 10:
            parts.setdefault(int(number), {})[int(part)] = text
    return {number: "".join(text for _, text in sorted(known.items())) for number, known in parts.items()}


def whole(cell: str, longs: dict[int, str]) -> str:
    """Return the text that a cell stands for."""
    found = _POINTS_ON.search(cell)
    text = longs.get(int(found[1])) if found is not None else None
    if found is None or text is None or _beginning(text, int(found[1])) != cell:
        return cell
    return text


def _beginning(text: str, number: int) -> str:
    return f"{text[:_SHOWN]}… (whole in “{LONG_TEXTS}”, {number})"
