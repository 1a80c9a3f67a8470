"""The dashboard of a lane: what it tells several times a second, live and past, by mouse and by keys."""

from __future__ import annotations

import os
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.project.named_states import NamedState
from metl_gui.core.runs.events import LaneTroubled, MembersChanged
from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.lanes import LatencyFigures, PartitionFigures, PartitionReset
from metl_gui.core.runs.report import Tally
from metl_gui.ui.jobs.jobs import SynchronousJobs
from metl_gui.ui.lanes import orders
from metl_gui.ui.lanes.orders import RollBack, RollBackDialog, SetBackDialog
from metl_gui.ui.lanes.panel import PARTITION_LAG
from metl_gui.ui.lanes.progress import (
    LAG,
    LATENCIES,
    RATE,
    WAITING,
    FollowedLane,
    LaneSeries,
    members_words,
    partition_line,
)
from metl_gui.ui.run import lane_commands
from metl_gui.ui.run.head import LANE
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.lanes.control import CoordinationStatus, Lane
from metl_gui.workbench.lanes.offset_reset import OffsetResetPlan
from metl_gui.workbench.runs.production import LiveRun
from tests.qt.recorded_lanes import keep_lane, lane_course, lane_progress, member, partition_at
from tests.qt.recorded_runs import TICK, append, keep_recorded

from .screen import words_in

_RUN = "20261122-050000-aaaaaa"
_TICKS = 40

# the course


@settings(max_examples=20, deadline=None)
@given(st.integers(5_000, 9_000), st.integers(1, 4_999))
def test_a_lane_of_days_keeps_its_peaks_in_bounded_room(ticks: int, peak: int) -> None:
    made = LaneSeries()
    for tick in range(1, ticks):
        parts = (partition_at(tick, 0, lag=9_999 if tick == peak else 3),)
        made.take(lane_progress(_RUN, tick, partitions=parts))
    assert len(made) <= 2_048 + 2 * 1_024 + 1
    seconds, lags = made.line(LAG)
    assert lags.max() == 9_999
    assert (np.diff(seconds) > 0).all()
    assert seconds[-1] == (ticks - 1) * TICK


def test_the_lines_of_a_lane_are_the_sums_over_its_partitions() -> None:
    made = LaneSeries()
    told = lane_progress(_RUN, 5, waiting=4)
    made.take(told)
    assert made.latest(LAG) == sum(each.lag for each in told.partitions)
    assert made.latest(RATE) == pytest.approx(sum(each.rate for each in told.partitions))
    assert made.latest(WAITING) == 4
    assert made.latest(LATENCIES[2]) == told.latency.p99
    assert made.latest(partition_line(LAG, "fx.payments.orders/1")) == told.partitions[4].lag


def test_a_change_of_state_is_marked_where_it_was_told_first_and_once() -> None:
    made = LaneSeries()
    for event in lane_course(_RUN, _TICKS):
        made.take(event)
    assert [(mark.second, mark.words) for mark in made.marks] == [((_TICKS / 2 + 1) * TICK, "state 8")]


# what is said


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ((), "Nobody maps with this matrix now."),
        ((member("a", 7, 7),), "The only member maps with state 7."),
        ((member("a", 7, 7), member("b", 7, 7)), "All 2 members map with state 7."),
        ((member("a", 7, 8), member("b", 7, None)), "State 8 waits for b: 1 of 2 members ready."),
        ((member("a", 8, 8), member("b", 7, 8)), "State 8 is being taken up: 2 members ready for it."),
        ((member("a", 8, 8), member("b", 7, 7, 90.0, is_alive=False)), "The only member maps with state 8."),
    ],
)
def test_who_is_waited_for_is_said_in_a_sentence(members: tuple[object, ...], words: str) -> None:
    assert members_words(members) == words  # type: ignore[arg-type]  # frozen values of the engine


def test_a_trouble_that_repeats_is_one_line_and_is_over_with_the_next_progress() -> None:
    lane = FollowedLane()
    lane.take(lane_progress(_RUN, 1))
    for _ in range(3):
        lane.take(LaneTroubled(_RUN, "The broker does not answer."))
    assert [(each.text, each.times) for each in lane.troubles] == [("The broker does not answer.", 3)]
    assert lane.is_troubled
    assert "The broker does not answer." in lane.facts
    lane.take(lane_progress(_RUN, 2))
    assert not lane.is_troubled


# in the window


@dataclass(frozen=True)
class Attached:
    """A window that has attached to a lane."""

    window: Window
    run: LiveRun

    def tell(self, *events: object) -> None:
        append(self.run.folder, events)  # type: ignore[arg-type]  # events of the engine
        self.window.run_page.production.tell()


@pytest.fixture
def attached(window: Window) -> Attached:
    """Attach the window to a lane that has gone on for ten seconds in a process of its own: this one."""
    workbench = window.project.workbench
    assert workbench is not None
    run = keep_lane(workbench, _RUN, os.getpid(), _TICKS)
    window.run_page.production.look()
    window.show_page(2)
    window.run_page.show_live()
    return Attached(window, run)


