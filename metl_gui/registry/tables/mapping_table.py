"""The mapping as a table, one element a line, as people keep it in a spreadsheet: a CSV file or a workbook.

Of a workbook the sheet ``Mapping`` is read, which the export ``xlsx`` writes and people change. Its columns are those
of the mapping CSV; further ones are for people and are not read. A table of another shape is read by the titles that
its columns have (``TableColumns``), in a workbook without such a sheet from its first one.

Source: docs/reference/mapping-csv.md.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from metl_gui.core.trees.paths import split
from metl_gui.errors import SchemaError, near_names
from metl_gui.registry.documents import unreadable
from metl_gui.registry.tables.cells import LONG_COLUMNS, LONG_TEXTS, MARK, MARKED, exact, long_texts, whole
from metl_gui.registry.tables.workbook import SheetRow, begins_as_workbook, read_sheet, sheet_names
from metl_gui.values import Value

if TYPE_CHECKING:
    from _csv import Reader as _Reader

COLUMNS = ("schema", "schema_version", "attribute", "entity", "entity_version", "cdm_attribute")
OPTIONAL_COLUMNS = ("status", "comment")
READ_COLUMNS = (*COLUMNS, *OPTIONAL_COLUMNS, MARK)
"""Every column that is read; the last says whether cells were written for a spreadsheet (``cells``)."""

MAX_LINE_BYTES = 2**20

_BOM = b"\xef\xbb\xbf"
_SEPARATORS = (",", ";", "\t")
_NOT_PLAIN = ('"', "\\", "\r", "\0", _BOM.decode())
_PLAIN_LENGTH = 2**16


class MappingRow(NamedTuple):
    """One element of the table.

    Args:
        line: the line it begins at, counted from 1.
        schema: schema name or alias.
        schema_version: version label of the schema.
        attribute: path of the extraction attribute.
        entity: entity name.
        entity_version: version label of the entity; empty for its newest one, where a table has no such column.
        cdm_attribute: path of the CDM attribute.
        status: block status in words, empty when the table has none.
        comment: comment, may be empty.
    """

    line: int
    schema: str
    schema_version: str
    attribute: str
    entity: str
    entity_version: str
    cdm_attribute: str
    status: str = ""
    comment: str = ""


class LineProblem(Value):
    """One line that cannot be used, and why."""

    line: int
    reason: str


class MappingTable(Value):
    """The rows of a mapping CSV and the lines that are none."""

    rows: tuple[MappingRow, ...]
    problems: tuple[LineProblem, ...]


def read_csv(path: Path) -> MappingTable:
    """Read a mapping CSV: comma, semicolon or tab, with or without byte order mark, columns in any order.

    Columns other than those of the contract are left alone.

    Raises:
        SchemaError: the file cannot be read as such a table at all (encoding, header, a line beyond all size).
    """
    try:
        if path.exists() and not path.is_file():
            raise SchemaError(f"{path} cannot be read.", "It is not a file.", "Name the CSV that holds the mapping.")
        with path.open("rb") as file:
            return _table(path, file)
    except OSError as error:
        raise unreadable(path, error) from error


def read_text(text: str, name: str = "The clipboard") -> MappingTable:
    """Read a mapping table that was copied from somewhere; what a spreadsheet copies is separated by tabs.

    Args:
        text: the table with its header.
        name: what messages call it.

    Raises:
        SchemaError: it is no such table.
    """
    return _plain_table(text) or _table(Path(name), BytesIO(text.encode("utf-8", "replace")))


def _plain_table(text: str) -> MappingTable | None:
    """Read a table in which nothing is quoted, escaped, left out or wrong, column by column.

    Returns:
        What ``_table`` does; ``None`` where each line must be looked at.
    """
    plain = text.rstrip("\r\n").replace("\r\n", "\n")
    if any(each in plain for each in _NOT_PLAIN) or text != text.encode("utf-8", "replace").decode():
        return None
    lines = plain.split("\n")
    separator = max(_SEPARATORS, key=lines[0].count)
    header = [title.strip().lower() for title in lines[0].split(separator)]
    count = len(header)
    is_whole = set(COLUMNS).issubset(header) and MARK not in header and len(set(header)) == count
    fields = set(map(str.count, lines, repeat(separator)))
    if not is_whole or fields != {count - 1} or max(map(len, lines)) > _PLAIN_LENGTH:
        return None
    cells = separator.join(lines[1:]).split(separator)
    texts = {name: cells[at::count] for at, name in enumerate(header)}
    columns = [texts[name] for name in COLUMNS]
    further = [texts.get(name, repeat("")) for name in OPTIONAL_COLUMNS]
    if any("" in column for column in columns):
        return None
    # ``MappingRow`` itself is made by Python code, of which a large table needs some milliseconds.
    made = map(partial(tuple.__new__, MappingRow), zip(range(2, len(lines) + 1), *columns, *further, strict=False))
    return MappingTable(tuple(cast("Iterator[MappingRow]", made)), ())


def _table(path: Path, file: BinaryIO) -> MappingTable:
    titles, lines = csv_rows(path, file)
    header = _checked(path, titles)
    places = [header.index(name) if name in header else len(header) for name in READ_COLUMNS]
    pick, count = itemgetter(*places), len(header)
    found = [
        row_of(line, pick([*fields, ""]))
        if len(fields) == count
        else LineProblem(line, f"the line has {len(fields)} fields, the header {count}")
        for line, fields in lines
    ]
    return MappingTable(
        tuple(row for row in found if isinstance(row, MappingRow)),
        tuple(row for row in found if isinstance(row, LineProblem)),
    )


def csv_rows(path: Path, file: BinaryIO) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Read a table of text: comma, semicolon or tab, with or without byte order mark.

    Returns:
        The titles of its columns, and each line with anything in it, with the number of the line that it begins at.

    Raises:
        SchemaError: it is no table; from the iterator too, where that shows only there.
    """
    lines = _lines(path, file)
    first = next(lines, "")
    skipped = 0
    if first.strip().lower() in ("sep=,", "sep=;"):
        first = next(lines, "")
        skipped = 1
    separator = max(_SEPARATORS, key=first.count)
    if not first.strip():
        raise SchemaError(f"{path.name} has nothing in its first line.", f"It must be {','.join(COLUMNS)}.", "Add it.")
    try:
        titles = [title.strip() for title in next(csv.reader([first], delimiter=separator, strict=True), [])]
    except csv.Error as error:
        raise SchemaError(f"The header of {path.name} cannot be read.", _in_words(error), "Mend line 1.") from error
    return titles, _rows(path, csv.reader(lines, delimiter=separator, strict=True), skipped)


