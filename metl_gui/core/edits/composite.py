"""Several edits as one undo step."""

from __future__ import annotations

from itertools import groupby
from typing import cast

from metl_gui.core.changes.draft import Draft, Edit
from metl_gui.core.edits.elements import SetElements, set_all
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.document import Document
from metl_gui.values import Value


class CompositeEdit(Value):
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
        for is_of_elements, run in groupby(self.edits, lambda edit: isinstance(edit, SetElements)):
            if is_of_elements:
                set_all(draft, cast("list[SetElements]", list(run)))
            else:
                for edit in run:
                    edit.apply(draft)
