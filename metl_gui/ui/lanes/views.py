"""What the chart of a lane can show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from metl_gui.ui.lanes.course import LAG, LATENCIES, RATE, WAITING, LaneCourse, partition_line
from metl_gui.ui.run.amounts import amount
from metl_gui.ui.run.chart_views import ChartView, milliseconds
from metl_gui.ui.run.course import Course

_MOST = 6


def _of_partitions(
    id_: str, title: str, line: str, words: Callable[[float], str], *, is_by_powers: bool = False
) -> ChartView:
    """Make the view of the partitions with most of something lately."""

    def fill(course: Course, chosen: str) -> ChartView:
        known = course.partitions if isinstance(course, LaneCourse) else ()
        recent = course.last(_LATELY)

        def most(name: str) -> float:
            return -course.mean(partition_line(line, name), recent)

        names = sorted(known, key=most)[:_MOST]
        if chosen in known and chosen not in names:
            names = [*names[: _MOST - 1], chosen]
        lines = tuple(partition_line(line, name) for name in sorted(names))
        return replace(view, upper=lines)

    view = ChartView(id_, title, (), upper_words=words, is_by_powers=is_by_powers, fill=fill)
    return view


_LATELY = 60.0
LAGS = ChartView("lane", "Lag, waiting", (LAG,), (WAITING,))
TIMES = ChartView("latency", "Latency, rate", LATENCIES, (RATE,), upper_words=milliseconds, is_by_powers=True)
PARTITION_LAG = _of_partitions("lags", "Lag by partition", LAG, amount)
PARTITION_TIMES = _of_partitions("latencies", "p99 by partition", LATENCIES[-1], milliseconds, is_by_powers=True)
PARTITION_RATE = _of_partitions("rates", "Rate by partition", RATE, amount)
LANE_VIEWS = (TIMES, LAGS, PARTITION_LAG, PARTITION_TIMES, PARTITION_RATE)
