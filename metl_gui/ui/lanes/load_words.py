"""What is said of loads: the ways, what one would do, how far one is, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metl_gui.ui.moments import on
from metl_gui.ui.naming import number_of
from metl_gui.workbench.loading import BEGINNING, DEBEZIUM, POSTGRESQL, LoadPlan

if TYPE_CHECKING:
    from metl_gui.engine.loading.lane_loads import LoadProgress

WAYS = {POSTGRESQL: "From the database", DEBEZIUM: "From the connector", BEGINNING: "From the topics' beginning"}
WAY_WORDS = {
    POSTGRESQL: "Reads the rows from the database as they are at one moment. Nothing is written there.",
    DEBEZIUM: "Asks Debezium to send the rows among the changes. Needs its signalling table or topic.",
    BEGINNING: "Takes what the topics still hold from before the lane began.",
}
PROMISE = (
    "All rows that are there already go through the mapping once, while the lane goes on with their changes. No row is "
    "lost, and none goes back to an older value."
)
ASK = "Choose tables with Space, then look what would be done; nothing is done by looking."


def newest_words(load: LoadProgress | None) -> str:
    """Say in a few words what became of the newest load of a table."""
    if load is None:
        return "not loaded yet"
    rows = f"{load.done:,} of {load.rows:,}"
    when = f", {on(load.ended_ms)}" if load.ended_ms else ""
    if not load.is_done:
        return f"goes on: {rows} rows"
    if load.is_given_up:
        return f"given up at {rows} rows{when}"
    return f"{number_of(load.rows, 'row')}{when}"


def plan_words(plan: LoadPlan) -> str:
    """Say what a load would do."""
    counts = [table.records for table in plan.tables if table.records is not None]
    checked = sum(table.checked for table in plan.tables)
    rows = f"About {number_of(sum(counts), 'row')} of " if counts else "The rows of "
    compared = f" {number_of(checked, 'row')} compared with their changes: they are written alike." if checked else ""
    return f"{rows}{number_of(len(plan.tables), 'table')}.{compared} {plan.says}"


def loaded_words(plan: LoadPlan, done: Sequence[LoadProgress]) -> str:
    """Say what became of a load."""
    if not done:
        tables = ", ".join(table.table for table in plan.tables)
        return f"The connector was asked for the rows of {tables}; they come among the changes."
    return " ".join(map(_loaded, done))


def stopped_words(plan: LoadPlan, known: Sequence[LoadProgress]) -> str:
    """Say how things are after somebody stopped waiting for a load."""
    topics = {table.topic for table in plan.tables}
    going_on = [load for load in known if load.changes in topics and not load.is_done]
    if not going_on:
        return "The load was stopped before the lane was told of it."
    each = ", ".join(f"{load.changes} ({load.done:,} of {load.rows:,} rows)" for load in going_on)
    return f"The lane goes on with {each}; to stop that too, give the load up."


def given_up_words(done: Sequence[LoadProgress]) -> str:
    """Say what became of loads that were given up."""
    return " ".join(f"{load.changes}: given up; {load.done:,} of {load.rows:,} rows are mapped." for load in done)


def needs_another(done: Sequence[LoadProgress]) -> bool:
    """Whether large values are missing that only another load brings, or rows."""
    return any(load.superseded_partly or load.is_given_up for load in done)


def _loaded(load: LoadProgress) -> str:
    if load.is_given_up:
        return given_up_words([load])
    words = f"{load.changes}: all {number_of(load.rows, 'row')} are through."
    if load.superseded:
        words += f" {load.superseded:,} were left out, as they changed meanwhile."
    if load.superseded_partly:
        words += (
            f" {load.superseded_partly:,} were left out although their changes leave out large values: load once more."
        )
    return words
