"""What stands in a target of each log: between which offsets and places of their source its messages lie.

By it a load finds out what it need not look up in a history.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.warehouse.plans.histories.epoch_plan import MESSAGE_KIND, SINCE, with_spans
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.statements import Step, joined, name, names, temporary, text

LOGS = "metl_logs"

_PLACE = ("schema", "position_log", "position_partition", "publication")
_PART = (*_PLACE, "since", "kind")
_BOUNDS = {
    "first_offset": ("LEAST", "MIN(position_offset)"),
    "last_offset": ("GREATEST", "MAX(position_offset)"),
    "least_key": ("LEAST", "MIN(order_key)"),
    "greatest_key": ("GREATEST", "MAX(order_key)"),
}

CREATE_LOGS = f"""CREATE TABLE {LOGS} (entity VARCHAR, schema VARCHAR, position_log VARCHAR, position_partition BIGINT,
    publication BIGINT, since BIGINT, kind VARCHAR, first_offset BIGINT, last_offset BIGINT, least_key VARCHAR,
    greatest_key VARCHAR)"""


def log_plan(entity: str, came: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that take in where messages lie which a load brought, or saw earlier in another place.

    Args:
        entity: whose messages.
        came: tables of them.
    """
    found, of = f"_logs_{entity}", text(entity)
    columns = f"{names(_PLACE)}, position_offset, order_key"
    messages = " UNION ALL ".join(f"SELECT {columns} FROM {name(one)}" for one in came)
    yield temporary(found, _bounds(f"({messages})"), f"Find where messages of {entity} lie")
    wider = ", ".join(f"{bound} = {widest}(l.{bound}, f.{bound})" for bound, (widest, _) in _BOUNDS.items())
    same = joined(_PART, "f", "l")
    yield Step(
        "Keep where they lie",
        f"UPDATE {LOGS} AS l SET {wider} FROM {name(found)} AS f WHERE l.entity = {of} AND {same}",
    )
    yield Step(
        "Keep where those of new logs lie",
        f"""INSERT INTO {LOGS} SELECT {of}, f.* FROM {name(found)} AS f
        WHERE NOT EXISTS (SELECT 1 FROM {LOGS} AS l WHERE l.entity = {of} AND {same})""",
    )


def greatest_query(entity: str) -> str:
    """Return the query for the last place in the log of each schema, behind which the history has nothing."""
    return f"SELECT schema, MAX(greatest_key) AS greatest FROM {LOGS} WHERE entity = {text(entity)} GROUP BY schema"


def relog_plan(entity: str) -> Iterator[Step]:
    """Yield the steps that find anew where all messages of an entity lie."""
    of = text(entity)
    yield Step(f"Forget where messages of {entity} lie", f"DELETE FROM {LOGS} WHERE entity = {of}")
    query = f"SELECT {of}, f.* FROM ({_bounds(name(history_table(entity)))}) AS f"
    yield Step(f"Find where messages of {entity} lie", f"INSERT INTO {LOGS} {query}")


def _bounds(messages: str) -> str:
    columns = f"{names(_PLACE, 'm')}, m.position_offset, m.order_key"
    placed = f"SELECT {columns}, {SINCE} AS since FROM {with_spans(messages)}"
    bounds = ", ".join(f"{aggregate} AS {bound}" for bound, (_, aggregate) in _BOUNDS.items())
    return f"""SELECT {names(_PLACE)}, since, {MESSAGE_KIND} AS kind, {bounds}
        FROM ({placed}) AS p GROUP BY {names(_PLACE)}, since, {MESSAGE_KIND}"""
