"""Tables of a model as they stand in a target: their columns, and from which columns of a history these come."""

from __future__ import annotations

import msgspec

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.models.masked_models import NO_MASKS, TargetMasks
from metl_gui.core.warehouse_model import Dates, Model, TimesOfDay
from metl_gui.errors import UserError
from metl_gui.warehouse.plans.histories.history_tables import sql_type


class ModelError(UserError):
    """A model cannot be carried out on the histories."""


class ComputedColumn(msgspec.Struct, frozen=True):
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
        cascade: a new version of the dimension makes a new one of the table.
    """

    role: str
    dimension: str
    on: tuple[ComputedColumn, ...] = ()
    as_of: str = "event"
    on_miss: str = "infer"
    date: Dates | TimesOfDay | None = None
    time_zone: str = "UTC"
    is_event_time: bool = False
    cascade: bool = False

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
        lists: columns of a load alone, which bridges take apart.
    """

    table: str
    entity: str
    key: tuple[KeyColumn, ...]
    prefer: tuple[str, ...] = ()
    leading: str = ""
    references: tuple[ReferenceShape, ...] = ()
    columns: tuple[ComputedColumn, ...] = ()
    lists: tuple[ComputedColumn, ...] = ()


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
    def cascades(self) -> tuple[ReferenceShape, ...]:
        """Return the references by which a new version of a parent makes a new one of it."""
        return tuple(one for one in self.references if one.cascade)

    @property
    def inner_cascades(self) -> tuple[ReferenceShape, ...]:
        """Return those of them that lead to other members of the same dimension."""
        return tuple(one for one in self.cascades if one.dimension == self.table)

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
        values = (*self.columns, *self.lists, *(value for one in self.references for value in one.on))
        return tuple(dict.fromkeys(used for value in values for used in value.uses))


class JunkShape(msgspec.Struct, frozen=True, kw_only=True):
    """A junk dimension.

    Args:
        table: its name.
        columns: that it takes from its fact.
    """

    table: str
    columns: tuple[ComputedColumn, ...]

    @property
    def key(self) -> str:
        """Return the name of the column for its key, in it and in the fact."""
        return f"{self.table}_key"


class FactShape(MemberShape, frozen=True, kw_only=True):
    """A fact.

    Args:
        where: expression over the columns of the history; empty for all.
        where_uses: columns in it.
        event_time: expression over the columns of the history; empty for the commit of the first message.
        event_time_uses: columns in it.
        on_correction, on_delete: as declared.
        negated: columns of which a reversal has the negative.
        junk: dimensions that take some of its columns.
        observed: columns that periodic facts take; ``None`` where there are no periodic facts of it.
    """

    where: str = ""
    where_uses: tuple[str, ...] = ()
    event_time: str = ""
    event_time_uses: tuple[str, ...] = ()
    on_correction: str = "overwrite"
    on_delete: str = "remove"
    negated: tuple[str, ...] = ()
    junk: tuple[JunkShape, ...] = ()
    observed: tuple[str, ...] | None = None

    @property
    def own_columns(self) -> tuple[ComputedColumn, ...]:
        """Return its columns without those that junk dimensions take."""
        taken = {column.name for one in self.junk for column in one.columns}
        return tuple(one for one in self.columns if one.name not in taken)

    @property
    def reverses(self) -> bool:
        """Return whether its rows are postings, of which none is overwritten."""
        return "reverse" in (self.on_correction, self.on_delete)

    @property
    def has_moments(self) -> bool:
        """Return whether its rows follow from what it was after each message, and not from what it is alone."""
        return self.reverses or self.observed is not None

    @property
    def uses(self) -> tuple[str, ...]:
        """Return the columns of the history that it needs."""
        values = (*self.columns, *self.lists, *(value for one in self.references for value in one.on))
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


class HierarchyShape(msgspec.Struct, frozen=True, kw_only=True):
    """A hierarchy.

    Args:
        table: its name.
        dimension: of whose members.
        parent: the reference of a member to its parent.
    """

    table: str
    dimension: DimensionShape
    parent: ReferenceShape


class FactPeriodicShape(msgspec.Struct, frozen=True, kw_only=True):
    """A periodic fact of a fact.

    Args:
        table: its name.
        fact: of which it holds the states.
        every, time_zone: as of a dimension.
        columns: of the fact.
    """

    table: str
    fact: FactShape
    every: str
    time_zone: str
    columns: tuple[str, ...]


