"""Take the messages of a key out of a target, with the numbers that it had, and leave out those that come again.

Keys are values of statements, never part of their text, so that no log of a server has them.

The same rule as ``core.dimensional.rows.forgotten``, as statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.core.dimensional.rows.epochs import HEAD
from metl_gui.warehouse.plans.dimensions.dimension_tables import members_table, versions_table
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.histories.arrivals import set_aside_table, staged_table
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.histories.state_plan import COMMIT, StateTables
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape
from metl_gui.warehouse.plans.statements import Step, joined, name, names, temporary, text

FORGOTTEN = "metl_forgotten"
"""By entity and schema, the marks of forgotten keys, their last order keys and commits, and since when they are."""

FORGOTTEN_AT = "forgotten_at"
"""When a key was forgotten; targets of before get the column with the next key."""

CREATE_FORGOTTEN = f"""CREATE TABLE {FORGOTTEN} (
    entity VARCHAR, schema VARCHAR, mark VARCHAR, last_order VARCHAR, last_commit TIMESTAMPTZ,
    {FORGOTTEN_AT} TIMESTAMPTZ)"""


def gone_table(entity: str) -> str:
    """Return the name of the table of messages that are taken out."""
    return f"_gone_{entity}"


def stubs_table(entity: str) -> str:
    """Return the name of the table of the forgotten keys that a batch has in it."""
    return f"_stubs_{entity}"


def create_gone(entity: str) -> Step:
    """Return the step that makes the table of messages that are taken out."""
    columns = "schema, row_key, op, order_key"
    query = f"SELECT {columns} FROM {name(history_table(entity))} WHERE FALSE"
    return temporary(gone_table(entity), query, f"Take messages of {entity} out")


def gone_statement(entity: str) -> str:
    """Return the statement that lists the messages of a key, which is its value, and those that had it before."""
    columns = "schema, row_key, op, order_key"
    return f"""INSERT INTO {name(gone_table(entity))}
        SELECT {columns} FROM {name(history_table(entity))} WHERE row_key = ? OR old_key = ?"""


def last_query(entity: str) -> str:
    """Return the query for the last order key and commit of a key in each schema; the key is its value, four times."""
    stored = " UNION ALL ".join(
        f"SELECT h.schema, h.order_key, {COMMIT} AS commit FROM {name(table)} AS h WHERE h.row_key = ? OR h.old_key = ?"
        for table in _kept(entity)
    )
    return f"SELECT schema, MAX(order_key), MAX(commit) FROM ({stored}) AS k GROUP BY schema ORDER BY schema"


def linked_query(entity: str) -> str:
    """Return the query for the other keys of rows that had a key, its value."""
    return f"SELECT DISTINCT row_key FROM {name(StateTables(entity).touched)} WHERE row_key <> ? ORDER BY 1"


def purge_statements(entity: str) -> tuple[str, ...]:
    """Return the statements that take the messages of a key, their value, out of all that is kept of an entity."""
    return tuple(f"DELETE FROM {name(table)} WHERE row_key = ?" for table in _kept(entity))


def unlink_statements(entity: str) -> tuple[str, ...]:
    """Return the statements after which no message says that its row had a key before, their value."""
    return tuple(f"UPDATE {name(table)} SET old_key = NULL WHERE old_key = ?" for table in _kept(entity))


def set_aside_keys_query(shape: DimensionShape) -> str:
    """Return the query for the business keys of a dimension that messages carry which are set aside.

    It is asked for a key of source rows, its value.
    """
    own = {"_schema": "schema", "_row": "row_key"}
    carried = names(own.get(part.source, part.source) for part in shape.key)
    return f"SELECT DISTINCT {carried} FROM {name(set_aside_table(shape.entity))} WHERE row_key = ?"


def no_affected(shape: DimensionShape) -> Step:
    """Return the step that says of a dimension of which no row is touched that no key of it is affected."""
    query = f"SELECT {names(keys_of(shape))} FROM {name(members_table(shape.table))} WHERE FALSE"
    return temporary(MemberTables(shape.table).affected, query, f"Leave the keys of {shape.table}")


def purge_numbers(shape: DimensionShape, missed: Sequence[tuple[str, str]]) -> Iterator[Step]:
    """Yield the steps that take out the numbers of affected versions and members that are no longer there.

    Args:
        shape: of the dimension.
        missed: tables of what facts miss, each with the role of a reference: a member that they wait for keeps its
            number, by which they know it when it comes.
    """
    members, versions = name(members_table(shape.table)), name(versions_table(shape.table))
    affected, keys = name(MemberTables(shape.table).affected), keys_of(shape)
    of_affected = f"EXISTS (SELECT 1 FROM {affected} AS a WHERE {joined(keys, 'a', 'm')})"
    looked_at = f"SELECT m.durable_key FROM {members} AS m WHERE {of_affected}"
    there, member = name(shape.table), name(shape.durable_key)
    waited_for = "".join(
        f""" AND NOT EXISTS (SELECT 1 FROM {name(table)} AS x
          WHERE x.role = {text(role)} AND x.durable_key = m.durable_key)"""
        for table, role in missed
    )
    yield Step(
        f"Forget numbers of versions of {shape.table}",
        f"""DELETE FROM {versions} WHERE durable_key IN ({looked_at})
        AND version_key NOT IN (SELECT {name(shape.version_key)} FROM {there})""",
    )
    yield Step(
        f"Forget numbers of members of {shape.table}",
        f"""DELETE FROM {members} AS m WHERE {of_affected}
        AND m.durable_key NOT IN (SELECT {member} FROM {there}){waited_for}""",
    )


def marks_query(entity: str) -> str:
    """Return the query for the marks of the keys of an entity that were forgotten."""
    return f"SELECT DISTINCT mark FROM {FORGOTTEN} WHERE entity = {text(entity)}"


def staged_keys_query(entity: str) -> str:
    """Return the query for the keys of a batch that schemas sent of which some key was forgotten."""
    staged, of = name(staged_table(entity)), text(entity)
    known = f"schema IN (SELECT schema FROM {FORGOTTEN} WHERE entity = {of})"
    keys = (
        f"SELECT {column} FROM {staged} WHERE {column} IS NOT NULL AND {known}" for column in ("row_key", "old_key")
    )
    return " UNION ".join(keys)


def create_stubs(entity: str) -> Step:
    """Return the step that makes the table of the forgotten keys that a batch has in it."""
    query = f"SELECT row_key, row_key AS mark FROM {name(staged_table(entity))} WHERE FALSE"
    return temporary(stubs_table(entity), query, f"Look for forgotten keys of {entity}")


def leave_out_plan(entity: str) -> tuple[str, str]:
    """Return the statements that take forgotten keys out of a batch: whole messages, and keys that rows had before."""
    staged = name(staged_table(entity))
    return (
        f"DELETE FROM {staged} AS h WHERE {_is_forgotten(entity, 'row_key')}",
        f"UPDATE {staged} AS h SET old_key = NULL WHERE {_is_forgotten(entity, 'old_key')}",
    )


def _is_forgotten(entity: str, column: str) -> str:
    """Return the condition that what a message, ``h``, says of a key was said before that was forgotten."""
    in_later_epoch = f"SUBSTR(h.order_key, 1, {HEAD}) > SUBSTR(f.last_order, 1, {HEAD})"
    return f"""EXISTS (
        SELECT 1 FROM {name(stubs_table(entity))} AS k JOIN {FORGOTTEN} AS f ON f.mark = k.mark
        WHERE f.entity = {text(entity)} AND k.row_key = h.{column} AND f.schema = h.schema
          AND (h.order_key <= f.last_order OR ({in_later_epoch} AND {COMMIT} <= f.last_commit)))"""


def _kept(entity: str) -> tuple[str, str]:
    return history_table(entity), set_aside_table(entity)
