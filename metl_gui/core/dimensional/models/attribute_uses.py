"""Where the tables of a warehouse model use the attributes of entities: keys, columns, references, times.

Source: docs/reference/warehouse-model.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias

from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.part_checks import AttributesOf
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import EVENT_TIME, Bridge, Column, Dimension, Fact, Model, Periodic, Reference, Table
from metl_gui.errors import UserError
from metl_gui.values import Value

_Named: TypeAlias = tuple[str, str]
"""The name of what declares a use, and the attribute or row expression in it."""


class TablePart(StrEnum):
    """As what a table uses an attribute."""

    KEY = "key"
    COLUMN = "column"
    MEASURE = "measure"
    REFERENCE = "reference"
    TIME = "time"
    FILTER = "filter"
    PARENT = "parent"
    LIST = "list"
    WEIGHT = "weight"


class AttributeUse(Value):
    """One attribute in one part of a table.

    Args:
        table: its name.
        part: as what it is used.
        name: of the column, the role, or the member of the table that declares it.
        entity: whose attribute it is.
        path: of the attribute, in the newest version that has it.
    """

    table: str
    part: TablePart
    name: str
    entity: str
    path: str


def attribute_uses(model: Model, facts: EntityFacts, attributes_of: AttributesOf) -> tuple[AttributeUse, ...]:
    """Return all uses, in the order of the model; attributes that no entity has are left out.

    Args:
        model: the model.
        facts: of the document.
        attributes_of: reads row expressions; what it refuses has no attributes.
    """
    reader = _Reader(model, facts, attributes_of)
    found = [use for table in model.tables for use in reader.uses(table)]
    return tuple(dict.fromkeys((*found, *_of_columns(model, found))))


def new_attributes(
    model: Model, facts: EntityFacts, attributes_of: AttributesOf, entities: Iterable[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the attributes that tables could take and nobody has looked at yet, by entity.

    They came with the newest version of an entity of which the model uses nothing that is new in it: who has taken one
    of its attributes has seen the others.

    Args:
        model, facts, attributes_of: as of ``attribute_uses``.
        entities: whose; those of all tables by default.

    Cost: the histories of these entities; uses are looked for only where one has new attributes.
    """
    if entities is None:
        entities = dict.fromkeys(table.entity for table in model.tables if isinstance(table, Dimension | Fact))
    fresh = {entity: paths for entity in entities if (paths := facts.new_paths(entity))}
    if not fresh:
        return {}
    taken = {(use.entity, use.path) for use in attribute_uses(model, facts, attributes_of)}
    return {entity: paths for entity, paths in fresh.items() if taken.isdisjoint((entity, path) for path in paths)}


def _of_columns(model: Model, found: Iterable[AttributeUse]) -> Iterator[AttributeUse]:
    """Yield what periodic facts use by way of the columns of another table."""
    by_column: dict[tuple[str, str], list[AttributeUse]] = {}
    for use in found:
        by_column.setdefault((use.table, use.name), []).append(use)
    for table in (one for one in model.tables if isinstance(one, Periodic)):
        for name in table.columns:
            for use in by_column.get((table.of, name), ()):
                yield AttributeUse(table.name, TablePart.COLUMN, name, use.entity, use.path)


class _Reader:
    """Reads what the tables of one model declare."""

    def __init__(self, model: Model, facts: EntityFacts, attributes_of: AttributesOf) -> None:
        self.model, self.facts, self.attributes_of = model, facts, attributes_of

    def uses(self, table: Table) -> Iterator[AttributeUse]:
        match table:
            case Dimension():
                yield from self.of_dimension(table)
            case Fact():
                yield from self.of_fact(table)
            case Bridge(entity=entity) if entity:
                yield from self.references(table.name, entity, table.references)
                yield from self.each(table.name, entity, TablePart.WEIGHT, _weights(table))
            case Bridge():
                entity = getattr(self.model.table(table.of), "entity", "")
                yield from self.each(table.name, entity, TablePart.LIST, [("list", table.list_path)])
                yield from self.each(table.name, entity, TablePart.WEIGHT, _weights(table))

    def of_dimension(self, one: Dimension) -> Iterator[AttributeUse]:
        key = one.business_key or self.own_key(one.entity)
        yield from self.each(one.name, one.entity, TablePart.KEY, _by_last_part(key))
        yield from self.each(one.name, one.entity, TablePart.COLUMN, _sources(self.listed(one, key)))
        yield from self.each(one.name, one.entity, TablePart.TIME, [("valid_at", one.valid_at)])
        yield from self.each(one.name, one.entity, TablePart.PARENT, [("parent", path) for path in one.parent])
        yield from self.references(one.name, one.entity, one.references)

    def of_fact(self, one: Fact) -> Iterator[AttributeUse]:
        grain = () if one.grain == "row" else one.grain or self.own_key(one.entity)
        times = [("event_time", one.event_time), *((each.name, each.path) for each in one.event_times)]
        yield from self.each(one.name, one.entity, TablePart.KEY, _by_last_part(grain))
        yield from self.each(one.name, one.entity, TablePart.MEASURE, _sources(one.measures))
        yield from self.each(one.name, one.entity, TablePart.COLUMN, _sources(one.degenerate))
        yield from self.each(one.name, one.entity, TablePart.TIME, times)
        yield from self.each(one.name, one.entity, TablePart.FILTER, [("where", one.where)])
        yield from self.references(one.name, one.entity, one.references)

    def own_key(self, entity: str) -> tuple[str, ...]:
        history = self.facts.history(entity)
        return history.key if history is not None else ()

    def listed(self, table: Dimension, key: tuple[str, ...]) -> tuple[Column, ...]:
        """Return the columns of a dimension; of one that takes all, those of each attribute."""
        if table.columns != "all":
            return table.columns
        history = self.facts.history(table.entity)
        columns = history.columns if history is not None else ()
        return tuple(Column(name=one.name, path=one.path) for one in columns if one.path not in key)

    def references(self, table: str, entity: str, references: Iterable[Reference]) -> Iterator[AttributeUse]:
        for one in references:
            lefts = [left for left, _ in one.on] if isinstance(one.on, tuple) else [one.on]
            named = [(one.name, left) for left in lefts if left != EVENT_TIME]
            yield from self.each(table, entity, TablePart.REFERENCE, named)

    def each(self, table: str, entity: str, part: TablePart, named: Iterable[_Named]) -> Iterator[AttributeUse]:
        """Yield the uses in attributes and row expressions, each with the name of what declares it."""
        for name, text in named:
            for path in self.paths(entity, text):
                yield AttributeUse(table, part, name, entity, path)

    def paths(self, entity: str, text: str) -> Iterator[str]:
        if not text:
            return
        own = self.facts.column(entity, text)
        if own is not None:
            yield own.path
            return
        try:
            named = self.attributes_of(text)
        except UserError:
            return
        found = (self.facts.column(entity, path) for path in named)
        yield from (column.path for column in found if column is not None)


def _by_last_part(paths: Iterable[str]) -> list[_Named]:
    return [(split(path)[-1], path) for path in paths]


def _sources(columns: Iterable[Column]) -> list[_Named]:
    return [(one.name, one.path or one.expression) for one in columns]


def _weights(bridge: Bridge) -> list[_Named]:
    return [("weight", bridge.weight)] if bridge.weight != "equal" else []
