"""What stands in a target of each log: between which offsets its messages lie, by entity, schema and publication.

By it a load finds out what it need not look up in a history.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.warehouse.plans.history_tables import history_table
from metl_gui.warehouse.plans.statements import Step, joined, name, names, temporary, text

LOGS = "metl_logs"

_PLACE = ("schema", "position_log", "position_partition", "publication")
_BOUNDS = {"first_offset": "LEAST", "last_offset": "GREATEST"}

CREATE_LOGS = f"""CREATE TABLE {LOGS} (entity VARCHAR, schema VARCHAR, position_log VARCHAR, position_partition BIGINT,
    publication BIGINT, first_offset BIGINT, last_offset BIGINT)"""


def log_plan(entity: str, came: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that take in where messages lie which a load brought, or saw earlier in another place.

    Args:
        entity: whose messages.
        came: tables of them.
    """
    found, of = f"_logs_{entity}", text(entity)
    messages = " UNION ALL ".join(f"SELECT {names(_PLACE)}, position_offset FROM {name(one)}" for one in came)
    yield temporary(found, _bounds(f"({messages})"), f"Find where messages of {entity} lie")
    wider = ", ".join(f"{bound} = {widest}(l.{bound}, f.{bound})" for bound, widest in _BOUNDS.items())
    same = joined(_PLACE, "f", "l")
    yield Step(
        "Keep where they lie",
        f"UPDATE {LOGS} AS l SET {wider} FROM {name(found)} AS f WHERE l.entity = {of} AND {same}",
    )
    yield Step(
        "Keep where those of new logs lie",
        f"""INSERT INTO {LOGS} SELECT {of}, f.* FROM {name(found)} AS f
        WHERE NOT EXISTS (SELECT 1 FROM {LOGS} AS l WHERE l.entity = {of} AND {same})""",
    )


def relog_plan(entity: str) -> Iterator[Step]:
    """Yield the steps that find anew where all messages of an entity lie."""
    of = text(entity)
    yield Step(f"Forget where messages of {entity} lie", f"DELETE FROM {LOGS} WHERE entity = {of}")
    query = f"SELECT {of}, f.* FROM ({_bounds(name(history_table(entity)))}) AS f"
    yield Step(f"Find where messages of {entity} lie", f"INSERT INTO {LOGS} {query}")


def _bounds(messages: str) -> str:
    return f"""SELECT {names(_PLACE)}, MIN(position_offset) AS first_offset, MAX(position_offset) AS last_offset
        FROM {messages} AS m GROUP BY {names(_PLACE)}"""
