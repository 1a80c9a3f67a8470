"""A target whose model has changed since it was made, as a question to a person: to rebuild it or not."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from metl_gui.core.dimensional.loads.rebuild_cost import RebuildCost
from metl_gui.core.dimensional.models.model_changes import DeclarationChange, change_words
from metl_gui.values import Value


class RebuildQuestion(Value):
    """A target that loads are refused into until it is rebuilt.

    Args:
        target: as people write it.
        model: its name.
        mode: of the runs that it takes.
        changes: of the model, since the target was made by it.
        cost: what a rebuild would do.
    """

    target: str
    model: str
    mode: str
    changes: tuple[DeclarationChange, ...]
    cost: RebuildCost

    @property
    def words(self) -> str:
        """It in a line."""
        return f"{self.target} was made by another state of the warehouse {self.model}: {change_words(self.changes)}"

    @property
    def mark(self) -> str:
        """What tells these changes from others, for who keeps the target as it is."""
        return hashlib.sha256("\n".join(one.words for one in self.changes).encode()).hexdigest()[:16]

    def as_json(self) -> dict[str, Any]:
        """Return one of ``rebuilds`` of ``metl review --list``."""
        return {
            "target": self.target,
            "model": self.model,
            "mode": self.mode,
            "changes": [msgspec.to_builtins(one) for one in self.changes],
            "rebuild": msgspec.to_builtins(self.cost),
        }
