"""Writing a table: only rows that differ from those that are wanted.

Source: docs/reference/warehouse-model.md, "A load".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables
from metl_gui.warehouse.plans.statements import Step, differ, name, names, temporary


def rows_written(step: Step, key: Sequence[str]) -> str:
    """Return the query for the rows that a step of ``write_plan`` removes, updates or inserts, after it was done.

    Args:
        step: of any plan; of another one it is empty.
        key: columns by which rows of its table are known.
    """
    gone = f"_gone_{step.table}"
    if step.needs in (f"_changed_{step.table}", f"_new_{step.table}"):
        return f"SELECT * FROM {name(step.needs)}"
    before, k = name(MemberTables(step.table).before), names(key)
    return f"SELECT * FROM {before} WHERE ({k}) IN (SELECT {k} FROM {name(gone)})" if step.needs == gone else ""


def write_plan(table: str, key: Sequence[str], columns: Sequence[str], standing: str, goes: str = "") -> Iterator[Step]:
    """Yield the steps that make the rows of a table those that are wanted, and write only what differs.

    Args:
        table: to write.
        key: columns by which rows are known.
        columns: of the table.
        standing: query for the rows of the table among which are all that have the key of a wanted one, or may go.
        goes: condition that such a row, ``t``, is to go where it is not wanted; empty for all.

    Cost: rows that stand there are looked up once, and compared with those that are wanted; where none stands there,
    nothing is compared.
    """
    gone, changed = name(f"_gone_{table}"), name(f"_changed_{table}")
    target, k = name(table), names(key)
    values = [column for column in columns if column not in key]
    match = " AND ".join(f"{name('w', c)} = {name('t', c)}" for c in key)
    yield temporary(MemberTables(table).before, standing, f"Find the rows of {table} as they were")
    yield from _compared(table, key, values, match, goes)
    yield Step(
        f"Remove rows of {table}",
        f"DELETE FROM {target} WHERE ({k}) IN (SELECT {k} FROM {gone})",
        table,
        "remove",
        needs=f"_gone_{table}",
    )
    c, sets = names(columns), ", ".join(f"{name(column)} = w.{name(column)}" for column in values)
    if values:
        yield Step(
            f"Update rows of {table}",
            f"UPDATE {target} AS t SET {sets} FROM {changed} AS w WHERE {match}",
            table,
            "update",
            needs=f"_changed_{table}",
        )
    yield Step(
        f"Insert rows of {table}",
        f"INSERT INTO {target} ({c}) SELECT {c} FROM {name(f'_new_{table}')}",
        table,
        "insert",
        needs=f"_new_{table}",
    )


def _compared(table: str, key: Sequence[str], values: Sequence[str], match: str, goes: str) -> Iterator[Step]:
    """Yield the steps that find which rows are no longer, differ, and are new; where none stood there, all are new.

    Args:
        table, key, goes: as of ``write_plan``.
        values: columns that are no part of the key.
        match: condition that a wanted row, ``w``, has the key of one that stands there, ``t``.
    """
    tables = MemberTables(table)
    wanted, before = name(tables.wanted), name(tables.before)
    may_go = f" AND {goes}" if goes else ""
    yield temporary(
        f"_gone_{table}",
        f"""SELECT {names(key, "t")} FROM {before} AS t
        WHERE NOT EXISTS (SELECT 1 FROM {wanted} AS w WHERE {match}){may_go}""",
        f"Find rows of {table} that are no longer",
        needs=tables.before,
        otherwise=f"SELECT {names(key)} FROM {before}",
    )
    yield temporary(
        f"_changed_{table}",
        f"SELECT w.* FROM {wanted} AS w JOIN {before} AS t ON {match} WHERE {differ(values, 'w', 't')}",
        f"Find rows of {table} that differ",
        needs=tables.before,
        otherwise=f"SELECT * FROM {wanted} WHERE FALSE",
    )
    yield temporary(
        f"_new_{table}",
        f"SELECT w.* FROM {wanted} AS w WHERE NOT EXISTS (SELECT 1 FROM {before} AS t WHERE {match})",
        f"Find rows of {table} that are new",
        needs=tables.before,
        otherwise=f"SELECT * FROM {wanted}",
    )
