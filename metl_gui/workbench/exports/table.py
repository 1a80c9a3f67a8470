"""``csv``: the mapping as a table, one element a row, as ``metl map`` reads it back.

For spreadsheets its cells can be written so that none becomes a formula; then a further column says so, by which they
are read back exactly. Source: contract.md §3.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from metl_gui.core.matrix.canonical import exported_blocks, is_held
from metl_gui.core.matrix.document import Document
from metl_gui.registry.mapping_csv import COLUMNS, OPTIONAL_COLUMNS
from metl_gui.registry.safe_cells import MARK, MARKED
from metl_gui.workbench.addresses import element_names, known_block_name
from metl_gui.workbench.exports.cells import SAFE_CELLS, Cells, wants_safe
from metl_gui.workbench.exports.export import Choices, Export
from metl_gui.workbench.progress import Watch

HEADER = (*COLUMNS, *OPTIONAL_COLUMNS)
"""Names of the columns, in their order."""

LIMITS = (
    "A held block has no rows: what is left of it counts only once somebody has decided.",
    "Trees, keys, lineages and settings are not in a table; --format json carries them.",
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
    _fill(Cells(text, is_safe=False), document, include_unconfirmed)
    return text.getvalue()


def _fill(cells: Cells, document: Document, include_unconfirmed: bool) -> None:
    header, mark = ((*HEADER, MARK), (MARKED,)) if cells.is_safe else (HEADER, ())
    cells.rows([header])
    cells.rows((*row, *mark) for row in table_rows(document, include_unconfirmed))


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    watch.step(f"Writing the table of state {document.state}")
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        cells = Cells(file, wants_safe(choices))
        _fill(cells, document, choices.include_unconfirmed)
    return tuple(cells.says())


CSV = Export(
    "csv", "The mapping as a table that metl map reads back", ".csv", _write, limits=LIMITS, options=(SAFE_CELLS,)
)
