"""Compact a history: what rows were before some time becomes one state each, and what comes later of then is set aside.

The same rules as ``core.dimensional.rows.compaction``, as statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.rows.compaction import COMPACTED
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.histories.arrivals import (
    equal_content,
    same_place,
    set_aside_table,
    staged_columns,
    staged_table,
)
from metl_gui.warehouse.plans.histories.history_tables import OWN_COLUMNS, RANK, history_table, sql_type
from metl_gui.warehouse.plans.histories.state_plan import COMMIT, ROW, StateTables, carried
from metl_gui.warehouse.plans.shapes.table_shapes import FactShape, MemberShape
from metl_gui.warehouse.plans.statements import Step, first_of, name, names, temporary, text

TOO_LATE = "too_late"
"""Why a message is set aside that is older than a compacted target goes back."""

_AT = '"_order" || "_rank"'


def folded_table(entity: str) -> str:
    """Return the name of the table of the messages that stand for those before them."""
    return f"_folded_{entity}"


def whole_table(entity: str) -> str:
    """Return the name of the table of rows that stay as they are."""
    return f"_whole_{entity}"


def compact_plan(
    history: EntityHistory, before: datetime, load: str, tables_of: Sequence[MemberShape]
) -> Iterator[Step]:
    """Yield the steps that compact a history, once the states of all its rows are made.

    Args:
        history: of an entity.
        before: the time.
        load: the name of what does it.
        tables_of: the dimensions and facts of the entity.

    Cost: the whole history.
    """
    entity, table = history.entity, name(history_table(history.entity))
    ends, folded, tables = name(f"_ends_{entity}"), name(folded_table(entity)), StateTables(history.entity)
    stays = f"Find rows of {entity} that stay as they are"
    yield temporary(whole_table(entity), _whole(history, tables_of), stays)
    yield temporary(f"_ends_{entity}", _ends(history, before), f"Find what rows of {entity} were")
    yield temporary(folded_table(entity), _folded(history, tables), f"Make one message of all before of {entity}")
    for column in history.columns:
        lacks = f"UPDATE {folded} SET absent = LIST_APPEND(absent, {text(column.name)})"
        yield Step("List what it does not say", f"{lacks} WHERE NOT {name(carried(column.name))}")
    at = f"(h.order_key || {RANK.replace('op', 'h.op', 1)})"
    # A fact without a time of its own happened with the first message of its life.
    is_timed = all(one.event_time for one in tables_of if isinstance(one, FactShape))
    first = "" if is_timed else f""" AND ({at} <> b."_first" OR b."_first" = b."_last")"""
    yield Step(
        f"Take older messages of {entity} out",
        f"""DELETE FROM {table} AS h WHERE EXISTS (
          SELECT 1 FROM {ends} AS b WHERE b."_schema" = h.schema AND b."_row" = h.row_key
            AND {at} <= b."_bound" AND {at} <> COALESCE(b."_end", ''){first})""",
    )
    columns = names(column for column, _ in _columns(history))
    yield Step(
        f"Append what stands for them of {entity}",
        f"INSERT INTO {table} ({columns}, batch) SELECT {columns}, {text(load)} FROM {folded}",
    )


def late_plan(history: EntityHistory, load: str, before: datetime) -> Iterator[Step]:
    """Yield the steps that set staged messages aside which come too late, and are not stored.

    Args:
        history: of the entity.
        load: the name of the load.
        before: the time before which the target was compacted.
    """
    staged, aside = name(staged_table(history.entity)), set_aside_table(history.entity)
    table, columns = name(history_table(history.entity)), staged_columns(history)
    known = "EXISTS (SELECT 1 FROM {} AS h WHERE " + f"{same_place('h', 's')} AND {equal_content(history)})"
    late = f"({COMMIT.replace('h.', 's.')} < {_instant(before)} OR {_is_folded(table)}) AND NOT {known.format(table)}"
    yield Step(
        f"Set aside messages of {history.entity} that come too late",
        f"""INSERT INTO {name(aside)} ({names(columns)}, batch, "_column")
        SELECT {names(columns, "s")}, {text(load)}, {text(TOO_LATE)} FROM {staged} AS s
        WHERE {late} AND NOT {known.format(name(aside))}""",
        aside,
        "insert",
    )
    yield Step("Leave them out", f"DELETE FROM {staged} AS s WHERE {late}")


def folded_step(entity: str) -> Step:
    """Return the step that leaves aside for good what was set aside before, and for which a folded message stands."""
    aside = name(set_aside_table(entity))
    return Step(
        f"Leave messages of {entity} aside that come too late",
        f"""UPDATE {aside} AS s SET "_column" = {text(TOO_LATE)}
        WHERE s."_column" <> {text(TOO_LATE)} AND {_is_folded(name(history_table(entity)))}""",
    )


def _is_folded(table: str) -> str:
    """Return the condition that a folded message of a history stands at the place of a message, ``s``, or behind it."""
    rank = RANK.replace("op", "{}.op", 1)
    return f"""EXISTS (SELECT 1 FROM {table} AS f WHERE f.position_log = {text(COMPACTED.log)}
        AND f.schema = s.schema AND f.row_key = s.row_key
        AND f.order_key || {rank.format("f")} >= s.order_key || {rank.format("s")})"""


def _ends(history: EntityHistory, before: datetime) -> str:
    """Return the query for the last state of each row before a time, its end, and the last place before the time."""
    tables = StateTables(history.entity)
    logged, states = name(tables.logged), name(tables.states)
    of_row = 'l."_schema" = s."_schema" AND l."_row" = s."_row"'
    old = f'l."_committed" < {_instant(before)}'
    at = 'l."_order" || l."_rank"'
    is_last = f"""MAX("_from") <= {first_of('"_from"', ('"_order" DESC', '"_rank" DESC'))}"""
    last = f"""SELECT {ROW}, MAX({_AT}) AS "_last", MAX("_life") AS "_life" FROM {states}
        WHERE "_committed" < {_instant(before)} GROUP BY {ROW} HAVING {is_last}"""
    return f"""
        SELECT s."_schema", s."_row", s."_last", MAX({at}) AS "_bound",
          MIN({at}) FILTER (WHERE {at} > s."_last") AS "_end",
          MIN({at}) FILTER (WHERE l."_life" = s."_life" AND l."_rank" >= 2) AS "_first"
        FROM ({last}) AS s JOIN {logged} AS l ON {of_row} AND {old}
        WHERE (s."_schema", s."_row") NOT IN (SELECT {ROW} FROM {name(whole_table(history.entity))})
        GROUP BY s."_schema", s."_row", s."_last\""""


