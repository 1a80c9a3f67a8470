"""Which of some targets have to be rebuilt, as their model has changed since they were made.

Source: docs/guide/warehouse.md, "Change the model".
"""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.core.dimensional.loads.rebuild_question import RebuildQuestion
from metl_gui.errors import UserError
from metl_gui.workbench.loads.warehouse_loads import warehouse_status
from metl_gui.workbench.session import Workbench


def rebuild_question(workbench: Workbench, target: str, model: str = "") -> RebuildQuestion | None:
    """Ask one target; ``None`` where nothing has changed.

    Raises:
        UserError: see ``warehouse_status``.
    """
    found = warehouse_status(workbench, target, model)
    if found.rebuild is None:
        return None
    return RebuildQuestion(target, found.model, found.mode, found.changes, found.rebuild)


def rebuild_questions(workbench: Workbench, targets: Iterable[tuple[str, str]]) -> tuple[RebuildQuestion, ...]:
    """Ask targets, each with the name of its model; those that cannot be asked now are left out."""
    found = []
    for target, model in targets:
        try:
            question = rebuild_question(workbench, target, model)
        except UserError:
            continue  # it is gone, away, or somebody else's by now; a load says so
        found += [question] if question is not None else []
    return tuple(found)
