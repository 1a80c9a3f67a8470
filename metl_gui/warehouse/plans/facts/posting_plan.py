"""Postings of a fact that reverses: what it was after each message, and the rows that tell one from the other.

The same function as ``core.dimensional.rows.postings``, as statements.

Source: docs/reference/warehouse-model.md, "Reversals".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, changes, keys_of, leads, resolved
from metl_gui.warehouse.plans.facts.fact_values import fact_value_types, valued
from metl_gui.warehouse.plans.histories.state_plan import ROW, StateTables
from metl_gui.warehouse.plans.shapes.table_shapes import FactShape
from metl_gui.warehouse.plans.statements import Step, joined, name, names, temporary
from metl_gui.warehouse.plans.write_plan import write_plan

FROM, TO = "_from", "_to"
"""Columns of ``runs_table``: since when, and until when, a fact was as a row says."""

_MESSAGE = ("_schema", "_row", "_order", "_rank")


def moments_table(fact: str) -> str:
    """Return the name of the load's own table of what a fact was after each message."""
    return f"_moments_{fact}"


def runs_table(fact: str) -> str:
    """Return the name of the table, kept in the target, of what facts were from when to when."""
    return f"metl_runs_{fact}"


def create_runs(shape: FactShape) -> Iterator[Step]:
    """Yield the step that makes the table of what facts were, where periodic facts ask for it."""
    if shape.observed is not None:
        typed = [f"{name(key)} {part.type}" for key, part in zip(keys_of(shape), shape.key, strict=True)]
        types = fact_value_types(shape)
        typed += [f"{name(FROM)} TIMESTAMPTZ", f"{name(TO)} TIMESTAMPTZ"]
        typed += [f"{name(column)} {types[column]}" for column in shape.observed]
        yield Step(
            f"Make the list of what {shape.table} was",
            f"CREATE TABLE {name(runs_table(shape.table))} ({', '.join(typed)})",
        )


def runs_plan(shape: FactShape) -> Iterator[Step]:
    """Yield the steps that bring up to date what affected facts were, by the commits of their changes.

    A fact was there until its delete, whatever becomes of its row; what was for no time at all is left out.
    """
    if shape.observed is None:
        return
    if not shape.reverses:
        yield from moment_plan(shape)
    keys, table = keys_of(shape), runs_table(shape.table)
    every = msgspec.structs.replace(
        shape, on_correction="reverse", on_delete="flag" if shape.on_delete == "flag" else "reverse"
    )
    own = {"event_time": "_time", "is_deleted": "_deleted"}
    values = "".join(f", {name(own.get(column, column))} AS {name(column)}" for column in shape.observed)
    wanted = f"""SELECT {names(keys)}, "_posted" AS {name(FROM)}, "_next_posted" AS {name(TO)}{values}
        FROM ({_runs(every, _stated(every))}) AS r
        WHERE "_is_row" AND ("_next_posted" IS NULL OR "_next_posted" > "_posted")"""
    yield temporary(MemberTables(table).wanted, wanted, f"Find what {shape.table} was from when to when")
    affected = name(MemberTables(shape.table).affected)
    old = f"SELECT t.* FROM {name(table)} AS t JOIN {affected} AS a ON {joined(keys, 't', 'a')}"
    for step in write_plan(table, [*keys, FROM], [*keys, FROM, TO, *shape.observed], old):
        yield msgspec.structs.replace(step, table="")


def no_runs(shape: FactShape) -> Iterator[Step]:
    """Yield the steps that say of a fact of which no row is touched that nothing changed of what it was."""
    if shape.observed is not None:
        table = runs_table(shape.table)
        for what in ("gone", "changed", "new"):
            query = f"SELECT {names(keys_of(shape))} FROM {name(table)} WHERE FALSE"
            yield temporary(f"_{what}_{table}", query, f"Leave what {shape.table} was")


def posting_plan(shape: FactShape) -> Iterator[Step]:
    """Yield the steps that make the postings of affected facts, in the place of their last states.

    Cost: sorts the messages of affected facts; times the source rows of a fact where there are several.
    """
    yield from moment_plan(shape)
    postings = _postings(shape, _runs(shape, _stated(shape)))
    yield temporary(f"_facts_{shape.table}", postings, f"Make the postings of {shape.table}")


