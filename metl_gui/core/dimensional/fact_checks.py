"""Checks of what facts alone declare: times and measures."""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.dimensional.part_checks import KEY_SUFFIX, PartChecks, is_type, type_family
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import Dates, Fact


class FactChecks(PartChecks):
    """The checks of facts; each method yields what it finds."""

    def fact(self, table: Fact) -> Iterator[Problem]:
        """Check what a fact has that a dimension has not."""
        if table.where:
            yield from self.value(table.name, table.entity, table.where, "where")
        if table.event_time:
            yield from self.time(table.name, table.entity, table.event_time, "event_time")
        yield from self.event_times(table)
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
