"""Members of a target that no message has brought, and the facts that refer to them, wait, or do without.

Source: docs/reference/warehouse-model.md, "Keys, misses, re-keying".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from metl_gui.core.dimensional.loads.missing_members import MissingMember
from metl_gui.warehouse.databases.target import WarehouseTarget, has_columns
from metl_gui.warehouse.plans.dimensions.dimension_tables import members_table
from metl_gui.warehouse.plans.dimensions.member_plan import keys_of
from metl_gui.warehouse.plans.facts.missed_plan import missed_table, missing_references
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, ReferenceShape, TableShapes
from metl_gui.warehouse.plans.statements import name, text


def missing_members(target: WarehouseTarget, shapes: TableShapes, limit: int = 100) -> tuple[MissingMember, ...]:
    """Return the members that are missing, by dimension and reference, and then by age.

    Dimensions and references that the model got since the last load have none yet.

    Args:
        target: open, and loaded.
        shapes: the tables of the model.
        limit: how many are read of each reference.

    Cost: a scan of the facts that refer to inferred members.
    """
    return tuple(found for shape in shapes.dimensions for found in _of_dimension(target, shapes, shape, limit))


def _of_dimension(
    target: WarehouseTarget, shapes: TableShapes, shape: DimensionShape, limit: int
) -> Iterator[MissingMember]:
    referring = [(fact, one) for fact in shapes.facts for one in fact.references if one.dimension == shape.table]
    keys = [part.name for part in shape.key]
    is_there = has_columns(target, shape.table, shape.version_key, shape.durable_key, *keys)
    for fact, reference in referring if is_there else ():
        if not has_columns(target, fact.table, reference.durable):
            continue
        if reference.date is None and reference.on_miss == "infer":
            yield from _read(target, shape, fact, reference, _inferred(shape, fact, reference, limit))
        elif reference in missing_references(fact) and has_columns(target, missed_table(fact.table), "role"):
            yield from _read(target, shape, fact, reference, _missed(shape, fact, reference, limit))


def _inferred(shape: DimensionShape, fact: FactShape, reference: ReferenceShape, limit: int) -> str:
    keys = [f"d.{name(part.name)}" for part in shape.key]
    return f"""SELECT COUNT(*), MIN(f.event_time), {_texts(keys)}
        FROM {name(shape.table)} AS d
        JOIN {name(fact.table)} AS f ON f.{name(reference.durable)} = d.{name(shape.durable_key)}
        WHERE d.is_inferred AND d.is_current AND d.{name(shape.version_key)} > 0
        GROUP BY {", ".join(keys)} ORDER BY 2, {", ".join(keys)} LIMIT {limit}"""


def _missed(shape: DimensionShape, fact: FactShape, reference: ReferenceShape, limit: int) -> str:
    keys = [f"m.{name(key)}" for key in keys_of(shape)]
    return f"""SELECT COUNT(*), NULL, {_texts(keys)}
        FROM {name(missed_table(fact.table))} AS f JOIN {name(members_table(shape.table))} AS m USING (durable_key)
        WHERE f.role = {text(reference.role)} GROUP BY {", ".join(keys)} ORDER BY {", ".join(keys)} LIMIT {limit}"""


def _texts(keys: list[str]) -> str:
    return ", ".join(f"CAST({key} AS VARCHAR)" for key in keys)


def _read(
    target: WarehouseTarget, shape: DimensionShape, fact: FactShape, reference: ReferenceShape, query: str
) -> Iterator[MissingMember]:
    kinds: dict[str, Literal["inferred", "waiting", "unknown"]] = {"infer": "inferred", "wait": "waiting"}
    for facts, since, *key in target.rows(query):
        yield MissingMember(
            dimension=shape.table,
            key=tuple(key),
            fact=fact.table,
            role=reference.role,
            kind=kinds.get(reference.on_miss, "unknown"),
            facts=int(facts),
            since=since,
        )
