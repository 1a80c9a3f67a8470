"""A warehouse model: the dimensions, facts and other tables that follow from the messages of entities.

The values are what YAML files say and what the project file keeps; their members are named as those files name them.
They are part of the document, and know nothing of it: what follows from them is in ``core.dimensional``.

Source: docs/reference/warehouse-model.md.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import field

__all__ = [
    "EVENT_TIME",
    "FROM_ENTITY",
    "PARENT",
    "Accepted",
    "Bridge",
    "Column",
    "ColumnTest",
    "Dates",
    "Dimension",
    "EventTime",
    "Fact",
    "Hierarchy",
    "History",
    "Junk",
    "Model",
    "NotNull",
    "On",
    "OnMiss",
    "Periodic",
    "Reference",
    "Related",
    "Table",
    "Test",
    "TimesOfDay",
    "Unique",
]

History: TypeAlias = Literal[0, 1, 2, 3, 6]
"""What becomes of earlier values: 0 the first stays, 1 the last is everywhere, 2 each has its version, 3 the one before
stands beside, 6 as 2 with the last value beside."""

OnMiss: TypeAlias = Literal["infer", "wait", "unknown"]
On: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs: left an attribute or a row expression of the entity, right a column of the business key."""

PARENT = "parent"
"""The role of the reference of a dimension to itself, which ``parent`` declares."""

EVENT_TIME = "event_time"
"""What a reference to a date names in place of an attribute: the event time of the fact."""


