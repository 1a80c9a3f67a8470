"""Writes workbooks (.xlsx) for people: a title row that stays in sight, drop-downs, hidden columns, wrapped text.

Whatever a text begins with, it is a text: no cell ever becomes a formula. Rows are written as they come and none is
kept, and the same sheets make the same bytes whenever they are written.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Any, TypeAlias

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.registry.tables.cells import has_formula
from metl_gui.values import Value

_Sheet: TypeAlias = Any
"""A sheet that is written as its rows come, which the stubs know only half of."""

LONGEST_CELL = 32_767
"""Characters that a cell of such a workbook can hold, those beyond 16 bits counted twice."""

_HEAD = "EEF1F5"
_ANSWER = "FFF3DD"
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\ud800-\udfff\ufffe\uffff]")
_STEP_ROWS = 1_000
_LAST_ROW = 1_048_576
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # before that a packed file knows no moment


class SheetColumn(Value):
    """One column of a sheet.

    Args:
        title: the first cell.
        width: in characters.
        is_hidden: it is not shown.
        is_asked: people write into it; its cells are tinted.
        is_text: what people write into it stays the text that it is, also a date or ``1.10``.
        choices: what may be chosen in it.
        choices_of: title of the hidden column that holds, for each row, where in the first column of the sheet
            ``Names`` its own choices begin; their number stands in the column behind that one.
    """

    title: str
    width: int = 16
    is_hidden: bool = False
    is_asked: bool = False
    is_text: bool = False
    choices: tuple[str, ...] = ()
    choices_of: str = ""


Row = tuple[str | int, ...]
"""A text or whole number for each column."""


class SheetPlan(Value):
    """One sheet: columns, and rows with a text or whole number for each of them, read once."""

    name: str
    columns: tuple[SheetColumn, ...]
    rows: Iterable[Row]


NAMES = "Names"
"""The hidden sheet with the choices that differ from row to row."""


def workbook_bytes(sheets: Iterable[SheetPlan], names: Sequence[str] = (), about: str = "") -> bytes:
    """Make a workbook, as the bytes of its file; arguments as those of ``write_workbook``."""
    content = BytesIO()
    write_workbook(content, sheets, names, about)
    return content.getvalue()


def write_workbook(
    target: Path | IO[bytes],
    sheets: Iterable[SheetPlan],
    names: Sequence[str] = (),
    about: str = "",
    when_ms: int = 0,
    watch: Watch = UNWATCHED,
) -> None:
    """Write a workbook, sheet after sheet.

    Args:
        target: the file.
        sheets: the sheets that are shown; the next is asked for when the rows of the one before are written.
        names: what stands in the hidden sheet ``Names``, from its first row on.
        about: what the file says of itself in its properties.
        when_ms: the moment that its properties name, in milliseconds since 1970.
        watch: progress and cancel.
    """
    from openpyxl import Workbook
    from openpyxl.writer.excel import ExcelWriter

    book = Workbook(write_only=True)
    made: list[_Sheet] = []
    try:
        for plan in sheets:
            made.append(book.create_sheet(plan.name))
            _fill(made[-1], plan, watch)
        if names:
            made.append(book.create_sheet(NAMES))
            made[-1].sheet_state = "hidden"
            for name in names:
                made[-1].append([_text_cell(made[-1], plain_text(name))])
        book.properties.creator = "METL Workbench"
        book.properties.description = about or None
        book.properties.created = book.properties.modified = datetime.fromtimestamp(when_ms / 1000, UTC)
        with _Packed(target, "w", zipfile.ZIP_DEFLATED) as packed:
            ExcelWriter(book, packed).save()
    finally:
        for sheet in made:
            _clear_away(sheet)


class _Packed(zipfile.ZipFile):
    """A packed file whose parts carry no moment of their own."""

    def writestr(self, zinfo_or_arcname: str | zipfile.ZipInfo, data: Any, *_: Any, **__: Any) -> None:
        """Pack a part that is at hand."""
        with self._part(zinfo_or_arcname) as part:
            part.write(data.encode() if isinstance(data, str) else data)

    def write(self, filename: Any, arcname: Any = None, *_: Any, **__: Any) -> None:
        """Pack a part that is a file."""
        with Path(filename).open("rb") as file, self._part(arcname or filename) as part:
            shutil.copyfileobj(file, part)

    def _part(self, name: str | zipfile.ZipInfo) -> IO[bytes]:
        info = zipfile.ZipInfo(name.filename if isinstance(name, zipfile.ZipInfo) else str(name), _EARLIEST)
        info.compress_type = zipfile.ZIP_DEFLATED
        return self.open(info, "w", force_zip64=True)


def plain_text(text: str) -> str:
    """Return a text as a cell can hold it: without control characters, and not longer than a cell."""
    bare = _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)
    if 2 * len(bare) <= LONGEST_CELL or len(bare.encode("utf-16-le")) <= 2 * LONGEST_CELL:
        return bare
    return bare.encode("utf-16-le")[: 2 * LONGEST_CELL - 2].decode("utf-16-le", "ignore") + "…"


def _fill(sheet: _Sheet, plan: SheetPlan, watch: Watch) -> None:
    from openpyxl.utils import get_column_letter

    sheet.freeze_panes = "A2"
    for at, column in enumerate(plan.columns, 1):
        shown = sheet.column_dimensions[get_column_letter(at)]
        shown.width, shown.hidden = column.width, column.is_hidden
        if column.is_text:
            shown.number_format = "@"  # for rows that people add
    sheet.append([_head_cell(sheet, column) for column in plan.columns])
    count = 0
    for count, row in enumerate(_dressed(sheet, plan), 1):
        if count % _STEP_ROWS == 0:
            watch.step(f"Writing the sheet {plan.name}, row {count:,}")
        sheet.append(row)
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(plan.columns))}{max(count + 1, 2)}"
    _offer_choices(sheet, plan, count)


def _dressed(sheet: _Sheet, plan: SheetPlan) -> Iterator[list[Any]]:
    """Yield the cells of the rows. A cell is written before the next row is asked for, so each column has two."""
    pairs = [(_cell(sheet, column), _cell(sheet, column, is_quoted=True)) for column in plan.columns]
    for values in plan.rows:
        row = []
        for (plain, quoted), value in zip(pairs, values, strict=True):
            text = plain_text(value) if isinstance(value, str) else ""
            cell = quoted if has_formula(text) else plain
            cell.value = text or (value if isinstance(value, int) else None)
            if text:
                cell.data_type = "s"
            row.append(cell)
        yield row


def _cell(sheet: _Sheet, column: SheetColumn, is_quoted: bool = False) -> Any:
    """Make an empty cell of a column; a text in a quoted one stays a text when somebody edits it."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, PatternFill, Protection

    cell: Any = WriteOnlyCell(sheet)  # its style is no part of what the stubs know
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    if column.is_asked:
        cell.fill, cell.protection = PatternFill("solid", _ANSWER), Protection(locked=False)
    if column.is_text:
        cell.number_format = "@"
    if is_quoted:
        cell.quotePrefix = True
    return cell


