"""Facts whose members no message has brought, and that do not want them inferred: they wait, or refer to the unknown.

Which facts these are is kept, so that they are made anew when their members come, and looked for when members go.

Source: docs/reference/warehouse-model.md, "Keys, misses, re-keying".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, MemberShape, ReferenceShape
from metl_gui.warehouse.plans.statements import Step, name, names, temporary, text


def missed_table(fact: str) -> str:
    """Return the name of the table, kept in the target, of facts with a reference that leads nowhere."""
    return f"metl_missed_{fact}"


def again_table(table: str) -> str:
    """Return the name of the load's own table of the keys that are made anew because of the members they refer to."""
    return f"_again_{table}"


def missing_references(shape: FactShape) -> list[ReferenceShape]:
    """Return the references that do not infer what is not known."""
    return [one for one in shape.references if one.date is None and one.on_miss != "infer"]


def create_missed(shape: FactShape) -> Iterator[Step]:
    """Yield the step that makes the table of missed references, where a fact may have some."""
    if missing_references(shape):
        typed = ", ".join(f"{name(key)} {part.type}" for key, part in zip(keys_of(shape), shape.key, strict=True))
        columns = f"{typed}, role VARCHAR, durable_key BIGINT, waits BOOLEAN"
        made = f"CREATE TABLE {name(missed_table(shape.table))} ({columns})"
        yield Step(f"Make the list of what {shape.table} misses", made)


def nothing_again(shape: MemberShape) -> Step:
    """Return the step that begins the list of rows that are made anew because of the members they refer to."""
    keys = names(keys_of(shape))
    owners = name(MemberTables(shape.table).owners)
    query = f"SELECT {keys} FROM {owners} WHERE FALSE"
    return temporary(again_table(shape.table), query, f"Make {shape.table} anew where members come and go")


def again_plan(shape: FactShape, dimensions: Mapping[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that list the facts whose members came or went.

    Cost: a scan of the facts' columns for members, where members went; the missed references of those that came.
    """
    again, keys = name(again_table(shape.table)), keys_of(shape)
    for reference in missing_references(shape):
        target = dimensions[reference.dimension]
        changed = f"SELECT durable_key FROM {name(f'_members_{target.table}')}"
        came = f"""SELECT {names(keys)} FROM {name(missed_table(shape.table))}
            WHERE role = {text(reference.role)} AND durable_key IN ({changed})"""
        known = f"""SELECT {name(target.durable_key)} FROM {name(target.table)} WHERE NOT is_inferred"""
        grain = ", ".join(f"{name(part.name)} AS {name(key)}" for part, key in zip(shape.key, keys, strict=True))
        durable = name(reference.durable)
        went = f"""SELECT {grain} FROM {name(shape.table)}
            WHERE {durable} > 0 AND {durable} IN ({changed}) AND {durable} NOT IN ({known})"""
        title = f"Find facts of {shape.table} whose {reference.role} came or went"
        yield Step(title, f"INSERT INTO {again} {came} UNION {went}")


def keep_missed(shape: FactShape, joins: str, is_missed: Mapping[str, str]) -> Iterator[Step]:
    """Yield the steps that keep which affected facts have a reference that leads nowhere.

    Args:
        shape: the fact.
        joins: to the versions of its references, behind the facts that are met, ``f``.
        is_missed: by role, the condition that its reference leads nowhere.
    """
    missed, keys = name(missed_table(shape.table)), keys_of(shape)
    met, affected = name(f"_met_{shape.table}"), name(MemberTables(shape.table).affected)
    yield Step(
        "Forget what facts missed",
        f"DELETE FROM {missed} WHERE ({names(keys)}) IN (SELECT {names(keys)} FROM {affected})",
    )
    for reference in missing_references(shape):
        waits = str(reference.on_miss == "wait").upper()
        yield Step(
            f"Keep which facts of {shape.table} miss their {reference.role}",
            f"""INSERT INTO {missed}
            SELECT {names(keys, "f")}, {text(reference.role)}, f.{name(reference.durable)}, {waits}
            FROM {met} AS f{joins} WHERE {is_missed[reference.role]}""",
        )


def waiting_query(tables: Sequence[FactShape]) -> str:
    """Return the query for how many facts wait for their members."""
    counts = [
        f"(SELECT COUNT(DISTINCT ({names(keys_of(one))})) FROM {name(missed_table(one.table))} WHERE waits)"
        for one in tables
        if missing_references(one)
    ]
    return f"SELECT {' + '.join(counts) or '0'}"