class _Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of a model."""


class ColumnTest(_Value, frozen=True, tag_field="is"):
    """What every value of a column must be."""


class NotNull(ColumnTest, frozen=True, tag="not_null"):
    """There is a value in every row."""


class Unique(ColumnTest, frozen=True, tag="unique"):
    """No two current rows have the same value."""


class Accepted(ColumnTest, frozen=True, tag="accepted"):
    """Values are some of these."""

    values: tuple[str, ...]


class Related(ColumnTest, frozen=True, tag="relationship"):
    """Each value stands in a column of another table."""

    table: str
    column: str


Test: TypeAlias = NotNull | Unique | Accepted | Related


class Column(_Value, frozen=True):
    """A column of a dimension, a measure or a degenerate dimension of a fact.

    Args:
        name: of the column.
        path: the attribute that it holds; empty where there is an expression.
        expression: a row expression.
        type: as ``histories.TYPES`` write them; empty for the attribute's own.
        history: of a dimension.
        additivity: of a measure.
        tests: what every value must be.
    """

    name: str
    path: str = field(name="from", default="")
    expression: str = ""
    type: str = ""
    history: History = 1
    additivity: Literal["", "additive", "semi-additive", "non-additive"] = ""
    tests: tuple[Test, ...] = ()


class Reference(_Value, frozen=True):
    """A reference to a dimension.

    Args:
        dimension: its name.
        on: what is looked up; of a date or a time of day ``event_time`` or an attribute.
        role: begins the names of the key columns; empty for the dimension's name.
        as_of: of a dimension ``durable`` (default), ``current`` or ``version``; of a fact ``event`` (default) or
            ``current``; empty for the default.
        cascade: a new version of the dimension makes a new one of this table.
        on_miss: what a fact becomes whose member is not known.
        time_zone: where the day or time of an instant is looked up.
    """

    dimension: str
    on: On | str = ()
    role: str = ""
    as_of: Literal["", "durable", "current", "version", "event"] = ""
    cascade: bool = False
    on_miss: OnMiss = "infer"
    time_zone: str = ""

    @property
    def name(self) -> str:
        """Return the role."""
        return self.role or self.dimension


class EventTime(_Value, frozen=True):
    """One of several times of an accumulating snapshot."""

    name: str
    path: str = field(name="from")
    role: str = ""


class _Table(_Value, frozen=True, tag_field="kind"):
    """A table of the warehouse."""

    name: str


class Dimension(_Table, frozen=True, tag="dimension"):
    """A dimension: a row for each version of each business key.

    Args:
        entity: whose messages it is made of.
        business_key: attributes; empty for the key of the entity.
        key_includes_schema: schemas number their rows each on their own.
        prefer: schemas, that which wins at equal times first.
        leading: the schema in which a member lives; empty for any.
        valid_at: the attribute that says since when a state holds; empty for the time of the commit.
        covers_past: the first version covers the time before it.
        infinity: what becomes of infinite times.
        columns: of the table; ``all`` for every attribute.
        references: to other dimensions.
        parent: attributes that are the business key of the parent.
        unknown, not_applicable: values of the rows with the keys 0 and -1, by column.
        on_delete: what becomes of a member whose rows are deleted.
        indexes, grants: kept across rebuilds.
    """

    entity: str
    business_key: tuple[str, ...] = ()
    key_includes_schema: bool = False
    prefer: tuple[str, ...] = ()
    leading: str = ""
    valid_at: str = ""
    covers_past: bool = True
    infinity: Literal["open", "null"] = "open"
    columns: tuple[Column, ...] | Literal["all"] = "all"
    references: tuple[Reference, ...] = ()
    parent: tuple[str, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()
    not_applicable: tuple[tuple[str, str], ...] = ()
    on_delete: Literal["close", "flag", "remove"] = "close"
    indexes: tuple[tuple[str, ...], ...] = ()
    grants: tuple[str, ...] = ()


class Fact(_Table, frozen=True, tag="fact"):
    """A fact: a row for each value of the grain.

    Args:
        entity: whose messages it is made of.
        where: a row expression; rows of which it is not true are left out.
        grain: attributes, or ``row`` for each source row; empty for the key of the entity.
        key_includes_schema, prefer, leading: as of a dimension.
        event_time: an attribute; empty for the commit of the first message.
        event_times: several, of an accumulating snapshot.
        references: to dimensions.
        measures, degenerate: columns.
        junk: names of columns that a junk dimension takes.
        on_correction: overwrite the row, or post its reversal and the new one.
        on_delete: remove the row, flag it, or post its reversal.
        tests, indexes, grants: as of a dimension.
    """

    entity: str
    where: str = ""
    grain: tuple[str, ...] | Literal["row"] = ()
    key_includes_schema: bool = False
    prefer: tuple[str, ...] = ()
    leading: str = ""
    event_time: str = ""
    event_times: tuple[EventTime, ...] = ()
    references: tuple[Reference, ...] = ()
    measures: tuple[Column, ...] = ()
    degenerate: tuple[Column, ...] = ()
    junk: tuple[str, ...] = ()
    on_correction: Literal["overwrite", "reverse"] = "overwrite"
    on_delete: Literal["remove", "flag", "reverse"] = "remove"
    indexes: tuple[tuple[str, ...], ...] = ()
    grants: tuple[str, ...] = ()


class Periodic(_Table, frozen=True, tag="periodic"):
    """The state of a dimension or fact at the end of each period."""

    of: str
    every: Literal["day", "week", "month"]
    time_zone: str = "UTC"
    columns: tuple[str, ...] = ()


class Bridge(_Table, frozen=True, tag="bridge"):
    """Many members of a dimension to one row: of a list attribute, or of an entity with two references.

    Args:
        of: the table whose rows own the list.
        list_path: the attribute that is a list.
        to: the dimension of its elements; empty for the elements themselves.
        entity, references: of a bridge that is an entity.
        weight: ``equal``, or an attribute.
        as_of: the owner's versions, or its current one.
    """

    of: str = ""
    list_path: str = field(name="list", default="")
    to: str = ""
    entity: str = ""
    references: tuple[Reference, ...] = ()
    weight: str = ""
    as_of: Literal["version", "current"] = "current"


class Hierarchy(_Table, frozen=True, tag="hierarchy"):
    """Ancestors and descendants of a dimension by its parent."""

    of: str


class Junk(_Table, frozen=True, tag="junk"):
    """Combinations of columns of a fact that occurred."""

    of: str
    columns: tuple[str, ...]


class Dates(_Table, frozen=True, tag="date"):
    """Days, generated.

    Args:
        first, last: days, ISO 8601.
        fiscal_year_starts: month.
        week_starts: day of the week, Monday is 1.
        locale: of names.
    """

    first: str = field(name="from")
    last: str = field(name="to")
    fiscal_year_starts: int = 1
    week_starts: Literal[1, 7] = 1
    locale: str = "en"


class TimesOfDay(_Table, frozen=True, tag="time"):
    """Seconds of the day, generated."""


Table: TypeAlias = Dimension | Fact | Periodic | Bridge | Hierarchy | Junk | Dates | TimesOfDay
FROM_ENTITY = (Dimension, Fact)
"""Kinds of tables that are made of the messages of an entity."""


class Model(_Value, frozen=True):
    """A whole model.

    Args:
        name: of the model, and by default of the schema in the target.
        tables: in the order of the file.
        entities: whose histories are kept; ``None`` for all that the state maps.
    """

    name: str = field(name="warehouse")
    tables: tuple[Table, ...] = ()
    entities: tuple[str, ...] | None = None

    def table(self, name: str) -> Table | None:
        """Return a table by its name, ``None`` where there is none."""
        return next((one for one in self.tables if one.name == name), None)

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Return its dimensions that are made of entities."""
        return tuple(one for one in self.tables if isinstance(one, Dimension))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Return its facts."""
        return tuple(one for one in self.tables if isinstance(one, Fact))


_MOST_TABLES = 2_000
"""Tables whose texts are kept: an edit changes one of them, and the whole model is written."""

_decoder = msgspec.json.Decoder(Model)


def plain(value: Any) -> Any:
    """Return a model or a part of one as dictionaries, lists, texts and numbers, members in their order.

    Members at their defaults are left out, by equality and not by identity, so that equal models have equal texts.
    """
    if isinstance(value, msgspec.Struct):
        members = ((written, getattr(value, name), default) for name, written, default in _members(type(value)))
        return _tag(value) | {written: plain(found) for written, found, default in members if found != default}
    return [plain(each) for each in value] if isinstance(value, tuple) else value


def model_json(model: Model) -> str:
    """Write a model as JSON; equal models have equal texts.

    Cost: in proportion to the tables that were not written before, and to the text.
    """
    written = plain(msgspec.structs.replace(model, tables=()))
    tables = {"tables": [_table_json(one) for one in model.tables]} if model.tables else {}
    return msgspec.json.encode({"warehouse": written.pop("warehouse"), **tables, **written}).decode()


@lru_cache(_MOST_TABLES)
def _table_json(table: Table) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(plain(table)))


def read_model_json(text: str) -> Model:
    """Read a model back.

    Raises:
        msgspec.MsgspecError: it is none.
    """
    return _decoder.decode(text)


@cache
def _members(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, object], ...]:
    """Return the members of a class: the name, the name that is written, and the default, ``NODEFAULT`` for none."""
    return tuple((one.name, one.encode_name, one.default) for one in msgspec.structs.fields(kind))


def _tag(value: msgspec.Struct) -> dict[str, Any]:
    config = value.__struct_config__
    return {} if config.tag_field is None else {config.tag_field: config.tag}
