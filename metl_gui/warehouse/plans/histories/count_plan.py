"""Counts of what is odd in the messages of a load: keys with nulls, and other content at one place of a log."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.warehouse.plans.histories.arrivals import Batch, same_place
from metl_gui.warehouse.plans.histories.history_tables import RANK, history_table
from metl_gui.warehouse.plans.histories.state_plan import StateTables
from metl_gui.warehouse.plans.shapes.table_shapes import MemberShape
from metl_gui.warehouse.plans.statements import name, names, text


def keyless_query(batch: Batch, shapes: Sequence[MemberShape]) -> str:
    """Return the query for, by schema, messages that came of which some table has no row for want of a key.

    Args:
        batch: what came.
        shapes: the tables of its entity.
    """
    states = name(StateTables(batch.entity).states)
    sources = dict.fromkeys(part.source for shape in shapes for part in shape.key)
    lacks = " OR ".join(f"s.{name(source)} IS NULL" for source in sources) or "FALSE"
    came = f"SELECT schema, row_key, order_key, {RANK} AS place FROM {name(batch.came)} AS h"
    return f"""
        SELECT s."_schema", COUNT(*) FROM {states} AS s WHERE ({lacks}) AND EXISTS (
          SELECT 1 FROM ({came}) AS c WHERE c.schema = s."_schema" AND c.row_key = s."_row"
            AND c.order_key = s."_order" AND c.place = s."_rank")
        GROUP BY s."_schema" ORDER BY 1"""


def ambiguous_query(batch: Batch, load: str) -> str:
    """Return the query for, by schema, messages that came beyond the first of their place and publication.

    Args:
        batch: what came.
        load: its name, by which the messages of others are told.
    """
    place = ("schema", "row_key", "op", "order_key", "publication")
    history, came = name(history_table(batch.entity)), name(batch.came)
    before = f"EXISTS (SELECT 1 FROM {history} AS h WHERE {same_place('h', 'c')} AND h.batch <> {text(load)})"
    return f"""
        SELECT p.schema, SUM(p.beyond) FROM (
          SELECT c.schema, c.number - CASE WHEN {before} THEN 0 ELSE 1 END AS beyond FROM (
            SELECT {names(place)}, COUNT(*) AS number FROM {came} AS m GROUP BY {names(place)}) AS c) AS p
        WHERE p.beyond > 0 GROUP BY p.schema ORDER BY 1"""