def _whole(history: EntityHistory, tables_of: Sequence[MemberShape]) -> str:
    """Return the query for rows whose keys changed, that share a key of a table with others, or that had several."""
    moved = f"FROM {name(history_table(history.entity))} WHERE old_key IS NOT NULL AND row_key IS NOT NULL"
    found = [f'SELECT schema AS "_schema", {column} AS "_row" {moved}' for column in ("row_key", "old_key")]
    for shape in tables_of:
        owners, keys = name(MemberTables(shape.table).owners), names(keys_of(shape))
        shared = f"SELECT {keys} FROM {owners} GROUP BY {keys} HAVING COUNT(*) > 1"
        found.append(f"SELECT {ROW} FROM {owners} WHERE ({keys}) IN ({shared})")
        found.append(f"SELECT {ROW} FROM {owners} GROUP BY {ROW} HAVING COUNT(*) > 1")
    return " UNION ".join(found)


def _folded(history: EntityHistory, tables: StateTables) -> str:
    table, ends = name(history_table(history.entity)), name(f"_ends_{history.entity}")
    best = "h.publication DESC, h.position_log DESC, h.position_partition DESC, h.position_offset DESC"
    identity = 'h.schema = s."_schema" AND h.row_key = s."_row" AND h.order_key = s."_order" AND h.op = s."_op"'
    flags = "".join(f", s.{name(carried(one.name))}" for one in history.columns)
    made = {
        "committed_at": 's."_committed"',
        "seen_at": 'GREATEST(h.seen_at, s."_committed")',
        "position_log": text(COMPACTED.log),
        "position_partition": "0",
        "position_offset": "0",
        "old_key": "NULL",
        "absent": "[]",
        **{one.name: f"s.{name(one.name)}" for one in history.columns},
    }
    listed = ", ".join(
        f"CAST({made[column]} AS {type_}) AS {name(column)}" if column in made else f"h.{name(column)}"
        for column, type_ in _columns(history)
    )
    place = f'ROW_NUMBER() OVER (PARTITION BY s."_schema", s."_row" ORDER BY {best}) AS "_place"'
    return f"""
        SELECT * FROM (
          SELECT {listed}{flags}, {place} FROM {name(tables.states)} AS s
          JOIN {ends} AS b ON b."_schema" = s."_schema" AND b."_row" = s."_row" AND b."_last" = s."_order" || s."_rank"
          JOIN {table} AS h ON {identity}) AS f
        WHERE "_place" = 1"""


def _columns(history: EntityHistory) -> list[tuple[str, str]]:
    own = [(column, type_) for column, type_ in OWN_COLUMNS if column != "batch"]
    return [*own, *((column.name, sql_type(column.type)) for column in history.columns)]


def _instant(time: datetime) -> str:
    return f"CAST({text(time.isoformat())} AS TIMESTAMPTZ)"
