"""Up to when a target was compacted: it stands in the target, and never goes back."""

from __future__ import annotations

from datetime import datetime

from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget

_NAME = "compacted_before"


def compacted_before(target: WarehouseTarget) -> datetime | None:
    """Return the time before which a target was compacted, None where it was not."""
    found = target.rows("SELECT value FROM metl_target WHERE name = ?", [_NAME])
    return datetime.fromisoformat(found[0][0]) if found else None


def keep_compacted(target: WarehouseTarget, before: datetime) -> None:
    """Keep the time before which a target is compacted.

    Raises:
        TargetError: it was compacted up to a later time.
    """
    known = compacted_before(target)
    if known is not None and known > before:
        text = f"{target.title} has no messages before {known:%Y-%m-%d %H:%M:%S} one by one."
        raise TargetError("The target was compacted up to a later time", text, "Give that time, or a later one.")
    target.run("DELETE FROM metl_target WHERE name = ?", [_NAME])
    target.run("INSERT INTO metl_target VALUES (?, ?)", [_NAME, before.isoformat()])
