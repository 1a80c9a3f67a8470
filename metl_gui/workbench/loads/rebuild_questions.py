"""Whether a target has to be rebuilt, as its model has changed since it was made.

Source: docs/guide/warehouse.md, "Change the model".
"""

from __future__ import annotations

from metl_gui.core.dimensional.loads.rebuild_question import RebuildQuestion
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
