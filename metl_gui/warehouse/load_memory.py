"""What a target remembers of its loads and rebuilds: how many rows it takes in a second, and the tests that are broken.

Small loads take their time for other things than rows, so that the greatest rate says the most of a rebuild. Tests that
were broken are looked at again by the next load.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from metl_gui.core.dimensional.loads.load_report import LoadReport, TableCounts
from metl_gui.warehouse.attribute_changes import remember
from metl_gui.warehouse.databases.target import WarehouseTarget

_RATE = "rows per second"
_BROKEN = "broken tests"


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


def remember_broken(target: WarehouseTarget, tests: Iterable[str]) -> None:
    """Keep which tests are broken now.

    Args:
        target: within a transaction.
        tests: in words, each with its table.
    """
    remember(target, _BROKEN, msgspec.json.encode(sorted(tests)).decode())


def broken_before(target: WarehouseTarget) -> frozenset[str]:
    """Return the tests that were broken; of a target that does not say so, those which its last load told of."""
    found = target.rows("SELECT value FROM metl_target WHERE name = ?", [_BROKEN])
    if found:
        return frozenset(msgspec.json.decode(found[0][0], type=list[str]))
    last = "SELECT report FROM metl_loads WHERE report IS NOT NULL ORDER BY loaded_at DESC LIMIT 1"
    return frozenset(test for (text,) in target.rows(last) for test in msgspec.json.decode(text, type=LoadReport).tests)
