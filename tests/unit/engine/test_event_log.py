"""Events of runs that last long stay bounded, and whoever follows them misses none of what is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.runs.events import EngineEvent, RunProgressed, RunStarted, StateChanged, encode_event
from metl_gui.core.runs.report import Tally
from metl_gui.engine.runs import run_folder
from metl_gui.engine.runs.event_log import EventTail, bounded
from metl_gui.engine.runs.progress import TimeLeft
from metl_gui.engine.runs.run_folder import RunFolder


def progressed(at: int) -> RunProgressed:
    return RunProgressed("run", float(at), 100, at, Tally(read=at, by_attribute={"order@1": {"id": at}}))


@given(st.lists(st.booleans(), max_size=60), st.integers(2, 20))
def test_only_points_of_the_course_are_left_out_and_never_the_first_or_the_last(are: list[bool], points: int) -> None:
    events: list[EngineEvent] = [
        progressed(at) if is_point else StateChanged("run", at, "h", at) for at, is_point in enumerate(are)
    ]
    found = bounded(events, points)
    assert [e for e in found if isinstance(e, StateChanged)] == [e for e in events if isinstance(e, StateChanged)]
    before = [e.bytes_read for e in events if isinstance(e, RunProgressed)]
    after = [e.bytes_read for e in found if isinstance(e, RunProgressed)]
    assert after == sorted(set(after) & set(before))
    assert len(after) <= points + 1
    assert (after[:1], after[-1:]) == (before[:1], before[-1:])


def test_how_full_attributes_are_stays_in_the_last_point_only() -> None:
    found = bounded([progressed(at) for at in range(5)], 3)
    assert [bool(e.tally.by_attribute) for e in found if isinstance(e, RunProgressed)] == [False, False, True]


def test_a_follower_reads_each_event_once_while_the_writer_thins_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "_MOST_EVENT_BYTES", 3_000)
    folder, tail = RunFolder(tmp_path), EventTail(tmp_path / "events.jsonl")
    seen: list[int] = []
    longest = 0
    for at in range(200):
        folder.append_event(encode_event(progressed(at)))
        longest = max(longest, (tmp_path / "events.jsonl").stat().st_size)
        if at % 3 == 0:
            seen += [e.bytes_read for e in tail.read() if isinstance(e, RunProgressed)]
    seen += [e.bytes_read for e in tail.read() if isinstance(e, RunProgressed)]
    tail.close()
    assert seen == list(range(200))
    assert longest < 4_000


def test_half_a_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    path, line = tmp_path / "events.jsonl", encode_event(RunStarted("run", 1, 2)) + b"\n"
    tail = EventTail(path)
    assert list(tail.read()) == []
    path.write_bytes(line + line[:10])
    assert len(list(tail.read())) == 1
    with path.open("ab") as file:
        file.write(line[10:])
    assert len(list(tail.read())) == 1
    tail.close()


def test_the_time_left_follows_the_rate_of_late_and_is_unknown_while_nothing_moves() -> None:
    left = TimeLeft()
    assert left.after(0.0, 0, 1000) is None
    assert left.after(0.5, 50, 950) is None
    assert left.after(2.0, 200, 800) == 8.0
    slower = [left.after(float(second), 200 + 10 * (second - 2), 300) for second in range(3, 60)]
    assert slower[-1] == 30.0
    assert left.after(61.0, 1, 300) is None
    assert left.after(62.0, 1000, 0) == 0.0
