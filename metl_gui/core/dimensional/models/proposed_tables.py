"""Tables that are proposed for a model which has some already, to be accepted one by one.

An entity that a table of the model is made of is proposed no more, whatever that table is called.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from metl_gui.core.dimensional.models.proposals import proposed_model
from metl_gui.core.matrix.document import Document
from metl_gui.core.warehouse_model import Dates, Dimension, Fact, Model, Table


def proposed_tables(document: Document, model: Model) -> tuple[Table, ...]:
    """Return the tables that a first model would have and this one lacks.

    Cost: that of a first model.
    """
    names = {one.name for one in model.tables}
    entities = {one.entity for one in model.tables if isinstance(one, Dimension | Fact)}
    has_days = any(isinstance(one, Dates) for one in model.tables)
    proposed = proposed_model(document, model.name).tables
    own = {one.entity: one.name for one in model.dimensions}
    known = {one.name: own[one.entity] for one in proposed if isinstance(one, Dimension) and one.entity in own}
    found = []
    for table in proposed:
        is_taken = has_days if isinstance(table, Dates) else getattr(table, "entity", "") in entities
        if not is_taken and table.name not in names:
            found.append(_referring(table, model, known))
    return tuple(found)


def with_proposed(model: Model, proposed: tuple[Table, ...], name: str) -> Model:
    """Return a model with a proposed table, and with those that it refers to and the model lacks before it."""
    taken = {one.name for one in accepted_with(proposed, name)}
    added = tuple(one for one in proposed if one.name in taken)
    return msgspec.structs.replace(model, tables=(*model.tables, *added))


def accepted_with(proposed: tuple[Table, ...], name: str) -> tuple[Table, ...]:
    """Return a proposed table behind those of the others that it leads to."""
    by_name = {one.name: one for one in proposed}
    found: dict[str, Table] = {}
    waiting = [name]
    while waiting:
        table = by_name.get(waiting.pop())
        if table is not None and table.name not in found:
            found[table.name] = table
            waiting += [one.dimension for one in getattr(table, "references", ())]
    return tuple(reversed(found.values()))


def _referring(table: Table, model: Model, known: Mapping[str, str]) -> Table:
    """Return a proposed table whose references lead to the model's own dimensions, by whatever name they have there.

    Args:
        table: that is proposed.
        model: which it shall be in.
        known: by name of a proposed dimension, that of the model's own of its entity.
    """
    if not isinstance(table, Dimension | Fact):
        return table
    days = next((one.name for one in model.tables if isinstance(one, Dates)), "")
    references = tuple(
        msgspec.structs.replace(one, dimension=known.get(one.dimension) or _days(one.on, days) or one.dimension)
        for one in table.references
    )
    return msgspec.structs.replace(table, references=references)


def _days(on: object, days: str) -> str:
    return days if isinstance(on, str) else ""