def test_attaching_to_a_lane_shows_how_far_it_is_and_who_takes_part(attached: Attached) -> None:
    page = attached.window.run_page
    assert page.views.currentIndex() == LANE
    told = lane_progress(_RUN, _TICKS)
    words = words_in(page.views.lane.figures)
    assert f"{sum(each.lag for each in told.partitions):,}" in words
    assert [row[0].words for row in page.views.lane.partitions.model.rows] == [
        f"{each.topic}/{each.partition}" for each in told.partitions
    ]
    assert page.views.lane.members.sentence.text() == "State 8 waits for other/0: 1 of 2 members ready."
    assert "went on" in page.views.lane.members.quiet.text()
    assert "published state 8" in attached.window.status.production.accessibleName()
    assert page.messages.place.text() == "A lane keeps no messages of its own: they are in its topics."


def test_a_lane_that_nothing_came_of_yet_says_that_it_starts(attached: Attached) -> None:
    idle = tuple(PartitionFigures(topic="t", partition=number) for number in range(2))
    attached.tell(lane_progress(_RUN, 41, partitions=idle, tally=Tally()))
    page = attached.window.run_page
    assert "tasks are being started" in page.head.facts.text()
    assert page.views.lane.state.text().startswith("Its tasks are being started")


def test_what_waits_for_a_version_and_a_trouble_are_seen_at_once(attached: Attached) -> None:
    parts = (partition_at(41, 0, waiting=3), partition_at(41, 1))
    attached.tell(
        lane_progress(_RUN, 41, 8, partitions=parts, waiting=3, latency=LatencyFigures()),
        LaneTroubled(_RUN, "The broker does not answer."),
    )
    page = attached.window.run_page
    assert page.views.lane.figures.waiting.value.text() == "3"
    assert "3 waiting" in page.head.facts.text()
    assert page.views.lane.pill.text() == "cannot go on now"
    assert page.views.lane.figures.latency.value.text() == "-"


def test_the_rows_come_in_the_order_that_is_chosen_and_enter_draws_the_one_in_focus(attached: Attached) -> None:
    lane = attached.window.run_page.views.lane
    lane.partitions.order.setCurrentIndex(1)
    lags = [each.lag for each in lane.partitions.shown]
    assert lags == sorted(lags, reverse=True)
    lane.partitions.table.setFocus()
    lane.partitions.table.selectRow(5)
    QTest.keyClick(lane.partitions.table, Qt.Key.Key_Return)
    chosen = lane.partitions.shown[5]
    assert lane.chart.view.id == PARTITION_LAG.id
    assert partition_line(LAG, f"{chosen.topic}/{chosen.partition}") in lane.chart.view.lines


def test_one_late_moment_leaves_the_latency_of_all_others_to_be_read(attached: Attached) -> None:
    late = LatencyFigures(4_000.0, 9_000.0, 30_000.0, 900)
    attached.tell(lane_progress(_RUN, 41, 8, latency=late))
    plots = attached.window.run_page.views.lane.chart._plots
    assert plots is not None
    (_, (least, most)), curves = plots._upper.viewRange(), plots._curves
    usual = float(np.median(curves["p50"].getData()[1]))
    assert 0.1 < (usual - least) / (most - least) < 0.5
    assert float(curves["p99"].getData()[1][-1]) < most
    axis = plots._upper.getAxis("left")
    ((_, ticks),) = axis.tickValues(least, most, 100.0)
    assert axis.tickStrings(ticks, 1.0, 1.0) == ["1 ms", "10 ms", "100 ms", "1 s", "10 s"]


def test_the_name_of_a_line_stands_in_the_legend_however_wide_its_value_gets(attached: Attached) -> None:
    attached.window.resize(1600, 1000)
    for tick, p50 in enumerate((5.0, 24.8, 117.0, 27.0), 41):
        attached.tell(lane_progress(_RUN, tick, 8, latency=LatencyFigures(p50, 54.0, 54.0, 900)))
        QApplication.processEvents()
        for entry in attached.window.run_page.views.lane.chart.entries:
            assert entry.width() >= entry.whole_width


def test_a_member_that_gets_ready_is_told_without_asking(attached: Attached) -> None:
    attached.tell(MembersChanged(_RUN, (member(f"{_RUN}/0", 8, 8), member("other/0", 8, 8))))
    assert attached.window.run_page.views.lane.members.sentence.text() == "All 2 members map with state 8."