def _head_cell(sheet: _Sheet, column: SheetColumn) -> Any:
    from openpyxl.styles import Alignment, Font, PatternFill

    cell = _text_cell(sheet, column.title)
    cell.font, cell.fill = Font(bold=True), PatternFill("solid", _HEAD)
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    return cell


def _text_cell(sheet: _Sheet, text: str) -> Any:
    cell = _cell(sheet, SheetColumn(""), is_quoted=has_formula(text))
    cell.value = text
    cell.data_type = "s"
    return cell


def _offer_choices(sheet: _Sheet, plan: SheetPlan, count: int) -> None:
    """Add the drop-downs; those that differ from row to row look at columns of the row, so they survive sorting."""
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    titles = [column.title for column in plan.columns]
    for at, column in enumerate(plan.columns, 1):
        if column.choices:
            formula = f'"{",".join(column.choices)}"'
        elif column.choices_of:
            first = titles.index(column.choices_of) + 1
            begin, number = get_column_letter(first), get_column_letter(first + 1)
            formula = f"OFFSET({NAMES}!$A$1,${begin}2-1,0,MAX(${number}2,1),1)"
        else:
            continue
        choice = DataValidation("list", formula1=formula, allow_blank=True, showErrorMessage=bool(column.choices))
        choice.errorTitle, choice.error = "Not an answer", f"Choose one of: {', '.join(column.choices)}."
        letter = get_column_letter(at)
        choice.add(f"{letter}2:{letter}{_LAST_ROW if column.choices else max(count + 1, 2)}")
        sheet.data_validations.append(choice)


def _clear_away(sheet: _Sheet) -> None:
    """Remove the file that a sheet was collected in; when the workbook was saved it has gone already."""
    writer = sheet._writer
    if writer is None:
        return
    if not sheet.closed:
        with suppress(OSError):  # a full disk, which whoever writes has been told already
            sheet.close()
    with suppress(OSError, ValueError):
        writer.cleanup()
