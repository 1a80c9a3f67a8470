"""``csv`` and ``parquet``: the mapping as a table, one element a row.

``metl map`` reads ``csv`` back. Its cells are as exact as they are or, for spreadsheets, written so that none becomes a
formula; then a further column says so, by which they are read back exactly. ``parquet`` is the same table for pandas,
Spark, DuckDB and whatever else reads Parquet. Source: docs/reference/mapping-csv.md; docs/guide/exports.md.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.canonical import exported_blocks, is_held, state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.errors import in_utf8
from metl_gui.registry.tables.cells import MARK, MARKED, has_formula, safe
from metl_gui.registry.tables.mapping_table import COLUMNS, OPTIONAL_COLUMNS
from metl_gui.workbench.addresses import element_names, known_block_name
from metl_gui.workbench.exports.format_spec import YES, Choices, Export, Option

SAFE_CELLS = Option("safe_cells", "for spreadsheets: no cell becomes a formula", "no", ("no", YES))


class CellWriter:
    """Writes rows of texts, and counts the cells that a spreadsheet would take for formulas or nobody can read back.

    Args:
        target: where to; its lines end with a line feed alone.
        is_safe: write such cells so that they stay texts.
        separator: what stands between two cells.
    """

    def __init__(self, target: TextIO, is_safe: bool, separator: str = ",") -> None:
        self.is_safe = is_safe
        self._target = target
        self._formulas = self._unreadable = 0
        # This line end makes it quote carriage returns, too: without, no reader takes them for a part of their cell.
        self._writer = csv.writer(self, delimiter=separator, lineterminator="\r\n")

    def rows(self, rows: Iterable[Sequence[str]]) -> None:
        """Write rows."""
        for row in rows:
            self._formulas += sum(map(has_formula, row))
            self._unreadable += sum("\0" in text for text in row)
            self._writer.writerow([safe(text) for text in row] if self.is_safe else row)

    def write(self, line: str) -> None:
        """Take a line from the writer."""
        self._target.write(line.removesuffix("\r\n") + "\n")

    def says(self) -> Iterator[str]:
        """Say of what was written what is not exact, or not safe."""
        if self._formulas and self.is_safe:
            are = "is" if self._formulas == 1 else "are"
            yield (
                f"{number_of(self._formulas, 'cell')} {are} not exact: an apostrophe stands before what a spreadsheet "
                "would take for a formula."
            )
        elif self._formulas:
            yield (
                f"A spreadsheet takes {number_of(self._formulas, 'cell')} for a formula, by = + - @ at the beginning "
                "or behind a separator; for one, "
                f"choose {SAFE_CELLS.flag}, or the format xlsx, which is exact and safe."
            )
        if self._unreadable:
            holds = "holds" if self._unreadable == 1 else "hold"
            yield (
                f"{number_of(self._unreadable, 'cell')} {holds} a NUL character, with which no table is read back; "
                "the formats xlsx and json carry it."
            )


def wants_safe(choices: Choices) -> bool:
    """Whether cells are to be written for a spreadsheet."""
    return choices.of(SAFE_CELLS) == YES


HEADER = (*COLUMNS, *OPTIONAL_COLUMNS)
"""Names of the columns, in their order."""

LIMITS = (
    "A held block has no rows: what is left of it counts only once somebody has decided.",
    "Trees, keys, lineages and settings are not in a table; json carries them.",
)


def table_rows(document: Document, include_unconfirmed: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield the rows in canonical order, each as ``HEADER`` names its columns."""
    for block in exported_blocks(document, include_unconfirmed):
        if is_held(document, block):
            continue
        name = known_block_name(document, block.key)
        for element in element_names(document, block):
            yield (
                name.schema,
                name.version,
                element.from_path,
                name.entity,
                name.entity_version,
                element.to_path,
                block.status.value,
                block.comment,
            )


def table_text(document: Document, include_unconfirmed: bool = False) -> str:
    """Return what ``csv`` writes."""
    text = io.StringIO(newline="")
    _fill(CellWriter(text, is_safe=False), document, include_unconfirmed)
    return text.getvalue()


def _fill(cells: CellWriter, document: Document, include_unconfirmed: bool) -> None:
    header, mark = ((*HEADER, MARK), (MARKED,)) if cells.is_safe else (HEADER, ())
    cells.rows([header])
    cells.rows((*row, *mark) for row in table_rows(document, include_unconfirmed))


def _write_csv(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    watch.step(f"Writing the table of state {document.state}")
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        cells = CellWriter(file, wants_safe(choices))
        _fill(cells, document, choices.include_unconfirmed)
    return tuple(cells.says())


CSV = Export(
    "csv", "The mapping as a table that can be read back", ".csv", _write_csv, limits=LIMITS, options=(SAFE_CELLS,)
)


METADATA = "metl"
"""Under this key the file says in JSON which state it shows."""

_GROUP_ROWS = 1 << 16
"""Rows that are in memory at once."""


def _write_parquet(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    """Write one row group after another: one column of text for each column of the table, none of them null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    facts = {"format": "metl-mapping", "version": 1, "state": document.state, "hash": state_hash(document)}
    metadata: dict[bytes | str, bytes | str] = {METADATA: json.dumps(facts)}
    schema = pa.schema([pa.field(name, pa.string(), nullable=False) for name in HEADER], metadata=metadata)
    rows, written, is_exact = table_rows(document, choices.include_unconfirmed), 0, True
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, _GROUP_ROWS)):
            watch.step(f"Writing the table of state {document.state}: {written:,} rows")
            texts = [[in_utf8(text) for text in column] for column in zip(*group, strict=True)]
            is_exact = is_exact and list(zip(*texts, strict=True)) == group
            writer.write_table(pa.table([pa.array(column, pa.string()) for column in texts], schema=schema))
            written += len(group)
    if is_exact:
        return ()
    return ("Characters of names and comments that are no Unicode text stand as escapes, as Parquet takes none.",)


PARQUET = Export(
    "parquet", "The mapping table as Parquet, for Spark and notebooks", ".parquet", _write_parquet, limits=LIMITS
)
