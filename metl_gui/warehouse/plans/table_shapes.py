"""Tables of a model as they stand in a target: their columns, and from which columns of a history these come."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec
from sqlglot import exp

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.trees.paths import join, split
from metl_gui.core.warehouse_model import (
    EVENT_TIME,
    Column,
    Dates,
    Dimension,
    Fact,
    Model,
    Periodic,
    Reference,
    TimesOfDay,
)
from metl_gui.errors import UserError
from metl_gui.warehouse.plans.history_tables import sql_type
from metl_gui.warehouse.plans.statements import WRITTEN_IN, name

Histories: TypeAlias = Mapping[str, EntityHistory]
Parse: TypeAlias = Callable[[str], exp.Expr]
"""Reads a row expression, in which dotted names are attributes, and refuses what is none."""


class ModelError(UserError):
    """A model cannot be carried out on the histories."""


class Value(msgspec.Struct, frozen=True):
    """A column of a table of the target.

    Args:
        name: of the column.
        sql: expression over the columns of the history.
        type: of the target, in the dialect in which plans are written.
        uses: columns of the history in it.
        unfit: condition that a message has a value which the type cannot hold exactly; empty where it holds all.
        history: of a column of a dimension, see ``core.warehouse_model.History``.
    """

    name: str
    sql: str
    type: str
    uses: tuple[str, ...] = ()
    history: int = 1
    unfit: str = ""


class KeyColumn(msgspec.Struct, frozen=True):
    """A part of a business key or grain.

    Args:
        name: of the column in the target.
        source: column of the history, or of the load's own tables.
        declared: type of the model or the history.
    """

    name: str
    source: str
    declared: str

    @property
    def type(self) -> str:
        """Return the type of the target."""
        return sql_type(self.declared)


class ReferenceShape(msgspec.Struct, frozen=True):
    """A reference to a dimension.

    Args:
        role: begins the names of its columns.
        dimension: its name.
        on: values in the order of the dimension's key.
        as_of: as declared or by default.
        on_miss: what becomes of a fact whose member is not known.
        date: it is a reference to a table of days or times of day: its key follows from the value.
        time_zone: of the day.
        is_event_time: what is looked up is the event time of the fact.
    """

    role: str
    dimension: str
    on: tuple[Value, ...] = ()
    as_of: str = "event"
    on_miss: str = "infer"
    date: Dates | TimesOfDay | None = None
    time_zone: str = "UTC"
    is_event_time: bool = False

    @property
    def key(self) -> str:
        """Return the name of the column for the key of a version, or of the day."""
        return f"{self.role}_key"

    @property
    def durable(self) -> str:
        """Return the name of the column for the key of the member."""
        return f"{self.role}_durable_key"

    @property
    def has_key(self) -> bool:
        """Return whether the table holds the key of a version."""
        return self.as_of != "durable"

    @property
    def has_durable(self) -> bool:
        """Return whether the table holds the key of a member."""
        return self.date is None


class MemberShape(msgspec.Struct, frozen=True, kw_only=True):
    """What a dimension and a fact have in common: who owns states.

    Args:
        table: its name.
        entity: whose messages it is made of.
        key: business key or grain.
        prefer, leading: as declared.
        references: to dimensions.
        columns: without the key; of a fact its measures and degenerate dimensions.
    """

    table: str
    entity: str
    key: tuple[KeyColumn, ...]
    prefer: tuple[str, ...] = ()
    leading: str = ""
    references: tuple[ReferenceShape, ...] = ()
    columns: tuple[Value, ...] = ()


class DimensionShape(MemberShape, frozen=True, kw_only=True):
    """A dimension.

    Args:
        covers_past: the first version covers the time before it.
        on_delete: what becomes of a member whose rows are deleted.
        unknown, not_applicable: values of the rows with the keys 0 and -1.
    """

    covers_past: bool = True
    on_delete: str = "close"
    unknown: tuple[tuple[str, str], ...] = ()
    not_applicable: tuple[tuple[str, str], ...] = ()

    @property
    def version_key(self) -> str:
        """Return the name of the column for the key of a version."""
        return f"{self.table}_key"

    @property
    def durable_key(self) -> str:
        """Return the name of the column for the key of a member."""
        return f"{self.table}_durable_key"

    @property
    def uses(self) -> tuple[str, ...]:
        """Return the columns of the history that it needs, without its key."""
        values = (*self.columns, *(value for one in self.references for value in one.on))
        return tuple(dict.fromkeys(used for value in values for used in value.uses))


class FactShape(MemberShape, frozen=True, kw_only=True):
    """A fact.

    Args:
        where: expression over the columns of the history; empty for all.
        where_uses: columns in it.
        event_time: expression over the columns of the history; empty for the commit of the first message.
        event_time_uses: columns in it.
        on_correction, on_delete: as declared.
    """

    where: str = ""
    where_uses: tuple[str, ...] = ()
    event_time: str = ""
    event_time_uses: tuple[str, ...] = ()
    on_correction: str = "overwrite"
    on_delete: str = "remove"

    @property
    def uses(self) -> tuple[str, ...]:
        """Return the columns of the history that it needs."""
        values = (*self.columns, *(value for one in self.references for value in one.on))
        used = [column for value in values for column in value.uses]
        return tuple(dict.fromkeys((*used, *self.where_uses, *self.event_time_uses)))


class PeriodicShape(msgspec.Struct, frozen=True, kw_only=True):
    """A periodic fact.

    Args:
        table: its name.
        dimension: of whose members it holds the states.
        every: ``day``, ``week`` or ``month``.
        time_zone: in which days end.
        columns: of the dimension.
    """

    table: str
    dimension: DimensionShape
    every: str
    time_zone: str
    columns: tuple[str, ...]


class TableShapes(msgspec.Struct, frozen=True):
    """The tables of a model, dimensions before what refers to them.

    Args:
        model: the model.
        histories: by entity.
        dimensions: those that others refer to first.
        facts: in the order of the model.
        periodics: in the order of the model.
        valid_at: by entity, the expression for the time since when a state holds.
    """

    model: Model
    histories: dict[str, EntityHistory]
    dimensions: tuple[DimensionShape, ...]
    facts: tuple[FactShape, ...]
    periodics: tuple[PeriodicShape, ...]
    valid_at: dict[str, str]

    @property
    def entities(self) -> tuple[str, ...]:
        """Return the entities that tables are made of."""
        return tuple(dict.fromkeys(one.entity for one in (*self.dimensions, *self.facts)))

    @property
    def missing(self) -> tuple[FactShape, ...]:
        """Return the facts of which a reference does not infer what is not known."""
        return tuple(one for one in self.facts if any(r.date is None and r.on_miss != "infer" for r in one.references))

    def conversions(self, entity: str) -> dict[str, str]:
        """Return, by table and column, the conditions that a message of an entity does not fit a table."""
        found: dict[str, str] = {}
        for shape in self.of_entity(entity):
            values = [*shape.columns, *(value for one in shape.references for value in one.on if not one.date)]
            found |= {f"{shape.table}.{value.name}": value.unfit for value in values if value.unfit}
        return found

    def of_entity(self, entity: str) -> tuple[MemberShape, ...]:
        """Return the tables that are made of an entity."""
        return tuple(one for one in (*self.dimensions, *self.facts) if one.entity == entity)

    def dimension(self, table: str) -> DimensionShape:
        """Return a dimension by its name."""
        return next(one for one in self.dimensions if one.table == table)


def shapes(model: Model, histories: Sequence[EntityHistory], parse: Parse) -> TableShapes:
    """Return the tables of a model over histories.

    Raises:
        ModelError: an attribute, a table or an entity does not exist.
    """
    _check_supported(model)
    by_entity = {one.entity: one for one in histories}
    maker = _Maker(model, by_entity, parse)
    dimensions = [maker.dimension(one) for one in model.dimensions]
    facts = tuple(maker.fact(one) for one in model.facts)
    valid_at: dict[str, str] = {}
    for one in model.dimensions:
        if one.valid_at:
            value = maker.attribute(one.name, one.entity, one.valid_at)
            valid_at[one.entity] = f"CAST({value.sql} AS TIMESTAMPTZ)"
    periodics = tuple(_periodic(one, dimensions) for one in model.tables if isinstance(one, Periodic))
    return TableShapes(model, by_entity, tuple(_in_levels(dimensions)), facts, periodics, valid_at)


def _periodic(one: Periodic, dimensions: Sequence[DimensionShape]) -> PeriodicShape:
    found = next((each for each in dimensions if each.table == one.of), None)
    if found is None:
        text = f"{one.name} is of {one.of}, which is no dimension."
        raise ModelError("Loads do not carry this out yet", text, "Make it of a dimension.")
    known = {part.name for part in found.key} | {column.name for column in found.columns}
    if unknown := [column for column in one.columns if column not in known]:
        text = f"{one.name} has the column {unknown[0]}, which {one.of} does not have."
        raise ModelError("A column does not exist", text, _EDIT)
    return PeriodicShape(table=one.name, dimension=found, every=one.every, time_zone=one.time_zone, columns=one.columns)


def _check_supported(model: Model) -> None:
    """Refuse what loads do not carry out, so that nothing declared is silently left undone.

    Raises:
        ModelError: the error names the table and what it declares.
    """
    for table in model.tables:
        asked: list[str] = []
        if not isinstance(table, Dimension | Fact | Periodic | Dates | TimesOfDay):
            asked.append(f"kind {type(table).__name__.lower()}")
        if isinstance(table, Dimension):
            asked += ["infinity: null"] * (table.infinity == "null")
            asked += ["parent"] * bool(table.parent)
        if isinstance(table, Fact):
            asked += ["event_times"] * bool(table.event_times) + ["junk"] * bool(table.junk)
            asked += ["on_correction: reverse"] * (table.on_correction == "reverse")
            asked += ["on_delete: reverse"] * (table.on_delete == "reverse")
        if isinstance(table, Dates):
            asked += [f"locale: {table.locale}"] * (table.locale != "en")
        if isinstance(table, Dimension | Fact):
            asked += ["cascade: true"] * any(one.cascade for one in table.references)
            asked += ["indexes"] * bool(table.indexes) + ["grants"] * bool(table.grants)
        if asked:
            text = f"The table {table.name} declares {', '.join(asked)}."
            raise ModelError("Loads do not carry this out yet", text, "Leave it out, or load by a model without it.")


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


_EDIT = "Change the model with “metl warehouse import” or “set”."


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
    ) -> Value:
        column = self.column(table, entity, path)
        type_ = type_ or column.type
        sql, unfit = converted(name(column.name), column.type, type_)
        return Value(label, sql, sql_type(type_), (column.name,), history, unfit)

    def expression(self, table: str, entity: str, text: str, type_: str, label: str = "", history: int = 1) -> Value:
        """Return the value of a row expression, or of a path."""
        history_of = self.history(table, entity)
        if history_of.at_path(text) is not None:
            return self.attribute(table, entity, text, type_, label, history)
        uses: list[str] = []

        def in_columns(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column | exp.Dot):
                return node
            column = self.column(table, entity, join(part.name for part in node.parts))
            uses.append(column.name)
            return exp.column(column.name, quoted=True)

        sql = _tried(self.parse(text).transform(in_columns)).sql(dialect=WRITTEN_IN)
        cast, unfit = converted(f"({sql})", "", type_ or "text")
        return Value(label, cast, sql_type(type_ or "text"), tuple(dict.fromkeys(uses)), history, unfit)

    def value(self, table: str, entity: str, column: Column) -> Value:
        if column.expression:
            return self.expression(table, entity, column.expression, column.type, column.name, column.history)
        return self.attribute(table, entity, column.path, column.type, column.name, column.history)

    def key(self, table: str, entity: str, paths: Sequence[str], with_schema: bool) -> tuple[KeyColumn, ...]:
        found = [self.column(table, entity, path) for path in paths or self.history(table, entity).key]
        if not found:
            text = f"{table} declares no business key, and the entity {entity} has none."
            raise ModelError("A table has no key", text, _EDIT)
        own = [KeyColumn(last_part(one.path), one.name, one.type) for one in found]
        return (KeyColumn("schema", "_schema", "text"), *own) if with_schema else tuple(own)

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
            unknown=one.unknown,
            not_applicable=one.not_applicable,
        )

    def fact(self, one: Fact) -> FactShape:
        if one.grain == "row":
            key: tuple[KeyColumn, ...] = (
                KeyColumn("schema", "_schema", "text"),
                KeyColumn("row_key", "_row", "text"),
            )
        else:
            key = self.key(one.name, one.entity, one.grain, one.key_includes_schema)
        taken = {part.name for part in key}
        values = [self.value(one.name, one.entity, column) for column in (*one.measures, *one.degenerate)]
        where = self.expression(one.name, one.entity, one.where, "boolean") if one.where else None
        event = self.attribute(one.name, one.entity, one.event_time) if one.event_time else None
        return FactShape(
            table=one.name,
            entity=one.entity,
            key=key,
            prefer=one.prefer,
            leading=one.leading,
            references=tuple(self.reference(one, reference, "event") for reference in one.references),
            columns=tuple(value for value in values if value.name not in taken),
            where=where.sql if where else "",
            where_uses=where.uses if where else (),
            event_time=f"CAST({event.sql} AS TIMESTAMPTZ)" if event else "",
            event_time_uses=event.uses if event else (),
            on_correction=one.on_correction,
            on_delete=one.on_delete,
        )

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
        on = {right: left for left, right in one.on} if not isinstance(one.on, str) else {}
        values = []
        for part in key:
            looked_up = next((left for right, left in on.items() if part.name == last_part(right)), None)
            if looked_up is None:
                text = f"The reference {one.name} of {of.name} does not say what {part.name} of {target.name} is."
                raise ModelError("A reference does not name the whole key", text, _EDIT)
            values.append(self.expression(of.name, of.entity, looked_up, part.declared, part.name))
        return ReferenceShape(one.name, one.dimension, tuple(values), one.as_of or default, one.on_miss)


def _tried(tree: exp.Expr) -> exp.Expr:
    """Return an expression in which what cannot be cast is null: one message must not end a load."""
    for cast in reversed(list(tree.find_all(exp.Cast))):
        if not isinstance(cast, exp.TryCast):
            tried = exp.TryCast(this=cast.this, to=cast.args["to"])
            if cast is tree:
                tree = tried
            else:
                cast.replace(tried)
    return tree


def last_part(path: str) -> str:
    """Return the last name of a path."""
    return split(path)[-1]


def converted(sql: str, of: str, to: str) -> tuple[str, str]:
    """Return the expression that gives a value as another type, and the condition that it would not be the same value.

    Args:
        sql: the value.
        of: its type; empty for one that is not known.
        to: the type that it becomes.
    """
    if of and sql_type(of) == sql_type(to):
        longest = _LENGTH.fullmatch(to)
        return sql, f"LENGTH({sql}) > {longest[1]}" if longest else ""
    cast = f"TRY_CAST({sql} AS {sql_type(to)})"
    if to in ("text", "json"):
        return cast, ""
    unfit = f"({sql} IS NOT NULL AND {cast} IS NULL)"
    decimal = _DECIMAL.fullmatch(to)
    if decimal:
        digits, scale = int(decimal[1]), int(decimal[2])
        exact = f"TRY_CAST({sql} AS DECIMAL({_DIGITS}, {_DIGITS - digits + scale}))"
        unfit = f"({unfit} OR {cast} <> {exact})"
    return cast, unfit


_DIGITS = 38
_DECIMAL = re.compile(r"decimal\((\d+), *(\d+)\)")
_LENGTH = re.compile(r"text\((\d+)\)")
