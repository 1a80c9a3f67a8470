"""From the states of source rows to what business keys were over time, for the keys that a load affects.

The same function as ``core.dimensional.rows.members``, as statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from metl_gui.warehouse.plans.histories.state_plan import FOREVER, ROW, StateTables, carried
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, MemberShape
from metl_gui.warehouse.plans.statements import Step, first_of, joined, name, names, temporary, text, viewed

OPENED_BY = """"_schema" || CHR(31) || "_row" || CHR(31) || "_order" || CHR(31) || "_op\""""
"""What a version is known by, as text: the message that opened it."""


class MemberTables(msgspec.Struct, frozen=True):
    """The names of a load's own tables for one table of the model.

    Args:
        table: its name.
    """

    table: str

    @property
    def owners(self) -> str:
        """Return that, kept in the target, of the keys that each source row ever had."""
        return f"metl_owners_{self.table}"

    @property
    def known(self) -> str:
        """Return that of the keys that touched rows had before."""
        return f"_known_{self.table}"

    @property
    def affected(self) -> str:
        """Return that of the keys whose rows are made anew."""
        return f"_affected_{self.table}"

    @property
    def owned(self) -> str:
        """Return that of the states with their keys."""
        return f"_owned_{self.table}"

    @property
    def shared(self) -> str:
        """Return that of the keys that several source rows have."""
        return f"_shared_{self.table}"

    @property
    def uncut(self) -> str:
        """Return that of the times in which nothing about a key itself changed."""
        return f"_uncut_{self.table}"

    @property
    def segments(self) -> str:
        """Return that of the times in which nothing changed, where those of parents cut them."""
        return f"_segments_{self.table}"

    @property
    def latest(self) -> str:
        """Return that of the last values in log order."""
        return f"_latest_{self.table}"

    @property
    def before(self) -> str:
        """Return that of the rows that stood there under these keys."""
        return f"_before_{self.table}"

    @property
    def wanted(self) -> str:
        """Return that of the rows as they are to be."""
        return f"_wanted_{self.table}"


def keys_of(shape: MemberShape) -> list[str]:
    """Return the names of the columns of a business key in the load's own tables."""
    return [f"_k{number}" for number in range(len(shape.key))]


def owner_plan(shape: MemberShape, *, again: str = "", are_new: bool = False) -> Iterator[Step]:
    """Yield the steps that find the keys of touched rows, and which keys they affect.

    The keys that a row had before are affected too: a state that came late may have moved it.

    Args:
        shape: the table.
        again: table of keys that are affected for another reason.
        are_new: no touched row was taken in for the sake of another.
    """
    tables, states = MemberTables(shape.table), StateTables(shape.entity)
    keys = keys_of(shape)
    yield viewed(tables.owned, _owned(shape), f"Find the keys of {shape.table} that states carry")
    touched = name(states.touched)
    yield temporary(
        tables.known,
        f"SELECT * FROM {name(tables.owners)} WHERE ({ROW}) IN (SELECT schema, row_key FROM {touched})",
        f"Find the keys of {shape.table} that rows had",
    )
    more = f" UNION SELECT {names(keys)} FROM {name(again)}" if again else ""
    is_new = "" if are_new else f" WHERE ({ROW}) IN (SELECT schema, row_key FROM {touched} WHERE is_new)"
    yield temporary(
        tables.affected,
        f"""
        SELECT {names(keys)} FROM {name(tables.owned)}{is_new}
        UNION
        SELECT {names(keys)} FROM {name(tables.known)}{is_new}{more}""",
        f"Find the keys of {shape.table} that change",
    )


def _owned(shape: MemberShape) -> str:
    """Return the query for states with their keys; of dimensions, those that ever held."""
    pairs = list(zip((name(part.source) for part in shape.key), map(name, keys_of(shape)), strict=True))
    own = ", ".join(f"{source} AS {key}" for source, key in pairs)
    whole = " AND ".join(f"{source} IS NOT NULL" for source, _ in pairs)
    held = ' AND "_held"' if isinstance(shape, DimensionShape) else ""
    return f"SELECT {own}, * FROM {name(StateTables(shape.entity).states)} WHERE {whole}{held}"


def widen_plan(shapes: Sequence[MemberShape], entity: str) -> Iterator[Step]:
    """Yield the steps that take in the rows which share a key with touched rows."""
    touched = name(StateTables(entity).touched)
    for shape in shapes:
        tables = MemberTables(shape.table)
        yield Step(
            f"Take in rows that share keys of {shape.table}",
            f"""INSERT INTO {touched}
            SELECT DISTINCT {names(["_schema", "_row"], "o")}, FALSE FROM {name(tables.owners)} AS o
            JOIN {name(tables.affected)} AS a ON {joined(keys_of(shape), "o", "a")}
            WHERE (o."_schema", o."_row") NOT IN (SELECT schema, row_key FROM {touched})""",
        )


