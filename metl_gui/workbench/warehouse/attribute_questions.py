"""What came and went of the attributes of entities, as questions to a person, with the edits that answer them.

Source: docs/guide/warehouse.md, "When attributes come and go".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from metl_gui.core.dimensional.models.asked_attributes import (
    LostAttribute,
    NewAttributes,
    asked_attributes,
    lost_attributes,
)
from metl_gui.core.matrix.document import Document
from metl_gui.core.warehouse_model import Dimension, Fact, Model, Table
from metl_gui.values import Value
from metl_gui.workbench.warehouse.table_rows import entity_of, with_columns, with_table


class AttributeQuestions(Value):
    """What is asked about the attributes of a state, model by model.

    Args:
        new: attributes that no table takes.
        lost: attributes that tables use and no block maps.
    """

    new: tuple[NewAttributes, ...] = ()
    lost: tuple[LostAttribute, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return ``new_attributes`` and ``lost_attributes`` of ``metl review --list``."""
        return {
            "new_attributes": [one.as_json() for one in self.new],
            "lost_attributes": [one.as_json() for one in self.lost],
        }


def attribute_questions(document: Document) -> AttributeQuestions:
    """Return what is asked about the attributes of a state."""
    if not document.models:
        return AttributeQuestions()
    from metl_gui.formats.row_expressions import named_attributes  # a window is shown before it needs SQL

    return AttributeQuestions(
        tuple(one for model in document.models for one in asked_attributes(document, model, named_attributes)),
        tuple(one for model in document.models for one in lost_attributes(document, model, named_attributes)),
    )


def with_attributes(document: Document, model: Model, table: str, paths: Iterable[str]) -> Model:
    """Return a model with attributes as further columns of a table; as it is where there is no such table."""
    found = model.table(table)
    return with_table(model, table, with_columns(document, found, paths)) if found is not None else model


def without_attribute(document: Document, model: Model, lost: LostAttribute) -> Model:
    """Return a model without the columns that hold a lost attribute alone; what else uses it stays."""
    column = entity_of(document, lost.entity).at_path(lost.path)
    paths = {lost.path, *(column.paths.values() if column is not None else ())}
    changed = model
    for name in dict.fromkeys(use.table for use in lost.columns):
        table = model.table(name)
        if table is not None:
            changed = with_table(changed, name, _without(table, paths))
    return changed


def _without(table: Table, paths: set[str]) -> Table:
    members = ("columns",) if isinstance(table, Dimension) else ("measures", "degenerate")
    if not isinstance(table, Dimension | Fact) or getattr(table, members[0]) == "all":
        return table
    kept = {name: tuple(one for one in getattr(table, name) if one.path not in paths) for name in members}
    return msgspec.structs.replace(table, **kept)
