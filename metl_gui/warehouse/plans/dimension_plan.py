"""The rows of a dimension: versions with their keys, and what of the table differs from them.

Source: docs/reference/warehouse-model.md, "What stands in the target".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.warehouse.plans.member_plan import MemberTables, keys_of, latest_plan, segment_plan, shared_plan
from metl_gui.warehouse.plans.state_plan import FOREVER
from metl_gui.warehouse.plans.statements import SO_FAR, Step, differ, first_of, joined, name, names, temporary, text
from metl_gui.warehouse.plans.table_shapes import DimensionShape, ReferenceShape, Value

BEGINNING = "CAST('0001-01-01 00:00:00+00' AS TIMESTAMPTZ)"
"""Since when the first version of a member holds that covers the time before it."""

BEFORE = "before"
"""What opened the version of a member that covers the time before the first, where that does not."""

INFERRED = "inferred"
"""What opened the version of a member that no message has brought."""

FIXED = (
    *(("valid_from", "TIMESTAMPTZ"), ("valid_to", "TIMESTAMPTZ"), ("is_current", "BOOLEAN"), ("is_deleted", "BOOLEAN")),
    *(("is_inferred", "BOOLEAN"), ("version_number", "INTEGER"), ("first_known", "TIMESTAMPTZ")),
)
"""Columns at the end of every dimension."""


def members_table(table: str) -> str:
    """Return the name of the table of the keys of members, by business key."""
    return f"metl_members_{table}"


def versions_table(table: str) -> str:
    """Return the name of the table of the keys of versions, by member and what opened them."""
    return f"metl_versions_{table}"


def closed_table(table: str) -> str:
    """Return the name of the load's own table of versions that were open and have an end now."""
    return f"_closed_{table}"


def columns_of(shape: DimensionShape) -> list[tuple[str, str]]:
    """Return the columns of a dimension and their types."""
    keys = [(shape.version_key, "BIGINT"), (shape.durable_key, "BIGINT")]
    business = [(part.name, part.type) for part in shape.key]
    return [*keys, *business, *_declared(shape), *_reference_columns(shape), *FIXED]


def _declared(shape: DimensionShape) -> Iterator[tuple[str, str]]:
    for one in shape.columns:
        yield one.name, one.type
        if one.history == 3:
            yield f"{one.name}_previous", one.type
        if one.history == 6:
            yield f"{one.name}_current", one.type


def _reference_columns(shape: DimensionShape) -> Iterator[tuple[str, str]]:
    for one in shape.references:
        if one.has_key:
            yield one.key, "BIGINT"
        if one.has_durable:
            yield one.durable, "BIGINT"


def create_dimension(shape: DimensionShape) -> Iterator[Step]:
    """Yield the steps that make an empty dimension with its two rows for what is unknown and what does not apply."""
    table, keys = shape.table, keys_of(shape)
    listed = ", ".join(f"{name(column)} {type_}" for column, type_ in columns_of(shape))
    typed = ", ".join(f"{name(key)} {part.type}" for key, part in zip(keys, shape.key, strict=True))
    yield Step(f"Make {table}", f"CREATE TABLE {name(table)} ({listed})")
    yield Step(
        f"Make the keys of {table}",
        f"CREATE TABLE IF NOT EXISTS {name(members_table(table))} ({typed}, durable_key BIGINT)",
    )
    columns = "durable_key BIGINT, opened_by VARCHAR, version_key BIGINT"
    made = f"CREATE TABLE IF NOT EXISTS {name(versions_table(table))} ({columns})"
    yield Step(f"Make the keys of versions of {table}", made)
    owners = f'CREATE TABLE {name(MemberTables(table).owners)} ("_schema" VARCHAR, "_row" VARCHAR, {typed})'
    yield Step(f"Make the list of who owns {table}", owners)
    known = f"NOT EXISTS (SELECT 1 FROM metl_numbers WHERE dimension = {text(table)})"
    yield Step(f"Number the keys of {table}", f"INSERT INTO metl_numbers SELECT {text(table)}, 1, 1 WHERE {known}")
    for key, values in ((0, shape.unknown), (-1, shape.not_applicable)):
        yield _special(shape, key, dict(values))
    yield current_view(shape)
    yield now_view(shape)


