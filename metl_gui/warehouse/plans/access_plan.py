"""Who may read the tables of a warehouse, and what a rebuild keeps of the tables that it makes anew."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from metl_gui.core.dimensional.models.grants import role_of
from metl_gui.core.dimensional.rows.junk import junk_tables
from metl_gui.core.warehouse_model import Dates, Dimension, Fact, Model, Table, TimesOfDay


class Grant(msgspec.Struct, frozen=True):
    """A role that may read a table.

    Args:
        table: or view.
        role: its name; ``PUBLIC`` for everybody.
    """

    table: str
    role: str


class Declared(msgspec.Struct, frozen=True):
    """What a model says of the tables of a target, so that what people did beside it can be told from it.

    Args:
        tables: tables and views that it makes.
        grants: who may read which.
        indexes: tables with the columns of their indexes.
    """

    tables: tuple[str, ...]
    grants: tuple[Grant, ...]
    indexes: tuple[tuple[str, tuple[str, ...]], ...]


def declared(model: Model) -> Declared:
    """Return what a model says of the tables of a target."""
    tables = [name for one in model.tables for name in _readable(model, one)]
    grants = tuple(dict.fromkeys(grant for one in model.tables for grant in _grants(model, one)))
    found = [(one.name, index) for one in model.tables if isinstance(one, Dimension | Fact) for index in one.indexes]
    apart = [(table, (column,)) for table, columns in found for column in columns]
    return Declared(tuple(dict.fromkeys(tables)), grants, tuple(dict.fromkeys((*found, *apart))))


def _readable(model: Model, table: Table) -> Iterator[str]:
    """Yield a table and what is read together with it: its views, tables of it, days and times that it refers to."""
    yield table.name
    if isinstance(table, Dimension):
        yield from (f"{table.name}_current", f"{table.name}_now")
    yield from (one.name for one in (*model.tables, *junk_tables(model)) if getattr(one, "of", "") == table.name)
    if isinstance(table, Dimension | Fact):
        referred = {one.dimension for one in table.references}
        if isinstance(table, Fact) and table.event_times:
            referred |= {one.name for one in model.tables if isinstance(one, Dates)}
        yield from (one.name for one in model.tables if isinstance(one, Dates | TimesOfDay) and one.name in referred)


def _grants(model: Model, table: Table) -> Iterator[Grant]:
    roles = [role_of(grant) for grant in table.grants] if isinstance(table, Dimension | Fact) else []
    for role in filter(None, roles):
        yield from (Grant(name, role) for name in _readable(model, table))
