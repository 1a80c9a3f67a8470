"""The data dictionary of a warehouse model: every table and column of a target, and where each comes from.

It follows from what is declared, so that a model with errors has one too.

Source: docs/reference/warehouse-model.md, "What stands in the target".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.key_parts import key_parts
from metl_gui.core.dimensional.rows.junk import junk_of, junk_tables
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import (
    FROM_ENTITY,
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
    Table,
    TimesOfDay,
)
from metl_gui.errors import UserError
from metl_gui.formats.model_yaml import member_text, tests_text
from metl_gui.formats.row_expressions import named_attributes
from metl_gui.values import Value

HISTORIES = {
    0: "the first value stays",
    1: "the last value, in every version",
    2: "a version for each value",
    3: "the last value, and the one before beside it",
    6: "a version for each value, and the last one beside it",
}
"""By type of history, what becomes of values."""


class DictionaryColumn(Value):
    """A column as it stands in the target.

    Args:
        name: of the column.
        type: as declared, else that of the attribute.
        source: the attribute or row expression that it holds, or what a column of the loader's says.
        is_path: the source is an attribute or an expression.
        history: what becomes of earlier values; empty where that follows from the table.
        tests: what every value must be.
        fed_by: the schemas that map what it holds.
        doc: what is written of the attribute.
        is_masked: its values are hidden from people.
        is_key: it is a part of the business key or the grain.
    """

    name: str
    type: str
    source: str
    is_path: bool = False
    history: str = ""
    tests: str = ""
    fed_by: tuple[str, ...] = ()
    doc: str = ""
    is_masked: bool = False
    is_key: bool = False


class DictionaryReference(Value):
    """A reference as people read it.

    Args:
        role: of the reference.
        table: what it leads to.
        on: what is looked up.
        as_of: when.
        on_miss: what becomes of a fact whose member is not known; empty where nothing can be missed.
    """

    role: str
    table: str
    on: str
    as_of: str
    on_miss: str = ""


class DictionaryTable(Value):
    """A table.

    Args:
        name: of the table.
        kind: as a file has it.
        entity: whose messages it is made of; empty for none.
        grain: what one row is.
        columns: in the order of the target.
        references: to other tables.
        declared: what else is declared, as pairs of a key and its value.
    """

    name: str
    kind: str
    entity: str
    grain: str
    columns: tuple[DictionaryColumn, ...] = ()
    references: tuple[DictionaryReference, ...] = ()
    declared: tuple[tuple[str, str], ...] = ()


def dictionary(document: Document, model: Model) -> tuple[DictionaryTable, ...]:
    """Return the tables of a model in its order, behind them the junk dimensions that facts list themselves."""
    maker = _Maker(EntityFacts(document), model)
    return tuple(maker.table(one) for one in dict.fromkeys((*model.tables, *junk_tables(model))))


_DECLARED: dict[type, tuple[str, ...]] = {
    Dimension: ("valid_at", "prefer", "leading", "parent", "on_delete", "indexes", "grants"),
    Fact: ("where", "prefer", "leading", "junk", "on_correction", "on_delete", "indexes", "grants"),
}
"""What is told of a table beside its columns and references; of other kinds it is everything."""

_OF_VERSIONS = (
    ("valid_from", "instant", "since when the version holds"),
    ("valid_to", "instant", "until when, without that moment; null while it is open"),
    ("is_current", "boolean", "whether it is the latest version of the member"),
    ("is_deleted", "boolean", "whether the member is deleted"),
    ("is_inferred", "boolean", "whether it is known by a reference only"),
    ("version_number", "integer", "which version of the member it is"),
    ("first_known", "instant", "when the member was first there"),
)
_OF_POSTINGS = (
    ("posted_at", "instant", "the commit of the change"),
    ("posting", "integer", "which change of the fact it is, of those with one commit"),
    ("is_reversal", "boolean", "whether it takes the row before back"),
)
_OF_DAYS = (
    *(("date", "date", "the day"), ("year", "integer", "of the calendar"), ("quarter", "integer", "1 to 4")),
    *(("month", "integer", "1 to 12"), ("month_name", "text", "in words"), ("day", "integer", "of the month")),
    *(("day_of_week", "integer", "1 to 7"), ("day_name", "text", "in words")),
    *(("is_weekend", "boolean", "Saturday or Sunday"), ("iso_year", "integer", "the year of its week")),
    *(("iso_week", "integer", "1 to 53"), ("fiscal_year", "integer", "named by the year in which it ends")),
    *(("fiscal_quarter", "integer", "1 to 4"), ("fiscal_month", "integer", "1 to 12")),
)
_OF_HIERARCHIES = (
    ("ancestor_durable_key", "integer", "key of the member above"),
    ("descendant_durable_key", "integer", "key of the member below"),
    ("depth", "integer", "how far below, 0 for itself"),
)
_OF_TIMES = (("hour", "integer", "0 to 23"), ("minute", "integer", "0 to 59"), ("second", "integer", "0 to 59"))


class _Maker:
    """Reads the declarations of one model."""

    def __init__(self, facts: EntityFacts, model: Model) -> None:
        self.facts, self.model = facts, model

    def table(self, one: Table) -> DictionaryTable:
        columns: Sequence[DictionaryColumn] = ()
        grain = ""
        references: tuple[DictionaryReference, ...] = ()
        match one:
            case Dimension():
                columns, grain = tuple(self.of_dimension(one)), "a version of a member"
                references = tuple(_told(each, "durable") for each in one.references)
            case Fact():
                columns, grain = tuple(self.of_fact(one)), f"a value of {', '.join(self.grain(one)) or 'the grain'}"
                references = tuple(_told(each, "event") for each in one.references)
            case Junk():
                columns, grain = tuple(self.of_junk(one)), f"a combination that occurs in {one.of}"
            case Periodic():
                columns = tuple(self.of_periodic(one))
                grain = f"the state of a row of {one.of} at the end of a {one.every}"
            case Dates():
                columns, grain = _generated((_number(one.name, "yyyymmdd"), *_OF_DAYS)), "a day"
            case TimesOfDay():
                columns, grain = (
                    _generated((_number(one.name, "seconds of the day"), *_OF_TIMES)),
                    "a second of the day",
                )
            case Bridge():
                columns = tuple(self.of_bridge(one))
                grain = "a pair of members" if one.entity else "an element of a list"
                references = tuple(_told(each, "current") for each in one.references)
            case Hierarchy():
                columns, grain = _generated(_OF_HIERARCHIES), f"a member of {one.of} below another one, or itself"
        entity = getattr(one, "entity", "")
        return DictionaryTable(one.name, kind_name(one), entity, grain, tuple(columns), references, _declared(one))

    def of_dimension(self, one: Dimension) -> Iterator[DictionaryColumn]:
        yield _own(f"{one.name}_key", "integer", "key of the version")
        yield _own(f"{one.name}_durable_key", "integer", "key of the member, the same in all its versions")
        listed = one.columns if one.columns != "all" else ()
        yield from self.keys(one, one.business_key)
        paths = set(self.paths(one, one.business_key))
        if one.columns == "all":
            history = self.facts.history(one.entity)
            found = history.columns if history is not None else ()
            listed = tuple(Column(name=each.name, path=each.path) for each in found if each.path not in paths)
        taken = {part.name for part in key_parts(one, self.facts.history(one.entity))}
        for column in listed:
            if column.name not in taken:
                yield from self.with_history(one.entity, column)
        for reference in one.references:
            yield from self.keys_of_reference(reference, "durable")
        if one.parent:
            yield _own("parent_durable_key", "integer", f"key of the parent, a member of {one.name} too")
        yield from _generated(_OF_VERSIONS)

    def of_fact(self, one: Fact) -> Iterator[DictionaryColumn]:
        yield from self.keys_of_fact(one)
        for reference in one.references:
            yield from self.keys_of_reference(reference, "event")
        calendar = next((each.name for each in self.model.tables if isinstance(each, Dates)), "")
        for milestone in one.event_times if calendar else ():
            words = f"key of the row of {calendar} for {milestone.name}, in UTC"
            yield _own(f"{milestone.role or milestone.name}_key", "integer", words)
        junk = junk_of(self.model, one.name)
        yield from (_own(f"{each.name}_key", "integer", f"key of the combination in {each.name}") for each in junk)
        if one.event_time:
            yield self.column(one.entity, Column(name="event_time", path=one.event_time, type="instant"))
        else:
            yield _own("event_time", "instant", "the commit of the first message of its life")
        for milestone in one.event_times:
            yield self.column(one.entity, Column(name=milestone.name, path=milestone.path, type="instant"))
        taken = {*self.grain(one), *(column for each in junk for column in each.columns)}
        for measure in one.measures:
            if measure.name not in taken:
                yield self.column(one.entity, measure, measure.additivity)
        for column in one.degenerate:
            if column.name not in taken:
                yield self.column(one.entity, column)
        if one.on_delete == "flag":
            yield _own("is_deleted", "boolean", "whether it is deleted")
        if "reverse" in (one.on_correction, one.on_delete):
            yield from _generated(_OF_POSTINGS)

    def keys_of_fact(self, one: Fact) -> Iterator[DictionaryColumn]:
        if one.grain == "row":
            yield _own("schema", "text", "the schema that sent the row")
            yield _own("row_key", "text", "key of the row in its source")
        else:
            yield from self.keys(one, one.grain)

    def of_junk(self, one: Junk) -> Iterator[DictionaryColumn]:
        yield _own(f"{one.name}_key", "integer", "key of the combination")
        of = self.model.table(one.of)
        found = of.degenerate if isinstance(of, Fact) else ()
        entity = getattr(of, "entity", "")
        yield from (self.column(entity, column) for column in found if column.name in one.columns)

    def of_bridge(self, one: Bridge) -> Iterator[DictionaryColumn]:
        if one.entity:
            for reference in one.references:
                yield _own(f"{reference.name}_durable_key", "integer", f"key of the member of {reference.dimension}")
        else:
            yield from self.of_list(one, self.model.table(one.of))
        yield _own("count", "integer", "how often it occurs")
        if one.weight:
            yield _own("weight", "float", "its share of its owner" if one.weight == "equal" else f"by {one.weight}")

    def of_list(self, one: Bridge, of: Table | None) -> Iterator[DictionaryColumn]:
        """Yield the columns that name the owner of a list, and the one of its elements."""
        if isinstance(of, Fact):
            yield from self.keys_of_fact(of)
        elif one.as_of == "version":
            yield _own(f"{one.of}_key", "integer", f"key of the version of {one.of}")
        if not isinstance(of, Fact):
            yield _own(f"{one.of}_durable_key", "integer", f"key of the member of {one.of}")
        role = split(one.list_path)[-1]
        name, type_ = (f"{role}_durable_key", "integer") if one.to else (role, "text")
        yield self.column(getattr(of, "entity", ""), Column(name=name, path=one.list_path, type=type_))

    def of_periodic(self, one: Periodic) -> Iterator[DictionaryColumn]:
        yield _own("date_key", "integer", f"the last day of the {one.every}, yyyymmdd")
        of = self.model.table(one.of)
        if isinstance(of, Fact):
            yield from self.keys_of_fact(of)
        else:
            yield _own(f"{one.of}_durable_key", "integer", f"key of the member of {one.of}")
            yield _own(f"{one.of}_key", "integer", f"key of its version of {one.of} then")
        yield _own("period_end", "instant", f"when the {one.every} ended in {one.time_zone}")
        columns = (
            self.of_dimension(of) if isinstance(of, Dimension) else self.of_fact(of) if isinstance(of, Fact) else ()
        )
        known = {each.name: each for each in columns}
        yield from (known[name] for name in one.columns if name in known)

    def keys(self, one: Dimension | Fact, declared: Sequence[str]) -> Iterator[DictionaryColumn]:
        if one.key_includes_schema:
            yield _own("schema", "text", "the schema that sent the row")
        parts = key_parts(one, self.facts.history(one.entity))
        for path, part in zip(self.paths(one, declared), parts, strict=True):
            yield replace(self.column(one.entity, Column(name=part.name, path=path)), is_key=True)

    def paths(self, one: Dimension | Fact, declared: Sequence[str]) -> tuple[str, ...]:
        """Return the attributes of a key in the newest version, as declared or of the entity."""
        history = self.facts.history(one.entity)
        if not declared:
            return history.key if history is not None else ()
        found = (self.facts.column(one.entity, path) for path in declared)
        return tuple(each.path if each is not None else path for path, each in zip(declared, found, strict=True))

    def grain(self, one: Fact) -> tuple[str, ...]:
        if one.grain == "row":
            return "schema", "row_key"
        return tuple(split(path)[-1] for path in self.paths(one, one.grain))

    def with_history(self, entity: str, one: Column) -> Iterator[DictionaryColumn]:
        found = self.column(entity, one, f"{one.history}: {HISTORIES[one.history]}")
        yield found
        if one.history == 3:
            yield _own(f"{one.name}_previous", found.type, f"{one.name} before it last changed")
        if one.history == 6:
            yield _own(f"{one.name}_current", found.type, f"the last {one.name} that came")

    def column(self, entity: str, one: Column, history: str = "") -> DictionaryColumn:
        paths = (one.path,) if one.path else _named(one.expression)
        own = self.facts.column(entity, one.path) if one.path else None
        fed_by = tuple(sorted({schema for path in paths for schema in self.facts.fed_by(entity, path)}))
        return DictionaryColumn(
            name=one.name,
            type=one.type or (own.type if own is not None else ""),
            source=one.path or one.expression,
            is_path=True,
            history=history,
            tests=tests_text(one.tests),
            fed_by=fed_by,
            doc=self.facts.doc(entity, one.path) if one.path else "",
            is_masked=any(self.facts.is_masked(entity, path) for path in paths),
        )

    def keys_of_reference(self, one: Reference, default: str) -> Iterator[DictionaryColumn]:
        is_generated = isinstance(self.model.table(one.dimension), Dates | TimesOfDay)
        if is_generated or (one.as_of or default) != "durable":
            what = "key of the row" if is_generated else "key of the version"
            yield _own(f"{one.name}_key", "integer", f"{what} of {one.dimension}")
        if not is_generated:
            yield _own(f"{one.name}_durable_key", "integer", f"key of the member of {one.dimension}")


def kind_name(table: Table) -> str:
    """Return the kind of a table as a file has it."""
    return str(table.__struct_config__.tag)


def _told(one: Reference, default: str) -> DictionaryReference:
    if isinstance(one.on, str):
        return DictionaryReference(one.name, one.dimension, one.on, one.time_zone)
    on = ", ".join(f"{left} = {right}" for left, right in one.on)
    cascade = ", a new version makes a new one here" if one.cascade else ""
    is_fact = default == "event"
    return DictionaryReference(
        one.name, one.dimension, on, f"{one.as_of or default}{cascade}", one.on_miss if is_fact else ""
    )


def _declared(one: Table) -> tuple[tuple[str, str], ...]:
    names = _DECLARED.get(type(one))
    if names is None:
        names = tuple(name for name in one.__struct_fields__ if name != "name" and not isinstance(one, FROM_ENTITY))
    encoded = dict(zip(one.__struct_fields__, one.__struct_encode_fields__, strict=True))
    found = ((encoded[name], member_text(one, encoded[name])) for name in names)
    return tuple((name, text) for name, text in found if text)


def _named(expression: str) -> tuple[str, ...]:
    """Return the attributes in a row expression; of one that cannot be read, none."""
    try:
        return named_attributes(expression)
    except UserError:
        return ()


def _number(table: str, words: str) -> tuple[str, str, str]:
    return f"{table}_key", "integer", words


def _own(name: str, type_: str, words: str) -> DictionaryColumn:
    return DictionaryColumn(name, type_, words)


def _generated(columns: Sequence[tuple[str, str, str]]) -> tuple[DictionaryColumn, ...]:
    return tuple(_own(*each) for each in columns)
