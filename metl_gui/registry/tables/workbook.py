"""Reads sheets of a workbook (.xlsx) as rows of text; what a hostile or damaged file may hold ends in a sentence.

Cells come as text: dates as ISO, whole numbers without a point. A formula or an error in a cell, and cells that are
merged, are problems of that cell, told with sheet, row and column by whoever needs it.
"""

from __future__ import annotations

import shutil
import warnings
import zipfile
import zlib
from collections.abc import Iterable
from datetime import date, datetime, time
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.errors import SchemaError, near_names
from metl_gui.registry.documents import unreadable
from metl_gui.registry.tables.cells import unescaped
from metl_gui.values import Value

if TYPE_CHECKING:
    from openpyxl.cell import Cell, MergedCell
    from openpyxl.worksheet.worksheet import Worksheet

MAX_FILE_BYTES = 32 * 2**20
MAX_UNPACKED_BYTES = 192 * 2**20
MAX_ROWS = 120_000
MAX_COLUMNS = 256
SUFFIX = ".xlsx"

_MAGIC = b"PK\x03\x04"
_MAX_PARTS = 2_000
_MAX_MERGED = 1_000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CHUNK_BYTES = 1 << 16
_UNPACKING = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    ValueError,
    EOFError,
    OSError,
)
"""What the standard library raises on damaged parts."""


class SheetRow(Value):
    """One row.

    Args:
        number: as the spreadsheet program counts it, from 1.
        cells: the texts, by the titles of the first row; what is empty is an empty text.
        problems: what is wrong with a cell, by title.
    """

    number: int
    cells: dict[str, str]
    problems: dict[str, str]


class SheetTable(Value):
    """A sheet whose first row names its columns.

    Args:
        name: its name.
        titles: the titles, as they stand.
        rows: every row below that has anything in it.
    """

    name: str
    titles: tuple[str, ...]
    rows: tuple[SheetRow, ...]


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook by its name and its first bytes."""
    return path.suffix.lower() == SUFFIX and begins_as_workbook(path)


def begins_as_workbook(path: Path) -> bool:
    """Return whether a file is packed as workbooks are, and no table of text is, whatever it is called."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def check_readable(path: Path) -> None:
    """Refuse a workbook that would not be read back, before anybody relies on it.

    Raises:
        SchemaError: it is larger than what is read.
    """
    _unpacked(path)


def read_sheet(path: Path, name: str, titles: tuple[str, ...], is_exact: bool = False) -> SheetTable:
    """Read one sheet of a workbook.

    Args:
        path: the file.
        name: the sheet.
        titles: columns that it must have; others are read too.
        is_exact: texts are written by ``cells``, and spaces at their ends belong to them.

    Raises:
        SchemaError: the file is no workbook, is larger than any that is meant, or has no such sheet or column.
    """
    found, known = _read_one(path, name)
    if not found:
        raise SchemaError(
            f"{path.name} has no sheet {name!r}.",
            f"It has {', '.join(known[:8])}." if known else "It has none.",
            near_names(name, known) or "Name the workbook that was sent out.",
        )
    return _sheet(path, found[0], titles, is_exact)


def sheet_names(path: Path) -> tuple[str, ...]:
    """List the sheets of a workbook.

    Raises:
        SchemaError: the file is no workbook, or is larger than any that is meant.
    """
    return tuple(_read_one(path, "")[1])


def _read_one(path: Path, name: str) -> tuple[list[Worksheet], list[str]]:
    """Read the sheets of one name only: hidden ones of choices may be a hundred times as long.

    Returns:
        Those sheets, and the names of all.

    Raises:
        SchemaError: the file is no workbook, or is larger than any that is meant.
    """
    from defusedxml import DefusedXmlException
    from openpyxl.reader.excel import ExcelReader

    content = _unpacked(path)

    known: list[str] = []

    class OneSheet(ExcelReader):
        def read_worksheets(self) -> None:
            known.extend(sheet.name for sheet in self.parser.sheets)
            self.parser.sheets = [sheet for sheet in self.parser.sheets if sheet.name == name]
            super().read_worksheets()

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is odd in a file and does not matter here
            reader = OneSheet(content, data_only=False, keep_links=False)
            reader.read()
    except Exception as error:
        if isinstance(error.__cause__ or error, DefusedXmlException):
            raise _damaged(path, "Its XML declares entities or refers to other files, which none needs.") from error
        raise _damaged(path, f"It cannot be understood: {type(error).__name__}.") from error
    return [sheet for sheet in reader.wb.worksheets if sheet.title == name], known


def _sheet(path: Path, sheet: Worksheet, wanted: tuple[str, ...], is_exact: bool) -> SheetTable:
    if sheet.max_row > MAX_ROWS or sheet.max_column > MAX_COLUMNS:
        raise SchemaError(
            f"The sheet {sheet.title!r} of {path.name} is too large.",
            f"It reaches to row {sheet.max_row:,} and column {sheet.max_column:,}.",
            f"It may have {MAX_ROWS:,} rows and {MAX_COLUMNS} columns; delete what lies beyond.",
        )
    titles = _titles(path, sheet, wanted)
    merged = _merged_rows(path, sheet)
    rows: list[SheetRow] = []
    for cells in sheet.iter_rows(min_row=2, max_col=len(titles)):
        number = int(cells[0].row or 0)
        texts: dict[str, str] = {}
        problems: dict[str, str] = {}
        for title, cell in zip(titles, cells, strict=True):
            if not title:
                continue
            texts[title], problem = _text(cell, is_exact)
            if (number, cell.column) in merged:
                problem = f"is merged with other cells ({merged[number, cell.column or 0]})"
            if problem:
                problems[title] = problem
        if any(texts.values()) or problems:
            rows.append(SheetRow(number, texts, problems))
    return SheetTable(sheet.title, tuple(title for title in titles if title), tuple(rows))


