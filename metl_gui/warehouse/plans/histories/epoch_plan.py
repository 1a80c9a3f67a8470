"""Epochs of logs in a target: given to staged messages and to stored ones, and asked for where a log went back.

The same rules as ``core.dimensional.rows.epochs``, as statements.
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.rows.epochs import ALWAYS, HEAD, KIND
from metl_gui.warehouse.plans.histories.history_tables import IDENTITY, history_table
from metl_gui.warehouse.plans.statements import Step, name, names, temporary, text

EPOCHS = "metl_epochs"
"""From which position on a schema is in which epoch."""

STARTS = (
    *(("schema", "VARCHAR"), ("position_log", "VARCHAR"), ("position_partition", "BIGINT")),
    *(("first_offset", "BIGINT"), ("epoch", "BIGINT")),
)
"""Its columns and their types."""

CREATE_EPOCHS = f"CREATE TABLE {EPOCHS} ({', '.join(' '.join(one) for one in STARTS)})"

SPANS = "_epochs"
"""The load's own: each start with the offset before which it holds, and how order keys begin from there on."""

_SPAN_COLUMNS = (*STARTS[:4], ("behind_offset", "BIGINT"), ("head", "VARCHAR"))
CREATE_SPANS = f"CREATE OR REPLACE TEMPORARY TABLE {name(SPANS)} ({', '.join(' '.join(one) for one in _SPAN_COLUMNS)})"

SINCE = f"COALESCE(e.first_offset, {ALWAYS})"
"""The offset from which the epoch of a message holds, beside ``with_spans``."""

MESSAGE_KIND = f"SUBSTR(order_key, 1, {KIND})"
"""Epoch and kind of log of a message: only places of one are compared."""


def with_spans(messages: str) -> str:
    """Return the join of messages, as ``m``, with the epochs that they are in, ``e``."""
    return f"{messages} AS m LEFT JOIN {SPANS} AS e ON {_within('e', 'm')}"


def epoch_statement(table: str) -> str:
    """Return the statement that gives messages of a table their epochs."""
    return f"""UPDATE {name(table)} AS m SET order_key = e.head || SUBSTR(m.order_key, {HEAD + 1})
        FROM {SPANS} AS e WHERE {_misplaced("e", "m")}"""


def misplaced_step(history: EntityHistory, came: str) -> Step:
    """Return the step that lists the messages of a history whose epochs are others now."""
    query = f"""SELECT m.schema, m.row_key, m.op, m.order_key FROM {name(history_table(history.entity))} AS m
        JOIN {SPANS} AS e ON {_misplaced("e", "m")}"""
    return temporary(came, query, f"Find messages of {history.entity} whose epochs change")


def falls_plan(entity: str, once: str, falls: str, logs: str) -> Iterator[Step]:
    """Yield the steps that find the messages of a batch at which a log goes back.

    Args:
        entity: whose messages.
        once: table of the batch, each message once.
        falls: table of what is found.
        logs: table of where stored messages lie.

    Cost: sorts the batch by position; the history is asked for messages that seem to fall alone.
    """
    places = ("schema", "position_log", "position_partition")
    in_part = f'PARTITION BY {names(places)}, "_since", "_kind" ORDER BY position_offset'
    before = f"{in_part} RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
    identity = " AND ".join(
        f"COALESCE(h.{name(c)}, '') = COALESCE(p.{name(c)}, '')" if c == "row_key" else f"h.{name(c)} = p.{name(c)}"
        for c in IDENTITY
    )
    behind = "p.position_offset > l.last_offset AND p.order_key < l.greatest_key"
    ahead = "p.position_offset < l.first_offset AND p.order_key > l.least_key"
    same = " AND ".join((*(f"l.{c} = p.{c}" for c in places), 'l.since = p."_since"', 'l.kind = p."_kind"'))
    earlier = "h.position_log = p.position_log AND h.position_partition = p.position_partition"
    yield temporary(
        falls,
        f"""
        WITH placed AS (
            SELECT m.*, {SINCE} AS "_since", SUBSTR(m.order_key, 1, {KIND}) AS "_kind" FROM {with_spans(name(once))}
            WHERE m.position_log <> ''),
          followed AS (SELECT *, MAX(order_key) OVER ({before}) AS "_greatest" FROM placed),
          fallen AS (
            SELECT p.* FROM followed AS p WHERE p.order_key < p."_greatest" OR EXISTS (
              SELECT 1 FROM {logs} AS l WHERE l.entity = {text(entity)} AND {same} AND (({behind}) OR ({ahead}))))
        SELECT p.schema, p.position_log, p.position_partition, MIN(p.position_offset) AS position_offset
        FROM fallen AS p
        WHERE NOT EXISTS (SELECT 1 FROM {name(history_table(entity))} AS h WHERE {identity})
          AND NOT EXISTS (
            SELECT 1 FROM {name(once)} AS h WHERE {identity} AND {earlier} AND h.position_offset < p.position_offset)
        GROUP BY p.schema, p.position_log, p.position_partition""",
        f"Look whether logs of {entity} went back",
    )


def starts_query() -> str:
    """Return the query for all answers, by where they hold."""
    columns = names(column for column, _ in STARTS)
    return f"SELECT {columns} FROM {EPOCHS} ORDER BY {columns}"


def _within(epoch: str, message: str) -> str:
    same = (f"{epoch}.{c} = {message}.{c}" for c in ("schema", "position_log", "position_partition"))
    offset = f"{message}.position_offset"
    return " AND ".join((*same, f"{offset} >= {epoch}.first_offset", f"{offset} < {epoch}.behind_offset"))


def _misplaced(epoch: str, message: str) -> str:
    return f"{_within(epoch, message)} AND SUBSTR({message}.order_key, 1, {HEAD}) <> {epoch}.head"
