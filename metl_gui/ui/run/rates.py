"""Records per second, from the counts that a run tells: pure arithmetic under the chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metl_gui.engine.report import Tally

LINES = ("in", "mapped", "filtered", "set_aside")
_FIELDS = {"in": "read", "mapped": "mapped", "filtered": "filtered", "set_aside": "set_aside"}


@dataclass(frozen=True)
class Point:
    """Counts at a moment of a run; seconds since it began."""

    seconds: float
    counts: tuple[int, int, int, int]


class Rates:
    """The course of one run."""

    def __init__(self) -> None:
        self.points: list[Point] = [Point(0.0, (0, 0, 0, 0))]

    def add(self, seconds: float, tally: Tally) -> None:
        """Take the counts at a later moment; what comes out of order is left out."""
        if seconds > self.points[-1].seconds:
            read, mapped, filtered, aside = (int(getattr(tally, _FIELDS[name])) for name in LINES)
            self.points.append(Point(seconds, (read, mapped, filtered, aside)))

    def add_total(self, seconds: float, report: Mapping[str, Any]) -> None:
        """Take the counts of a finished run as its only stretch."""
        read, mapped, filtered, aside = (int(report[_FIELDS[name]]) for name in LINES)
        self.points.append(Point(seconds, (read, mapped, filtered, aside)))

    def line(self, name: str) -> tuple[list[float], list[float]]:
        """Return (seconds, records per second) of one line; a rate stands at the end of its stretch."""
        at = LINES.index(name)
        seconds, rates = [0.0], [0.0]
        for before, after in zip(self.points, self.points[1:], strict=False):
            seconds.append(after.seconds)
            rates.append((after.counts[at] - before.counts[at]) / (after.seconds - before.seconds))
        rates[0] = rates[min(1, len(rates) - 1)]
        return seconds, rates

    def latest(self, name: str) -> float:
        """Return the last rate of a line."""
        return self.line(name)[1][-1]
