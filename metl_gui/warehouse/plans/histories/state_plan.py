"""From the history of an entity to the states of its source rows, for the rows that a load touched.

The same function as ``core.dimensional.rows.row_states``, as statements. A plan is made for what the data has in it:
where no message leaves out what others of its schema bring, where no key changed, or nothing was voided, the statements
for that are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.warehouse.plans.histories.history_tables import IDENTITY, RANK, history_table
from metl_gui.warehouse.plans.histories.replay_plan import is_void
from metl_gui.warehouse.plans.statements import SO_FAR, Step, first_of, name, names, temporary, text

ROW = '"_schema", "_row"'
_BY_LOG = 'PARTITION BY "_n" ORDER BY "_order", "_rank"'
_BEFORE = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"


COMMIT = "CASE WHEN h.committed_at <= h.seen_at + INTERVAL '24' HOUR THEN h.committed_at ELSE h.seen_at END"
"""The commit of a message as far as it can be right."""


class Contents(msgspec.Struct, frozen=True):
    """What the messages of touched rows have in them.

    Args:
        lacking: columns that some messages do not carry.
        partial: those of them that some messages of a schema carry and others do not.
        has_repeats: an identity stands in the history more than once.
        has_replays: messages are void, as a later publication covered where they lie.
        has_moves: a key changed.
        has_ends: rows were deleted.
        has_truncates: a whole table was emptied.
    """

    lacking: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    has_repeats: bool = True
    has_replays: bool = True
    has_moves: bool = True
    has_ends: bool = True
    has_truncates: bool = True

    @property
    def has_lives(self) -> bool:
        """Return whether a row can have more than one life."""
        return self.has_ends or self.has_truncates


class StateTables(msgspec.Struct, frozen=True):
    """The names of a load's own tables for one entity.

    Args:
        entity: its name.
    """

    entity: str

    @property
    def touched(self) -> str:
        """Return that of the rows, by schema and key."""
        return f"_touched_{self.entity}"

    @property
    def messages(self) -> str:
        """Return that of their messages, with a number for each row: numbers are compared faster than texts."""
        return f"_messages_{self.entity}"

    @property
    def logged(self) -> str:
        """Return that of the messages in log order, which is there where a step after that for states reads it."""
        return f"_logged_{self.entity}"

    @property
    def states(self) -> str:
        """Return that of the states."""
        return f"_states_{self.entity}"


def carried(column: str) -> str:
    """Return the name of the column that says whether a message, or one before it, carries an attribute."""
    return f"_has_{column}"


def find_messages(history: EntityHistory) -> Step:
    """Return the step that takes the messages of touched rows out of the history, but for truncates.

    Cost: a look-up of each row.
    """
    tables = StateTables(history.entity)
    columns = names((*_TAKEN, *(one.name for one in history.columns)), "h")
    return temporary(
        tables.messages,
        f"""SELECT t."_n", {columns} FROM {name(history_table(history.entity))} AS h
        JOIN (SELECT schema, row_key, ROW_NUMBER() OVER () AS "_n" FROM {name(tables.touched)}) AS t
          ON t.schema = h.schema AND t.row_key = h.row_key
        WHERE h.op <> 't'""",
        f"Find the messages of touched rows of {history.entity}",
    )


_POSITION = ("position_log", "position_partition", "position_offset")
_TAKEN = (*IDENTITY, "publication", "committed_at", "seen_at", *_POSITION, "old_key", "absent")
"""Columns of a message of which states are made, before those of attributes."""


def state_plan(
    history: EntityHistory, contents: Contents, valid_at: str = "", *, keeps_log: bool = False
) -> Iterator[Step]:
    """Yield the steps that make the states of touched rows, whose messages were found.

    Args:
        history: of the entity.
        contents: what the messages have in them.
        valid_at: expression over the columns of a state for the time since when it holds; empty for its commit.
        keeps_log: later steps read the messages in log order.

    Cost: sorts the messages of touched rows by row and position, twice more for each partial column.
    """
    tables = StateTables(history.entity)
    columns = [one.name for one in history.columns]
    follows_log = not contents.has_lives and not valid_at
    more = () if contents.has_lives else ("_first", "_next") if follows_log else ("_first",)
    own, in_order = (*_STATE, "_run", *more), f"Put the messages of {history.entity} in order"
    logged = _logged(history, contents, columns, more)
    kept = f"SELECT * FROM {name(tables.logged)}"
    if contents.has_moves and contents.partial:
        yield temporary(tables.logged, logged, in_order)
        yield from _moves(history.entity, contents.partial, columns, own)
        logged = kept
    if contents.partial:
        logged, in_order = _filled(logged, contents.partial, columns, own), "Fill what messages left out"
    if keeps_log:
        yield temporary(tables.logged, logged, in_order)
        logged = kept
    has_lives = contents.has_lives
    timelines = _log_timelines(logged, columns) if follows_log else _timelines(logged, columns, valid_at, has_lives)
    yield temporary(tables.states, timelines, f"Find since when states of {history.entity} hold")


def _logged(history: EntityHistory, contents: Contents, columns: list[str], more: tuple[str, ...]) -> str:
    """Return the query for messages with their lives, and the runs in which they are filled.

    All that is asked of what lies before and behind is asked in one order, so that rows are sorted once: the greatest
    commit up to the next message, say, is that up to this one or the next one's own.

    Args:
        history: of the entity.
        contents: what the messages have in them.
        columns: of the history.
        more: of ``_first``, the first commit of the row, and ``_next``, the greatest up to the next message.
    """
    life = run = "0"
    if contents.has_lives:
        life = run = f"""COALESCE(SUM(CASE WHEN "_rank" < 2 THEN 1 ELSE 0 END) OVER ({_BY_LOG} {_BEFORE}), 0)"""
    if contents.has_moves:
        moved = 'CASE WHEN old_key IS NOT NULL AND "_rank" >= 2 THEN 1 ELSE 0 END'
        run = f"{life} + SUM({moved}) OVER ({_BY_LOG} {SO_FAR})"
    up_to_here = f"{_BY_LOG} {SO_FAR}"
    so_far, is_end = f'MAX("_commit") OVER ({up_to_here})', f'LEAD("_rank") OVER ({up_to_here}) IS NULL'
    following = f'GREATEST({so_far}, LEAD("_commit") OVER ({up_to_here}))'
    ends = {
        "_first": f'FIRST_VALUE("_commit") OVER ({up_to_here})',
        "_next": f"CASE WHEN NOT {is_end} THEN {following} END",
    }
    asked = "".join(f", {ends[column]} AS {name(column)}" for column in more)
    return f"""
        WITH holding AS ({_holding(history, contents, columns)})
        SELECT *, {life} AS "_life", {run} AS "_run", {so_far} AS "_committed",
          {is_end} AND "_rank" >= 2 AS "_is_last"{asked}
        FROM holding"""


def _holding(history: EntityHistory, contents: Contents, columns: list[str]) -> str:
    """Return the query for messages that hold, and for truncates as an end of each row that they found."""
    messages = name(StateTables(history.entity).messages)
    is_there = {c: f"NOT LIST_CONTAINS(COALESCE(h.absent, []), {text(c)})" for c in contents.lacking}
    carries = "".join(f", {is_there.get(c, 'TRUE')} AS {name(carried(c))}" for c in columns)
    own = f'h.schema AS "_schema", h.row_key AS "_row", h.order_key AS "_order", {RANK} AS "_rank", h.op AS "_op"'
    query = f"""
        SELECT h."_n", {own}, {COMMIT} AS "_commit", h.old_key, {names(columns, "h")}{carries}
        FROM ({_held(contents, messages, "TRUE")}) AS h"""
    if not contents.has_truncates:
        return query
    truncates = _held(contents, name(history_table(history.entity)), "op = 't'")
    nothing = "".join(f", NULL AS {name(c)}" for c in columns) + "".join(", FALSE" for _ in columns)
    return f"""
        WITH own AS ({query}),
          first AS (SELECT "_n", {ROW}, MIN(("_order" || "_rank")) AS "_at" FROM own GROUP BY "_n", {ROW})
        SELECT * FROM own
        UNION ALL
        SELECT first."_n", h.schema, first."_row", h.order_key, 1, 't', {COMMIT}, NULL{nothing}
        FROM ({truncates}) AS h
        JOIN first ON first."_schema" = h.schema AND first."_at" < (h.order_key || '1')"""


def _held(contents: Contents, table: str, where: str) -> str:
    """Return the query for messages of a table of which each identity is there once."""
    query = f"SELECT * FROM {table} AS m WHERE {where}" + (f" AND NOT {is_void('m')}" if contents.has_replays else "")
    if not contents.has_repeats:
        return query
    best = "publication DESC, position_log DESC, position_partition DESC, position_offset DESC"
    place = f'ROW_NUMBER() OVER (PARTITION BY schema, row_key, op, order_key ORDER BY {best}) AS "_place"'
    return f'SELECT * FROM (SELECT *, {place} FROM ({query}) AS n) AS o WHERE "_place" = 1'


def _moves(entity: str, partial: tuple[str, ...], columns: list[str], own: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that fill a message after a change of key from the last states of the row before.

    Where that row's own life began with a change of key, what it never carried is looked up before that.
    """
    logged, moves, bases = name(StateTables(entity).logged), f"_moves_{entity}", f"_bases_{entity}"
    at = '"_order" || "_rank"'
    yield temporary(
        moves,
        f"""
        WITH moved AS (SELECT {ROW}, "_order", "_rank", {at} AS "_at", "_run", old_key FROM {logged}
                       WHERE old_key IS NOT NULL AND "_rank" >= 2),
          found AS (
            SELECT m."_schema", m."_row", m."_at", m."_run", x."_row" AS "_from", x."_run" AS "_from_run",
              x."_order" || x."_rank" AS "_from_at",
              ROW_NUMBER() OVER (PARTITION BY m."_schema", m."_row", m."_at"
                                 ORDER BY x."_order" DESC, x."_rank" DESC) AS "_place"
            FROM moved AS m JOIN {logged} AS x ON x."_schema" = m."_schema" AND x."_row" = m.old_key
              AND x."_rank" >= 2 AND x."_order" || x."_rank" < m."_at")
        SELECT * FROM found WHERE "_place" = 1""",
        "Find what rows were before their keys changed",
    )
    nearest = ('c."_depth"', 'x."_order" DESC', 'x."_rank" DESC')
    first = "".join(
        f""", {first_of(f"x.{name(c)}", nearest, f"x.{name(carried(c))}")} AS {name(c)},
            COALESCE(BOOL_OR(x.{name(carried(c))}), FALSE) AS {name(carried(c))}"""
        for c in partial
    )
    yield temporary(
        bases,
        f"""
        WITH RECURSIVE chain AS (
            SELECT "_schema", "_row", "_at", 0 AS "_depth", "_from", "_from_run", "_from_at" FROM {name(moves)}
            UNION ALL
            SELECT c."_schema", c."_row", c."_at", c."_depth" + 1, m."_from", m."_from_run", m."_from_at"
            FROM chain AS c JOIN {name(moves)} AS m
              ON m."_schema" = c."_schema" AND m."_row" = c."_from" AND m."_run" = c."_from_run")
        SELECT c."_schema", c."_row", c."_at"{first}
        FROM chain AS c JOIN {logged} AS x ON x."_schema" = c."_schema" AND x."_row" = c."_from"
          AND x."_run" = c."_from_run" AND x."_rank" >= 2 AND x."_order" || x."_rank" <= c."_from_at"
        GROUP BY c."_schema", c."_row", c."_at\"""",
        "Gather what they bring along",
    )
    kept = [
        f"""CASE WHEN l.{name(carried(c))} THEN l.{name(c)} ELSE b.{name(c)} END AS {name(c)},
            l.{name(carried(c))} OR COALESCE(b.{name(carried(c))}, FALSE) AS {name(carried(c))}"""
        for c in partial
    ]
    rest = [c for column in columns if column not in partial for c in (column, carried(column))]
    untouched = "".join(f", l.{name(c)}" for c in rest)
    yield temporary(
        f"_logged_{entity}",
        f"""
        SELECT {names(own, "l")}{untouched}, {", ".join(kept)}
        FROM {logged} AS l LEFT JOIN {name(bases)} AS b ON b."_schema" = l."_schema" AND b."_row" = l."_row"
          AND b."_at" = l."_order" || l."_rank\"""",
        "Give them to the rows under their new keys",
    )


