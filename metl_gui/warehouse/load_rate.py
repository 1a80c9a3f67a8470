"""How many rows a target takes in a second: the most that a load or a rebuild of it has written.

Small loads take their time for other things than rows, so that the greatest rate says the most of a rebuild.
"""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.core.dimensional.loads.load_report import TableCounts
from metl_gui.warehouse.attribute_changes import remember
from metl_gui.warehouse.databases.target import WarehouseTarget

_RATE = "rows per second"


def remember_rate(target: WarehouseTarget, tables: Iterable[TableCounts], seconds: float) -> None:
    """Keep at which rate rows of tables were written, where none was greater.

    Args:
        target: within a transaction.
        tables: what was written.
        seconds: that it took.
    """
    rows = sum(one.inserted + one.updated + one.removed for one in tables)
    rate = rows / seconds if seconds > 0 else 0.0
    if rate > (rate_of(target) or 0.0):
        remember(target, _RATE, str(rate))


def rate_of(target: WarehouseTarget) -> float | None:
    """Return that rate, ``None`` where none is known."""
    found = target.rows("SELECT value FROM metl_target WHERE name = ?", [_RATE])
    return float(found[0][0]) if found else None
