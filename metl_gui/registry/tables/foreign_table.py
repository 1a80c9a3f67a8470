"""A mapping table of another shape: what its columns are called, and its rows once it is known which column is what.

A CSV file, or a workbook, of which the sheet ``Mapping`` is read, and without one the first sheet.

Source: docs/reference/mapping-csv.md, "Tables of another shape".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import msgspec

from metl_gui.core.project.table_columns import DEFAULTS, TableColumns, TableHead
from metl_gui.errors import SchemaError, near_names
from metl_gui.registry.documents import unreadable
from metl_gui.registry.tables.cells import MARK
from metl_gui.registry.tables.mapping_table import (
    COLUMNS,
    READ_COLUMNS,
    SHEET,
    LineProblem,
    MappingRow,
    MappingTable,
    csv_rows,
    row_of,
)
from metl_gui.registry.tables.workbook import SheetRow, begins_as_workbook, read_sheet, sheet_names
from metl_gui.values import Value

_HEAD_ROWS = 20
LEAST_COLUMNS = len(COLUMNS) - len(DEFAULTS)
"""A table needs so many columns to say of each element what it is."""

_ALSO_READ = ("comment", MARK)


class _Line(Value):
    """One line, its cells by title; ``problem`` says why it cannot be used, ``problems`` why cells cannot, by title."""

    number: int
    cells: dict[str, str]
    problem: str = ""
    problems: Mapping[str, str] = msgspec.field(default_factory=dict)


def read_head(path: Path) -> TableHead:
    """Read the titles and the first rows of a table.

    Raises:
        SchemaError: it is no table, or has too few columns once those of one title are left out.
    """
    with _opened(path) as (titles, lines, is_mapping):
        named = [title for title in titles if title]
        known = tuple(title for title in named if named.count(title) == 1)
        if len(known) < LEAST_COLUMNS <= len(named) and not is_mapping:
            twice = next(title for title in named if title not in known)
            raise SchemaError(
                f"{path.name} has the column {twice} twice.",
                "Which column is what is said by their titles.",
                "Give each column a title of its own.",
            )
        rows = tuple(tuple(line.cells.get(title, "") for title in known) for line in islice(lines, _HEAD_ROWS))
        return TableHead(known, rows, is_mapping)


def read_columns(path: Path, columns: TableColumns) -> MappingTable:
    """Read a table by the titles of its columns.

    A line without an attribute on either side maps nothing and is left alone.

    Raises:
        SchemaError: it is no table, or has no such columns.
    """
    with _opened(path) as (titles, lines, _):
        _check(path, titles, columns)
        found = [row for line in lines if (row := _row(line, columns)) is not None]
    return MappingTable(
        tuple(row for row in found if isinstance(row, MappingRow)),
        tuple(row for row in found if isinstance(row, LineProblem)),
    )


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Sequence[str], Iterator[_Line], bool]]:
    """Open a table: its titles, its lines, and whether it has the columns of a mapping table."""
    if begins_as_workbook(path):
        names = sheet_names(path)
        is_own = SHEET in names
        sheet = read_sheet(path, SHEET if is_own else next(iter(names), SHEET), ())
        yield sheet.titles, map(_sheet_line, sheet.rows), is_own and set(COLUMNS) <= set(sheet.titles)
        return
    try:
        if path.exists() and not path.is_file():
            raise SchemaError(f"{path} cannot be read.", "It is not a file.", "Name the CSV that holds the mapping.")
        with path.open("rb") as file:
            titles, rows = csv_rows(path, file)
            lines = (_csv_line(titles, number, fields) for number, fields in rows)
            yield titles, lines, set(COLUMNS) <= {title.lower() for title in titles}
    except OSError as error:
        raise unreadable(path, error) from error


def _sheet_line(row: SheetRow) -> _Line:
    return _Line(row.number, row.cells, problems=row.problems)


def _csv_line(titles: Sequence[str], number: int, fields: Sequence[str]) -> _Line:
    problem = "" if len(fields) == len(titles) else f"the line has {len(fields)} fields, the header {len(titles)}"
    return _Line(number, {title: cell.strip() for title, cell in zip(titles, fields, strict=False)}, problem)


def _check(path: Path, titles: Sequence[str], columns: TableColumns) -> None:
    if columns.missing:
        raise SchemaError(
            f"No column of {path.name} is named for {', '.join(columns.missing)}.",
            "A line needs a schema, an attribute, an entity and an attribute of it.",
            f"Its columns are {', '.join(titles)}.",
        )
    if columns.repeated:
        raise SchemaError(f"The column {columns.repeated[0]} cannot hold two things.", "", "Name another one.")
    for title in (title for _, title in columns.as_pairs if title):
        if title not in titles:
            hint = near_names(title, titles) or f"Its columns are {', '.join(titles)}."
            raise SchemaError(f"{path.name} has no column {title}.", "", hint)
        if titles.count(title) > 1:
            raise SchemaError(f"{path.name} has the column {title} twice.", "", "Remove one of them.")


def _row(line: _Line, columns: TableColumns) -> MappingRow | LineProblem | None:
    if line.problem:
        return LineProblem(line.number, line.problem)
    used = {title for _, title in columns.as_pairs}
    read = (title for title in line.problems if title in used or title.lower() in _ALSO_READ)
    if wrong := next(read, ""):
        return LineProblem(line.number, f"{wrong} {line.problems[wrong]}")
    values = {name: line.cells[title] if title else DEFAULTS[name] for name, title in columns.as_pairs}
    if not values["attribute"] or not values["cdm_attribute"]:
        return None
    also = {title.lower(): cell for title, cell in line.cells.items() if title not in used}
    values |= {name: also[name] for name in _ALSO_READ if name in also}
    return row_of(
        line.number,
        tuple(values.get(name, "") for name in READ_COLUMNS),
        () if columns.entity_version else ("entity_version",),
    )
