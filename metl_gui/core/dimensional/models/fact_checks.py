"""Checks of what facts alone declare: times, measures, junk dimensions."""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.dimensional.models.name_checks import NameChecks
from metl_gui.core.dimensional.models.part_checks import KEY_SUFFIX, is_type, type_family
from metl_gui.core.dimensional.rows.junk import junk_of
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import Dates, Fact, Junk


class FactChecks(NameChecks):
    """The checks of facts; each method yields what it finds."""

    def fact(self, table: Fact) -> Iterator[Problem]:
        """Check what a fact has that a dimension has not."""
        if table.where:
            yield from self.value(table.name, table.entity, table.where, "where")
        if table.event_time:
            yield from self.time(table.name, table.entity, table.event_time, "event_time")
        for one in table.references:
            if one.cascade:
                text = "A fact has no versions that those of a member could make."
                hint = "Leave cascade out: as_of says which version it refers to."
                yield self.problem("warehouse.as-of", f"{table.name}.{one.name}", text, hint)
        yield from self.event_times(table)
        yield from self.listed_junk(table)
        for column in table.measures:
            found = self.facts.column(table.entity, column.path) if column.path else None
            type_ = column.type or (found.type if found else "")
            if type_ and is_type(type_) and type_family(type_) != "number":
                text = f"The measure is {type_}, which cannot be added up."
                hint = "State a type that is a number, or make it a degenerate dimension."
                yield self.problem("warehouse.measure", f"{table.name}.{column.name}", text, hint, Severity.WARNING)

    def event_times(self, table: Fact) -> Iterator[Problem]:
        """Check the times of an accumulating snapshot, and that days of them can be looked up."""
        has_days = any(isinstance(one, Dates) for one in self.model.tables)
        for one in table.event_times:
            place = f"{table.name}.{one.name}"
            yield from self.name(one.name, place, "time", len(KEY_SUFFIX))
            yield from self.time(place, table.entity, one.path, "it")
            if one.role:
                yield from self.name(one.role, place, "role", len(KEY_SUFFIX))
            if one.role and not has_days:
                text = f"The time has the role {one.role}, and there is no table of days."
                yield self.problem("warehouse.no-days", place, text, "Add one: {date: NAME, from: DAY, to: DAY}.")

    def listed_junk(self, table: Fact) -> Iterator[Problem]:
        """Check the junk dimension that a fact lists itself, and that none takes what another one does."""
        taken: set[str] = set()
        for one in junk_of(self.model, table.name):
            is_declared = one in self.model.tables
            if not is_declared:
                yield from self.name(one.name, table.name, "junk dimension", len(KEY_SUFFIX))
                yield from self.junk_columns(table, one)
            if not is_declared and self.model.table(one.name) is not None:
                text = f"The junk dimension of {table.name} is called {one.name}, as another table is."
                yield self.problem("warehouse.name-twice", table.name, text, "Give that another name.")
            for column in one.columns:
                if column in taken:
                    text = f"Another junk dimension takes {column} of {table.name} too."
                    yield self.problem("warehouse.junk", one.name, text, "Leave it out of one of them.")
            taken |= set(one.columns)

    def junk_columns(self, table: Fact, junk: Junk) -> Iterator[Problem]:
        """Check that a junk dimension takes degenerate dimensions of its fact."""
        known = {column.name for column in table.degenerate}
        place = junk.name if junk in self.model.tables else table.name
        yield from self.known_columns(place, junk.columns, known)
