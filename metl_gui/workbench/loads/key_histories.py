"""What a target knows of one business key of a dimension; masked values stay hidden."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from metl_gui.core.dimensional.loads.key_history import KeyHistory
from metl_gui.core.matrix.document import Document
from metl_gui.core.warehouse_model import Dimension
from metl_gui.errors import RunError
from metl_gui.formats.hidden_values import HIDDEN
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.key_history import key_history, keys_of
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, TableShapes
from metl_gui.workbench.loads.hidden_columns import hidden_columns
from metl_gui.workbench.loads.warehouse_loads import target_tables


def dimension_keys(document: Document, target: str, table: str, model: str = "") -> tuple[tuple[str, ...], ...]:
    """Return business keys of a dimension, those with most versions first.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: nothing was loaded yet, or the key is masked.
        TargetError: the target cannot be opened.
    """
    with opened_dimension(document, target, table, model) as (opened, shapes):
        return keys_of(opened, shapes.dimension(table))


def dimension_key_history(
    document: Document, target: str, table: str, key: tuple[str, ...], model: str = ""
) -> KeyHistory:
    """Return the messages and versions of a business key.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: nothing was loaded yet, the key is masked, or has other parts.
        TargetError: the target cannot be opened.
    """
    with opened_dimension(document, target, table, model) as (opened, shapes):
        shape = shapes.dimension(table)
        if len(key) != len(shape.key):
            names = ", ".join(part.name for part in shape.key)
            raise RunError(f"{', '.join(key)} is no key of {table}.", hint=f"Give {names}.")
        found = key_history(opened, shapes, table, key)
        return _shown(found, shape, hidden_columns(document, shapes, shape))


@contextmanager
def opened_dimension(
    document: Document, target: str, table: str, model: str
) -> Iterator[tuple[WarehouseTarget, TableShapes]]:
    """Open a target in which something was loaded into a dimension whose key people may see.

    Raises:
        RunError: nothing was loaded yet, it is no dimension, or its key is masked.
    """
    found, shapes = target_tables(document, target, model)
    if not isinstance(shapes.model.table(table), Dimension):
        raise RunError(f"{table} is no dimension of the warehouse model {shapes.model.name}.")
    shape = shapes.dimension(table)
    if any(part.source in hidden_columns(document, shapes, shape) for part in shape.key):
        raise RunError(f"The business key of {table} is masked.", hint="Its values are shown to nobody here.")
    nothing = RunError("Nothing was loaded into the target yet.", hint="Load it first.")
    if found.is_new:
        raise nothing
    with found.read() as opened:
        if not opened.has_table(table):
            raise nothing
        yield opened, shapes


def _shown(found: KeyHistory, shape: DimensionShape, masked: frozenset[str]) -> KeyHistory:
    """Hide masked values, and those of columns that are made of such."""
    made_of = {one.name for one in shape.columns if masked.intersection(one.uses)}
    return replace(
        found,
        messages=tuple(replace(one, values=hidden_values(one.values, masked)) for one in found.messages),
        versions=tuple(replace(one, values=hidden_values(one.values, made_of)) for one in found.versions),
    )


def hidden_values(
    values: tuple[tuple[str, str], ...], hidden: frozenset[str] | set[str]
) -> tuple[tuple[str, str], ...]:
    """Return values by column, those of some columns hidden."""
    return tuple((column, HIDDEN if column in hidden else value) for column, value in values)
