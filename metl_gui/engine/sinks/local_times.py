"""Local times as the instants that they are in a time zone.

The zone's rules come from Python's ``zoneinfo``. Arrow's own conversion knows no rule that goes on: after 2037, where
the listed changes of a zone end, it is an hour off for half of every year.

A zone is asked once for each day: where its first and its last second have one offset, the whole day has, as no zone
ever changed twice within three days. On the other days each local time is asked for by itself.

Source: PEP 495 (``fold`` tells a gap and a fold by two offsets that differ).
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metl_gui.engine.spark.task_errors import TaskError
from metl_gui.errors import RunError

Array: TypeAlias = "pa.Array[Any]"
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_DAY_S = 86_400
_FIRST_DAY, _LAST_DAY = date.min.toordinal() - _EPOCH.toordinal(), date.max.toordinal() - _EPOCH.toordinal()
_CHANGES = _DAY_S
"""Stands for the offset of a day on which it changes; offsets are less than a day."""


class LocalTimeError(ValueError):
    """A local time that is no instant; the text goes on after the value."""


def check_zone(zone: str) -> None:
    """Look whether this computer knows a zone.

    Raises:
        TaskError: it does not; the run ends with it.
    """
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise TaskError(
            RunError(
                f"A computer of this run does not know the time zone {zone}.",
                hint="Install the Python package tzdata there, then run again.",
            )
        ) from error


def instants(local: Array, zone: str) -> Array:
    """Return the instants of local times, in the same unit.

    Args:
        local: timestamps of no zone.
        zone: by its name.

    Units: offsets are seconds to the east.

    Raises:
        LocalTimeError: one is skipped in the zone, comes twice, or is of no calendar.
        OverflowError: one is an instant beyond 64 bits.
    """
    unit = local.type.unit
    counted: Any = local.cast(pa.int64())
    is_missing = np.asarray(counted.is_null().to_numpy(zero_copy_only=False))
    found = np.asarray(counted.fill_null(0).to_numpy())[~is_missing]
    shifts = _offsets(found // _PER_SECOND[unit], zone) * _PER_SECOND[unit]
    moved = found - shifts
    if ((shifts > 0) & (moved > found) | (shifts < 0) & (moved < found)).any():
        raise OverflowError("beyond 64 bits")
    made = np.zeros(len(is_missing), np.int64)
    made[~is_missing] = moved
    return pa.array(made, pa.int64(), mask=is_missing).cast(pa.timestamp(unit, "UTC"))


def _offsets(seconds: NDArray[np.int64], zone: str) -> NDArray[np.int64]:
    days, at = np.unique(seconds // _DAY_S, return_inverse=True)
    if len(days) and not _FIRST_DAY <= days[0] <= days[-1] <= _LAST_DAY:
        raise LocalTimeError("a local time of no calendar")
    offsets = np.array([_of_day(zone, day) for day in days.tolist()], np.int64)[at]
    for row in np.flatnonzero(offsets == _CHANGES).tolist():
        offsets[row] = _of_second(zone, int(seconds[row]))
    return offsets


@lru_cache(maxsize=65536)
def _of_day(zone: str, day: int) -> int:
    """Return the offset that holds throughout a day, or ``_CHANGES``."""
    ends = _wall(day * _DAY_S), _wall((day + 1) * _DAY_S - 1)
    found = {offset for wall in ends for offset in _both(zone, wall)}
    return found.pop() if len(found) == 1 else _CHANGES


def _of_second(zone: str, second: int) -> int:
    wall = _wall(second)
    before, after = _both(zone, wall)
    if before == after:
        return before
    raise LocalTimeError(f"{wall.isoformat()} {'is skipped' if before < after else 'comes twice'} in {zone}")


def _wall(second: int) -> datetime:
    return _EPOCH + timedelta(seconds=second)


def _both(zone: str, wall: datetime) -> tuple[int, int]:
    """Return the offsets before and after a change, if there is one just then."""
    rules = ZoneInfo(zone)
    before, after = (wall.replace(tzinfo=rules, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    return int(before.total_seconds()), int(after.total_seconds())