def _rows(path: Path, reader: _Reader, skipped: int) -> Iterator[tuple[int, list[str]]]:
    before = 2 + skipped
    line = before
    try:
        for fields in reader:
            if any(fields):
                yield line, fields
            line = reader.line_num + before
    except csv.Error as error:
        raise SchemaError(
            f"{path.name} is no table from line {line} on.", _in_words(error), "Mend it there."
        ) from error


def _lines(path: Path, file: BinaryIO) -> Iterator[str]:
    """Yield decoded lines, none longer than the limit."""
    number = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise SchemaError(
                f"Line {number} of {path.name} is too long.",
                f"A line of a mapping table has at most {MAX_LINE_BYTES // 2**20} MiB.",
                "Name the CSV that holds the mapping.",
            )
        if number == 1:
            raw = raw.removeprefix(_BOM)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise SchemaError(
                f"Line {number} of {path.name} is not UTF-8.",
                f"Byte {error.start + 1} of that line cannot be decoded.",
                "Save the table as CSV UTF-8.",
            ) from error
        if "\0" in text:
            raise SchemaError(
                f"Line {number} of {path.name} holds NUL characters.",
                "So it is no text.",
                "Save the table as CSV UTF-8.",
            )
        yield text


def _in_words(error: csv.Error) -> str:
    """Describe what the parser of the standard library found, in a data owner's words."""
    found = str(error)
    if "unexpected end of data" in found:
        return "A quotation mark is opened there and never closed."
    if "new-line character" in found:
        return "Its lines end in a way that is not known here: save the table again as CSV UTF-8."
    if "field larger" in found:
        return f"A field is longer than {csv.field_size_limit():,} characters."
    if "expected after" in found:
        return "Something follows a closing quotation mark; inside a quoted field write it twice."
    return f"{found[:1].upper()}{found[1:].rstrip('.')}."