def _titles(path: Path, sheet: Worksheet, wanted: tuple[str, ...]) -> list[str]:
    first = next(sheet.iter_rows(min_row=1, max_row=1), ())
    titles = [" ".join(_text(cell)[0].split()) for cell in first]
    where = f"The sheet {sheet.title!r} of {path.name}"
    missing = [title for title in wanted if title not in titles]
    if missing:
        raise SchemaError(
            f"{where} has no column {', '.join(missing)}.",
            f"Its first row must have {', '.join(wanted)}.",
            near_names(missing[0], titles) or "Take the workbook as it was sent out; columns may be moved.",
        )
    twice = sorted({title for title in wanted if titles.count(title) > 1})
    if twice:
        raise SchemaError(f"{where} has the column {twice[0]} twice.", "", "Remove one of them.")
    return titles


def _merged_rows(path: Path, sheet: Worksheet) -> dict[tuple[int, int], str]:
    """Return the cells that are merged with others, by row and column, with the range of each."""
    ranges = sheet.merged_cells.ranges
    if len(ranges) > _MAX_MERGED or sum(each.size["rows"] * each.size["columns"] for each in ranges) > MAX_ROWS:
        raise SchemaError(
            f"The sheet {sheet.title!r} of {path.name} has too many merged cells.", "", "Unmerge them, then try again."
        )
    return {
        (row, column): str(each.coord)
        for each in ranges
        for row in range(each.min_row, each.max_row + 1)
        for column in range(each.min_col, each.max_col + 1)
    }


def _text(cell: Cell | MergedCell, is_exact: bool = False) -> tuple[str, str]:
    """Return the text of a cell, and what is wrong with it."""
    value = cell.value
    kind = getattr(cell, "data_type", "s")
    if kind == "f":
        return "", "holds a formula; type the value itself"
    if kind == "e":
        return "", f"holds the error {value}"
    if value is None:
        return "", ""
    if isinstance(value, bool):
        return (str(value).upper() if is_exact else "yes" if value else "no"), ""
    if is_exact and isinstance(value, datetime | date | time):
        return "", "holds a date or a time; format the cell as text and type it again"
    if isinstance(value, datetime):
        return (value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")), ""
    if isinstance(value, date | time):
        return value.isoformat(), ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value)), ""
    return (unescaped(str(value)) if is_exact else str(value).strip()), ""


def _unpacked(path: Path) -> BytesIO:
    """Read a workbook and unpack it, no further than any that is meant goes.

    Returns:
        The same parts as a packed file that holds them as they are.

    Raises:
        SchemaError: it is none, or too large.
    """
    try:
        if path.exists() and not path.is_file():
            raise SchemaError(f"{path} cannot be read.", "It is not a file.", "Name a workbook (.xlsx).")
        if path.exists() and path.stat().st_size > MAX_FILE_BYTES:
            raise _too_large(path, f"It has {path.stat().st_size / 2**20:,.0f} MiB.")
        content = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if not content.startswith(_MAGIC):
        raise _damaged(path, "It does not begin as one.")
    try:
        with zipfile.ZipFile(BytesIO(content)) as packed:
            parts = {part.filename: part for part in packed.infolist()}
            size = sum(part.file_size for part in parts.values())
            if size > MAX_UNPACKED_BYTES or len(parts) > _MAX_PARTS:
                raise _too_large(path, f"Unpacked it has {size / 2**20:,.0f} MiB in {len(parts):,} parts.")
            return _copied(packed, parts.values())
    except _UNPACKING as error:
        raise _damaged(path, f"{str(error).rstrip('.') or 'Its parts cannot be unpacked'}.") from error


def _copied(packed: zipfile.ZipFile, parts: Iterable[zipfile.ZipInfo]) -> BytesIO:
    """Unpack parts bit by bit, each up to the size that it tells: read at once, one that lies fills the memory."""
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as plain:
        for part in parts:
            if part.compress_type not in _METHODS:  # others give more than they are asked for
                raise zipfile.BadZipFile(f"Its part {part.filename} is packed as no workbook is")
            with packed.open(part) as source, plain.open(part.filename, "w") as target:
                shutil.copyfileobj(source, target, _CHUNK_BYTES)
    return content


def _too_large(path: Path, fact: str) -> SchemaError:
    most = f"A workbook may have {MAX_FILE_BYTES // 2**20} MiB, {MAX_UNPACKED_BYTES // 2**20} MiB unpacked."
    return SchemaError(f"{path.name} is too large.", f"{fact} {most}", "Name the workbook that was sent out.")


def _damaged(path: Path, fact: str) -> SchemaError:
    return SchemaError(
        f"{path.name} is no workbook that can be read.",
        fact,
        "Save it again as Excel workbook (.xlsx), then try again.",
    )