def moment_plan(shape: FactShape) -> Iterator[Step]:
    """Yield the steps that find what affected facts were after each message of their source rows."""
    yield temporary(f"_events_{shape.table}", _events(shape), f"Put what happened to {shape.table} in order")
    keys, tables = keys_of(shape), MemberTables(shape.table)
    k, values = names(keys), "".join(f", o.{name(c)}" for c in shape.uses)
    in_shared = f"({names(keys, 'e')}) IN (SELECT {k} FROM {name(tables.shared)})"
    same = joined([*keys, *_MESSAGE], "e", "o")
    alone = f"""
        SELECT {names(keys, "e")}, NOT e."_ended" AS "_lives", e."_posted", e."_number", o."_committed", o."_began"
          {values}
        FROM {name(f"_events_{shape.table}")} AS e JOIN {name(tables.owned)} AS o ON {same}"""
    moments = f"""{alone} WHERE NOT {in_shared}
        UNION ALL
        {_shared_moments(shape, in_shared)}"""
    title = f"Find what {shape.table} was at each time"
    yield temporary(moments_table(shape.table), moments, title, needs=tables.shared, otherwise=alone)


def _events(shape: FactShape) -> str:
    """Return the query for what happened to facts: a state of a source row began, or ended without another.

    An event is known by the message that made the state; it lies where its own message does.
    """
    k, tables, logged = names(keys_of(shape)), MemberTables(shape.table), StateTables(shape.entity).logged
    after, own = (f'PARTITION BY {of} ORDER BY "_order", "_rank"' for of in (ROW, f"{k}, {ROW}"))
    followed = ", ".join(f"LEAD({name(c)}) OVER ({after}) AS {name(f'_f{c}')}" for c in ("_order", "_rank"))
    succeeded = ", ".join(f"LEAD({name(c)}) OVER ({own}) AS {name(f'_n{c}')}" for c in ("_order", "_rank"))
    message = names(_MESSAGE)
    differs = 'f."_f_order" IS DISTINCT FROM o."_n_order" OR f."_f_rank" IS DISTINCT FROM o."_n_rank"'
    return f"""
        WITH followed AS (
            SELECT {message}, {followed}, LEAD("_committed") OVER ({after}) AS "_f_committed" FROM {name(logged)}),
          own AS (SELECT {k}, {message}, "_committed", {succeeded} FROM {name(tables.owned)}),
          events AS (
            SELECT {k}, {message}, FALSE AS "_ended", "_committed" AS "_posted", "_order" AS "_at", "_rank" AS "_by"
            FROM own
            UNION ALL
            SELECT {names(keys_of(shape), "o")}, {names(_MESSAGE, "o")}, TRUE, f."_f_committed", f."_f_order",
              f."_f_rank"
            FROM own AS o JOIN followed AS f ON {joined(_MESSAGE, "o", "f")}
            WHERE f."_f_order" IS NOT NULL AND ({differs}))
        SELECT *, ROW_NUMBER() OVER (PARTITION BY {k} ORDER BY "_posted", "_at", "_by", {ROW}) AS "_number"
        FROM events"""


def _shared_moments(shape: FactShape, in_shared: str) -> str:
    """Return the query for facts of several source rows: each attribute has the value of the row that set it last.

    A state counts from its event until the next of its row; once it has ended it only counts where no row lives.
    """
    keys, tables, uses = keys_of(shape), MemberTables(shape.table), shape.uses
    k, events = names(keys), name(f"_events_{shape.table}")
    differs, since = changes(uses, f'PARTITION BY {k}, {ROW}, "_life" ORDER BY "_order", "_rank"', "_committed")
    values = "".join(resolved(shape, column, "s", "s") for column in uses)
    same = [joined([*keys, *_MESSAGE], one, "o") for one in ("b", "x")]
    by_row = f'PARTITION BY {names(keys, "o")}, o."_schema", o."_row" ORDER BY b."_number"'
    return f"""
        SELECT {names(keys, "s")}, BOOL_OR(s."_alive" AND {leads(shape, "s")}), s."_posted", s."_number",
          MAX(s."_committed"), MIN(s."_began"){values}
        FROM (
          SELECT c.*, e."_number", e."_posted", c."_ends" IS NULL OR e."_number" < c."_ends" AS "_alive",
            BOOL_OR(c."_ends" IS NULL OR e."_number" < c."_ends")
              OVER (PARTITION BY {names(keys, "e")}, e."_number") AS "_any"
          FROM {events} AS e
          JOIN (
            SELECT o.*, b."_number" AS "_begins", x."_number" AS "_ends", LEAD(b."_number") OVER ({by_row}) AS "_until"
            FROM (SELECT *{since} FROM (
                SELECT *{differs} FROM {name(tables.owned)}
                WHERE ({k}) IN (SELECT {k} FROM {name(tables.shared)})) AS d) AS o
            JOIN {events} AS b ON {same[0]} AND NOT b."_ended"
            LEFT JOIN {events} AS x ON {same[1]} AND x."_ended") AS c
          ON {joined(keys, "e", "c")} AND c."_begins" <= e."_number" AND e."_number" < COALESCE(c."_until", {_LAST})
          WHERE {in_shared}) AS s
        WHERE s."_alive" OR NOT s."_any"
        GROUP BY {names(keys, "s")}, s."_posted", s."_number\""""


