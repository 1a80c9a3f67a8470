"""What a replay voids: messages of lower publications that lie in the ranges which it covered.

The same rule as ``core.dimensional.rows.messages.Replay``, as statements.
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.histories.log_plan import LOGS
from metl_gui.warehouse.plans.statements import Step, name, temporary, text

REPLAYS = "metl_replays"
"""For each part of a log, the highest publication that covered it."""

COVERED = "_covered"
"""What this load covered and nothing before it had."""

RANGE = (
    *(("publication", "BIGINT"), ("position_log", "VARCHAR"), ("position_partition", "BIGINT")),
    *(("first_offset", "BIGINT"), ("behind_offset", "BIGINT")),
)
"""Columns of both and their types."""


def is_void(message: str) -> str:
    """Return the condition that a message of a history, by the alias of its table, no longer counts."""
    return f"EXISTS (SELECT 1 FROM {REPLAYS} AS v WHERE {_covers('v', message)})"


def voided_table(entity: str) -> str:
    """Return the name of the table of messages that a load voids."""
    return f"_voided_{entity}"


def may_void_query(entity: str) -> str:
    """Return the query that says whether what a load covered can have messages of lower publications in it."""
    return f"""
        SELECT EXISTS (SELECT 1 FROM {LOGS} AS l JOIN {COVERED} AS c
          ON c.position_log = l.position_log AND c.position_partition = l.position_partition
            AND l.publication < c.publication AND l.first_offset < c.behind_offset AND l.last_offset >= c.first_offset
          WHERE l.entity = {text(entity)})"""


def may_be_void_query(table: str) -> str:
    """Return the query that says, by a look at publications alone, whether messages of a table may no longer count."""
    lowest, highest = f"SELECT MIN(publication) FROM {name(table)}", f"SELECT MAX(publication) FROM {REPLAYS}"
    return f"SELECT COALESCE(({lowest}) < ({highest}), FALSE)"


def void_query(came: str) -> str:
    """Return the query for how many of the messages in a table no longer count."""
    return f"SELECT COUNT(*) FROM {name(came)} AS m WHERE {is_void('m')}"


def void_plan(entity: str) -> Iterator[Step]:
    """Yield the step that finds the messages of an entity which a load voids."""
    yield temporary(
        voided_table(entity),
        f"""SELECT h.schema, h.row_key, h.op, h.order_key FROM {name(history_table(entity))} AS h
        JOIN {COVERED} AS c ON {_covers("c", "h")}""",
        f"Find messages of {entity} that were mapped again",
    )


def _covers(range_: str, message: str) -> str:
    same = (f"{range_}.{c} = {message}.{c}" for c in ("position_log", "position_partition"))
    within = (
        f"{message}.position_offset >= {range_}.first_offset",
        f"{message}.position_offset < {range_}.behind_offset",
        f"{message}.publication < {range_}.publication",
    )
    return " AND ".join((*same, *within))
