"""Several edits as one undo step."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.changes.draft import Draft, Edit
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.document import Document


@dataclass(frozen=True, slots=True)
class CompositeEdit:
    """Apply edits in order as one state."""

    name: str
    edits: tuple[Edit, ...]

    def title(self, document: Document) -> str:
        """Return the name of the group, and name every block that a policy removes in it."""
        policies = (edit for edit in self.edits if isinstance(edit, SetSettings))
        gone = ", ".join(name for edit in policies for name in edit.removed(document))
        return f"{self.name}, removing {gone}" if gone else self.name

    def apply(self, draft: Draft) -> None:
        """Apply every edit; one that is refused refuses all."""
        for edit in self.edits:
            edit.apply(draft)
