"""Snapshots that are taken again send the rows that live, and nothing of those deleted meanwhile.

Source: docs/guide/warehouse.md, "When more comes".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.warehouse.plans.histories.arrivals import Batch, touched_by
from metl_gui.warehouse.plans.histories.history_tables import RANK, history_table
from metl_gui.warehouse.plans.histories.replay_plan import is_void
from metl_gui.warehouse.plans.histories.state_plan import StateTables
from metl_gui.warehouse.plans.statements import Step, name, temporary, text

CLOSED = "closed snapshot"
"""Stands for the topic of deletes that were found missing in a snapshot."""


def absent_plan(history: EntityHistory, schema: str, load: str) -> Iterator[Step]:
    """Yield the steps that delete the rows of a schema which its last snapshot does not have.

    All rows of a snapshot stand at one position of the log, and so do these deletes. Void messages say nothing: a
    snapshot of which all are void is none, and the one before it is the last.

    Args:
        history: of an entity.
        schema: whose snapshot is over.
        load: the name of the load.

    Cost: the messages of the schema.
    """
    entity, table, of = history.entity, name(history_table(history.entity)), text(schema)
    came = Batch(entity, has_doubles=False).came
    yield temporary(
        came,
        f"""
        WITH snapshot AS (
            SELECT MAX(h.order_key) AS at FROM {table} AS h
            WHERE h.schema = {of} AND h.op = 'r' AND NOT {is_void("h")}),
          taken AS (
            SELECT MAX(h.committed_at) AS committed_at, MAX(h.seen_at) AS seen_at, MAX(h.publication) AS publication
            FROM {table} AS h JOIN snapshot AS s ON h.order_key = s.at AND h.schema = {of} AND h.op = 'r'
            WHERE NOT {is_void("h")}),
          before AS (
            SELECT h.*,
              ROW_NUMBER() OVER (PARTITION BY h.row_key ORDER BY h.order_key DESC, {RANK} DESC) AS "_place"
            FROM {table} AS h JOIN snapshot AS s ON h.order_key < s.at
            WHERE h.schema = {of} AND h.row_key IS NOT NULL AND NOT {is_void("h")})
        SELECT {of} AS schema, b.row_key, s.at AS order_key, 'd' AS op, t.publication, b.schema_version,
          b.entity_version, t.committed_at, t.seen_at, {text(CLOSED)} AS position_log,
          0 AS position_partition, 0 AS position_offset, TRUE AS snapshot
        FROM before AS b CROSS JOIN snapshot AS s CROSS JOIN taken AS t
        WHERE b."_place" = 1 AND b.op <> 'd' AND NOT EXISTS (
            SELECT 1 FROM {table} AS r WHERE r.schema = {of} AND r.row_key = b.row_key AND r.order_key = s.at
              AND NOT {is_void("r")})
          AND NOT EXISTS (
            SELECT 1 FROM {table} AS u WHERE u.schema = {of} AND u.op = 't' AND u.order_key < s.at
              AND u.order_key > b.order_key AND NOT {is_void("u")})""",
        f"Find rows of {entity} that the snapshot does not have",
    )
    columns = "schema, row_key, order_key, op, publication, schema_version, entity_version, committed_at, seen_at"
    columns += ", position_log, position_partition, position_offset, snapshot"
    yield Step(
        f"Delete rows of {entity} that the snapshot does not have",
        f"INSERT INTO {table} ({columns}, batch) SELECT {columns}, {text(load)} FROM {name(came)}",
        history_table(entity),
        "insert",
    )
    touched = touched_by(history, came)
    yield temporary(StateTables(entity).touched, touched, f"Find the rows of {entity} that were deleted")