def _special(shape: DimensionShape, key: int, values: dict[str, str]) -> Step:
    known = {shape.version_key: str(key), shape.durable_key: str(key), "valid_from": BEGINNING, "is_current": "TRUE"}
    known |= {"is_deleted": "FALSE", "is_inferred": "FALSE", "version_number": "1"}
    known |= {
        column: f"CAST({text(value)} AS {type_})"
        for column, type_ in columns_of(shape)
        if (value := values.get(column))
    }
    listed = ", ".join(known.values())
    return Step(
        "Add the row for what is unknown", f"INSERT INTO {name(shape.table)} ({names(known)}) VALUES ({listed})"
    )


def current_view(shape: DimensionShape) -> Step:
    """Return the step that makes the view of current versions."""
    view = (
        f"CREATE OR REPLACE VIEW {name(shape.table + '_current')} AS SELECT * FROM {name(shape.table)} WHERE is_current"
    )
    return Step(f"Show the current versions of {shape.table}", view)


def now_view(shape: DimensionShape) -> Step:
    """Return the step that makes the view of the versions that hold by the clock."""
    holds = "valid_from <= CURRENT_TIMESTAMP AND (valid_to IS NULL OR valid_to > CURRENT_TIMESTAMP)"
    view = f"CREATE OR REPLACE VIEW {name(shape.table + '_now')} AS SELECT * FROM {name(shape.table)} WHERE {holds}"
    return Step(f"Show the versions of {shape.table} that hold now", view)


