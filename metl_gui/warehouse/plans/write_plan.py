"""Writing a table: only rows that differ from those that are wanted.

Source: docs/reference/warehouse-model.md, "A load".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables
from metl_gui.warehouse.plans.statements import Step, differ, name, names, temporary


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
