"""Junk dimensions: the combinations of low-cardinality columns of a fact that occur in it.

Source: docs/reference/warehouse-model.md, "Junk dimensions".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from metl_gui.core.dimensional.rows.row_states import Values
from metl_gui.core.warehouse_model import Fact, Junk, Model


def junk_tables(model: Model) -> tuple[Junk, ...]:
    """Return the junk dimensions of a model: those declared, and one for what a fact lists beside these.

    One that takes no column, as all of them are masked in a target, is none.
    """
    declared = tuple(one for one in model.tables if isinstance(one, Junk) and one.columns)
    return (*declared, *(made for fact in model.facts for made in _listed(fact, declared)))


def junk_of(model: Model, fact: str) -> tuple[Junk, ...]:
    """Return the junk dimensions of a fact."""
    return tuple(one for one in junk_tables(model) if one.of == fact)


def _listed(fact: Fact, declared: Iterable[Junk]) -> Iterable[Junk]:
    taken = {column for one in declared if one.of == fact.name for column in one.columns}
    columns = tuple(column for column in fact.junk if column not in taken)
    if columns:
        yield Junk(name=f"{fact.name}_junk", of=fact.name, columns=columns)


def combinations(rows: Iterable[Values], columns: Sequence[str]) -> set[tuple[Any, ...]]:
    """Return the rows of a junk dimension, without their keys.

    Args:
        rows: all that the fact has, with their values by name.
        columns: that the junk dimension takes.
    """
    return {tuple(row.get(column) for column in columns) for row in rows}
