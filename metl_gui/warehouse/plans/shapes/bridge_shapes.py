"""Bridges of a model over histories: of which owners, to which elements, by which columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from metl_gui.core.dimensional.histories import HistoryColumn
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import Bridge, Column, Dimension, Fact, Model
from metl_gui.warehouse.plans.histories.history_tables import sql_type
from metl_gui.warehouse.plans.shapes.conversions import converted
from metl_gui.warehouse.plans.shapes.table_shapes import (
    ComputedColumn,
    DimensionShape,
    FactShape,
    ListBridgeShape,
    ModelError,
    PairBridgeShape,
    ReferenceShape,
)
from metl_gui.warehouse.plans.statements import name

_EDIT = "Change the model with “metl warehouse import” or “set”."
_SHARE = "decimal(28,14)"
"""Weights are added up exactly, so that their order makes no difference; floats as the nearest such number."""

ColumnAt = Callable[[str, str, str], HistoryColumn]
"""Returns the column of a history, by table, entity and path; refuses what is none."""


def links_table(bridge: str) -> str:
    """Return the name of the table, kept in the target, of the rows of an entity that make pairs."""
    return f"metl_links_{bridge}"


def links_of(model: Model, column_at: ColumnAt) -> Iterator[Fact]:
    """Yield, for each bridge of an entity, the fact of which it counts the pairs."""
    for one in model.tables:
        if isinstance(one, Bridge) and one.entity:
            measures: tuple[Column, ...] = ()
            if _weighs(one) == "declared":
                type_ = column_at(one.name, one.entity, one.weight).type
                measures = (Column(name="weight", path=one.weight, type="" if type_ == "float" else _SHARE),)
            references = tuple(msgspec.structs.replace(each, as_of="current") for each in one.references)
            yield Fact(name=links_table(one.name), entity=one.entity, references=references, measures=measures)


def check_bridge(one: Bridge, model: Model) -> None:
    """Refuse a bridge that loads do not carry out.

    Raises:
        ModelError: it is so.
    """
    of = model.table(one.of)
    asked = ["as_of of its references"] * any(each.as_of not in ("", "current", "durable") for each in one.references)
    asked += ["as_of: version of an entity"] * (bool(one.entity) and one.as_of == "version")
    if isinstance(of, Fact):
        asked += ["as_of: version of a fact, which has none"] * (one.as_of == "version")
        asked += ["a fact that reverses"] * ("reverse" in (of.on_correction, of.on_delete))
    to = model.table(one.to)
    if isinstance(to, Dimension):
        asked += ["a dimension whose key takes in the schema"] * to.key_includes_schema
    if asked:
        text = f"The bridge {one.name} declares {', '.join(asked)}."
        raise ModelError("Loads do not carry this out yet", text, "Leave it out, or load by a model without it.")
    if one.entity and len(one.references) != 2:
        raise ModelError("A bridge needs two references", f"{one.name} has {len(one.references)}.", _EDIT)
    if not one.entity and not isinstance(of, Dimension | Fact):
        raise ModelError("A bridge needs an owner", f"{one.name} is of {one.of}, which is no dimension or fact.", _EDIT)
    if one.to and not isinstance(to, Dimension):
        raise ModelError("A dimension does not exist", f"{one.name} leads to {one.to}.", _EDIT)


def owned_lists(model: Model, owner: Dimension | Fact, column_at: ColumnAt) -> tuple[ComputedColumn, ...]:
    """Return the columns of a load for the lists that rows of a table own, and for the weights of their elements.

    Raises:
        ModelError: an attribute is no list.
    """
    found = []
    for one in model.tables:
        if isinstance(one, Bridge) and one.of == owner.name:
            history = 2 if one.as_of == "version" else 1
            column = column_at(one.name, owner.entity, one.list_path)
            if column.type != "json":
                text = f"{one.list_path} of {owner.entity} is {column.type}."
                raise ModelError("An attribute is no list", text, _EDIT)
            paths = {"_list_": one.list_path} | ({"_weight_": one.weight} if _weighs(one) == "declared" else {})
            for prefix, path in paths.items():
                column = column_at(one.name, owner.entity, path)
                found.append(
                    ComputedColumn(
                        f"{prefix}{one.name}", name(column.name), sql_type(column.type), (column.name,), history
                    )
                )
    return tuple(found)


def list_bridge(
    one: Bridge, owner: DimensionShape | FactShape, to: DimensionShape | None, column_at: ColumnAt
) -> ListBridgeShape:
    """Return the bridge of a list.

    Raises:
        ModelError: the dimension of the elements has a key of several parts.
    """
    column = column_at(one.name, owner.entity, one.list_path)
    weights = column_at(one.name, owner.entity, one.weight) if _weighs(one) == "declared" else None
    role = split(one.list_path)[-1]
    reference, unfit = None, ""
    if to is not None:
        if len(to.key) != 1:
            text = f"{one.name} leads to {to.table}, whose business key has {len(to.key)} parts."
            raise ModelError("An element is one value", text, "Let it lead to a dimension with a key of one part.")
        sql, unfit = converted('e."_element"', "text", to.key[0].declared)
        reference = ReferenceShape(role, to.table, (ComputedColumn(role, sql, to.key[0].type),), "durable")
    return ListBridgeShape(
        table=one.name,
        owner=owner,
        role=role,
        by_version=one.as_of == "version",
        to=reference,
        weight=_weighs(one),
        elements=f"_list_{one.name}",
        weights=f"_weight_{one.name}" if weights else "",
        weights_are_a_list=weights is not None and weights.type == "json",
        unfit=_unfit(column, weights, unfit),
    )


def pair_bridge(one: Bridge, links: FactShape) -> PairBridgeShape:
    """Return the bridge of an entity."""
    return PairBridgeShape(table=one.name, links=links, weight=_weighs(one))


def _weighs(one: Bridge) -> str:
    return one.weight if one.weight in ("", "equal") else "declared"


def _unfit(column: HistoryColumn, weights: HistoryColumn | None, element: str) -> str:
    """Return the condition that a message has no list where one must be, or one whose parts do not fit.

    Args:
        column: of the list.
        weights: column of the weights, where some are declared.
        element: condition that an element does not fit; empty where all do.
    """
    listed = f"metl_elements({name(column.name)})"
    conditions = [f"({name(column.name)} IS NOT NULL AND {listed} IS NULL)"]
    if element:
        conditions.append(f'EXISTS (SELECT 1 FROM UNNEST({listed}) AS e("_element") WHERE {element})')
    if weights is not None:
        conditions += _unfit_weights(name(weights.name), weights.type, listed)
    return f"({' OR '.join(conditions)})"


def _unfit_weights(weights: str, type_: str, listed: str) -> Sequence[str]:
    if type_ == "float":
        return [f"({weights} IS NOT NULL AND TRY_CAST({weights} AS {_SHARE}) IS NULL)"]
    if type_ != "json":
        return [converted(weights, type_, _SHARE)[1]]
    numbers = f"metl_elements({weights})"
    _, unfit = converted('e."_element"', "text", _SHARE)
    counts = " <> ".join(f"COALESCE(ARRAY_LENGTH({one}), 0)" for one in (numbers, listed))
    return [
        f"({weights} IS NOT NULL AND {numbers} IS NULL)",
        f'EXISTS (SELECT 1 FROM UNNEST({numbers}) AS e("_element") WHERE {unfit})',
        f"({weights} IS NOT NULL AND {listed} IS NOT NULL AND {counts})",
    ]
