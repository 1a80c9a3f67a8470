"""Mapping tables from the clipboard, and elements and rows of lists to it.

A snippet has the columns of the mapping CSV, with or without their header, or two columns, source and target, for one
block. Every conflict is named with its line; nothing is written while one is left.
Source: docs/reference/mapping-csv.md.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.errors import SchemaError
from metl_gui.registry.tables.cells import MARK, MARKED, has_formula, safe
from metl_gui.registry.tables.mapping_table import COLUMNS, LineProblem, MappingRow, MappingTable, read_text
from metl_gui.values import Value
from metl_gui.workbench.addresses import known_block_name
from metl_gui.workbench.exports.table import CellWriter
from metl_gui.workbench.mapping.table import LeftLine, MapMode, RowConflict, plan_mapping
from metl_gui.workbench.mapping.version_ranges import may_be_range

_SEPARATORS = ("\t", ";", ",")
_FITS = f"Copy either two columns, source and target, or {', '.join(COLUMNS)}."
_HEADERS = {
    ("source", "target"),
    ("from", "to"),
    ("attribute", "cdm_attribute"),
    ("extraction", "cdm"),
}


class Paste(Value):
    """What a snippet asks for.

    Args:
        edits: all of it, one for each block; none when nothing changes or a conflict is left.
        names_versions: whether it says itself which versions are meant; two columns are meant for the block's own.
        changed: elements that become 1.
        unchanged: lines that said what was so already.
        conflicts: lines that cannot be followed.
        left: elements of ranges of versions that are not set.
        names_ranges: whether a line names several versions at once.
    """

    edits: tuple[SetElements, ...]
    names_versions: bool
    changed: int
    unchanged: int
    conflicts: tuple[RowConflict, ...]
    left: tuple[LeftLine, ...] = ()
    names_ranges: bool = False

    @property
    def title(self) -> str:
        """What the undo step is called."""
        return f"Map {self.changed:,} attribute{'' if self.changed == 1 else 's'} from the clipboard"


def plan_paste(document: Document, text: str, key: BlockKey | None) -> Paste:
    """Work out what a snippet asks for.

    Args:
        document: where its names are looked up.
        text: the snippet.
        key: the block that two columns are meant for.

    Raises:
        SchemaError: the text is no mapping table, or has two columns and no block is named.
    """
    try:
        table, names_versions = _table(document, text, key)
    except csv.Error as error:
        raise SchemaError("What was copied is no mapping table.", f"It cannot be read: {error}.", _FITS) from error
    done = plan_mapping(document, table, MapMode.ADD)
    if done.conflicts:
        return Paste((), names_versions, 0, done.unchanged, done.conflicts)
    is_ranged = any(may_be_range(label) for label in {row.schema_version for row in table.rows})
    return Paste(done.edits, names_versions, done.changed, done.unchanged, (), done.left, is_ranged)


def snippet(document: Document, elements: Mapping[BlockKey, Iterable[Element]]) -> str:
    """Write elements as a table that a spreadsheet, and ``plan_paste``, take: tabs between columns, with a header.

    Where a spreadsheet would take one of its cells for a formula, it is written so that it stays a text there, and read
    back exactly (``exports.table.Cells``).
    """
    rows = [row for key, own in elements.items() for row in _rows(document, key, own)]
    is_safe = any(has_formula(text) for row in rows for text in row)
    header, mark = ((*COLUMNS, MARK), (MARKED,)) if is_safe else (COLUMNS, ())
    out = io.StringIO()
    cells = CellWriter(out, is_safe, separator="\t")
    cells.rows([header])
    cells.rows((*row, *mark) for row in rows)
    return out.getvalue()


def spreadsheet_line(cells: Sequence[str]) -> tuple[str, int]:
    """Return a row of any list as a line for the clipboard that no spreadsheet takes for formulas.

    Returns:
        The line with tabs between its cells, and how many of these got an apostrophe.
    """
    return "\t".join(map(safe, cells)), sum(map(has_formula, cells))


def _rows(document: Document, key: BlockKey, own: Iterable[Element]) -> Iterator[tuple[str, ...]]:
    name = known_block_name(document, key)
    columns = {a.id: a.path for a in document.extraction.version(key[0]).attributes}
    rows = {a.id: a.path for a in document.cdm.version(key[1]).attributes}
    for q, p in own:
        ends = columns.get(p, f"#{p}"), rows.get(q, f"#{q}")
        yield name.schema, name.version, ends[0], name.entity, name.entity_version, ends[1]


def _table(document: Document, text: str, key: BlockKey | None) -> tuple[MappingTable, bool]:
    """Read a snippet, and whether it names versions."""
    lines = text.strip("\r\n").splitlines()
    first = lines[0] if lines else ""
    separator = max(_SEPARATORS, key=first.count)
    cells = [cell.strip().lower() for cell in next(csv.reader([first], delimiter=separator), [])]
    if "schema" in cells and "attribute" in cells:
        return read_text(text), True
    if len(cells) in (len(COLUMNS), len(COLUMNS) + 2):
        header = [*COLUMNS, "status", "comment"][: len(cells)]
        found = read_text(separator.join(header) + "\n" + text)
        problems = (replace(problem, line=problem.line - 1) for problem in found.problems)
        return MappingTable(tuple(row._replace(line=row.line - 1) for row in found.rows), tuple(problems)), True
    if len(cells) == 2:
        return _two_columns(document, lines, separator, key), False
    raise SchemaError(
        "What was copied is no mapping table.",
        f"It has {_columns(cells)} in its first line.",
        _FITS,
    )


def _two_columns(document: Document, lines: list[str], separator: str, key: BlockKey | None) -> MappingTable:
    if key is None:
        raise SchemaError(
            "Two columns were copied, and no block is selected.",
            "Source and target are looked up in one block.",
            "Select a cell or a tile of one version and one entity version first.",
        )
    block = known_block_name(document, key)
    rows: list[MappingRow] = []
    problems: list[LineProblem] = []
    for number, fields in enumerate(csv.reader(lines, delimiter=separator), 1):
        ends = tuple(field.strip() for field in fields)
        if not any(ends) or (number == 1 and tuple(end.lower() for end in ends) in _HEADERS):
            continue
        if len(ends) != 2:
            problems.append(LineProblem(number, f"It has {_columns(ends)}, not source and target"))
        elif not all(ends):
            problems.append(LineProblem(number, f"It names no {'target' if ends[0] else 'source'}"))
        else:
            names = (block.schema, block.version, ends[0], block.entity, block.entity_version, ends[1])
            rows.append(MappingRow(number, *names))
    return MappingTable(tuple(rows), tuple(problems))


def _columns(cells: Sequence[str]) -> str:
    return f"{len(cells)} column{'' if len(cells) == 1 else 's'}"
