"""Make the tables of a target of a model and histories, and refuse what loads do not carry out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from sqlglot import exp

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.models.key_parts import SCHEMA, key_parts, parts_named
from metl_gui.core.dimensional.rows.junk import junk_of
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import (
    EVENT_TIME,
    PARENT,
    Bridge,
    Column,
    Dates,
    Dimension,
    Fact,
    Hierarchy,
    Model,
    Periodic,
    Reference,
    TimesOfDay,
)
from metl_gui.warehouse.plans.facts.fact_values import fact_value_types
from metl_gui.warehouse.plans.histories.history_tables import sql_type
from metl_gui.warehouse.plans.shapes.bridge_shapes import (
    check_bridge,
    links_of,
    links_table,
    list_bridge,
    owned_lists,
    pair_bridge,
)
from metl_gui.warehouse.plans.shapes.conversions import attempted, converted, finite, held_since, over_columns
from metl_gui.warehouse.plans.shapes.table_shapes import (
    ComputedColumn,
    DimensionShape,
    FactPeriodicShape,
    FactShape,
    HierarchyShape,
    JunkShape,
    KeyColumn,
    ModelError,
    PeriodicShape,
    ReferenceShape,
    TableShapes,
)
from metl_gui.warehouse.plans.statements import WRITTEN_IN, name

Histories: TypeAlias = Mapping[str, EntityHistory]


Parse: TypeAlias = Callable[[str], exp.Expr]
"""Reads a row expression, in which dotted names are attributes, and refuses what is none."""


_EDIT = "Change the model with “metl warehouse import” or “set”."


def shapes(model: Model, histories: Sequence[EntityHistory], parse: Parse) -> TableShapes:
    """Return the tables of a model over histories.

    Raises:
        ModelError: an attribute, a table or an entity does not exist.
    """
    _check_supported(model)
    by_entity = {one.entity: one for one in histories}
    _check_entities(by_entity)
    maker = _Maker(model, by_entity, parse)
    dimensions = [maker.dimension(one) for one in model.dimensions]
    links = {one.name: maker.fact(one) for one in links_of(model, maker.column)}
    facts = (*(_observed(model, maker.fact(one)) for one in model.facts), *links.values())
    valid_at: dict[str, str] = {}
    used: dict[str, set[str]] = defaultdict(set)
    members: tuple[DimensionShape | FactShape, ...] = (*dimensions, *facts)
    for each in members:
        used[each.entity].update(each.uses, (part.source for part in each.key))
    for one in model.dimensions:
        if one.valid_at:
            value = maker.attribute(one.name, one.entity, one.valid_at)
            valid_at[one.entity] = held_since(f"CAST({value.sql} AS TIMESTAMPTZ)", one.infinity)
            used[one.entity].update(value.uses)
    periodics = tuple(_periodic(one, dimensions, facts) for one in model.tables if isinstance(one, Periodic))
    hierarchies = tuple(_hierarchy(one, dimensions) for one in model.tables if isinstance(one, Hierarchy))
    owners: dict[str, DimensionShape | FactShape] = {one.table: one for one in dimensions}
    owners |= {one.table: one for one in facts}
    bridges = [one for one in model.tables if isinstance(one, Bridge)]
    lists = [
        list_bridge(one, owners[one.of], next((d for d in dimensions if d.table == one.to), None), maker.column)
        for one in bridges
        if not one.entity
    ]
    pairs = [pair_bridge(one, links[links_table(one.name)]) for one in bridges if one.entity]
    return TableShapes(
        model=model,
        histories=by_entity,
        dimensions=tuple(_in_levels(dimensions)),
        facts=facts,
        periodics=periodics,
        hierarchies=hierarchies,
        list_bridges=tuple(lists),
        pair_bridges=tuple(pairs),
        valid_at=valid_at,
        stated={entity: _narrowed(by_entity[entity], columns) for entity, columns in used.items()},
    )


def _narrowed(history: EntityHistory, columns: Collection[str]) -> EntityHistory:
    """Return a history with some of its columns."""
    return msgspec.structs.replace(history, columns=tuple(one for one in history.columns if one.name in columns))


def _check_entities(entities: Collection[str]) -> None:
    """Refuse entities whose names differ in capitals alone, which databases do not tell apart.

    Raises:
        ModelError: there are such.
    """
    seen: dict[str, str] = {}
    for one in entities:
        first = seen.setdefault(one.lower(), one)
        if first != one:
            text = f"The entities {first} and {one} would share one history: their names differ in capitals alone."
            hint = "Rename one of them, or keep the history of one: list entities in the model."
            raise ModelError("Two histories have one name", text, hint)


def _check_supported(model: Model) -> None:
    """Refuse what loads do not carry out, so that nothing declared is silently left undone.

    Raises:
        ModelError: the error names the table and what it declares.
    """
    for table in model.tables:
        asked: list[str] = []
        if isinstance(table, Bridge):
            check_bridge(table, model)
        if isinstance(table, Fact):
            asked += [f"cascade: true of {one.name}" for one in table.references if one.cascade]
        if asked:
            text = f"The table {table.name} declares {', '.join(asked)}."
            raise ModelError("Loads do not carry this out yet", text, "Leave it out, or load by a model without it.")


def _observed(model: Model, fact: FactShape) -> FactShape:
    """Return a fact with the columns that periodic facts take of it."""
    columns = [one.columns for one in model.tables if isinstance(one, Periodic) and one.of == fact.table]
    observed = tuple(dict.fromkeys(column for listed in columns for column in listed))
    return msgspec.structs.replace(fact, observed=observed) if columns else fact


def _periodic(
    one: Periodic, dimensions: Sequence[DimensionShape], facts: Sequence[FactShape]
) -> PeriodicShape | FactPeriodicShape:
    """Return a periodic fact.

    Raises:
        ModelError: what it is of is no dimension and no fact, or does not have a column.
    """
    members: tuple[DimensionShape | FactShape, ...] = (*dimensions, *facts)
    found = next((each for each in members if each.table == one.of), None)
    if found is None:
        text = f"{one.name} is of {one.of}, which is no dimension and no fact."
        raise ModelError("A table does not exist", text, _EDIT)
    if isinstance(found, FactShape):
        known = set(fact_value_types(found))
    else:
        known = {part.name for part in found.key} | {column.name for column in found.columns}
    if unknown := [column for column in one.columns if column not in known]:
        text = f"{one.name} has the column {unknown[0]}, which is none of {one.of} itself."
        raise ModelError("A column does not exist", text, _EDIT)
    declared: dict[str, Any] = {"table": one.name, "every": one.every, "time_zone": one.time_zone}
    declared["columns"] = one.columns
    if isinstance(found, FactShape):
        return FactPeriodicShape(fact=found, **declared)
    return PeriodicShape(dimension=found, **declared)


def _hierarchy(one: Hierarchy, dimensions: Sequence[DimensionShape]) -> HierarchyShape:
    of = next((each for each in dimensions if each.table == one.of), None)
    parent = next((each for each in of.references if each.role == PARENT), None) if of else None
    if of is None or parent is None:
        text = f"{one.name} is of {one.of}, which is no dimension with a parent."
        raise ModelError("A hierarchy needs parents", text, _EDIT)
    return HierarchyShape(table=one.name, dimension=of, parent=parent)


def _in_levels(dimensions: Sequence[DimensionShape]) -> list[DimensionShape]:
    """Return dimensions so that each comes behind those that it refers to."""
    placed: list[DimensionShape] = []
    left = list(dimensions)
    while left:
        known = {one.table for one in placed}
        ready = [one for one in left if all(r.date or r.dimension in {*known, one.table} for r in one.references)]
        if not ready:
            tables = ", ".join(one.table for one in left)
            raise ModelError("References form a circle", f"The dimensions {tables} refer to one another.", _EDIT)
        placed += ready
        left = [one for one in left if one not in ready]
    return placed


class _Maker:
    """Makes shapes of declarations."""

    def __init__(self, model: Model, histories: Histories, parse: Parse) -> None:
        self.model, self.histories, self.parse = model, histories, parse
        self.dates = {one.name: one for one in model.tables if isinstance(one, Dates | TimesOfDay)}
        self.declared = {one.name: one for one in model.dimensions}

    def history(self, table: str, entity: str) -> EntityHistory:
        found = self.histories.get(entity)
        if found is None:
            text = f"The table {table} is made of the entity {entity}, to which nothing is mapped."
            raise ModelError("An entity has no history", text, _EDIT)
        return found

    def column(self, table: str, entity: str, path: str) -> HistoryColumn:
        found = self.history(table, entity).at_path(path)
        if found is None:
            raise ModelError(
                "An attribute does not exist", f"{table} uses {path}, which {entity} does not have.", _EDIT
            )
        return found

    def attribute(
        self, table: str, entity: str, path: str, type_: str = "", label: str = "", history: int = 1
    ) -> ComputedColumn:
        column = self.column(table, entity, path)
        type_ = type_ or column.type
        sql, unfit = converted(name(column.name), column.type, type_)
        return ComputedColumn(label, sql, sql_type(type_), (column.name,), history, unfit)

    def expression(
        self, table: str, entity: str, text: str, type_: str, label: str = "", history: int = 1
    ) -> ComputedColumn:
        """Return the value of a row expression, or of a path."""
        history_of = self.history(table, entity)
        if history_of.at_path(text) is not None:
            return self.attribute(table, entity, text, type_, label, history)
        tree, uses = over_columns(self.parse(text), lambda path: self.column(table, entity, path))
        value, fails = attempted(tree.sql(dialect=WRITTEN_IN))
        cast, unfit = converted(value, "", type_ or "text")
        unfit = f"({fails} OR {unfit})" if unfit else fails
        return ComputedColumn(label, cast, sql_type(type_ or "text"), uses, history, unfit)

    def value(self, table: str, entity: str, column: Column) -> ComputedColumn:
        if column.expression:
            return self.expression(table, entity, column.expression, column.type, column.name, column.history)
        return self.attribute(table, entity, column.path, column.type, column.name, column.history)

    def key(self, table: str, entity: str, paths: Sequence[str], with_schema: bool) -> tuple[KeyColumn, ...]:
        found = [self.column(table, entity, path) for path in paths or self.history(table, entity).key]
        if not found:
            text = f"{table} declares no business key, and the entity {entity} has none."
            raise ModelError("A table has no key", text, _EDIT)
        own = [KeyColumn(last_part(one.path), one.name, one.type) for one in found]
        return (KeyColumn(SCHEMA, "_schema", "text"), *own) if with_schema else tuple(own)

    def dimension(self, one: Dimension) -> DimensionShape:
        key = self.key(one.name, one.entity, one.business_key, one.key_includes_schema)
        columns = one.columns
        if columns == "all":
            taken = {part.source for part in key}
            listed = [c for c in self.history(one.name, one.entity).columns if c.name not in taken]
            columns = tuple(Column(name=c.name, path=c.path) for c in listed)
        values = [self.value(one.name, one.entity, c) for c in columns]
        renamed = {v.uses[0]: v.name for c, v in zip(columns, values, strict=True) if c.path and not c.type}
        key = tuple(KeyColumn(renamed.get(part.source, part.name), part.source, part.declared) for part in key)
        kept = tuple(v for v in values if v.name not in {part.name for part in key})
        references = tuple(self.reference(one, reference, "durable") for reference in one.references)
        if one.parent:
            references += (self.parent(one, key),)
        return DimensionShape(
            table=one.name,
            entity=one.entity,
            key=key,
            prefer=one.prefer,
            leading=one.leading,
            references=references,
            columns=kept,
            covers_past=one.covers_past,
            on_delete=one.on_delete,
            lists=owned_lists(self.model, one, self.column),
            unknown=one.unknown,
            not_applicable=one.not_applicable,
        )

    def fact(self, one: Fact) -> FactShape:
        if one.grain == "row":
            key: tuple[KeyColumn, ...] = (
                KeyColumn(SCHEMA, "_schema", "text"),
                KeyColumn("row_key", "_row", "text"),
            )
        else:
            key = self.key(one.name, one.entity, one.grain, one.key_includes_schema)
        taken = {part.name for part in key}
        values = [self.value(one.name, one.entity, column) for column in (*one.measures, *one.degenerate)]
        kept = [value for value in values if value.name not in taken]
        where = self.expression(one.name, one.entity, one.where, "boolean") if one.where else None
        event = self.attribute(one.name, one.entity, one.event_time) if one.event_time else None
        times, days = self.milestones(one)
        references = [self.reference(one, reference, "event") for reference in one.references]
        return FactShape(
            table=one.name,
            entity=one.entity,
            key=key,
            prefer=one.prefer,
            leading=one.leading,
            references=(*references, *days),
            columns=(*times, *kept),
            lists=owned_lists(self.model, one, self.column),
            where=where.sql if where else "",
            where_uses=where.uses if where else (),
            event_time=finite(f"CAST({event.sql} AS TIMESTAMPTZ)") if event else "",
            event_time_uses=event.uses if event else (),
            on_correction=one.on_correction,
            on_delete=one.on_delete,
            junk=_junk(self.model, one, kept),
            negated=_negated(one, kept) if "reverse" in (one.on_correction, one.on_delete) else (),
        )

    def milestones(self, one: Fact) -> tuple[list[ComputedColumn], list[ReferenceShape]]:
        """Return the times of an accumulating snapshot as columns, and their days as references.

        Days are those of the first table of days; without one, a time has none unless it states a role.
        """
        calendar = next((each for each in self.dates.values() if isinstance(each, Dates)), None)
        times = [self.instant(one, each.path, each.name) for each in one.event_times]
        days = []
        for each, value in zip(one.event_times, times, strict=True):
            role = each.role or each.name
            if calendar is not None:
                days.append(ReferenceShape(role, calendar.name, (value,), "event", "unknown", calendar))
            elif each.role:
                text = f"The time {each.name} of {one.name} has the role {each.role}."
                raise ModelError("There is no table of days", text, "Add one: {date: NAME, from: DAY, to: DAY}.")
        return times, days

    def instant(self, one: Fact, path: str, label: str) -> ComputedColumn:
        """Return an attribute as a point in time, null for an infinite one; days begin, and local times are, in UTC."""
        value = self.attribute(one.name, one.entity, path, label=label)
        if value.type not in ("DATE", "TIMESTAMP"):
            value = self.attribute(one.name, one.entity, path, "instant", label)
        sql = finite(f"CAST({value.sql} AS TIMESTAMPTZ)")
        return ComputedColumn(label, sql, "TIMESTAMPTZ", value.uses, unfit=value.unfit)

    def parent(self, one: Dimension, key: Sequence[KeyColumn]) -> ReferenceShape:
        """Return the reference of a dimension to itself; a parent is of the schema of its child."""
        own = [part for part in key if part.source != "_schema"]
        if len(own) != len(one.parent):
            text = f"parent of {one.name} names {len(one.parent)} attributes, its business key has {len(own)}."
            raise ModelError("A reference does not name the whole key", text, _EDIT)
        schema = [ComputedColumn(part.name, name("_k0"), part.type) for part in key if part.source == "_schema"]
        values = [
            self.attribute(one.name, one.entity, path, part.declared, PARENT)
            for path, part in zip(one.parent, own, strict=True)
        ]
        return ReferenceShape(PARENT, one.name, (*schema, *values), "durable")

    def reference(self, of: Dimension | Fact, one: Reference, default: str) -> ReferenceShape:
        zone = one.time_zone or "UTC"
        if one.dimension in self.dates:
            date = self.dates[one.dimension]
            if one.on == EVENT_TIME:
                return ReferenceShape(one.name, one.dimension, (), "event", "unknown", date, zone, is_event_time=True)
            path = one.on if isinstance(one.on, str) else one.on[0][0]
            value = self.attribute(of.name, of.entity, path)
            return ReferenceShape(one.name, one.dimension, (value,), "event", "unknown", date, zone)
        target = self.declared.get(one.dimension)
        if target is None:
            raise ModelError("A dimension does not exist", f"{of.name} refers to {one.dimension}.", _EDIT)
        key = self.key(target.name, target.entity, target.business_key, target.key_includes_schema)
        on = self.looked_up(of, one, target)
        values = []
        for part in key:
            if part.source in on:
                values.append(self.expression(of.name, of.entity, on[part.source], part.declared, part.name))
            elif part.source == "_schema" and _tells_schema(of):
                values.append(ComputedColumn(part.name, name("_k0"), part.type))
            else:
                text = f"The reference {one.name} of {of.name} does not say what {part.name} of {target.name} is."
                raise ModelError("A reference does not name the whole key", text, _EDIT)
        return ReferenceShape(
            one.name, one.dimension, tuple(values), one.as_of or default, one.on_miss, cascade=one.cascade
        )

    def looked_up(self, of: Dimension | Fact, one: Reference, target: Dimension) -> dict[str, str]:
        """Return what a reference looks up, by the column of the history, or of the load, of each part of the key.

        Raises:
            ModelError: a side of it may mean several parts of the key.
        """
        parts = key_parts(target, self.history(target.name, target.entity))
        on: dict[str, str] = {}
        for left, right in one.on if not isinstance(one.on, str) else ():
            found = parts_named(right, parts)
            if len(found) > 1:
                paths = " or ".join(part.path for part in found)
                text = f"The reference {one.name} of {of.name} says {right}, which may be {paths} of {target.name}."
                raise ModelError("A reference names a part of a key that may be several", text, _EDIT)
            if found and found[0].column is not None:
                on[found[0].column.name] = left
            elif not found and right == SCHEMA and target.key_includes_schema:
                on["_schema"] = left
        return on


def _tells_schema(one: Dimension | Fact) -> bool:
    """Return whether the key of a table begins with the schema of its rows."""
    return one.key_includes_schema or (isinstance(one, Fact) and one.grain == "row")


def _junk(model: Model, fact: Fact, values: Sequence[ComputedColumn]) -> tuple[JunkShape, ...]:
    """Return the junk dimensions of a fact.

    Raises:
        ModelError: one takes what is no degenerate dimension of the fact, or what another one takes.
    """
    found = junk_of(model, fact.name)
    free = {column.name for column in fact.degenerate} & {value.name for value in values}
    for one in found:
        if strange := [column for column in one.columns if column not in free]:
            text = f"{one.name} takes {strange[0]} of {fact.name}."
            raise ModelError("A junk dimension takes degenerate dimensions, each of them once", text, _EDIT)
        free -= set(one.columns)
    return tuple(JunkShape(table=one.name, columns=tuple(v for v in values if v.name in one.columns)) for one in found)


def _negated(one: Fact, values: Sequence[ComputedColumn]) -> tuple[str, ...]:
    """Return the measures that add up: their sums are right once those of a reversal are negative."""
    adding = {measure.name for measure in one.measures if measure.additivity != "non-additive"}
    return tuple(v.name for v in values if v.name in adding and v.type.startswith(("DECIMAL", "DOUBLE")))


def last_part(path: str) -> str:
    """Return the last name of a path."""
    return split(path)[-1]
