"""Keep in a target what runs covered of their sources, and find what a load covers that nothing before it did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from metl_gui.core.dimensional.rows.replays import Coverage, Span, highest, newly_covered
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.plans.histories.replay_plan import COVERED, RANGE, REPLAYS
from metl_gui.warehouse.plans.statements import name, names

_Log: TypeAlias = tuple[str, int]
_Item = TypeVar("_Item")
_AT_ONCE = 200
"""Logs or rows that one statement takes."""


def cover(target: WarehouseTarget, coverage: Coverage) -> bool:
    """Keep what a load covers, and list in ``COVERED`` the parts of it that nothing before it covered.

    Args:
        target: within a transaction.
        coverage: of the load.

    Returns:
        Whether there are such parts, in which messages may be void now.

    Cost: what stands in the target of the logs that were covered.
    """
    came = _by_log(coverage)
    if not came:
        return False
    target.run(f"CREATE OR REPLACE TEMPORARY TABLE {name(COVERED)} ({', '.join(' '.join(one) for one in RANGE)})")
    is_new = False
    for logs in _parts(list(came)):
        known = _known(target, logs)
        fresh = {log: newly_covered(known[log], came[log]) for log in logs}
        changed = [log for log in logs if fresh[log]]
        if changed:
            is_new = True
            where, values = _is_any_of(changed)
            target.run(f"DELETE FROM {REPLAYS} WHERE {where}", values)
            _insert(target, REPLAYS, [(log, one) for log in changed for one in highest((*known[log], *came[log]))])
            _insert(target, COVERED, [(log, one) for log in changed for one in fresh[log]])
    return is_new


def _by_log(coverage: Coverage) -> dict[_Log, list[Span]]:
    found: dict[_Log, list[Span]] = defaultdict(list)
    for one in coverage.ranges if coverage.publication > 0 else ():
        if one.first < one.behind:
            found[one.log, one.partition].append(Span(one.first, one.behind, coverage.publication))
    return found


def _known(target: WarehouseTarget, logs: Sequence[_Log]) -> dict[_Log, list[Span]]:
    found: dict[_Log, list[Span]] = defaultdict(list)
    where, values = _is_any_of(logs)
    for publication, log, partition, first, behind in target.rows(
        f"SELECT {_COLUMNS} FROM {REPLAYS} WHERE {where}", values
    ):
        found[log, partition].append(Span(first, behind, publication))
    return found


_COLUMNS = names(column for column, _ in RANGE)


def _is_any_of(logs: Sequence[_Log]) -> tuple[str, list[Any]]:
    condition = " OR ".join("(position_log = ? AND position_partition = ?)" for _ in logs)
    return condition, [value for log in logs for value in log]


def _insert(target: WarehouseTarget, table: str, rows: Sequence[tuple[_Log, Span]]) -> None:
    for some in _parts(rows):
        values = list(_values(some))
        listed = ", ".join("(?, ?, ?, ?, ?)" for _ in some)
        target.run(f"INSERT INTO {table} ({_COLUMNS}) VALUES {listed}", values)


def _values(rows: Sequence[tuple[_Log, Span]]) -> Iterator[Any]:
    for log, span in rows:
        yield from (span.publication, *log, span.first, span.behind)


def _parts(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))
