"""Rows of a query as messages of an entity that are staged, in shuffled batches, some of them twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.staged_parts import StagedPart

_TYPES = {
    "VARCHAR": "text",
    "DATE": "date",
    "BIGINT": "integer",
    "INTEGER": "integer",
    "TIMESTAMP WITH TIME ZONE": "instant",
}

_STAGED = """COPY (
    SELECT 's' AS schema, CAST(to_json([{key}]) AS VARCHAR) AS row_key,
        printf('%020d', CAST({order} AS BIGINT)) AS order_key, 'u' AS op, CAST(0 AS BIGINT) AS publication,
        '1' AS schema_version, '1' AS entity_version, {time} AS committed_at, {time} AS seen_at,
        'log' AS position_log, CAST(0 AS BIGINT) AS position_partition, CAST({order} AS BIGINT) AS position_offset,
        FALSE AS snapshot, CAST(NULL AS VARCHAR) AS old_key, CAST([] AS VARCHAR[]) AS absent, {columns}
    FROM {rows} WHERE {chosen} ORDER BY hash({order}, {batch})
) TO '{path}' (FORMAT parquet)"""

SHARE_TWICE = 10
"""One of so many messages comes again, in the batch after its own."""


def history_of(
    connection: duckdb.DuckDBPyConnection, entity: str, key: Sequence[str], rows: str, without: Sequence[str] = ()
) -> EntityHistory:
    """Return the history of an entity whose attributes are the columns of a table or view, without some."""
    columns = connection.table(rows)
    typed = (
        HistoryColumn(name, name, _TYPES.get(str(kind), str(kind).lower()))
        for name, kind in zip(columns.columns, columns.types, strict=True)
        if name not in without
    )
    return EntityHistory(entity, tuple(key), tuple(typed))


def staged(
    connection: duckdb.DuckDBPyConnection,
    history: EntityHistory,
    rows: str,
    folder: Path,
    *,
    order: str,
    time: str = "TIMESTAMPTZ '2026-01-01 00:00:00+00'",
    batches: int = 1,
) -> list[StagedPart]:
    """Write rows as staged parts, one for each batch.

    Args:
        connection: that knows the rows.
        history: of the entity.
        rows: name of a table or view whose columns are the attributes.
        folder: of the parts.
        order: expression for the place of a row in the source's log, a number.
        time: expression for the commit.
        batches: how many; each row is in one that the hash of its place chooses, some are in the one after it too.
    """
    parts = []
    columns = ", ".join(
        f'CAST("{one.name}" AS DECIMAL(38, 0)) AS "{one.name}"' if one.type == "integer" else f'"{one.name}"'
        for one in history.columns
    )
    key = ", ".join(f'"{one}"' for one in history.key)
    for batch in range(batches):
        place = f"hash({order}) % {batches}"
        again = f"(hash({order}, 'again') % {SHARE_TWICE} = 0 AND ({place} + 1) % {batches} = {batch})"
        path = folder / f"{history.entity}-{batch}.parquet"
        connection.execute(
            _STAGED.format(
                key=key, order=order, time=time, columns=columns, rows=rows, path=path, batch=batch,
                chosen=f"{place} = {batch} OR {again}",
            )
        )  # fmt: skip
        (count,) = connection.execute(f"SELECT COUNT(*) FROM '{path}'").fetchone() or (0,)
        parts.append(StagedPart(history.entity, str(path), count))
    return parts
