"""``sql``: one ``SELECT`` for each block, in the dialect of a database, for views and queries of others.

What the formats for databases share stands here too: dialects, what their tables hold, and what cannot stand in a
query. Source: docs/architecture/model.md, "Algorithms" (A6); docs/reference/message.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Schema
from metl_gui.core.trees.paths import split
from metl_gui.errors import UserError
from metl_gui.workbench.exports.blocks import ExportedBlock
from metl_gui.workbench.exports.format_spec import TABLES, Choices, Export, Option, table_parts
from metl_gui.workbench.exports.mappable_blocks import (
    ColumnMasks,
    LeftOut,
    MappedVersion,
    VersionPredicate,
    left_out_sentences,
    mapped_schemas,
    mask_sentences,
    version_predicates,
)

if TYPE_CHECKING:
    from sqlglot import exp

    from metl_gui.workbench.exports.sql_select import SourceReader


ROWS, MESSAGES = "rows", "debezium"
LONGEST_NAMES = {
    "postgres": 63,
    "spark": 255,
    "databricks": 255,
    "duckdb": 255,
    "snowflake": 255,
    "bigquery": 300,
    "redshift": 127,
    "mysql": 64,
    "tsql": 128,
    "trino": 255,
    "oracle": 128,
    "sqlite": 255,
    "clickhouse": 255,
}
"""The dialects, as sqlglot names them, with the bytes that a name may have there."""

_FORBIDDEN = {"bigquery": '!"$()*,./;?@[\\]^`{}~\n\r\t'}
"""Signs that no column's name may hold, quoted or not."""

DIALECT = Option("dialect", "the database that the queries are for", "postgres", tuple(LONGEST_NAMES))
SOURCE = Option(
    "source",
    "what the tables hold: the row's own columns (rows), or Debezium's messages as JSON in one column (debezium)",
    ROWS,
    (ROWS, MESSAGES),
)
COLUMN = Option("column", "the column with the messages, of changes captured by Debezium", "value")

LIMITS = (
    "A query reads values of rows and messages as they stand: a text that stands for an unavailable value stays.",
    "From messages: the version is told by the row's columns or the version field, not by a schema in the message.",
    "From messages: truncates and deletes whose key is in the message key alone are missing; a new key is one row.",
    "From messages: a value that is not of its attribute's type ends the query.",
    "From rows: a query fits a table whose columns are those of its version; there are no kinds of change.",
    "State, position and origin of messages are not in the queries' columns.",
)


@dataclass(slots=True)
class QueryNotes:
    """What is found out while queries are made."""

    left_out: list[LeftOut] = field(default_factory=list)
    masked: int = 0

    def sentences(self) -> tuple[str, ...]:
        """Describe what of this state is not in the export."""
        return (*mask_sentences(self.masked), *left_out_sentences(self.left_out))


def reader_of(choices: Choices) -> SourceReader:
    """Return how the chosen dialect reads the chosen source.

    Raises:
        UserError: nobody has said how it would.
    """
    from metl_gui.workbench.exports import sql_select

    dialect, column = choices.of(DIALECT), choices.of(COLUMN)
    if choices.of(SOURCE) == ROWS:
        return sql_select.RowReader(dialect)
    if dialect == "postgres":
        return sql_select.PostgresChangeReader(dialect, column)
    if dialect in ("spark", "databricks"):
        return sql_select.SparkChangeReader(dialect, column)
    raise UserError(
        f"Messages as JSON are not read in the dialect {dialect}.",
        hint="Choose postgres, spark or databricks, or --source rows.",
    )


def tellings(
    document: Document, schema: Schema, mapped: tuple[MappedVersion, ...], reader: SourceReader
) -> Mapping[int, VersionPredicate | None]:
    """Return by what the rows of each carried version are told, where a source holds those of several."""
    by_id = {one.version.id: one for one in mapped}
    return (
        version_predicates(document.extraction.versions(schema.id), by_id)
        if reader.has_changes
        else dict.fromkeys(by_id)
    )


def refused_names(document: Document, mapped: MappedVersion, block: ExportedBlock, reader: SourceReader) -> str:
    """Explain why the names of a block can stand in no query; empty when they can."""
    paths = [path for line in block.lines for path in (line.source.path, line.target.path)]
    paths += mapped.key or ()
    labels = list[str]()
    if reader.has_changes:  # conditions name the columns of all versions
        for version in document.extraction.versions(mapped.schema.id):
            paths += [attribute.path for attribute in version.attributes]
            labels += version.labels
    names = [name for path in paths for name in split(path)]
    if not all(_is_text(text) for text in (mapped.schema.name, *labels, *names)):
        return "a name in it is empty or holds what no database takes in a name"
    forbidden = _FORBIDDEN.get(reader.dialect, "")
    if any(sign in name for name in names for sign in forbidden):
        return f"a name in it holds a sign that {reader.dialect} takes in no name of a column"
    return ""


def _is_text(name: str) -> bool:
    return bool(name) and "\0" not in name and not any("\ud800" <= letter <= "\udfff" for letter in name)


NAMES = ("schema", "version", "entity", "entity_version")
"""What the names of a block are called."""


def queries(
    document: Document, choices: Choices, watch: Watch, notes: QueryNotes
) -> Iterator[tuple[ExportedBlock, exp.Select]]:
    """Yield each block that can be said with its query, in canonical order."""
    from metl_gui.workbench.exports.sql_select import block_select, columns_of, table_of

    dialect, masks = choices.of(DIALECT), ColumnMasks(document)
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
    dialect, notes = choices.of(DIALECT), QueryNotes()
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
