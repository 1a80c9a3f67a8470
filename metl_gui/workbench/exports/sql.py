"""``sql``: one ``SELECT`` for each block, in the dialect of a database, for views and queries of others.

Source: dmm.md §4 (A6), contract.md §5.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.workbench.exports.carried import Carried
from metl_gui.workbench.exports.databases import (
    COLUMN,
    DIALECT,
    LIMITS,
    LONGEST_NAMES,
    SOURCE,
    Notes,
    reader_of,
    refused_names,
    tellings,
)
from metl_gui.workbench.exports.export import Choices, Export
from metl_gui.workbench.exports.mappable import LeftOut, Masks, mapped_schemas
from metl_gui.workbench.exports.naming import TABLES, table_parts
from metl_gui.workbench.progress import Watch

if TYPE_CHECKING:
    from sqlglot import exp

NAMES = ("schema", "version", "entity", "entity_version")
"""What the names of a block are called."""


def queries(document: Document, choices: Choices, watch: Watch, notes: Notes) -> Iterator[tuple[Carried, exp.Select]]:
    """Yield each block that can be said with its query, in canonical order."""
    from metl_gui.workbench.exports.reading import table_of
    from metl_gui.workbench.exports.selects import block_select, columns_of

    dialect, masks = choices.of(DIALECT), Masks(document)
    reader = reader_of(choices)
    for schema, mapped in mapped_schemas(document, choices.include_unconfirmed, watch, "Writing queries"):
        told = tellings(document, schema, mapped, reader)
        table = table_of(*table_parts(schema.name, choices.of(TABLES)))
        for one in mapped:
            notes.left_out += one.left_out
            for block in () if one.has_held else one.blocks:
                telling = told[one.version.id]
                why = (telling.why if telling else "") or refused_names(document, one, block, reader)
                if not why:
                    columns = columns_of(one, block, LONGEST_NAMES[dialect])
                    query = block_select(reader, table, one, columns, telling)
                    why = query if isinstance(query, str) else ""
                    if not isinstance(query, str):
                        notes.masked += len(masks.of(block))
                        yield block, query
                if why:
                    notes.left_out.append(LeftOut(block.names, why))


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    """Write one statement after another, each with its block in a comment, so that nothing is kept in memory."""
    dialect, notes = choices.of(DIALECT), Notes()
    facts = {"format": "metl-sql", "version": 1, "state": document.state, "hash": state_hash(document)}
    chosen = {option.name: choices.of(option) for option in (DIALECT, SOURCE, TABLES)}
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(_comment(facts | chosen))
        for block, query in queries(document, choices, watch, notes):
            names = dict(zip(NAMES, block.names, strict=True))
            file.write(f"\n{_comment(names | {'status': block.block.status.value})}")
            file.write(f"{query.sql(dialect=dialect, pretty=True, copy=False)};\n")
        for one in notes.left_out:
            file.write(f"\n{_comment(dict(zip(NAMES, one.block, strict=True)) | {'left_out': one.why})}")
    return notes.sentences()


def _comment(content: Mapping[str, object]) -> str:
    """Write a line that no name can break out of: JSON of plain letters."""
    return f"-- metl {json.dumps(content)}\n"


SQL = Export(
    "sql",
    "One SELECT for each block, in the dialect of a database",
    ".sql",
    _write,
    limits=LIMITS,
    options=(DIALECT, SOURCE, TABLES, COLUMN),
)