class ListBridgeShape(msgspec.Struct, frozen=True, kw_only=True):
    """A bridge of a list attribute.

    Args:
        table: its name.
        owner: the table whose rows own the lists.
        role: names the column of the elements.
        by_version: each version of a member has its own list.
        to: the reference of an element, over ``e._element``, to its dimension; ``None`` for the elements themselves.
        weight: empty for none, ``equal`` or ``declared``.
        elements, weights: columns of the load for them; the latter empty where none are declared.
        weights_are_a_list: one for each element, and not one for all.
        unfit: condition that a message does not fit.
    """

    table: str
    owner: DimensionShape | FactShape
    role: str
    by_version: bool
    to: ReferenceShape | None
    weight: str
    elements: str
    weights: str
    weights_are_a_list: bool
    unfit: str

    @property
    def owner_columns(self) -> list[tuple[str, str]]:
        """Return the columns that name an owner, and their types."""
        if isinstance(self.owner, FactShape):
            return [(part.name, part.type) for part in self.owner.key]
        version = [(self.owner.version_key, "BIGINT")] if self.by_version else []
        return [*version, (self.owner.durable_key, "BIGINT")]

    @property
    def element_column(self) -> tuple[str, str]:
        """Return the column that names an element, and its type."""
        return (self.role, "VARCHAR") if self.to is None else (self.to.durable, "BIGINT")


class PairBridgeShape(msgspec.Struct, frozen=True, kw_only=True):
    """A bridge of an entity with two references.

    Args:
        table: its name.
        links: the rows of the entity, as a fact of the loader's own; its first reference is to the owner.
        weight: as of ``ListBridgeShape``.
    """

    table: str
    links: FactShape
    weight: str

    @property
    def owner_columns(self) -> list[tuple[str, str]]:
        """Return the column that names an owner, and its type."""
        return [(self.links.references[0].durable, "BIGINT")]

    @property
    def element_column(self) -> tuple[str, str]:
        """Return the column that names an element, and its type."""
        return self.links.references[1].durable, "BIGINT"


class TableShapes(msgspec.Struct, frozen=True):
    """The tables of a model, dimensions before what refers to them.

    Args:
        model: the model.
        histories: by entity.
        dimensions: those that others refer to first.
        facts: in the order of the model.
        periodics: in the order of the model.
        hierarchies: in the order of the model.
        list_bridges, pair_bridges: in the order of the model.
        valid_at: by entity, the expression for the time since when a state holds.
        stated: by entity, its history with those columns alone of which tables are made.
        masks: what is masked, and what the target holds of it.
    """

    model: Model
    histories: dict[str, EntityHistory]
    dimensions: tuple[DimensionShape, ...]
    facts: tuple[FactShape, ...]
    periodics: tuple[PeriodicShape | FactPeriodicShape, ...]
    hierarchies: tuple[HierarchyShape, ...]
    list_bridges: tuple[ListBridgeShape, ...]
    pair_bridges: tuple[PairBridgeShape, ...]
    valid_at: dict[str, str]
    stated: dict[str, EntityHistory]
    masks: TargetMasks = NO_MASKS

    @property
    def entities(self) -> tuple[str, ...]:
        """Return the entities that tables are made of."""
        return tuple(dict.fromkeys(one.entity for one in (*self.dimensions, *self.facts)))

    @property
    def derived(self) -> tuple[str, ...]:
        """Return the names of all tables that follow from others or refer to them, so of all but dimensions."""
        own = [one.links.table for one in self.pair_bridges]
        facts = [one for one in self.facts if one.table not in own]
        tables = [table for one in facts for table in (one.table, *(junk.table for junk in one.junk))]
        tables += [one.table for one in self.periodics] + [one.table for one in self.hierarchies]
        return (*tables, *(one.table for one in self.bridges))

    @property
    def bridges(self) -> tuple[ListBridgeShape | PairBridgeShape, ...]:
        """Return the bridges of both kinds."""
        return (*self.list_bridges, *self.pair_bridges)

    @property
    def missing(self) -> tuple[FactShape, ...]:
        """Return the facts of which a reference does not infer what is not known."""
        return tuple(one for one in self.facts if any(r.date is None and r.on_miss != "infer" for r in one.references))

    @property
    def revisited(self) -> tuple[DimensionShape | FactShape, ...]:
        """Return the tables of which rows are made anew where members that they refer to change."""
        return (*(one for one in self.dimensions if one.cascades), *self.missing)

    def conversions(self, entity: str) -> dict[str, str]:
        """Return, by table and column, the conditions that a message of an entity does not fit a table."""
        found: dict[str, str] = {}
        for shape in self.of_entity(entity):
            values = [*shape.columns, *(value for one in shape.references for value in one.on if not one.date)]
            for value in values:
                column = f"{shape.table}.{value.name}"
                if value.unfit:
                    # Two references to one dimension look up columns of one name.
                    found[column] = f"({found[column]} OR {value.unfit})" if column in found else value.unfit
        lists = (one for one in self.list_bridges if one.owner.entity == entity)
        return found | {f"{one.table}.{one.role}": one.unfit for one in lists}

    def of_entity(self, entity: str) -> tuple[MemberShape, ...]:
        """Return the tables that are made of an entity."""
        return tuple(one for one in (*self.dimensions, *self.facts) if one.entity == entity)

    def dimension(self, table: str) -> DimensionShape:
        """Return a dimension by its name."""
        return next(one for one in self.dimensions if one.table == table)
