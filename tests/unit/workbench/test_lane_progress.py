"""What a lane tells of its course on a command line."""

from __future__ import annotations

from metl_gui.core.progress import Progress, Watch
from metl_gui.core.runs.events import LaneProgressed
from metl_gui.core.runs.lanes import LatencyFigures, PartitionFigures
from metl_gui.core.runs.report import Tally
from metl_gui.workbench.runs.mapping_run import tell


def test_a_lane_tells_its_state_rate_lag_latency_and_what_waits_or_was_set_aside() -> None:
    partitions = tuple(
        PartitionFigures(topic="shop.public.orders", partition=number, rate=500.4, lag=7) for number in (0, 1)
    )
    progress = LaneProgressed(
        "run", 3.0, 17, partitions, Tally(read=12_345, set_aside=2), 5, LatencyFigures(12.3, 20.0, 36.6, 1_000)
    )
    told: list[Progress] = []
    tell(Watch(told.append), progress)
    assert told == [
        Progress(
            "Mapping: state 17, 1,001 a second, lag 14, 12 ms, 99 % within 37 ms, 2 set aside, 5 wait for a version; "
            "records",
            12_345,
        )
    ]


def test_a_lane_that_has_committed_nothing_lately_tells_no_latency() -> None:
    told: list[Progress] = []
    tell(Watch(told.append), LaneProgressed("run", 3.0, 1, (), Tally()))
    assert [each.text for each in told] == ["Mapping: state 1, 0 a second, lag 0; records"]
