"""What is known of a run from its events, and a run in words.

Of one that goes on: its progress series, how far it is, and what a person should know of it meanwhile. Of one that is
over: the series from the events that are kept of it. In words: what it was, when, how long it took, how it ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from metl_gui.core.project.named_states import NamedState
from metl_gui.core.runs.events import (
    EngineEvent,
    LaneProgressed,
    RunProgressed,
    RunStarted,
    SourceTroubled,
    StateChanged,
)
from metl_gui.core.runs.kafka import is_kafka, parse_address
from metl_gui.errors import RunError
from metl_gui.ui.charts.series import ProgressSeries
from metl_gui.ui.lanes.progress import FollowedLane
from metl_gui.ui.project.text import duration, on, size
from metl_gui.workbench.runs.history import events_of
from metl_gui.workbench.runs.mapping_run import PRODUCTION
from metl_gui.workbench.session import Workbench

_STAYS = "goes on when this window is closed"


class FollowedRun:
    """What is known of one run while it goes on.

    Args:
        title: what it is.
        run_id: its id, empty until it tells it.
        is_endless: it goes on until somebody stops it.
        is_apart: it is a process of its own.
        is_fast: it is asked to be a fast lane.
    """

    def __init__(
        self, title: str, run_id: str = "", is_endless: bool = False, is_apart: bool = False, is_fast: bool = False
    ) -> None:
        self.title = title
        self.run_id = run_id
        self.is_endless = is_endless
        self.is_apart = is_apart
        self._is_fast = is_fast
        self.course, self.lane = ProgressSeries(), FollowedLane()
        self.progress: RunProgressed | None = None
        self.troubles: list[str] = []
        self.is_stopping = False

    def take(self, event: EngineEvent) -> bool:
        """Take what the run tells, and return whether there are other counts to show."""
        match event:
            case RunStarted(run_id=run_id):
                self.run_id = run_id
            case RunProgressed():
                self.progress = event
            case StateChanged(state=state):
                self.title = f"{self.title.partition(' · ')[0]} · state {state:,}"
            case SourceTroubled(text=text):
                self.troubles.append(text)
            case LaneProgressed(state=state):
                self.title = f"{self.title.partition(' · ')[0]} · state {state:,}"
            case _:
                pass
        is_of_lane = self.lane.take(event)
        return self.course.take(event) or is_of_lane

    @property
    def is_lane(self) -> bool:
        """Whether it has the figures of a lane, or will have them."""
        return self._is_fast or self.lane.is_known

    @property
    def counts(self) -> Mapping[str, Any] | None:
        """The counts as a report names them; ``None`` before the first."""
        told = self.progress or self.lane.progress
        counts: Mapping[str, Any] | None = msgspec.to_builtins(told.tally) if told is not None else None
        return counts

    @property
    def share(self) -> float:
        """How much of the source is behind, from 0 to 1; below 0 while nobody knows, or where there is no end."""
        known = self.progress
        if known is None or self.is_endless or known.bytes_total <= 0:
            return -1.0
        return min(known.bytes_read / known.bytes_total, 1.0)

    @property
    def facts(self) -> str:
        """How long it has taken, how far it is, and how long it still takes."""
        known = self.progress
        if self.is_stopping:
            return "is being stopped"
        if self.is_lane:
            return " · ".join((self.lane.facts, *([_STAYS] if self.is_apart else [])))
        if known is None:
            return "waits for Spark"
        parts = [duration(known.seconds)]
        if self.is_endless:
            parts.append(f"{_amount(known, max(known.bytes_waiting, known.bytes_total - known.bytes_read))} behind")
        elif known.bytes_total:
            parts.append(f"{_amount(known, known.bytes_read)} of {_amount(known, known.bytes_total)}")
            left = self._seconds_left(known)
            if left is not None:
                parts.append(f"{duration(left)} left")
        if self.troubles:
            parts.append(self.troubles[-1])
        if self.is_apart:
            parts.append(_STAYS)
        return " · ".join(parts)

    def _seconds_left(self, known: RunProgressed) -> float | None:
        """Say how long the rest takes at the speed so far; ``None`` while nobody can say."""
        if known.seconds_left is not None:
            return known.seconds_left
        if known.seconds < 2 or known.bytes_read <= 0:
            return None
        left = known.seconds * (known.bytes_total - known.bytes_read) / known.bytes_read
        return left if left >= 1 else None


def _amount(known: RunProgressed, count: int) -> str:
    """Write how much of a source something is: bytes of files, records of topics."""
    return size(count) if known.unit == "bytes" else f"{count:,} records"


def told_of(workbench: Workbench, run_id: str, report: Mapping[str, Any]) -> FollowedRun:
    """Read what a run told; the course of one whose events are gone, or that told none, is one stretch."""
    told = FollowedRun("", run_id)
    for event in events_of(workbench, run_id):
        told.take(event)
    told.course.finish(report)
    return told


DIED = (
    "Its process is gone: it was killed, or the computer was switched off. "
    "Nothing is lost: Go on begins where its last batch was put in place."
)
"""What became of a production run whose process died."""


def kind_words(report: Mapping[str, Any]) -> str:
    """Say what kind of run it was."""
    mode = str(report.get("mode", "test"))
    if report.get("is_replay"):
        return "Replay in production" if mode == PRODUCTION else "Replay"
    return mode.capitalize()


def title_words(report: Mapping[str, Any]) -> str:
    """Name a run: what kind, and of which state."""
    return f"{kind_words(report)} · state {report.get('state', 0):,}"


def source_words(source: str) -> str:
    """Name a source by the last part of its path; topics by the first of them, another address as it is."""
    if not is_kafka(source):
        return source if "://" in source else Path(source).name or source
    try:
        address = parse_address(source)
    except RunError:
        return source
    if address.pattern:
        return f"topics ^{address.pattern}"
    more = len(address.topics) - 1
    return f"{address.topics[0]} and {more} more" if more > 0 else address.topics[0] if address.topics else source


def moment_words(when_ms: int) -> str:
    """Say when, in as many words as a list has room for."""
    when = datetime.fromtimestamp(when_ms / 1000, UTC).astimezone()
    today = datetime.now(UTC).astimezone().date()
    return f"{when:%H:%M}" if when.date() == today else f"{when.day} {when:%b %H:%M}"


def state_words(name: str, state: int) -> str:
    """Name a state by its number, and its name where it has one."""
    return f"state {state:,} “{name}”" if name else f"state {state:,}"


def published_words(live: NamedState) -> str:
    """Name a published state, and say who published it and when."""
    who = f" by {live.published_who}" if live.published_who else ""
    when = f", {on(live.published_ms)}" if live.published_ms is not None else ""
    return f"{state_words(live.name, live.state)}, published{who}{when}"


def count_words(report: Mapping[str, Any]) -> str:
    """Say how much was read, and how long that took."""
    return f"{report.get('read', 0):,} records in {duration(float(report.get('seconds', 0)))}"


def counted_words(report: Mapping[str, Any]) -> str:
    """Say how much a run had counted until it was cancelled or killed, which is in no place."""
    return f"{report.get('read', 0):,} records counted until then"


def in_place_words(report: Mapping[str, Any]) -> str:
    """Say how much the batches of a run that died put in place; what it told beyond that is mapped again."""
    return f"{report.get('read', 0):,} records are in place"