def keep_owners(shape: MemberShape, *, are_new: bool) -> Iterator[Step]:
    """Yield the steps that keep for later loads which keys touched rows had, and leave the states of affected keys.

    Args:
        shape: the table.
        are_new: as of ``owner_plan``: all keys that states carry are affected.
    """
    tables, keys = MemberTables(shape.table), names(keys_of(shape))
    owners, known, now, lost = name(tables.owners), name(tables.known), f"_now_{shape.table}", f"_lost_{shape.table}"
    columns = f"{ROW}, {keys}"
    yield temporary(now, f"SELECT DISTINCT {columns} FROM {name(tables.owned)}", "Find the keys that rows have")
    query = f"SELECT {columns} FROM {known} EXCEPT SELECT {columns} FROM {name(now)}"
    yield temporary(lost, query, "Find the keys that rows have no longer")
    yield Step(
        "Forget the keys that rows had",
        f"DELETE FROM {owners} WHERE ({columns}) IN (SELECT {columns} FROM {name(lost)})",
        needs=lost,
    )
    yield Step(
        "Keep the keys that rows have",
        f"""INSERT INTO {owners} SELECT {columns} FROM (
          SELECT {columns} FROM {name(now)} EXCEPT SELECT {columns} FROM {known}) AS found""",
        near=("_row",),
    )
    if not are_new:
        affected = (
            f"SELECT * FROM ({_owned(shape)}) AS o WHERE ({keys}) IN (SELECT {keys} FROM {name(tables.affected)})"
        )
        yield viewed(tables.owned, affected, "Leave what does not change")


def _precedence(shape: MemberShape, of: str) -> list[str]:
    """Return the order of rows of which that with least wins."""
    places = "".join(f" WHEN {text(schema)} THEN {place}" for place, schema in enumerate(shape.prefer))
    schema, row = name(of, "_schema"), name(of, "_row")
    preferred = [f"CASE {schema}{places} ELSE {len(shape.prefer)} END"] if places else []
    return [*preferred, schema, row]


def leads(shape: MemberShape, of: str) -> str:
    """Return the condition that a member lives while a row does."""
    return f"{name(of, '_schema')} = {text(shape.leading)}" if shape.leading else "TRUE"


def shared_plan(shape: MemberShape) -> Iterator[Step]:
    """Yield the step that finds the keys for which more than one row must be looked at."""
    tables, keys = MemberTables(shape.table), keys_of(shape)
    k, owned = names(keys), name(tables.owned)
    not_leading = f' OR MIN("_schema") <> {text(shape.leading)}' if shape.leading else ""
    yield temporary(
        tables.shared,
        f"""SELECT {k} FROM {owned} GROUP BY {k}
        HAVING MIN("_n") <> MAX("_n"){not_leading}""",
        f"Find keys of {shape.table} that several rows have",
    )