_STATE = ("_n", "_schema", "_row", "_order", "_rank", "_op", "_life", "_committed", "_is_last")


def _filled(logged: str, partial: tuple[str, ...], columns: list[str], own: Sequence[str]) -> str:
    """Return the query in which a message has the values that it did not carry from the one before that did."""
    run = 'PARTITION BY "_n", "_run"'
    in_order = f'{run} ORDER BY "_order", "_rank" {SO_FAR}'
    counted = "".join(
        f", COUNT(*) FILTER (WHERE {name(carried(c))}) OVER ({in_order}) AS {name('_n_' + c)}" for c in partial
    )
    filled = "".join(
        f""", FIRST_VALUE({name(c)}) OVER ({run}, {name("_n_" + c)} ORDER BY "_order", "_rank") AS {name(c)},
            {name("_n_" + c)} > 0 AS {name(carried(c))}"""
        for c in partial
    )
    rest = "".join(f", {name(c)}, {name(carried(c))}" for c in columns if c not in partial)
    return f"SELECT {names(own, 'n')}{rest}{filled} FROM (SELECT *{counted} FROM ({logged}) AS l) AS n"


def _log_timelines(logged: str, columns: list[str]) -> str:
    """Return the query for states that hold from their commits on, of rows that have one life."""
    return f"""
        SELECT {names(_STATE, "s")}, s."_committed" AS "_from", s."_first" AS "_began", s."_next" AS "_to",
          s."_committed" < COALESCE(s."_next", {FOREVER}) AS "_held"{_attributes(columns)}
        FROM ({logged}) AS s"""


