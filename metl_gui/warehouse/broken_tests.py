"""Which declared tests a load or a rebuild found broken last: the next load looks at them again."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.warehouse.attribute_changes import remember
from metl_gui.warehouse.databases.target import WarehouseTarget

_BROKEN = "broken tests"


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
