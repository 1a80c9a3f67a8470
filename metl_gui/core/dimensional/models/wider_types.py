"""Wider types of columns: what a target takes in place, as every value that it holds is one of the wider type.

Source: docs/reference/warehouse-model.md, "When a model changes".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from metl_gui.core.warehouse_model import Column, Dimension, Fact, Model, Table

_DECIMAL = re.compile(r"decimal\((\d+), *(\d+)\)")
_TEXT = re.compile(r"text\((\d+)\)")


def is_wider(before: str, after: str) -> bool:
    """Return whether a type of a model holds every value of another one, and more: decimals and bounded texts.

    Args:
        before, after: as ``histories.TYPES`` write them.
    """
    if before == after:
        return False
    if (text := _TEXT.fullmatch(before)) is not None:
        longer = _TEXT.fullmatch(after)
        return after == "text" or (longer is not None and int(longer[1]) > int(text[1]))
    old, new = _DECIMAL.fullmatch(before), _DECIMAL.fullmatch(after)
    if old is None or new is None:
        return False
    digits, scale, more_digits, more_scale = (int(one) for one in (*old.groups(), *new.groups()))
    return more_scale >= scale and more_digits - more_scale >= digits - scale


def widened_entities(before: Model, after: Model) -> frozenset[str] | None:
    """Return the entities of whose tables columns have wider types now, where nothing else was changed.

    Columns that a junk dimension takes are told apart by what they say, so that a wider one is another.

    Args:
        before: the model that a target was made by.
        after: the model as it is now.

    Returns:
        None of them where the models are equal; ``None`` where something else was changed.
    """
    found, tables = set(), []
    if len(before.tables) != len(after.tables):
        return None
    for old, new in zip(before.tables, after.tables, strict=True):
        taken = _with_types_of(old, new)
        if taken != new:
            return None
        if taken != old and isinstance(new, Dimension | Fact):
            found.add(new.entity)
        tables.append(taken)
    return frozenset(found) if replace(before, tables=tuple(tables)) == after else None


def _with_types_of(old: Table, new: Table) -> Table:
    """Return a table with those types of its columns that are wider in another state of it."""
    if isinstance(old, Dimension) and isinstance(new, Dimension):
        if old.columns == "all" or new.columns == "all":
            return old
        return replace(old, columns=tuple(_widened(old.columns, new.columns)))
    if isinstance(old, Fact) and isinstance(new, Fact):
        measures = tuple(_widened(old.measures, new.measures))
        return replace(old, measures=measures, degenerate=tuple(_widened(old.degenerate, new.degenerate, old.junk)))
    return old


def _widened(old: tuple[Column, ...], new: tuple[Column, ...], left: tuple[str, ...] = ()) -> Iterator[Column]:
    types = {one.name: one.type for one in new if one.name not in left}
    for one in old:
        is_so = is_wider(one.type, types.get(one.name, one.type))
        yield replace(one, type=types[one.name]) if is_so else one
