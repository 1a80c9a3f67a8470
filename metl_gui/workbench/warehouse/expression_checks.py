"""Row expressions of a model that no message could be computed by, each as a problem at its column."""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import Bridge, Column, Dimension, Fact, Model
from metl_gui.errors import EditError
from metl_gui.formats.row_expressions import row_expression


def expression_problems(document: Document, model: Model) -> Iterator[Problem]:
    """Yield the problems of row expressions of a model in which nothing else is wrong.

    Args:
        document: the state that its entities are of.
        model: what is checked.

    Cost: some milliseconds an expression that is new.
    """
    facts = EntityFacts(document)
    for table in (one for one in model.tables if isinstance(one, Dimension | Fact | Bridge)):
        history = facts.history(table.entity)
        for part, text in _expressions(table) if history is not None else ():
            why = _refusal(history, text) if history is not None else None
            if why is not None:
                place = f"{model.name}: {table.name}" + (f".{part}" if part else "")
                yield Problem(Severity.ERROR, "warehouse.expression", place, f"{why.title} {why.text}", why.hint)


def _refusal(history: EntityHistory, text: str) -> EditError | None:
    """Return why an expression cannot be computed; ``None`` where it can, or is the path of an attribute."""
    from metl_gui.warehouse.expression_check import check_expression  # few models have anything to ask a database

    if history.at_path(text) is not None:
        return None
    try:
        check_expression(history, text, row_expression(text))
    except EditError as error:
        return error
    return None


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
