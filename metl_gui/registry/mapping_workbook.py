"""The mapping as a workbook: the sheet ``Mapping`` that the export ``xlsx`` writes and people change.

Its columns are those of the mapping CSV; further ones are for people and are not read. Source: contract.md §3, §4.
"""

from __future__ import annotations

from pathlib import Path

from metl_gui.registry import mapping_csv
from metl_gui.registry.exact_cells import LONG_COLUMNS, LONG_TEXTS, long_texts, whole
from metl_gui.registry.mapping_csv import COLUMNS, READ_COLUMNS, LineProblem, MappingRow, MappingTable
from metl_gui.registry.workbook import SheetRow, is_workbook, read_sheet, sheet_names

SHEET = "Mapping"


def read_table(path: Path) -> MappingTable:
    """Read a mapping table, a workbook or a CSV, whichever the file is; lines of a workbook are its rows.

    Raises:
        SchemaError: the file cannot be read as such a table at all.
    """
    return read(path) if is_workbook(path) else mapping_csv.read(path)


def read(path: Path) -> MappingTable:
    """Read the sheet ``Mapping`` of a workbook.

    Raises:
        SchemaError: the file is no workbook, or has no such sheet or column.
    """
    sheet = read_sheet(path, SHEET, COLUMNS, is_exact=True)
    longs = _long_texts(path)
    found = [_row(row, longs) for row in sheet.rows]
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


def _row(row: SheetRow, longs: dict[int, str]) -> MappingRow | LineProblem:
    known = [name for name in READ_COLUMNS if name in row.cells]
    wrong = next((name for name in known if name in row.problems), None)
    if wrong is not None:
        return LineProblem(row.number, f"{wrong} {row.problems[wrong]}")
    return mapping_csv.row_of(row.number, {name: whole(row.cells[name], longs) for name in known})
