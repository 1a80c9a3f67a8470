"""Local times and the instants that they are, held against Python's own rules of time zones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.core.project.time_zones import time_zone_names
from metl_gui.engine.sinks.local_times import LocalTimeError, instants

EPOCH, FIRST, LAST = (datetime(year, 1, 1, tzinfo=UTC).replace(tzinfo=None) for year in (1970, 1680, 2260))
PER_SECOND = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def timestamps(unit: Any, *counted: int | None) -> Any:
    return pa.array(counted, pa.int64()).cast(pa.timestamp(unit))


@st.composite
def around_changes(draw: st.DrawFn) -> tuple[str, datetime]:
    """Draw a zone and a local time of it, most of them near a change where there is one."""
    zone = draw(st.sampled_from(time_zone_names()))
    wall = draw(st.datetimes(FIRST, LAST))
    rules = ZoneInfo(zone)
    later = wall + timedelta(days=draw(st.integers(1, 200)))
    if wall.replace(tzinfo=rules).utcoffset() == later.replace(tzinfo=rules).utcoffset():
        return zone, wall
    before = wall.replace(tzinfo=rules).utcoffset()
    while later - wall > timedelta(seconds=1):
        middle = wall + (later - wall) / 2
        wall, later = (middle, later) if middle.replace(tzinfo=rules).utcoffset() == before else (wall, middle)
    return zone, wall + timedelta(minutes=draw(st.integers(-180, 180)))


@settings(max_examples=400, deadline=None)
@given(around_changes(), st.sampled_from(sorted(PER_SECOND)))
def test_a_local_time_is_the_one_instant_with_that_wall_clock_or_refused(one: tuple[str, datetime], unit: str) -> None:
    zone, wall = one
    before, after = (wall.replace(tzinfo=ZoneInfo(zone), fold=fold).utcoffset() for fold in (0, 1))
    counted = (wall - EPOCH) // timedelta(microseconds=1) * PER_SECOND[unit] // 1_000_000
    local = timestamps(unit, None, counted)
    if before != after:
        with pytest.raises(LocalTimeError, match=r"is skipped in|comes twice in"):
            instants(local, zone)
        return
    assert before is not None
    found = instants(local, zone)
    assert str(found.type) == f"timestamp[{unit}, tz=UTC]"
    assert found.cast(pa.int64()).to_pylist() == [None, counted - int(before.total_seconds()) * PER_SECOND[unit]]


def test_an_instant_beyond_what_nanoseconds_can_count_is_refused() -> None:
    last = timestamps("ns", (1 << 63) - 1)
    assert instants(last, "Europe/Berlin").cast(pa.int64()).to_pylist() == [(1 << 63) - 1 - 7200 * 10**9]
    with pytest.raises(OverflowError):
        instants(last, "America/New_York")
