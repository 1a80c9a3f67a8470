"""The events of a run in bounded room: where they are many, points of the course are left out, nothing else.

Order: as they came; the first and the last point of a course stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from metl_gui.engine.events import BatchCommitted, EngineEvent, LaneProgressed, RunProgressed

KEPT_POINTS = 1_000
"""Points of a chart that are kept with a project: more than a screen is wide."""

_Item = TypeVar("_Item")
_POINTS = (RunProgressed, BatchCommitted, LaneProgressed)
_COURSE = re.compile(rb'^\{"event":"(?:RunProgressed|BatchCommitted|LaneProgressed)"')


def bounded(events: Sequence[EngineEvent], points: int = KEPT_POINTS) -> list[EngineEvent]:
    """Return events with about ``points`` of their course.

    How often each attribute was filled stays in the last of them only; the report has it too.
    """
    kept = thinned(
        events, [isinstance(event, RunProgressed | BatchCommitted | LaneProgressed) for event in events], points
    )
    last = max((at for at, event in enumerate(kept) if isinstance(event, RunProgressed)), default=-1)
    return [_brief(event) if at != last else event for at, event in enumerate(kept)]


def bounded_lines(lines: Sequence[bytes], points: int) -> list[bytes]:
    """Return encoded events with about ``points`` of their course."""
    return thinned(lines, [bool(_COURSE.match(line)) for line in lines], points)


def thinned(items: Sequence[_Item], is_point: Sequence[bool], points: int) -> list[_Item]:
    """Leave points out at even distances until about as many are left as wanted; whatever is no point stays."""
    count = sum(is_point)
    if count <= points:
        return list(items)
    every = -(-count // points)
    kept: list[_Item] = []
    seen = 0
    for item, is_one in zip(items, is_point, strict=True):
        if not is_one:
            kept.append(item)
            continue
        if seen % every == 0 or seen == count - 1:
            kept.append(item)
        seen += 1
    return kept


def _brief(event: EngineEvent) -> EngineEvent:
    if not isinstance(event, RunProgressed) or not event.tally.by_attribute:
        return event
    return msgspec.structs.replace(event, tally=msgspec.structs.replace(event.tally, by_attribute={}))
