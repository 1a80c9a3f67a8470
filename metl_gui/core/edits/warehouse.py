"""Edits of warehouse models."""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.changes.draft import Draft
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.warehouse_settled import SETTLED, settled_with
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Model
from metl_gui.errors import EditError, near_names
from metl_gui.values import Value

_LONGEST_NAME = 63
"""Bytes: a model's name is that of a schema in the target."""

_MOST_SHOWN = 3


class SetModel(Value):
    """Declare a warehouse model, in place of the one of that name where there is one."""

    model: Model

    def title(self, document: Document) -> str:
        """Name the model and the tables that become others."""
        before = document.model(self.model.name)
        if before is None:
            count = len(self.model.tables)
            return f"Add the warehouse model {self.model.name} with {count} {'table' if count == 1 else 'tables'}"
        changed = list(_changed_tables(before, self.model))
        told = ", ".join(changed[:_MOST_SHOWN]) + (" and more" if len(changed) > _MOST_SHOWN else "")
        return f"Change {told} of the warehouse model {self.model.name}" if told else f"Change {self.model.name}"

    def apply(self, draft: Draft) -> None:
        """Set the model.

        Raises:
            EditError: its name is none.
        """
        name = self.model.name
        if not name.strip() or not name.isprintable() or len(name.encode()) > _LONGEST_NAME:
            raise EditError(
                f"{name[:_LONGEST_NAME] or 'An empty text'} is no name for a warehouse model.",
                hint=f"Take letters that can be printed, {_LONGEST_NAME} bytes at most.",
            )
        draft.put_model(name, self.model)


class RemoveModel(Value):
    """Remove a warehouse model; what was loaded by it stays in its targets."""

    name: str

    def title(self, document: Document) -> str:  # noqa: ARG002 - nothing else of the document is named
        """Name the model."""
        return f"Remove the warehouse model {self.name}"

    def apply(self, draft: Draft) -> None:
        """Remove the model.

        Raises:
            EditError: there is none of that name.
        """
        if draft.model(self.name) is None:
            known = [model.name for model in draft.document.models]
            raise EditError(f"There is no warehouse model {self.name}.", near_names(self.name, known))
        draft.put_model(self.name, None)


class SettleAttributes(Value):
    """Have the review list ask no more what tables make of some attributes.

    Args:
        entity: its name.
        paths: of the attributes.
        is_lost: they lost their sources and their columns stay; else they are new and no table shall take them.
    """

    entity: str
    paths: tuple[str, ...]
    is_lost: bool = False

    def title(self, document: Document) -> str:  # noqa: ARG002 - nothing else of the document is named
        """Name the attributes."""
        more = f" and {len(self.paths) - _MOST_SHOWN} more" if len(self.paths) > _MOST_SHOWN else ""
        named = f"{', '.join(self.paths[:_MOST_SHOWN])}{more} of {self.entity}"
        return (
            f"Keep the columns of {named} in the warehouse" if self.is_lost else f"Leave {named} out of the warehouse"
        )

    def apply(self, draft: Draft) -> None:
        """Change the setting.

        Raises:
            EditError: there is no such entity.
        """
        entity = draft.tree(Side.CDM).named(self.entity)
        if entity is None:
            raise EditError(f"There is no entity {self.entity}.", hint="Look at the newest state first.")
        SetSettings(Side.CDM, entity.id, ((SETTLED, settled_with(entity, self.paths)),)).apply(draft)


def _changed_tables(before: Model, after: Model) -> Iterator[str]:
    """Name the tables that two models have differently, those of the later one first."""
    old, new = ({table.name: table for table in model.tables} for model in (before, after))
    yield from (name for name in new if new[name] != old.get(name))
    yield from (name for name in old if name not in new)