_LAST = (1 << 63) - 1
"""What compares as the number of an event that there is none of."""


def _stated(shape: FactShape) -> str:
    """Return the query for the values of facts at each moment, and whether there is a row then."""
    listed = ", ".join(f"{sql} AS {name(column)}" for column, sql in valued(shape))
    conditions = [f"COALESCE({shape.where}, FALSE)"] if shape.where else []
    conditions += [] if shape.on_delete == "flag" else ['"_lives"']
    is_row = " AND ".join(conditions) or "TRUE"
    return f"""SELECT {names(keys_of(shape))}, "_lives", "_posted", "_number", {is_row} AS "_is_row", {listed}
        FROM {name(moments_table(shape.table))}"""


def _runs(shape: FactShape, stated: str) -> str:
    """Return the query for the moments at which a fact became another, those left out that its rules leave out."""
    k = names(keys_of(shape))
    by_time = f'PARTITION BY {k} ORDER BY "_number"'
    ended = f'MAX(CASE WHEN NOT "_lives" THEN "_number" END) OVER (PARTITION BY {k})'
    differs = " OR ".join(f"{name(c)} IS DISTINCT FROM LAG({name(c)}) OVER ({by_time})" for c, _ in valued(shape))
    is_new = " OR ".join(f"{name(c)} IS DISTINCT FROM LAG({name(c)}) OVER ({by_time})" for c in ("_lives", "_is_row"))
    stays = '"_number" > COALESCE("_last_end", 0)' if shape.on_delete == "remove" else "TRUE"
    counts = 'NOT "_lives" OR NOT "_goes_on"' if shape.on_correction == "overwrite" else "TRUE"
    return f"""
        WITH stated AS ({stated}),
          ended AS (SELECT *, {ended} AS "_last_end" FROM stated),
          marked AS (SELECT *, {is_new} OR ("_is_row" AND ({differs})) AS "_is_new" FROM ended WHERE {stays}),
          runs AS (SELECT *, COALESCE(LEAD("_lives") OVER ({by_time}), FALSE) AS "_goes_on" FROM marked
                     WHERE "_is_new"),
          counting AS (SELECT *, "_is_row" OR COALESCE(LAG("_is_row") OVER ({by_time}), FALSE) AS "_posts" FROM runs
                         WHERE {counts}),
          numbered AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY {k}, "_posted" ORDER BY "_number") AS "_posting"
                         FROM counting WHERE "_posts")
        SELECT *, LEAD("_posted") OVER ({by_time}) AS "_next_posted", LEAD("_posting") OVER ({by_time}) AS "_next"
        FROM numbered"""


def _postings(shape: FactShape, runs: str) -> str:
    """Return the query for postings: a row from each moment on, and its negative at the next."""
    columns = [column for column, _ in valued(shape)]
    new = _posting(shape, columns, '"_posted"', '"_posting"', "FALSE")
    negated = _posting(shape, [c for c in columns if c not in shape.negated], '"_next_posted"', '"_next"', "TRUE")
    negated += "".join(f", -{name(c)} AS {name(c)}" for c in shape.negated)
    order = names([*keys_of(shape), "_posted_at", "_posting", "_reversal", *columns])
    return f"""
        WITH r AS ({runs})
        SELECT {order} FROM (SELECT {new} FROM r WHERE "_is_row") AS n
        UNION ALL
        SELECT {order} FROM (SELECT {negated} FROM r WHERE "_is_row" AND "_next_posted" IS NOT NULL) AS o"""


def _posting(shape: FactShape, columns: Sequence[str], posted: str, number: str, is_reversal: str) -> str:
    return f"""{names(keys_of(shape))}, {posted} AS "_posted_at", CAST({number} AS INTEGER) AS "_posting",
        {is_reversal} AS "_reversal", {names(columns)}"""
