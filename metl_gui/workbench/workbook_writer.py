"""Writes workbooks (.xlsx) for people: a title row that stays in sight, drop-downs, hidden columns, wrapped text.

Whatever a text begins with, it is a text: no cell ever becomes a formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openpyxl.cell import Cell, MergedCell
    from openpyxl.worksheet.worksheet import Worksheet

LONGEST_CELL = 32_767
"""Characters that a cell of such a workbook can hold."""

_HEAD = "EEF1F5"
_ANSWER = "FFF3DD"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a sheet.

    Args:
        title: the first cell.
        width: in characters.
        is_hidden: it is not shown.
        is_asked: people write into it; its cells are tinted.
        choices: what may be chosen in it.
        choices_of: title of the hidden column that holds, for each row, where in the first column of the sheet
            ``Names`` its own choices begin; their number stands in the column behind that one.
    """

    title: str
    width: int = 16
    is_hidden: bool = False
    is_asked: bool = False
    choices: tuple[str, ...] = ()
    choices_of: str = ""


@dataclass(frozen=True, slots=True)
class SheetPlan:
    """One sheet: columns, and rows with a text or whole number for each of them."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | int, ...], ...]


NAMES = "Names"
"""The hidden sheet with the choices that differ from row to row."""


def workbook_bytes(sheets: Sequence[SheetPlan], names: Sequence[str] = (), about: str = "") -> bytes:
    """Make a workbook, as the bytes of its file.

    Args:
        sheets: the sheets that are shown.
        names: what stands in the hidden sheet ``Names``, from its first row on.
        about: what the file says of itself in its properties.
    """
    from openpyxl import Workbook

    book = Workbook()
    first = book.active
    if first is not None:
        book.remove(first)
    for plan in sheets:
        _fill(book.create_sheet(plan.name), plan)
    if names:
        hidden = book.create_sheet(NAMES)
        hidden.sheet_state = "hidden"
        for at, name in enumerate(names, 1):
            _put(hidden.cell(at, 1), name)
    book.properties.creator = "METL Workbench"
    book.properties.description = about or None
    content = BytesIO()
    book.save(content)
    return content.getvalue()


def plain_text(text: str) -> str:
    """Return a text as a cell can hold it: without control characters, and not longer than a cell."""
    bare = "".join(letter if letter in "\t\n" or (letter >= " " and not _is_odd(letter)) else "�" for letter in text)
    return bare if len(bare) <= LONGEST_CELL else f"{bare[: LONGEST_CELL - 1]}…"


def _fill(sheet: Worksheet, plan: SheetPlan) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill, Protection
    from openpyxl.utils import get_column_letter

    head, asked = PatternFill("solid", _HEAD), PatternFill("solid", _ANSWER)
    wrapped, open_ = Alignment(wrap_text=True, vertical="top"), Protection(locked=False)
    for at, column in enumerate(plan.columns, 1):
        cell: Any = sheet.cell(1, at)  # its style is no part of what the stubs know
        _put(cell, column.title)
        cell.font, cell.fill, cell.alignment = Font(bold=True), head, wrapped
        shown = sheet.column_dimensions[get_column_letter(at)]
        shown.width, shown.hidden = column.width, column.is_hidden
    dressed: dict[bool, Any] = {}
    for number, values in enumerate(plan.rows, 2):
        for at, (column, value) in enumerate(zip(plan.columns, values, strict=True), 1):
            cell = sheet.cell(number, at)
            if column.is_asked not in dressed:
                cell.alignment = wrapped
                if column.is_asked:
                    cell.fill, cell.protection = asked, open_
                dressed[column.is_asked] = copy(cell._style)  # part by part it takes longer than all the rest
            cell._style = copy(dressed[column.is_asked])
            _put(cell, value)
    sheet.freeze_panes = "A2"
    last = get_column_letter(len(plan.columns))
    sheet.auto_filter.ref = f"A1:{last}{max(len(plan.rows) + 1, 2)}"
    _offer_choices(sheet, plan)


def _offer_choices(sheet: Worksheet, plan: SheetPlan) -> None:
    """Add the drop-downs; those that differ from row to row look at columns of the row, so they survive sorting."""
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    titles = [column.title for column in plan.columns]
    for at, column in enumerate(plan.columns, 1):
        if column.choices:
            formula = f'"{",".join(column.choices)}"'
        elif column.choices_of:
            first = titles.index(column.choices_of) + 1
            begin, count = get_column_letter(first), get_column_letter(first + 1)
            formula = f"OFFSET({NAMES}!$A$1,${begin}2-1,0,MAX(${count}2,1),1)"
        else:
            continue
        choice = DataValidation("list", formula1=formula, allow_blank=True, showErrorMessage=bool(column.choices))
        choice.errorTitle, choice.error = "Not an answer", f"Choose one of: {', '.join(column.choices)}."
        letter = get_column_letter(at)
        choice.add(f"{letter}2:{letter}{max(len(plan.rows) + 1, 2)}")
        sheet.add_data_validation(choice)


def _put(cell: Cell | MergedCell, value: str | int) -> None:
    """Write a value; a text stays one, also when somebody edits the cell."""
    cell.value = value if isinstance(value, int) else plain_text(value)
    if isinstance(value, str) and value:
        cell.data_type = "s"
        if value[0] in "=+-@":
            cell.quotePrefix = True


def _is_odd(letter: str) -> bool:
    return "\ud800" <= letter <= "\udfff" or letter in "￾￿" or "\x7f" <= letter <= "\x84"
