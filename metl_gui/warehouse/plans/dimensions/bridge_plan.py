"""Bridges: the elements of a list for each owner, or the pairs that an entity makes of two members.

The same function as ``core.dimensional.rows.bridges``, as statements. Lists stand in histories as the JSON that they
are; ``metl_elements``, which every target has, takes them apart, and gives null for what is no list.

Source: docs/reference/warehouse-model.md, "Bridges".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.warehouse.plans.dimensions.dimension_tables import members_table
from metl_gui.warehouse.plans.dimensions.inferred_plan import infer
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.dimensions.surrogate_keys import number_members
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, ListBridgeShape, PairBridgeShape
from metl_gui.warehouse.plans.statements import Step, joined, name, names, temporary
from metl_gui.warehouse.plans.write_plan import write_plan


def bridge_columns(shape: ListBridgeShape | PairBridgeShape) -> list[tuple[str, str]]:
    """Return the columns of a bridge and their types."""
    columns = [*shape.owner_columns, shape.element_column, ("count", "BIGINT")]
    return [*columns, ("weight", "DOUBLE")] if shape.weight else columns


def create_bridge(shape: ListBridgeShape | PairBridgeShape) -> Iterator[Step]:
    """Yield the step that makes an empty bridge."""
    listed = ", ".join(f"{name(column)} {type_}" for column, type_ in bridge_columns(shape))
    yield Step(f"Make {shape.table}", f"CREATE TABLE {name(shape.table)} ({listed})")


def gather_plan(shape: ListBridgeShape) -> Iterator[Step]:
    """Yield the steps that take apart the lists of owners which are made anew, once the rows of these are wanted."""
    owner, table = shape.owner, shape.table
    affected = name(MemberTables(owner.table).affected)
    if isinstance(owner, DimensionShape):
        known = joined(keys_of(owner), "m", "a")
        owners = f"""SELECT m.durable_key AS {name(owner.durable_key)}
            FROM {name(members_table(owner.table))} AS m JOIN {affected} AS a ON {known}"""
        rows = "" if shape.by_version else " WHERE w.is_current"
    else:
        keys = zip(owner.key, keys_of(owner), strict=True)
        owners = f"SELECT {', '.join(f'{name(key)} AS {name(part.name)}' for part, key in keys)} FROM {affected}"
        rows = ""
    yield temporary(f"_owners_{table}", owners, f"Find the owners of {table} that change")
    weight = f"w.{name(shape.weights)}" if shape.weights else "NULL"
    if shape.weights_are_a_list:
        weight = f"(metl_elements({weight}))[e.place]"
    yield temporary(
        f"_elements_{table}",
        f"""SELECT {names((column for column, _ in shape.owner_columns), "w")}, e."_element",
          TRY_CAST({weight} AS DECIMAL(28, 14)) AS "_weight"
        FROM {name(MemberTables(owner.table).wanted)} AS w
        CROSS JOIN UNNEST(metl_elements(w.{name(shape.elements)})) WITH ORDINALITY AS e("_element", place){rows}""",
        f"Take apart the lists of {table}",
    )


def list_bridge_plan(shape: ListBridgeShape, dimensions: dict[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that bring a bridge of a list up to date, once its dimensions are.

    Cost: the lists of owners that are made anew.
    """
    table, own = shape.table, [column for column, _ in shape.owner_columns]
    element, wanted = shape.element_column[0], MemberTables(shape.table).wanted
    elements = name(f"_elements_{table}")
    found = f'SELECT {names(own, "e")}, e."_element" AS {name(element)}, e."_weight" FROM {elements} AS e'
    if shape.to is not None:
        target = dimensions[shape.to.dimension]
        key, value = name(keys_of(target)[0]), shape.to.on[0].sql
        looked_up = f"""SELECT DISTINCT {value} AS {key} FROM {elements} AS e
            WHERE {value} IS NOT NULL"""
        yield from number_members(target, looked_up, keys_of(target))
        found = f"""SELECT {names(own, "e")}, m.durable_key AS {name(element)}, e."_weight"
            FROM {elements} AS e
            JOIN {name(members_table(target.table))} AS m ON m.{key} = {value}"""
    yield temporary(wanted, _counted(shape, found), f"Make the rows of {table}")
    if shape.to is not None:
        needed = f"SELECT DISTINCT {name(element)} AS durable_key FROM {name(wanted)}"
        yield from infer(dimensions[shape.to.dimension], needed)
    by = [shape.owner.durable_key] if isinstance(shape.owner, DimensionShape) else own
    same = " AND ".join(f"{name('o', column)} = {name('t', column)}" for column in by)
    yield from _written(shape, f"SELECT t.* FROM {name(table)} AS t JOIN {name(f'_owners_{table}')} AS o ON {same}")


def pair_bridge_plan(shape: PairBridgeShape) -> Iterator[Step]:
    """Yield the steps that bring a bridge of an entity up to date, once the pairs are that its rows make.

    Cost: the pairs of owners of which a row is made anew.
    """
    table, links = shape.table, shape.links
    (owner, _), (element, _) = *shape.owner_columns, shape.element_column
    o, e, changed = name(owner), name(element), (MemberTables(links.table).before, MemberTables(links.table).wanted)
    owners = " UNION ".join(f"SELECT {o} FROM {name(one)}" for one in changed)
    yield temporary(f"_owners_{table}", owners, f"Find the owners of {table} that change")
    mine = f"{o} IN (SELECT {o} FROM {name(f'_owners_{table}')})"
    weight = "weight" if shape.weight == "declared" else "NULL"
    pairs = f"""SELECT {o}, {e}, TRY_CAST({weight} AS DECIMAL(28, 14)) AS "_weight" FROM {name(links.table)}
        WHERE {o} > 0 AND {e} > 0 AND {mine}"""
    yield temporary(MemberTables(table).wanted, _counted(shape, pairs), f"Make the rows of {table}")
    yield from _written(shape, f"SELECT * FROM {name(table)} WHERE {mine}")


def _counted(shape: ListBridgeShape | PairBridgeShape, found: str) -> str:
    """Return the query for elements of owners, each once with how often it is there and its weight."""
    own, element = names(column for column, _ in shape.owner_columns), name(shape.element_column[0])
    weights = {
        "equal": f", 1 / CAST(COUNT(*) OVER (PARTITION BY {own}) AS DOUBLE) AS weight",
        "declared": ', CAST("_sum" AS DOUBLE) AS weight',
    }
    return f"""SELECT {own}, {element}, "count"{weights.get(shape.weight, "")} FROM (
          SELECT {own}, {element}, COUNT(*) AS "count", SUM("_weight") AS "_sum" FROM ({found}) AS f
          WHERE {element} IS NOT NULL GROUP BY {own}, {element}) AS g"""


def _written(shape: ListBridgeShape | PairBridgeShape, old: str) -> Iterator[Step]:
    key = [column for column, _ in (*shape.owner_columns, shape.element_column)]
    yield from write_plan(shape.table, key, [column for column, _ in bridge_columns(shape)], old)
