"""Compact a target: one state of what each row was before a time.

Source: docs/reference/warehouse-model.md, "Compaction".
"""

from __future__ import annotations

from datetime import UTC, datetime

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.errors import RunError
from metl_gui.warehouse.target_inputs import TargetInputs
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.target_documents import document_of
from metl_gui.workbench.loads.warehouse_loads import target_tables, told_steps
from metl_gui.workbench.session import Workbench


def compact_warehouse(
    workbench: Workbench, target: str, before: str, model: str = "", mode: str = "test", watch: Watch = UNWATCHED
) -> LoadReport:
    """Keep one state of what each row was before a time; messages of then that come later are set aside.

    Args:
        workbench: the opened project; read only is enough.
        target: see ``find_target``.
        before: the time in ISO 8601; UTC where it names no zone.
        model: name of the warehouse model; the only one by default.
        mode: of the runs that the target takes.
        watch: progress, and cancel.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: the time is none, or it has not come yet.
        TargetError: the target was compacted up to a later time, or refused something; it is as before.
    """
    time = _time(before)
    found, tables = target_tables(document_of(workbench, mode), target, model)
    with found.open_known() as opened:
        owner = Owner(project=workbench.project_id, mode=mode)
        return TargetInputs(opened, tables, owner, told_steps(watch)).compact(time)


def _time(text: str) -> datetime:
    example = "Give a day or a time, such as 2025-01-01 or 2025-01-01T12:00:00+01:00."
    try:
        found = datetime.fromisoformat(text.strip())
        time = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:  # or it lies in no year that there is, once it is in UTC
        raise RunError("The time cannot be read.", f"{text} is none.", example) from error
    if time > datetime.now(UTC):
        raise RunError("The time has not come yet.", "All that arrives until then would be set aside.", example)
    return time
