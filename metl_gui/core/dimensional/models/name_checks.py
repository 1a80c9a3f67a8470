"""Checks of names that become tables and columns: that no two are one, and that what is listed is there.

Databases tell no capitals apart where names stand side by side; what is listed is looked up as it is written.

Source: docs/reference/warehouse-model.md, "What stands in the target".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from metl_gui.core.dimensional.histories import entity_histories
from metl_gui.core.dimensional.models.key_parts import SCHEMA, KeyPart, key_parts
from metl_gui.core.dimensional.models.part_checks import KEY_SUFFIX, PartChecks
from metl_gui.core.dimensional.models.special_values import is_value
from metl_gui.core.dimensional.rows.junk import junk_of, junk_tables
from metl_gui.core.search.problems import Problem
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import (
    EVENT_TIME,
    FROM_ENTITY,
    PARENT,
    Bridge,
    Column,
    Dates,
    Dimension,
    Fact,
    Periodic,
    Reference,
    TimesOfDay,
)

_VIEWS = ("_current", "_now")
"""What is put behind the name of a dimension for its views."""

_BESIDE = {3: "_previous", 6: "_current"}
"""By type of history, what is put behind the name of a column for the one beside it."""

_OF_LOADS = frozenset(("_key", "_element", "_weight", "_sum"))
"""Columns that loads put beside those of a key; other names of theirs stand in tables that have no key by its name."""

_OF_DIMENSIONS = {
    **dict.fromkeys(("valid_from", "valid_to", "first_known"), "instant"),
    **dict.fromkeys(("is_current", "is_deleted", "is_inferred"), "boolean"),
    "version_number": "integer",
}
"""Columns at the end of every dimension, with their types."""


class NameChecks(PartChecks):
    """The checks of names; each method yields what it finds."""

    def model_names(self) -> Iterator[Problem]:
        """Check the names of tables, and of the views that stand beside dimensions."""
        names = [table.name for table in self.model.tables]
        for name in names:
            yield from self.name(name, name, "table", len(KEY_SUFFIX))
        for name in twice(names):
            yield self.problem("warehouse.name-twice", name, f"Two tables are called {name}.", "Give one another name.")
        tables = {name.lower(): name for name in (*names, *(one.name for one in junk_tables(self.model)))}
        for table in self.model.dimensions:
            for view in (f"{table.name}{suffix}" for suffix in _VIEWS):
                if found := tables.get(view.lower()):
                    text = f"The dimension {table.name} has a view called {view}, so no table may be called {found}."
                    yield self.problem("warehouse.name-twice", found, text, "Give one of them another name.")

    def entity_names(self) -> Iterator[Problem]:
        """Check that no two entities whose histories are kept would have one history."""
        listed = self.model.entities
        names = self.facts.names() if listed is None else tuple(dict.fromkeys(listed))
        if listed is None and twice(names):
            names = tuple(one.entity for one in entity_histories(self.document))
        for name in twice(names):
            same = ", ".join(one for one in names if one.lower() == name.lower())
            text = f"The entities {same} would share one history: their names differ in capitals alone."
            hint = "Rename one of them, or keep the history of one: list entities in the model."
            yield self.problem("warehouse.name-twice", "", text, hint)

    def column_names(self, table: Dimension | Fact) -> Iterator[Problem]:
        """Check that no two columns of a table have one name, those that it has by itself included."""
        names = self.declared_names(table)
        is_every = isinstance(table, Dimension) and table.columns == "all"
        own = {name.lower() for name in (self.own_columns(table) if is_every else self.reserved_names(table))}
        for name in dict.fromkeys(name for name in names if name.lower() in own):
            text = f"{table.name} has a column {name} by itself."
            hint = "List the columns, that one by another name." if is_every else "Give the column another name."
            yield self.problem("warehouse.name-twice", f"{table.name}.{name}", text, hint)
        for name in twice(names):
            text = f"Two columns are called {name}."
            yield self.problem("warehouse.name-twice", f"{table.name}.{name}", text, "Give one another name.")
        for part in self.key_of(table):
            if part.name.lower() in _OF_LOADS:
                yield self.own_name(table.name, part.name)
        yield from self.key_names(table)
        if self.facts.history(table.entity) is not None:
            known = self.all_columns(table)
            lowered = {name.lower() for name in known}
            listed = [name for index in table.indexes for name in index if name.lower() not in lowered]
            yield from self.known_columns(table.name, listed, known)
            if isinstance(table, Dimension):
                yield from self.special_rows(table, known)

    def key_names(self, table: Dimension | Fact) -> Iterator[Problem]:
        """Check that no two keys that a table has by itself have one name; references of one role count once."""
        roles = {one.name.lower(): one for one in table.references}
        made = [name for one in roles.values() for name in self.columns_of_reference(table, one)]
        if isinstance(table, Dimension):
            made += [f"{table.name}_key", f"{table.name}{KEY_SUFFIX}"]
        else:
            days = (one.role or one.name for one in table.event_times)
            made += [f"{role}_key" for role in days if role.lower() not in roles]
            made += [f"{one.name}_key" for one in junk_of(self.model, table.name)]
        for name in twice(made):
            text = f"Two keys of {table.name} would be called {name}."
            yield self.problem("warehouse.name-twice", f"{table.name}.{name}", text, "Give a reference another role.")

    def columns_of_reference(self, table: Dimension | Fact, one: Reference) -> tuple[str, ...]:
        """Return the columns that a table has for a reference."""
        has_key = isinstance(table, Fact) or one.as_of in ("current", "version", "event")
        if isinstance(self.model.table(one.dimension), Dates | TimesOfDay):
            return (f"{one.name}_key",)
        return (*((f"{one.name}_key",) if has_key else ()), f"{one.name}{KEY_SUFFIX}")

    def special_rows(self, table: Dimension, known: Collection[str]) -> Iterator[Problem]:
        """Check the values of the rows for what is unknown and what does not apply."""
        types = {f"{table.name}_key": "integer", f"{table.name}{KEY_SUFFIX}": "integer", **_OF_DIMENSIONS}
        types |= dict.fromkeys(
            (name for r in table.references for name in self.columns_of_reference(table, r)), "integer"
        )
        types |= {part.name: part.column.type for part in self.key_of(table) if part.column is not None}
        for column in self.columns_of(table):
            found = self.facts.column(table.entity, column.path) if column.path else None
            type_ = column.type or (found.type if found is not None else "")
            types |= dict.fromkeys((column.name, f"{column.name}{_BESIDE.get(column.history, '')}"), type_)
        for name, value in (*table.unknown, *table.not_applicable):
            yield from self.known_columns(table.name, (name,), known)
            if value and not is_value(value, types.get(name, "")):
                text = f"The value {value} of the column {name} is no {types[name]}."
                hint = "Write one, or leave it out: the column is null in that row."
                yield self.problem("warehouse.value", f"{table.name}.{name}", text, hint)

    def key_of(self, table: Dimension | Fact) -> tuple[KeyPart, ...]:
        """Return the parts of the key of a table, without the schema."""
        return key_parts(table, self.facts.history(table.entity))

    def columns_of(self, table: Dimension | Fact) -> tuple[Column, ...]:
        """Return the columns of a table; of one that takes all, those of each attribute outside its key."""
        if isinstance(table, Fact):
            return (*table.measures, *table.degenerate)
        if table.columns != "all":
            return table.columns
        history = self.facts.history(table.entity)
        key = {part.column.name for part in self.key_of(table) if part.column is not None}
        columns = history.columns if history is not None else ()
        return tuple(Column(name=one.name, path=one.path) for one in columns if one.name not in key)

    def declared_names(self, table: Dimension | Fact) -> list[str]:
        """Return the names of its columns and of the parts of its key; a part that is a column too, once."""
        columns = self.columns_of(table)
        names = [column.name for column in columns]
        held = {(column.path, column.name) for column in columns}
        names += [part.name for part in self.key_of(table) if held.isdisjoint((path, part.name) for path in part.paths)]
        return names + ([one.name for one in table.event_times] if isinstance(table, Fact) else [])

    def reserved_names(self, table: Dimension | Fact) -> set[str]:
        """Return the names that its columns may not have: those of columns that it has by itself, or could have."""
        own = self.own_columns(table) | {
            f"{r.name}{suffix}" for r in table.references for suffix in ("_key", KEY_SUFFIX)
        }
        if isinstance(table, Fact):
            return own | {EVENT_TIME, "is_deleted", "posted_at"}
        return own

    def own_columns(self, table: Dimension | Fact) -> set[str]:
        """Return the names of the columns that it has by itself."""
        own = {name for one in table.references for name in self.columns_of_reference(table, one)}
        if table.key_includes_schema or (isinstance(table, Fact) and table.grain == "row"):
            own.add(SCHEMA)
        if isinstance(table, Dimension):
            own |= {f"{PARENT}{KEY_SUFFIX}"} if table.parent else set()
            own |= {f"{c.name}{_BESIDE[c.history]}" for c in self.columns_of(table) if c.history in _BESIDE}
            return own | {f"{table.name}_key", f"{table.name}{KEY_SUFFIX}", *_OF_DIMENSIONS}
        own |= {f"{one.role or one.name}_key" for one in table.event_times}
        own |= {f"{one.name}_key" for one in junk_of(self.model, table.name)}
        own |= {"posted_at", "posting", "is_reversal"} if "reverse" in (table.on_correction, table.on_delete) else set()
        own |= {"row_key"} if table.grain == "row" else set()
        return own | {EVENT_TIME} | ({"is_deleted"} if table.on_delete == "flag" else set())

    def all_columns(self, table: Dimension | Fact) -> set[str]:
        """Return the names of all columns of a table."""
        return {*self.declared_names(table), *self.own_columns(table)}

    def own_values(self, table: Dimension | Fact) -> set[str]:
        """Return the names of the columns of a table that hold what its entity says."""
        names = {column.name for column in self.columns_of(table)}
        if isinstance(table, Fact):
            names |= {EVENT_TIME, *(one.name for one in table.event_times)}
            names -= {part.name for part in self.key_of(table)}
            return names | {"is_deleted"} if table.on_delete == "flag" else names
        return names | {part.name for part in self.key_of(table)}

    def periodic_columns(self, table: Periodic, of: Dimension | Fact) -> Iterator[Problem]:
        """Check the columns that a periodic fact takes of its table."""
        known = self.all_columns(of)
        yield from self.known_columns(table.name, table.columns, known)
        values = self.own_values(of)
        for name in (one for one in table.columns if one in known - values):
            text = f"{name} of {of.name} follows from other tables, or from all its rows."
            hint = f"Leave it out, and look it up in {of.name}: the row has the keys that name it there."
            yield self.problem("warehouse.unknown-column", table.name, text, hint)
        own = ["date_key", "period_end"]
        own += [f"{of.name}_key", f"{of.name}{KEY_SUFFIX}"] if isinstance(of, Dimension) else self.grain_of(of)
        yield from self.made_twice(table.name, (*own, *(one for one in table.columns if one in values)))

    def grain_of(self, fact: Fact) -> list[str]:
        """Return the columns of the grain of a fact."""
        schema = [SCHEMA] if fact.key_includes_schema or fact.grain == "row" else []
        return [*schema, *(["row_key"] if fact.grain == "row" else [part.name for part in self.key_of(fact)])]

    def bridge_names(self, table: Bridge) -> Iterator[Problem]:
        """Check that no two columns of a bridge have one name."""
        weight = ["weight"] if table.weight else []
        if table.entity:
            history = self.facts.history(table.entity)
            names = [split(path)[-1] for path in (history.key if history is not None else ())]
            for one in table.references:
                names += [f"{one.name}_key", f"{one.name}{KEY_SUFFIX}"]
            yield from self.made_twice(table.name, (*names, EVENT_TIME, *(weight if table.weight != "equal" else ())))
            return
        of = self.model.table(table.of)
        if isinstance(of, FROM_ENTITY) and table.list_path:
            keys = [f"{of.name}{KEY_SUFFIX}", *([f"{of.name}_key"] if table.as_of == "version" else [])]
            element = split(table.list_path)[-1]
            if element.lower() in _OF_LOADS and not table.to:
                yield self.own_name(table.name, element)
            own = keys if isinstance(of, Dimension) else self.grain_of(of)
            yield from self.made_twice(
                table.name, (*own, f"{element}{KEY_SUFFIX}" if table.to else element, "count", *weight)
            )

    def own_name(self, table: str, name: str) -> Problem:
        """Return the problem of an attribute that gives a column a name of the loader's."""
        text = f"{name} is the name of a column of the loader's."
        return self.problem("warehouse.name-reserved", table, text, "Rename the attribute of the entity.")

    def made_twice(self, table: str, names: Iterable[str]) -> Iterator[Problem]:
        """Check that no two columns that a table gets have one name."""
        for name in twice(names):
            text = f"{table} would have two columns called {name}."
            yield self.problem("warehouse.name-twice", table, text, "Leave one out, or give one another name.")


def twice(names: Iterable[str]) -> list[str]:
    """Return the names that stand there several times; databases tell no capitals apart."""
    seen: set[str] = set()
    found: dict[str, None] = {}
    for name in names:
        if name.lower() in seen:
            found[name] = None
        seen.add(name.lower())
    return list(found)