def _checked(path: Path, titles: Sequence[str]) -> list[str]:
    names = [title.lower() for title in titles]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        close = " ".join(filter(None, (near_names(name, names) for name in missing[:1])))
        raise SchemaError(
            f"{path.name} has no column {', '.join(missing)}.",
            f"Its first line must be {','.join(COLUMNS)}.",
            close or "Name the CSV that holds the mapping.",
        )
    twice = sorted({name for name in READ_COLUMNS if names.count(name) > 1})
    if twice:
        raise SchemaError(f"{path.name} has the column {twice[0]} twice.", "", "Remove one of them.")
    return names


def row_of(line: int, texts: tuple[str, ...], may_be_empty: Sequence[str] = ()) -> MappingRow | LineProblem:
    """Make a row, or say what is wrong with it.

    Args:
        line: it begins at.
        texts: of ``READ_COLUMNS``, empty where the table has no such column.
        may_be_empty: columns that a row needs otherwise.
    """
    read = texts[:-1]
    if texts[-1].strip().lower() == MARKED:
        read = tuple(map(exact, read))
    if "" in read[: len(COLUMNS)]:
        empty = [name for name, text in zip(COLUMNS, read, strict=False) if not text and name not in may_be_empty]
        if empty:
            return LineProblem(line, f"{', '.join(empty)} is empty")
    row = MappingRow._make((line, *read))
    for name, path in (("attribute", row.attribute), ("cdm_attribute", row.cdm_attribute)):
        if "\\" in path:  # nothing else is wrong with one
            try:
                split(path)
            except ValueError as error:
                return LineProblem(line, f"{name} is not a path: {error}")
    return row


SHEET = "Mapping"


def read_table(path: Path) -> MappingTable:
    """Read a mapping table, a workbook or a CSV as its first bytes say; lines of a workbook are its rows.

    Raises:
        SchemaError: the file cannot be read as such a table at all.
    """
    return read_workbook(path) if begins_as_workbook(path) else read_csv(path)


def read_workbook(path: Path) -> MappingTable:
    """Read the sheet ``Mapping`` of a workbook.

    Raises:
        SchemaError: the file is no workbook, or has no such sheet or column.
    """
    sheet = read_sheet(path, SHEET, COLUMNS, is_exact=True)
    longs = _long_texts(path)
    found = [_sheet_row(row, longs) for row in sheet.rows]
    return MappingTable(
        tuple(row for row in found if isinstance(row, MappingRow)),
        tuple(row for row in found if isinstance(row, LineProblem)),
    )


def _long_texts(path: Path) -> dict[int, str]:
    if LONG_TEXTS not in sheet_names(path):
        return {}
    rows = read_sheet(path, LONG_TEXTS, LONG_COLUMNS, is_exact=True).rows
    number, part, text = LONG_COLUMNS
    return long_texts((row.cells[number], row.cells[part], row.cells[text]) for row in rows)


def _sheet_row(row: SheetRow, longs: dict[int, str]) -> MappingRow | LineProblem:
    wrong = next((name for name in READ_COLUMNS if name in row.cells and name in row.problems), None)
    if wrong is not None:
        return LineProblem(row.number, f"{wrong} {row.problems[wrong]}")
    return row_of(row.number, tuple(whole(row.cells.get(name, ""), longs) for name in READ_COLUMNS))
