"""Row expressions of a model that no message could be computed by, each as a problem at its column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import Bridge, Column, Dimension, Fact, Model
from metl_gui.formats.row_expressions import row_expression

_HINT = "Write constants as values of what they are held against, and casts where types differ."


def expression_problems(document: Document, model: Model) -> Iterator[Problem]:
    """Yield the problems of row expressions of a model in which nothing else is wrong.

    Args:
        document: the state that its entities are of.
        model: what is checked.

    Cost: some milliseconds an expression that is new.
    """
    facts, asked = EntityFacts(document), list[tuple[str, str, EntityHistory]]()
    for table in (one for one in model.tables if isinstance(one, Dimension | Fact | Bridge)):
        history = facts.history(table.entity)
        for part, text in _expressions(table) if history is not None else ():
            if history is not None and history.at_path(text) is None:  # else the path of an attribute
                asked.append((f"{model.name}: {table.name}" + (f".{part}" if part else ""), text, history))
    if asked:
        yield from _refused(asked)


def _refused(asked: Sequence[tuple[str, str, EntityHistory]]) -> Iterator[Problem]:
    """Yield the problems of expressions, given with their places and what they are over."""
    from metl_gui.warehouse.databases.expression_check import (  # few models have anything to ask a database
        bound,
        refusals,
    )

    read = [(place, text, bound(history, row_expression(text))) for place, text, history in asked]
    for (place, text, _), why in zip(read, refusals([one for _, _, one in read]), strict=True):
        if why:
            words = f"{text} cannot be computed. {why}"
            yield Problem(Severity.ERROR, "warehouse.expression", place, words, _HINT)


def _expressions(table: Dimension | Fact | Bridge) -> Iterator[tuple[str, str]]:
    """Yield the row expressions of a table with the names of the parts that they are of, and some paths."""
    columns: tuple[Column, ...] = ()
    if isinstance(table, Fact):
        columns = (*table.measures, *table.degenerate)
        if table.where:
            yield "", table.where
    elif isinstance(table, Dimension) and table.columns != "all":
        columns = table.columns
    yield from ((column.name, column.expression) for column in columns if column.expression)
    for one in table.references:
        if not isinstance(one.on, str):
            yield from ((one.name, left) for left, _ in one.on)