def version_plan(shape: DimensionShape, dimensions: dict[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that make the wanted rows of affected members.

    Cost: sorts the states of affected members by key and time.
    """
    tables, keys, uses = MemberTables(shape.table), keys_of(shape), shape.uses
    yield from shared_plan(shape)
    yield from segment_plan(shape, uses)
    yield from latest_plan(shape, uses)
    yield temporary(f"_versions_{shape.table}", _versions(shape, keys), f"Find the versions of {shape.table}")
    yield from _new_keys(shape, keys)
    yield temporary(tables.wanted, _wanted(shape, keys, dimensions), f"Make the rows of {shape.table}")


def _by_version(shape: DimensionShape) -> list[Value]:
    return [one for one in shape.columns if one.history in (2, 6)]


def _references(shape: DimensionShape) -> list[tuple[ReferenceShape, list[tuple[str, str]]]]:
    """Return for each reference the columns of what is looked up, with their expressions."""
    return [(one, [(f"_r_{one.role}_{n}", v.sql) for n, v in enumerate(one.on)]) for one in shape.references]


def _versions(shape: DimensionShape, keys: Sequence[str]) -> str:
    """Return the query for versions: touching segments that are equal in columns of type 2 and references are one."""
    k, segments = names(keys), name(MemberTables(shape.table).segments)
    firsts = [one for one in shape.columns if one.history == 0]
    befores = [_Before(one) for one in shape.columns if one.history == 3]
    looked_up = [pair for _, pairs in _references(shape) for pair in pairs]
    compared = [*((one.name, one.sql) for one in _by_version(shape)), *looked_up]
    by_time = f'PARTITION BY {k} ORDER BY "_from"'
    valued = "".join(f", {sql} AS {name(column)}" for column, sql in compared)
    valued += "".join(f", FIRST_VALUE({one.sql}) OVER ({by_time}) AS {name(one.name)}" for one in firsts)
    valued += "".join(one.now(by_time) for one in befores)
    touches = f'LAG("_to") OVER ({by_time}) IS NOT DISTINCT FROM "_from"'
    equal = "".join(f" AND {name(c)} IS NOT DISTINCT FROM LAG({name(c)}) OVER ({by_time})" for c, _ in compared)
    declared = [*(c for c, _ in compared), *(one.name for one in firsts), *(one.column.name for one in befores)]
    kept = names([*keys, "_from", "_opened", *declared])
    newest = f'MAX(CASE WHEN "_number" = "_count" THEN "_until" END) OVER (PARTITION BY {k})'
    return f"""
        WITH valued AS (SELECT {k}, "_from", "_to", "_opened"{valued} FROM {segments}),
          marked AS (SELECT *, CASE WHEN {touches}{equal} THEN 0 ELSE 1 END AS "_new"
                       {"".join(one.differed(k) for one in befores)} FROM valued),
          numbered AS (SELECT *, SUM("_new") OVER ({by_time} {SO_FAR}) AS "_number"
                         {"".join(one.found(k) for one in befores)} FROM marked),
          closed AS (SELECT *, MAX(COALESCE("_to", {FOREVER})) OVER (PARTITION BY {k}, "_number") AS "_until",
                       MAX("_number") OVER (PARTITION BY {k}) AS "_count" FROM numbered)
        SELECT {kept}, "_number", "_number" = "_count" AS "_is_newest", NULLIF("_until", {FOREVER}) AS "_to",
          {newest} < {FOREVER} AS "_is_dead"{"".join(one.given() for one in befores)}
        FROM closed WHERE "_new" = 1"""


_WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


class _Before:
    """The columns in which the last value before the current one that differed from it is found, query by query."""

    def __init__(self, column: Value) -> None:
        self.column, self.name = column, name(column.name)
        self.value, self.at, self.before = (name(f"{prefix}{column.name}") for prefix in ("_v_", "_p_", "_q_"))

    def now(self, by_time: str) -> str:
        """Return the value of each segment, and the current one."""
        sql = self.column.sql
        return f", {sql} AS {self.value}, LAST_VALUE({sql}) OVER ({by_time} {_WHOLE}) AS {self.name}"

    def differed(self, keys: str) -> str:
        """Return since when the last segment holds that has another value."""
        is_other = f"{self.value} IS DISTINCT FROM {self.name}"
        return f', MAX(CASE WHEN {is_other} THEN "_from" END) OVER (PARTITION BY {keys}) AS {self.at}'

    def found(self, keys: str) -> str:
        """Return the value of that segment."""
        first = f'CASE WHEN "_from" = {self.at} THEN 0 ELSE 1 END'
        return f", FIRST_VALUE({self.value}) OVER (PARTITION BY {keys} ORDER BY {first}) AS {self.before}"

    def given(self) -> str:
        """Return it, or null where no segment has another value."""
        return f", CASE WHEN {self.at} IS NOT NULL THEN {self.before} END AS {name(self.column.name + '_previous')}"


def _new_keys(shape: DimensionShape, keys: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that give keys to members and versions that have none.

    The earliest version of a member that was inferred takes over the key that facts know.
    """
    table, k, versions = shape.table, names(keys), name(f"_versions_{shape.table}")
    yield from number_members(shape, f"SELECT DISTINCT {k} FROM {versions}", keys)
    known, taken = name(versions_table(table)), name(f"_taken_{table}")
    earliest = f"""
        SELECT m.durable_key, {first_of('v."_opened"', 'v."_from"')} AS opened_by FROM {versions} AS v
        JOIN {name(members_table(table))} AS m ON {joined(keys, "m", "v")}
        JOIN {known} AS i ON i.durable_key = m.durable_key AND i.opened_by = {text(INFERRED)}
        GROUP BY m.durable_key"""
    yield temporary(f"_taken_{table}", earliest, "Find members that were inferred")
    yield Step(
        "Leave versions that were known before",
        f"DELETE FROM {known} WHERE (durable_key, opened_by) IN (SELECT durable_key, opened_by FROM {taken})",
    )
    yield Step(
        "Give their keys to their first versions",
        f"""UPDATE {known} AS known SET opened_by = t.opened_by FROM {taken} AS t
        WHERE known.durable_key = t.durable_key AND known.opened_by = {text(INFERRED)}""",
    )
    missing = f"""
        SELECT m.durable_key, v."_opened" AS opened_by FROM {versions} AS v
        JOIN {name(members_table(table))} AS m ON {joined(keys, "m", "v")}
        WHERE NOT EXISTS (
          SELECT 1 FROM {known} AS x WHERE x.durable_key = m.durable_key AND x.opened_by = v."_opened")"""
    yield from number_versions(table, missing)


def number_members(shape: DimensionShape, query: str, keys: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that number the business keys of a query that have no number."""
    members, k, numbers = name(members_table(shape.table)), names(keys), text(shape.table)
    fresh = (
        f"SELECT * FROM ({query}) AS q WHERE NOT EXISTS (SELECT 1 FROM {members} AS x WHERE {joined(keys, 'x', 'q')})"
    )
    next_ = f"(SELECT next_durable FROM metl_numbers WHERE dimension = {numbers})"
    numbered = f"SELECT {k}, {next_} - 1 + ROW_NUMBER() OVER (ORDER BY {k}) FROM ({fresh}) AS f"
    yield Step(f"Number new members of {shape.table}", f"INSERT INTO {members} {numbered}")
    update = f"SELECT COALESCE(MAX(durable_key), 0) + 1 FROM {members}"
    yield Step("Keep the next number", _advance("next_durable", update, numbers))


def number_versions(table: str, query: str) -> Iterator[Step]:
    """Yield the steps that number the versions of a query, each by the key of its member and what opened it."""
    versions, numbers = name(versions_table(table)), text(table)
    next_ = f"(SELECT next_version FROM metl_numbers WHERE dimension = {numbers})"
    numbered = f"""SELECT durable_key, opened_by, {next_} - 1 + ROW_NUMBER() OVER (ORDER BY durable_key, opened_by)
        FROM ({query}) AS q"""
    yield Step(f"Number new versions of {table}", f"INSERT INTO {versions} {numbered}")
    update = f"SELECT COALESCE(MAX(version_key), 0) + 1 FROM {versions}"
    yield Step("Keep the next number", _advance("next_version", update, numbers))


def _advance(column: str, query: str, numbers: str) -> str:
    return f"UPDATE metl_numbers SET {column} = GREATEST({column}, ({query})) WHERE dimension = {numbers}"


def version_join(reference: ReferenceShape, target: DimensionShape, durable: str, time: str, among: str = "") -> str:
    """Return the join to the version of a member that holds at a time, in a gap the last before, or to the newest.

    Its columns are ``version_key`` and ``is_inferred``, behind the alias ``p_ROLE``.

    Args:
        reference: to the dimension.
        target: the dimension.
        durable: expression for the key of the member.
        time: expression for the time.
        among: query for the keys of members that are looked up, so that no other version is read; empty for all.
    """
    alias, key, member = name(f"p_{reference.role}"), name(target.version_key), name(target.durable_key)
    newest = f"PARTITION BY {member} ORDER BY valid_from"
    few = f" AND {member} IN ({among})" if among else ""
    ranges = f"""SELECT {member} AS durable_key, {key} AS version_key,
        is_inferred AND version_number > 0 AS is_inferred, valid_from AS "_since",
        LEAD(valid_from) OVER ({newest}) AS "_next" FROM {name(target.table)} WHERE {key} > 0{few}"""
    holds = f'{time} >= {alias}."_since" AND {time} < COALESCE({alias}."_next", {FOREVER})'
    if reference.as_of == "current":
        holds = f'{alias}."_next" IS NULL'
    return f" LEFT JOIN ({ranges}) AS {alias} ON {alias}.durable_key = {durable} AND {holds}"


def _wanted(shape: DimensionShape, keys: Sequence[str], dimensions: dict[str, DimensionShape]) -> str:
    """Return the query for rows as they are to be."""
    table = shape.table
    columns: list[tuple[str, str]] = [(shape.version_key, "n.version_key"), (shape.durable_key, "m.durable_key")]
    columns += [(part.name, f"v.{name(key)}") for part, key in zip(shape.key, keys, strict=True)]
    for one in shape.columns:
        columns.append((one.name, f"l.{name(one.name)}" if one.history == 1 else f"v.{name(one.name)}"))
        if one.history == 3:
            columns.append((f"{one.name}_previous", f"v.{name(one.name + '_previous')}"))
        if one.history == 6:
            columns.append((f"{one.name}_current", f"l.{name(one.name)}"))
    for reference, looked_up in _references(shape):
        whole = " AND ".join(f"v.{name(column)} IS NOT NULL" for column, _ in looked_up)
        if reference.has_key:
            key = name(f"p_{reference.role}", "version_key")
            columns.append((reference.key, f"CASE WHEN {whole} THEN COALESCE({key}, 0) ELSE -1 END"))
        columns.append(
            (reference.durable, f"CASE WHEN {whole} THEN COALESCE(r_{reference.role}.durable_key, 0) ELSE -1 END")
        )
    first = f'v."_number" = 1 AND {str(shape.covers_past).upper()}'
    is_open = f'v."_is_newest" AND {str(shape.on_delete == "flag").upper()}'
    fixed = (
        f'CASE WHEN {first} THEN {BEGINNING} ELSE v."_from" END',
        f'CASE WHEN {is_open} THEN NULL ELSE v."_to" END',
        'v."_is_newest" AND NOT v."_is_dead"',
        'v."_is_newest" AND v."_is_dead"',
        "FALSE",
        'CAST(v."_number" AS INTEGER)',
        'v."_from"',
    )
    columns += [(column, sql) for (column, _), sql in zip(FIXED, fixed, strict=True)]
    latest = "".join(f", {one.sql} AS {name(one.name)}" for one in shape.columns if one.history in (1, 6))
    joins = "".join(
        f" LEFT JOIN {name(members_table(reference.dimension))} AS {name('r_' + reference.role)} ON "
        + " AND ".join(f"{name('r_' + reference.role, f'_k{n}')} = v.{name(c)}" for n, (c, _) in enumerate(looked_up))
        for reference, looked_up in _references(shape)
    )
    joins += "".join(
        version_join(
            reference, dimensions[reference.dimension], f"{name('r_' + reference.role)}.durable_key", 'v."_from"'
        )
        for reference, _ in _references(shape)
        if reference.has_key and reference.date is None
    )
    listed = ", ".join(f"{sql} AS {name(column)}" for column, sql in columns)
    alive = ' WHERE NOT v."_is_dead"' if shape.on_delete == "remove" else ""
    return f"""
        SELECT {listed} FROM {name(f"_versions_{table}")} AS v
        JOIN {name(members_table(table))} AS m ON {joined(keys, "m", "v")}
        JOIN {name(versions_table(table))} AS n ON n.durable_key = m.durable_key AND n.opened_by = v."_opened"
        JOIN (SELECT {names(keys)}{latest} FROM {name(MemberTables(table).latest)}) AS l
          ON {joined(keys, "l", "v")}{joins}{alive}"""


def reference_keys(shape: DimensionShape, dimensions: dict[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that number the members that a dimension refers to, before its rows are made."""
    for reference, looked_up in _references(shape):
        if reference.date is None:
            keys = keys_of(target := dimensions[reference.dimension])
            whole = " AND ".join(f"{name(column)} IS NOT NULL" for column, _ in looked_up)
            listed = ", ".join(
                f"{name(column)} AS {name(key)}" for key, (column, _) in zip(keys, looked_up, strict=True)
            )
            query = f"SELECT DISTINCT {listed} FROM {name(f'_versions_{shape.table}')} WHERE {whole}"
            yield from number_members(target, query, keys)


def write_plan(table: str, key: Sequence[str], columns: Sequence[str], old: str) -> Iterator[Step]:
    """Yield the steps that make the rows of a table those that are wanted, and write only what differs.

    Args:
        table: to write.
        key: columns by which rows are known.
        columns: of the table.
        old: query for the rows that stand there and are to be replaced by the wanted ones.
    """
    wanted, gone, changed = name(MemberTables(table).wanted), name(f"_gone_{table}"), name(f"_changed_{table}")
    target, k = name(table), names(key)
    values = [column for column in columns if column not in key]
    match = " AND ".join(f"{name('w', c)} = {name('t', c)}" for c in key)
    yield temporary(
        f"_gone_{table}",
        f"SELECT {names(key, 't')} FROM ({old}) AS t WHERE NOT EXISTS (SELECT 1 FROM {wanted} AS w WHERE {match})",
        f"Find rows of {table} that are no longer",
    )
    yield temporary(
        f"_changed_{table}",
        f"SELECT w.* FROM {wanted} AS w JOIN {target} AS t ON {match} WHERE {differ(values, 'w', 't')}",
        f"Find rows of {table} that differ",
    )
    yield temporary(
        f"_new_{table}",
        f"SELECT w.* FROM {wanted} AS w WHERE NOT EXISTS (SELECT 1 FROM {target} AS t WHERE {match})",
        f"Find rows of {table} that are new",
    )
    yield Step(
        f"Remove rows of {table}", f"DELETE FROM {target} WHERE ({k}) IN (SELECT {k} FROM {gone})", table, "remove"
    )
    yield Step(f"Take out what differs in {table}", f"DELETE FROM {target} WHERE ({k}) IN (SELECT {k} FROM {changed})")
    c = names(columns)
    yield Step(f"Update rows of {table}", f"INSERT INTO {target} ({c}) SELECT {c} FROM {changed}", table, "update")
    yield Step(
        f"Insert rows of {table}",
        f"INSERT INTO {target} ({c}) SELECT {c} FROM {name(f'_new_{table}')}",
        table,
        "insert",
    )


def dimension_plan(
    shape: DimensionShape, dimensions: dict[str, DimensionShape], facts: Sequence[tuple[str, str, str]] = ()
) -> Iterator[Step]:
    """Yield the steps that bring the affected members of a dimension up to date.

    Args:
        shape: of the dimension.
        dimensions: all, by name.
        facts: see ``needed_before``.
    """
    tables, keys, table = MemberTables(shape.table), keys_of(shape), name(shape.table)
    steps = list(version_plan(shape, dimensions))
    yield from steps[:-1]
    yield from reference_keys(shape, dimensions)
    yield steps[-1]
    if facts and not shape.covers_past:
        yield from needed_before(shape, facts)
    member = " AND ".join(
        f"{name('t', part.name)} = {name('a', key)}" for part, key in zip(shape.key, keys, strict=True)
    )
    affected = f"""SELECT t.* FROM {table} AS t JOIN {name(tables.affected)} AS a ON {member}
        WHERE t.{name(shape.version_key)} > 0"""
    key, wanted = name(shape.version_key), name(tables.wanted)
    yield temporary(
        closed_table(shape.table),
        f"""SELECT w.{key} FROM {wanted} AS w JOIN {table} AS t ON t.{key} = w.{key}
        WHERE t.valid_to IS NULL AND w.valid_to IS NOT NULL""",
        f"Find versions of {shape.table} that end",
    )
    columns = [column for column, _ in columns_of(shape)]
    yield from write_plan(shape.table, [shape.version_key], columns, affected)
    yield from infer_for_versions(shape, dimensions)


def needed_before(shape: DimensionShape, facts: Sequence[tuple[str, str, str]]) -> Iterator[Step]:
    """Yield the steps that keep, among the wanted rows of members, the version before the first where facts need it.

    Args:
        shape: of a dimension whose first versions do not cover the past.
        facts: tables that refer to it as of a time, with their columns for the member and the time.
    """
    firsts = name(f"_firsts_{shape.table}")
    query = f"""SELECT {name(shape.durable_key)} AS durable_key, MIN(valid_from) AS first_time
        FROM {name(MemberTables(shape.table).wanted)} GROUP BY {name(shape.durable_key)}"""
    yield temporary(f"_firsts_{shape.table}", query, f"Find the first versions of {shape.table}")
    needed = " UNION ".join(
        f"""SELECT w.durable_key, w.first_time FROM {firsts} AS w JOIN {name(table)} AS f
            ON f.{name(durable)} = w.durable_key AND f.{name(time)} < w.first_time"""
        for table, durable, time in facts
    )
    yield from add_before(shape, needed, MemberTables(shape.table).wanted)


def add_before(shape: DimensionShape, needed: str, into: str) -> Iterator[Step]:
    """Yield the steps that add the version before the first to a table.

    Args:
        shape: of the dimension.
        needed: query for members, ``durable_key``, and the starts of their first versions, ``first_time``.
        into: the table.
    """
    table = shape.table
    yield temporary(f"_early_{table}", needed, f"Find members of {table} that are needed before their first versions")
    found, given = name(f"_early_{table}"), name(versions_table(table))
    missing = f"""SELECT durable_key, {text(BEFORE)} AS opened_by FROM {found} AS n WHERE NOT EXISTS (
        SELECT 1 FROM {given} AS x WHERE x.durable_key = n.durable_key AND x.opened_by = {text(BEFORE)})"""
    yield from number_versions(table, missing)
    columns = [shape.version_key, shape.durable_key, *(part.name for part in shape.key)]
    fixed = {"valid_from": BEGINNING, "valid_to": "n.first_time", "is_current": "FALSE", "is_deleted": "FALSE"}
    fixed |= {"is_inferred": "TRUE", "version_number": "0"}
    yield Step(
        f"Cover the time before the first versions of {table}",
        f"""INSERT INTO {name(into)} ({names([*columns, *fixed])})
        SELECT v.version_key, n.durable_key, {names(keys_of(shape), "m")}, {", ".join(fixed.values())} FROM {found} AS n
        JOIN {name(members_table(table))} AS m ON m.durable_key = n.durable_key
        JOIN {given} AS v ON v.durable_key = n.durable_key AND v.opened_by = {text(BEFORE)}""",
        table if into == table else "",
        "insert",
    )


def infer_for_versions(shape: DimensionShape, dimensions: dict[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that infer the members that new versions refer to and that no message has brought."""
    for reference in shape.references:
        if reference.date is None:
            wanted = name(MemberTables(shape.table).wanted)
            needed = f"SELECT DISTINCT {name(reference.durable)} AS durable_key FROM {wanted}"
            yield from infer(dimensions[reference.dimension], needed)


def infer(shape: DimensionShape, needed: str) -> Iterator[Step]:
    """Yield the steps that add a row for each member of a query that has none.

    Args:
        shape: of the dimension.
        needed: query for the keys of members, in the column ``durable_key``.
    """
    table, keys = shape.table, keys_of(shape)
    missing = f"""
        SELECT n.durable_key, {text(INFERRED)} AS opened_by FROM ({needed}) AS n WHERE n.durable_key > 0
        AND NOT EXISTS (SELECT 1 FROM {name(table)} AS t WHERE t.{name(shape.durable_key)} = n.durable_key)"""
    yield temporary(f"_missing_{table}", missing, f"Find members of {table} that no message has brought")
    known = name(versions_table(table))
    unnumbered = f"""SELECT durable_key, opened_by FROM {name(f"_missing_{table}")} AS n WHERE NOT EXISTS (
        SELECT 1 FROM {known} AS x WHERE x.durable_key = n.durable_key AND x.opened_by = n.opened_by)"""
    yield from number_versions(table, unnumbered)
    columns = [shape.version_key, shape.durable_key, *(part.name for part in shape.key)]
    fixed = {
        "valid_from": BEGINNING,
        "is_current": "TRUE",
        "is_deleted": "FALSE",
        "is_inferred": "TRUE",
        "version_number": "1",
    }
    key = names(keys, "m")
    yield Step(
        f"Infer members of {table}",
        f"""INSERT INTO {name(table)} ({names([*columns, *fixed])})
        SELECT v.version_key, n.durable_key, {key}, {", ".join(fixed.values())} FROM {name(f"_missing_{table}")} AS n
        JOIN {name(members_table(table))} AS m ON m.durable_key = n.durable_key
        JOIN {name(versions_table(table))} AS v ON v.durable_key = n.durable_key AND v.opened_by = n.opened_by""",
        table,
        "insert",
    )
