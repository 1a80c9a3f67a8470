"""``parquet``: the mapping table of ``csv`` for pandas, Spark, DuckDB and whatever else reads Parquet.

Source: contract.md §4.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.errors import in_utf8
from metl_gui.workbench.exports.export import Choices, Export
from metl_gui.workbench.exports.table import HEADER, LIMITS, table_rows
from metl_gui.workbench.progress import Watch

METADATA = "metl"
"""Under this key the file says in JSON which state it shows."""

_GROUP_ROWS = 1 << 16
"""Rows that are in memory at once."""


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
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


PARQUET = Export("parquet", "The mapping table as Parquet, for Spark and notebooks", ".parquet", _write, limits=LIMITS)
