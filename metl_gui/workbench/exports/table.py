"""``csv``: the mapping as a table, one element a row, as ``metl map`` reads it back.

Source: contract.md §3.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from metl_gui.core.canonical import exported_blocks, is_held
from metl_gui.core.document import Document
from metl_gui.registry.mapping_csv import COLUMNS, OPTIONAL_COLUMNS
from metl_gui.workbench.addresses import element_names, known_block_name
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
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(table_rows(document, include_unconfirmed))
    return text.getvalue()


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    watch.step(f"Writing the table of state {document.state}")
    path.write_bytes(table_text(document, choices.include_unconfirmed).encode("utf-8", "surrogatepass"))
    return ()


CSV = Export("csv", "The mapping as a table that metl map reads back", ".csv", _write, limits=LIMITS)
