"""Checks of a warehouse model against a document: every problem found, nothing raised.

Codes begin with ``warehouse.``; places are ``MODEL: TABLE`` or ``MODEL: TABLE.COLUMN``.

Source: docs/reference/warehouse-model.md, "Checks".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.core.dimensional.histories import DECIMAL_DIGITS, TYPES, HistoryColumn
from metl_gui.core.dimensional.models.attribute_uses import new_attributes
from metl_gui.core.dimensional.models.calendar_names import calendar_names
from metl_gui.core.dimensional.models.fact_checks import FactChecks
from metl_gui.core.dimensional.models.key_parts import SCHEMA, KeyPart, key_parts, parts_named
from metl_gui.core.dimensional.models.name_checks import twice
from metl_gui.core.dimensional.models.part_checks import KEY_SUFFIX, MOST_NAMED, AttributesOf, is_type, type_family
from metl_gui.core.dimensional.models.special_values import is_day
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import (
    EVENT_TIME,
    FROM_ENTITY,
    PARENT,
    Bridge,
    Column,
    Dates,
    Dimension,
    Fact,
    Hierarchy,
    Junk,
    Model,
    Periodic,
    Reference,
    Related,
    Table,
    TimesOfDay,
)
from metl_gui.errors import EditError, near_names


def check_model(
    document: Document, model: Model, attributes_of: AttributesOf, *, production: bool = False
) -> tuple[Problem, ...]:
    """Run every check on a model.

    Order: errors first, then by place and code.

    Args:
        document: the state that its entities are of.
        model: what is checked.
        attributes_of: reads row expressions.
        production: what no published block maps is an error, as for targets of production runs.
    """
    found = set(_Checker(document, model, attributes_of, production).problems())
    order = list(Severity)
    return tuple(sorted(found, key=lambda p: (order.index(p.severity), p.place, p.code, p.message)))


class _Checker(FactChecks):
    """The checks of the tables of one model; each method yields what it finds."""

    def problems(self) -> Iterator[Problem]:
        yield from self.model_names()
        yield from self.entity_names()
        yield from self.listed_entities()
        yield from self.cycles()
        yield from self.valid_at()
        yield from self.new_attributes()
        for table in self.model.tables:
            yield from self.table(table)

    def listed_entities(self) -> Iterator[Problem]:
        listed = self.model.entities
        for name in listed or ():
            yield from self.entity(name, "")
        for table in self.model.tables:
            entity = getattr(table, "entity", "")
            if listed is not None and entity and entity not in listed:
                text = f"The entity {entity} is not among those whose histories are kept."
                yield self.problem(
                    "warehouse.entity-not-kept", table.name, text, "Add it to entities, or leave that out."
                )

    def cycles(self) -> Iterator[Problem]:
        """Name the dimensions that refer to one another in a circle; one that refers to itself is a hierarchy."""
        left = {
            table.name: {reference.dimension for reference in table.references} - {table.name}
            for table in self.model.dimensions
        }
        while ready := [name for name, to in left.items() if not to & left.keys()]:
            for name in ready:
                del left[name]
        if left:
            names = ", ".join(sorted(left))
            text = f"The dimensions {names} refer to one another in a circle."
            yield self.problem("warehouse.cycle", min(left), text, "Leave one of the references out.")

    def valid_at(self) -> Iterator[Problem]:
        seen: dict[str, Dimension] = {}
        for table in self.model.dimensions:
            first = seen.setdefault(table.entity, table)
            if _times_of(first) != _times_of(table):
                member = "valid_at" if first.valid_at != table.valid_at else "infinity"
                text = f"{first.name} and {table.name} are of the entity {table.entity} and differ in {member}."
                yield self.problem(
                    "warehouse.valid-at-differs", table.name, text, "Give all tables of an entity the same."
                )

    def new_attributes(self) -> Iterator[Problem]:
        """Name what the newest versions of entities have that no table takes, each at the first table of its entity."""
        of_entity = {table.entity: table for table in reversed(self.model.tables) if isinstance(table, FROM_ENTITY)}
        for entity, paths in new_attributes(self.model, self.facts, self.attributes_of).items():
            more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
            text = f"New in the newest version of {entity}, and in no table: {', '.join(paths[:MOST_NAMED])}{more}."
            hint = "Add a column, in the window by “Add column…”, or leave them out."
            yield self.problem("warehouse.new-attribute", of_entity[entity].name, text, hint, Severity.NOTE)

    def table(self, table: Table) -> Iterator[Problem]:
        match table:
            case Dimension():
                yield from self.of_entity(table, table.business_key, "business_key")
                yield from self.dimension(table)
            case Fact():
                yield from self.of_entity(table, () if table.grain == "row" else table.grain, "grain")
                yield from self.fact(table)
            case Periodic():
                yield from self.periodic(table)
            case Bridge():
                yield from self.bridge(table)
            case Hierarchy():
                yield from self.hierarchy(table)
            case Junk():
                yield from self.junk(table)
            case Dates():
                yield from self.dates(table)

    def of_entity(self, table: Dimension | Fact, key: tuple[str, ...], member: str) -> Iterator[Problem]:
        """Check what dimensions and facts have alike: entity, key, columns, references."""
        yield from self.entity(table.entity, table.name)
        history = self.facts.history(table.entity)
        if history is None:
            return
        by_row = isinstance(table, Fact) and table.grain == "row"
        if not key and not history.key and not by_row:
            hint = f"State {member}, or give the entity a key" + (
                ", or take each message: grain: row." if isinstance(table, Fact) else "."
            )
            yield self.problem("warehouse.no-key", table.name, f"The entity {table.entity} has no key.", hint)
        for path in key:
            yield from self.attribute(table.name, table.entity, path, member)
        if not by_row:
            yield from self.key_in_schemas(table, key or history.key)
        for column in () if isinstance(table, Dimension) and table.columns == "all" else self.columns_of(table):
            yield from self.column(table, column)
        yield from self.column_names(table)
        yield from self.grants(table.name, table.grants)
        yield from self.schemas(table)
        for reference in table.references:
            yield from self.reference(table.name, table.entity, reference, isinstance(table, Fact))
        roles = [reference.name for reference in table.references]
        roles += [one.role or one.name for one in table.event_times] if isinstance(table, Fact) else []
        roles += [PARENT] if isinstance(table, Dimension) and table.parent else []
        for name in twice(roles):
            text = f"Two references have the role {name}."
            yield self.problem("warehouse.role-twice", f"{table.name}.{name}", text, "Give one of them another role.")

    def column(self, table: Dimension | Fact, column: Column) -> Iterator[Problem]:
        place = f"{table.name}.{column.name}"
        yield from self.name(column.name, place, "column")
        if bool(column.path) == bool(column.expression):
            text = "A column is an attribute or an expression" + (", not both." if column.path else ".")
            yield self.problem("warehouse.column", place, text, "State one of from and expression.")
        if column.path:
            yield from self.attribute(place, table.entity, column.path, "it")
        if column.expression:
            yield from self.expression(place, table.entity, column.expression, "it")
        yield from self.related(place, column)
        if column.type and not is_type(column.type):
            text = f"{column.type} is no type."
            hint = f"Types are {', '.join(TYPES)}, decimal(p,s) of {DECIMAL_DIGITS} digits at most, text(n)."
            yield self.problem("warehouse.type", place, text, hint)

    def related(self, place: str, column: Column) -> Iterator[Problem]:
        """Check the tables that tests of a column name."""
        for test in column.tests:
            if isinstance(test, Related):
                yield from self.owner(place, test.table, FROM_ENTITY, "dimension or fact")
                of = self.model.table(test.table)
                if isinstance(of, FROM_ENTITY):
                    yield from self.known_columns(place, (test.column,), self.all_columns(of))

    def key_in_schemas(self, table: Dimension | Fact, key: tuple[str, ...]) -> Iterator[Problem]:
        """Name the schemas that feed the entity and do not map all of the key: their states make no row."""
        names = self.facts.schemas_without(table.entity, key)
        if names:
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            text = f"{', '.join(names[:MOST_NAMED])}{more} feed {table.entity} and do not map all of its key."
            hint = "What they send makes no row here; map the key, or take another one."
            yield self.problem("warehouse.no-business-key", table.name, text, hint, Severity.WARNING)

    def schemas(self, table: Dimension | Fact) -> Iterator[Problem]:
        for name in (*table.prefer, *((table.leading,) if table.leading else ())):
            if self.document.extraction.named(name) is None:
                known = [schema.name for schema in self.document.extraction.schemas()]
                text = f"There is no schema {name}."
                yield self.problem(
                    "warehouse.unknown-schema", table.name, text, near_names(name, known), Severity.WARNING
                )

    def dimension(self, table: Dimension) -> Iterator[Problem]:
        if table.valid_at:
            yield from self.time(table.name, table.entity, table.valid_at, "valid_at")
        history = self.facts.history(table.entity)
        key = table.business_key or (history.key if history else ())
        if table.parent and len(table.parent) != len(key):
            text = f"parent names {len(table.parent)} attributes, the business key has {len(key)}."
            yield self.problem(
                "warehouse.key-differs", table.name, text, "Name one attribute for each part of the key."
            )
        for path in table.parent:
            yield from self.attribute(table.name, table.entity, path, "parent")

    def reference(self, table: str, entity: str, reference: Reference, is_fact: bool) -> Iterator[Problem]:
        place = f"{table}.{reference.name}"
        yield from self.name(reference.name, place, "reference", len(KEY_SUFFIX))
        if reference.time_zone:
            yield from self.zone(place, reference.time_zone)
        allowed = ("event", "current") if is_fact else ("durable", "current", "version")
        if reference.as_of and reference.as_of not in allowed:
            text = f"A reference of a {'fact' if is_fact else 'dimension'} cannot be as of {reference.as_of}."
            yield self.problem("warehouse.as-of", place, text, f"Choose one of {', '.join(allowed)}.")
        target = self.model.table(reference.dimension)
        if isinstance(target, Dates | TimesOfDay):
            yield from self.calendar_reference(place, table, entity, reference, target)
        elif isinstance(target, Dimension):
            yield from self.member_reference(table, entity, reference, target)
        else:
            yield from self.no_dimension(place, reference.dimension, target)

    def no_dimension(self, place: str, name: str, target: Table | None) -> Iterator[Problem]:
        if target is None:
            known = [one.name for one in self.model.tables if isinstance(one, Dimension | Dates | TimesOfDay)]
            yield self.problem(
                "warehouse.unknown-table", place, f"There is no dimension {name}.", near_names(name, known)
            )
        else:
            yield self.problem("warehouse.no-dimension", place, f"{name} is no dimension.", "Refer to a dimension.")

    def calendar_reference(
        self, place: str, table: str, entity: str, reference: Reference, target: Dates | TimesOfDay
    ) -> Iterator[Problem]:
        """Check a reference to days or times of the day."""
        if not isinstance(reference.on, str) or not reference.on:
            text = f"What is looked up in {target.name} is one attribute or {EVENT_TIME}."
            yield self.problem("warehouse.on", place, text, f"Write on: {EVENT_TIME}, or on: and the attribute.")
            return
        owner = self.model.table(table)
        path = reference.on
        if path == EVENT_TIME:
            path = owner.event_time if isinstance(owner, Fact) else ""
            if not isinstance(owner, Fact):
                yield self.problem(
                    "warehouse.on", place, f"{table} is no fact and has no {EVENT_TIME}.", "Name an attribute."
                )
                return
        else:
            yield from self.time(place, entity, path, "it")
        found = self.facts.column(entity, path) if path else None
        if not reference.time_zone and (not path or (found is not None and found.type == "instant")):
            text = "The reference is from an instant and states no time zone."
            hint = "State time_zone; UTC is taken otherwise, and days begin elsewhere."
            yield self.problem("warehouse.time-zone", place, text, hint, Severity.WARNING)

    def member_reference(self, table: str, entity: str, reference: Reference, target: Dimension) -> Iterator[Problem]:
        """Check a reference to a dimension that is made of an entity: number, names and types of the key."""
        place = f"{table}.{reference.name}"
        parts = key_parts(target, self.facts.history(target.entity))
        key = ", ".join(part.path for part in parts)
        if isinstance(reference.on, str) or not reference.on:
            text = f"The reference does not say what the business key of {target.name} is."
            yield self.problem("warehouse.on", place, text, f"Write on: {{ATTRIBUTE: {key or 'KEY'}}}.")
            return
        on = reference.on
        if target.key_includes_schema:
            on = tuple(pair for pair in on if pair[1] != SCHEMA or parts_named(SCHEMA, parts))
            schemas = [left for left, right in reference.on if right == SCHEMA and (left, right) not in on]
            yield from self.schema_part(table, reference, entity, schemas)
        if len(on) != len(parts):
            text = f"The reference names {len(on)} columns, the business key of {target.name} has {len(parts)}."
            yield self.problem("warehouse.key-differs", place, text, f"The key is {key}.")
        named = [found[0].path for _, right in on if len(found := parts_named(right, parts)) == 1]
        for path in twice(named):
            text = f"The reference names {path} of the key of {target.name} twice."
            yield self.problem("warehouse.key-differs", place, text, f"The key is {key}.")
        for left, right in on:
            yield from self.value(place, entity, left, "the reference")
            yield from self.key_side(place, self.facts.column(entity, left), right, target, parts)

    def key_side(
        self, place: str, left: HistoryColumn | None, right: str, target: Dimension, parts: Sequence[KeyPart]
    ) -> Iterator[Problem]:
        """Check that the right side of a reference is one part of the key, and of the type of the left one."""
        found = parts_named(right, parts)
        paths = [part.path for part in parts]
        if not found:
            hint = near_names(right, paths) or f"The key is {', '.join(paths)}."
            yield self.problem("warehouse.key-differs", place, f"{right} is not in the key of {target.name}.", hint)
        elif len(found) > 1:
            text = f"{right} may be {' or '.join(part.path for part in found)} of the key of {target.name}."
            yield self.problem("warehouse.key-differs", place, text, "Name the whole path.")
        else:
            yield from self.key_type(place, left, found[0].column)

    def schema_part(self, table: str, reference: Reference, entity: str, lefts: Sequence[str]) -> Iterator[Problem]:
        """Check what a reference says of the schema in a key: where it is silent, rows say it by their own keys.

        Args:
            table: that refers.
            reference: to a dimension whose key takes in the schema.
            entity: whose messages the table is made of.
            lefts: what the reference looks up as the schema.
        """
        place, owner = f"{table}.{reference.name}", self.model.table(table)
        for left in lefts:
            yield from self.value(place, entity, left, "the schema")
            found = self.facts.column(entity, left)
            if found is not None and type_family(found.type) != "text":
                text = f"{left} is {found.type}, and the schema in the key of {reference.dimension} is text."
                yield self.problem("warehouse.key-type", place, text, "Name what holds the name of a schema.")
        if len(lefts) > 1:
            text = f"The reference names the schema in the key of {reference.dimension} twice."
            yield self.problem("warehouse.key-differs", place, text, "Name it once.")
        if not lefts and not (isinstance(owner, FROM_ENTITY) and SCHEMA in self.own_columns(owner)):
            text = f"The key of {reference.dimension} takes in the schema, and that of {table} does not say which."
            ways = f"State key_includes_schema of {table}, too, or look" if isinstance(owner, FROM_ENTITY) else "Look"
            hint = f"{ways} the schema up: on: {{\"'NAME'\": {SCHEMA}, …}}."
            yield self.problem("warehouse.key-differs", place, text, hint)

    def key_type(self, place: str, left: HistoryColumn | None, right: HistoryColumn | None) -> Iterator[Problem]:
        if left is None or right is None or type_family(left.type) == type_family(right.type):
            return
        text = f"{left.path} is {left.type}, and {right.path} of the key is {right.type}."
        hint = f'Write an expression that makes it one, such as "cast({left.path} as {_cast_type(right.type)})".'
        yield self.problem("warehouse.key-type", place, text, hint)

    def owner(self, table: str, of: str, kinds: tuple[type[Table], ...], noun: str) -> Iterator[Problem]:
        """Check the table that another one is of."""
        found = self.model.table(of)
        if found is None:
            hint = near_names(of, [one.name for one in self.model.tables])
            yield self.problem("warehouse.unknown-table", table, f"There is no table {of}.", hint)
        elif not isinstance(found, kinds):
            yield self.problem("warehouse.no-owner", table, f"{of} is no {noun}.", f"Name a {noun}.")

    def periodic(self, table: Periodic) -> Iterator[Problem]:
        yield from self.owner(table.name, table.of, FROM_ENTITY, "dimension or fact")
        yield from self.zone(table.name, table.time_zone)
        of = self.model.table(table.of)
        if isinstance(of, FROM_ENTITY):
            yield from self.periodic_columns(table, of)

    def bridge(self, table: Bridge) -> Iterator[Problem]:
        yield from self.bridge_names(table)
        if table.entity:
            yield from self.entity(table.entity, table.name)
            if len(table.references) != 2:
                text = f"A bridge that is an entity has two references, not {len(table.references)}."
                yield self.problem("warehouse.bridge", table.name, text, "State both.")
            for reference in table.references:
                yield from self.bridge_reference(table, reference)
            if table.as_of == "version":
                text = "What of an entity lives belongs to members, and not to versions of them."
                yield self.problem(
                    "warehouse.bridge", table.name, text, "Leave as_of out, or take a list of the owner."
                )
            if table.weight not in ("", "equal"):
                yield from self.attribute(table.name, table.entity, table.weight, "weight")
            return
        if not table.of or not table.list_path:
            text = "A bridge is of a table and its list, or of an entity with two references."
            yield self.problem("warehouse.bridge", table.name, text, "State of and list, or entity and references.")
            return
        yield from self.owner(table.name, table.of, FROM_ENTITY, "dimension or fact")
        of = self.model.table(table.of)
        if isinstance(of, FROM_ENTITY):
            yield from self.attribute(table.name, of.entity, table.list_path, "list")
            if table.weight not in ("", "equal"):
                yield from self.attribute(table.name, of.entity, table.weight, "weight")
            yield from self.bridge_owner(table, of)
        target = self.model.table(table.to)
        if isinstance(target, Dimension):
            yield from self.bridge_element(table, target)
        elif table.to:
            yield from self.no_dimension(table.name, table.to, target)

    def bridge_reference(self, table: Bridge, reference: Reference) -> Iterator[Problem]:
        """Check a reference of a bridge of an entity: it is to a member, whatever its versions."""
        yield from self.reference(table.name, table.entity, reference, is_fact=False)
        place = f"{table.name}.{reference.name}"
        target = self.model.table(reference.dimension)
        if isinstance(target, Dates | TimesOfDay):
            yield self.problem("warehouse.no-dimension", place, f"{target.name} has no members.", _OF_MEMBERS)
        if reference.as_of == "version" or reference.cascade:
            text = "A bridge of an entity has the members of its references, and not their versions."
            yield self.problem("warehouse.as-of", place, text, "Leave as_of and cascade out.")

    def bridge_owner(self, table: Bridge, of: Dimension | Fact) -> Iterator[Problem]:
        """Check that there is a list, and that rows of its owner can be named."""
        found = self.facts.column(of.entity, table.list_path)
        if found is not None and found.type != "json":
            text = f"{table.list_path} of {of.entity} is {found.type}, and no list."
            yield self.problem("warehouse.bridge", table.name, text, "Take an attribute that is an array.")
        if not isinstance(of, Fact):
            return
        if table.as_of == "version":
            text = f"{of.name} is a fact, which has no versions."
            yield self.problem("warehouse.bridge", table.name, text, "Leave as_of out.")
        if "reverse" in (of.on_correction, of.on_delete):
            text = f"{of.name} reverses, so that several rows of it have one grain."
            yield self.problem("warehouse.bridge", table.name, text, "Let it be of a fact that overwrites.")

    def bridge_element(self, table: Bridge, to: Dimension) -> Iterator[Problem]:
        """Check that an element of a list, which is one value, can be a business key."""
        history = self.facts.history(to.entity)
        key = to.business_key or (history.key if history else ())
        if len(key) > 1 or to.key_includes_schema:
            parts = ", ".join(("schema", *key) if to.key_includes_schema else key)
            text = f"An element of a list is one value, and the business key of {to.name} is {parts}."
            yield self.problem("warehouse.bridge", table.name, text, _OF_MEMBERS)

    def hierarchy(self, table: Hierarchy) -> Iterator[Problem]:
        yield from self.owner(table.name, table.of, (Dimension,), "dimension")
        of = self.model.table(table.of)
        if isinstance(of, Dimension) and not of.parent:
            yield self.problem("warehouse.no-parent", table.name, f"{of.name} states no parent.", "State parent there.")

    def junk(self, table: Junk) -> Iterator[Problem]:
        yield from self.owner(table.name, table.of, (Fact,), "fact")
        of = self.model.table(table.of)
        if isinstance(of, Fact):
            yield from self.junk_columns(of, table)

    def dates(self, table: Dates) -> Iterator[Problem]:
        if not (is_day(table.first) and is_day(table.last)):
            text = f"{table.first} to {table.last} is no range of days."
            yield self.problem("warehouse.date-range", table.name, text, "Write days as 2026-12-31.")
        elif table.first > table.last:
            text = f"{table.first} is later than {table.last}."
            yield self.problem("warehouse.date-range", table.name, text, "Exchange from and to.")
        if not 1 <= table.fiscal_year_starts <= 12:
            text = f"There is no month {table.fiscal_year_starts}."
            yield self.problem("warehouse.date-range", table.name, text, "fiscal_year_starts goes from 1 to 12.")
        try:
            calendar_names(table.locale)
        except EditError as error:
            yield self.problem("warehouse.locale", table.name, error.title, error.hint)


_OF_MEMBERS = "Map the pairs to an entity of their own, and let it refer to both members."


def _times_of(table: Dimension) -> tuple[str, str]:
    return table.valid_at, table.infinity if table.valid_at else ""


def _cast_type(type_: str) -> str:
    return {"integer": "bigint", "float": "double", "instant": "timestamptz"}.get(type_, type_)