def test_a_lane_that_is_over_is_shown_again_from_the_history(window: Window) -> None:
    workbench, page = window.project.workbench, window.run_page
    assert workbench is not None
    report = keep_recorded(workbench, _RUN, _TICKS)
    workbench.add_run({**report.as_json(), "run_id": "20261122-060000-bbbbbb"}, lane_course(_RUN, _TICKS))
    page._list()
    window.show_page(2)
    page.show_run("20261122-060000-bbbbbb")
    assert page.head.views[LANE].isVisible()
    page.show_view(LANE)
    assert page.views.lane.lane.progress is not None
    assert not any(button.isVisible() for button in page.views.lane.buttons.values())
    page.show_run(_RUN)
    assert not page.head.views[LANE].isVisible()


# orders


def lane_of(run: LiveRun, **more: object) -> Lane:
    agreed = CoordinationStatus(8, None, is_frozen=False, frozen_by="", members=(), taken_up={"g": (7, 8)})
    return Lane(run, "g", KafkaServers(bootstrap="h:1"), msgspec.structs.replace(agreed, **more))


def back(partition: int, position: int, to: int, from_ms: int | None = None) -> PartitionReset:
    return PartitionReset(topic="t", partition=partition, position=position, to=to, from_ms=from_ms)


def test_what_freezing_and_following_do_is_said_before_they_are_done(
    attached: Attached, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    done: list[str] = []
    lane = lane_of(attached.run)

    def answer(title: str, text: str, *_rest: object) -> str:
        asked.append(f"{title} {text}")
        return "do"

    def frozen(_lane: Lane) -> CoordinationStatus:
        done.append("freeze")
        assert lane.agreement is not None
        return msgspec.structs.replace(lane.agreement, is_frozen=True, frozen_by="Ada")

    later = lane_of(attached.run, is_frozen=True, frozen_by="Ada", pending=9)
    monkeypatch.setattr(dialogs, "ask", answer)
    monkeypatch.setattr(lane_commands, "find_lane", lambda *_: later if done else lane)
    monkeypatch.setattr(lane_commands, "freeze", frozen)
    panel = attached.window.run_page.views.lane
    panel.buttons["freeze"].click()
    assert done == ["freeze"]
    assert "stays with state 8; what is published meanwhile waits. Nothing is repeated." in asked[0]
    assert panel.pill.text() == "frozen"
    assert panel.state.text() == "Frozen, by Ada: stays with state 8, whatever is published. State 9 waits."
    assert not panel.buttons["freeze"].isVisible()
    assert attached.window.actions_table["lane_unfreeze"].isEnabled()


def test_setting_back_says_what_it_repeats_and_forgets_it_when_another_place_is_chosen(
    attached: Attached, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = lane_of(attached.run)
    asked: list[str] = []

    def looked(_lane: Lane, to: str) -> OffsetResetPlan:
        asked.append(to)
        return OffsetResetPlan(lane, to, (back(0, 100, 40, 1_700_000_000_000), back(1, 50, 50)), is_live=True)

    monkeypatch.setattr(orders, "set_back", looked)
    dialog = SetBackDialog(SynchronousJobs(attached.window), lane)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.where.currentText() == "where state 8 was taken up"
    assert not dialog.do.isEnabled()
    dialog.look.click()
    assert asked == ["state:8"]
    assert dialog.words.text().startswith("Up to 60 records of 1 of 2 partitions are mapped again")
    assert [[cell.words for cell in row][1:4] for row in dialog.model.rows] == [
        ["100", "40", "60"],
        ["50", "stays", "0"],
    ]
    agreed: list[OffsetResetPlan] = []
    dialog.agreed.connect(agreed.append)
    dialog.where.setCurrentIndex(2)
    assert not dialog.do.isEnabled()
    dialog.line.setText("2026-11-22T05:00:00Z")
    QTest.keyClick(dialog.line, Qt.Key.Key_Return)
    dialog.do.click()
    assert [plan.to for plan in agreed] == ["2026-11-22T05:00:00Z"]


def test_rolling_back_offers_what_was_published_before_and_to_repeat_what_was_mapped_since(
    attached: Attached, qtbot: QtBot
) -> None:
    states = [NamedState(8, "now", "Ada", 2), NamedState(7, "before", "Ada", 1, published_ms=1_700_000_000_000)]
    dialog = RollBackDialog(lane_of(attached.run), states, (back(0, 100, 40),))
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.states.count() == 1
    assert "With state 8 this lane has mapped up to 60 records." in dialog.words.text()
    agreed: list[RollBack] = []
    dialog.agreed.connect(agreed.append)
    dialog.repeats.click()
    assert dialog.do.text() == "Roll back and repeat"
    dialog.do.click()
    assert agreed == [RollBack(7, repeats=True)]


def test_a_lane_that_agrees_with_nobody_can_only_be_set_back_and_take_existing_rows(attached: Attached) -> None:
    panel = attached.window.run_page.views.lane
    panel.show_held("Was started to stay with its state.", is_frozen=False, is_alone=True)
    assert [id_ for id_, button in panel.buttons.items() if button.isVisible()] == ["set_back", "load"]