def _timelines(logged: str, columns: list[str], valid_at: str, has_lives: bool) -> str:
    """Return the query for states, each until the next of its life, its delete, or where a later life begins."""
    since = f'COALESCE({valid_at}, "_committed")' if valid_at else '"_committed"'
    of_state, listed = names((*_STATE, "_from"), "s"), _attributes(columns)
    dated = f'SELECT *, {since} AS "_from" FROM ({logged}) AS l'
    until = 'LEAD(s."_from") OVER (PARTITION BY s."_n", s."_life" ORDER BY s."_from", s."_order", s."_rank")'
    if not has_lives:
        return f"""
        SELECT {of_state}, s."_first" AS "_began", {until} AS "_to",
          s."_from" < COALESCE({until}, {FOREVER}) AS "_held"{listed}
        FROM ({dated}) AS s"""
    return f"""
        WITH dated AS ({dated}),
          lives AS (
            SELECT "_n", "_life", MIN("_committed") FILTER (WHERE "_rank" < 2) AS "_cut",
              MIN("_committed") FILTER (WHERE "_rank" >= 2) AS "_began",
              MIN("_from") FILTER (WHERE "_rank" >= 2) AS "_first_from"
            FROM dated GROUP BY "_n", "_life"),
          ends AS (
            SELECT "_n", "_life", "_began",
              LEAST("_cut", MIN("_first_from") OVER (PARTITION BY "_n" ORDER BY "_life"
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)) AS "_end"
            FROM lives)
        SELECT {of_state}, e."_began", LEAST({until}, e."_end") AS "_to",
          s."_from" < COALESCE(LEAST({until}, e."_end"), {FOREVER}) AS "_held"{listed}
        FROM dated AS s JOIN ends AS e ON e."_n" = s."_n" AND e."_life" = s."_life"
        WHERE s."_rank" >= 2"""


def _attributes(columns: list[str]) -> str:
    return "".join(f", s.{name(c)}, s.{name(carried(c))}" for c in columns)


FOREVER = "CAST('9999-12-31 23:59:59.999999+00' AS TIMESTAMPTZ)"
"""What compares as the end of what has none."""
