"""Several edits as one undo step."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.document import Document
from metl_gui.core.draft import Draft, Edit


@dataclass(frozen=True, slots=True)
class Several:
    """Apply edits in order as one state."""

    name: str
    edits: tuple[Edit, ...]

    def title(self, document: Document) -> str:  # noqa: ARG002 - a group is named by whoever makes it
        """Return the name of the group."""
        return self.name

    def apply(self, draft: Draft) -> None:
        """Apply every edit; one that is refused refuses all."""
        for edit in self.edits:
            edit.apply(draft)