def segment_plan(shape: MemberShape, uses: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that make the times in which nothing about a key changed.

    A key that one source row has, has its states; where there are several, each attribute has the value of the row in
    which it changed last.
    """
    tables, keys = MemberTables(shape.table), keys_of(shape)
    k, owned = names(keys), name(tables.owned)
    values = "".join(f", {name(c)}" for c in uses)
    in_shared = f"({k}) IN (SELECT {k} FROM {name(tables.shared)})"
    alone = f'SELECT {k}, "_from", "_to", {OPENED_BY} AS "_opened"{values} FROM {owned}'
    yield viewed(
        tables.uncut,
        f"""
        {alone} WHERE NOT {in_shared}
        UNION ALL
        {_shared_segments(shape, uses, in_shared)}""",
        f"Lay out the times of {shape.table}",
        needs=tables.shared,
        otherwise=alone,
    )


def changes(uses: Sequence[str], life: str, time: str) -> tuple[str, str]:
    """Return the columns for the times at which attributes differ from before, and for the last of these so far."""
    differs = since = ""
    for column in uses:
        value, differed = name(column), name(f"_d_{column}")
        differs += (
            f", CASE WHEN {value} IS DISTINCT FROM LAG({value}) OVER ({life}) THEN {name(time)} END AS {differed}"
        )
        since += f", MAX({differed}) OVER ({life}) AS {name(_since(column))}"
    return differs, since


def _since(column: str) -> str:
    return f"_t_{column}"


def resolved(shape: MemberShape, column: str, states: str, times: str) -> str:
    """Return the column for the value of the row in which an attribute changed last."""
    order = [f"{name(times, _since(column))} DESC", *_precedence(shape, states)]
    return f", {first_of(name(states, column), order, name(states, carried(column)))} AS {name(column)}"


def _shared_segments(shape: MemberShape, uses: Sequence[str], in_shared: str) -> str:
    tables, keys = MemberTables(shape.table), keys_of(shape)
    k, owned, states = names(keys), name(tables.owned), name(StateTables(shape.entity).states)
    life = f'PARTITION BY {ROW}, "_life" ORDER BY "_from", "_order", "_rank"'
    differs, since = changes(uses, life, "_from")
    values_of = "".join(resolved(shape, column, "o", "t") for column in uses)
    order = ('o."_order" DESC', 'o."_rank" DESC', 'o."_schema" DESC', 'o."_row" DESC')
    opened = OPENED_BY.replace('"_', 'o."_')
    until = f'COALESCE(o."_to", {FOREVER})'
    same = 't."_schema" = o."_schema" AND t."_row" = o."_row" AND t."_order" = o."_order" AND t."_rank" = o."_rank"'
    values = "".join(f", {name('c', column)}" for column in uses)
    began = 'o."_from" = b."_at"'
    message = f"CASE WHEN {began} THEN {opened} ELSE {opened} || CHR(31) || 'end' END"
    last = first_of(message, (f"CASE WHEN {began} THEN 0 ELSE 1 END", *order))
    return f"""
        SELECT {names(keys, "c")}, c."_at", NULLIF(c."_until", {FOREVER}), e."_opened"{values}
        FROM (
          SELECT {names(keys, "b")}, b."_at", b."_until"{values_of}
          FROM (
            SELECT {k}, "_at", LEAD("_at") OVER (PARTITION BY {k} ORDER BY "_at") AS "_until"
            FROM (SELECT {k}, "_from" AS "_at" FROM {owned} WHERE {in_shared}
                  UNION SELECT {k}, COALESCE("_to", {FOREVER}) FROM {owned} WHERE {in_shared}) AS u) AS b
          JOIN {owned} AS o ON {joined(keys, "o", "b")} AND o."_from" <= b."_at" AND {until} > b."_at"
          JOIN (SELECT "_schema", "_row", "_order", "_rank"{since}
                FROM (SELECT *{differs} FROM {states}
                      WHERE "_held" AND ({ROW}) IN (SELECT {ROW} FROM {owned} WHERE {in_shared})) AS d) AS t
            ON {same}
          WHERE b."_until" IS NOT NULL
          GROUP BY {names(keys, "b")}, b."_at", b."_until"
          HAVING BOOL_OR({leads(shape, "o")})) AS c
        JOIN (
          SELECT {names(keys, "b")}, b."_at", {last} AS "_opened"
          FROM (SELECT {k}, "_from" AS "_at" FROM {owned} WHERE {in_shared}
                UNION SELECT {k}, COALESCE("_to", {FOREVER}) FROM {owned} WHERE {in_shared}) AS b
          JOIN {owned} AS o ON {joined(keys, "o", "b")} AND (o."_from" = b."_at" OR {until} = b."_at")
          GROUP BY {names(keys, "b")}, b."_at") AS e ON {joined(keys, "c", "e")} AND c."_at" = e."_at\""""


def latest_plan(shape: MemberShape, uses: Sequence[str]) -> Iterator[Step]:
    """Yield the step that finds the last values of each key in log order, of the rows that live or else of all.

    Of a fact it also finds whether a row lives, and the commits of the last message and of the first of its life.
    Where one row alone has a key, its last state has the last values if it carries the key, as most do; the states of
    keys that rows lost, or that ended, are put in order.
    """
    tables, keys = MemberTables(shape.table), keys_of(shape)
    k, owned = names(keys), name(tables.owned)
    in_shared = f"({k}) IN (SELECT {k} FROM {name(tables.shared)})"
    life = f'PARTITION BY {k}, {ROW}, "_life" ORDER BY "_order", "_rank"'
    differs, since = changes(uses, life, "_committed")
    values_of = "".join(resolved(shape, column, "s", "s") for column in uses)
    yield temporary(
        tables.latest,
        f"""
        {_latest_alone(shape, uses, f" AND NOT {in_shared}")}
        UNION ALL
        SELECT {k}, BOOL_OR(s."_is_last" AND {leads(shape, "s")}), MAX(s."_committed"), MIN(s."_began"){values_of}
        FROM (SELECT *, BOOL_OR("_is_last") OVER (PARTITION BY {k}) AS "_any"
              FROM (SELECT *{since},
                      ROW_NUMBER() OVER (PARTITION BY {k}, {ROW} ORDER BY "_order" DESC, "_rank" DESC) AS "_place"
                    FROM (SELECT *{differs} FROM {owned} WHERE {in_shared}) AS d) AS p
              WHERE "_place" = 1) AS s
        WHERE s."_is_last" OR NOT s."_any"
        GROUP BY {k}""",
        f"Find the last values of {shape.table}",
        needs=tables.shared,
        otherwise=_latest_alone(shape, uses),
    )


def _latest_alone(shape: MemberShape, uses: Sequence[str], among: str = "") -> str:
    """Return the query for the last values of keys that one row alone has; ``among`` leaves out the others."""
    k, owned = names(keys_of(shape)), name(MemberTables(shape.table).owned)
    values = "".join(f", {name(c)}" for c in uses)
    return f"""
        SELECT {k}, TRUE AS "_lives", "_committed", "_began"{values} FROM {owned} WHERE "_is_last"{among}
        UNION ALL
        SELECT {k}, FALSE, "_committed", "_began"{values}
        FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {k} ORDER BY "_order" DESC, "_rank" DESC) AS "_place"
              FROM {owned} WHERE ({k}) NOT IN (SELECT {k} FROM {owned} WHERE "_is_last"){among}) AS o
        WHERE "_place" = 1"""
