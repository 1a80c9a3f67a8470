"""The charts of a run: rates from counts, live and past, still and hidden, by mouse and by keys."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.runs.events import BatchCommitted, RunStarted
from metl_gui.core.runs.report import Tally
from metl_gui.ui.charts.chart import RunChart
from metl_gui.ui.charts.plots import Plots
from metl_gui.ui.charts.series import BATCH_MS, BATCHES, ENTITIES, ProgressSeries, SeriesSpan, entity_line
from metl_gui.ui.project.text import amount, duration, duration_ns, share, size
from metl_gui.ui.run.progress import FollowedRun
from metl_gui.ui.shell.window import Window
from tests.qt.conftest import activate
from tests.qt.recorded_runs import TICK, course, progress, tally_at

# the course


def of(ticks: int) -> ProgressSeries:
    made = ProgressSeries()
    for event in course("r", ticks):
        made.take(event)
    return made


def test_a_rate_is_what_was_added_over_the_time_it_took() -> None:
    made = ProgressSeries()
    made.add(1.0, Tally(read=100, mapped=80))
    made.add(3.0, Tally(read=500, mapped=480, filtered=10))
    seconds, rates = made.line("in")
    assert (seconds.tolist(), rates.tolist()) == ([0.0, 1.0, 3.0], [100.0, 100.0, 200.0])
    assert made.line("filtered")[1].tolist() == [0.0, 0.0, 5.0]


def test_counts_that_arrive_late_are_left_out() -> None:
    made = ProgressSeries()
    made.add(2.0, Tally(read=100))
    made.add(1.0, Tally(read=50))
    assert made.line("in")[0].tolist() == [0.0, 2.0]


def test_an_entity_that_comes_later_begins_at_nothing() -> None:
    made = ProgressSeries()
    made.add(1.0, Tally(by_entity={"a": 5}))
    made.add(2.0, Tally(by_entity={"a": 6, "b": 40}))
    assert made.entities == ("b", "a")
    assert made.line(entity_line("b"))[1].tolist() == [0.0, 0.0, 40.0]


@settings(max_examples=25)
@given(st.integers(2, 5_000), st.floats(0, 3_000), st.floats(0, 3_000))
def test_what_is_drawn_of_a_long_run_adds_up_to_what_was_counted(rows: int, one: float, other: float) -> None:
    made = ProgressSeries()
    for at in range(1, rows):
        made.add(at * TICK, Tally(read=at * at))
    stretch = SeriesSpan(min(one, other), max(one, other))
    seconds, rates = made.line("in", stretch)
    assert len(seconds) <= 603
    assert (np.diff(seconds) > 0).all()
    drawn = float((rates[1:] * np.diff(seconds)).sum())
    assert drawn == pytest.approx(made.total("in", stretch), abs=1e-3)


def test_a_point_that_was_drawn_stays_where_it_is_while_the_run_moves_on() -> None:
    made = of(3_000)
    before = dict(zip(*(axis.tolist() for axis in made.line("in")), strict=True))
    made.add(3_001 * TICK, tally_at(3_001))
    after = dict(zip(*(axis.tolist() for axis in made.line("in")), strict=True))
    assert len(before.keys() & after.keys()) >= len(before) - 1


def test_the_time_of_a_batch_is_that_of_the_whole_batch_in_a_run_in_batches() -> None:
    made = of(2)
    assert 0 < made.latest(BATCH_MS) < 5
    made.take(BatchCommitted("r", 1, 4, 2.5, 1, 1, 0, 0, 0, 1, 100, 0))
    made.take(progress("r", 3))
    assert made.latest(BATCH_MS) == 2_500


def test_a_run_without_progress_is_drawn_as_one_stretch() -> None:
    made = ProgressSeries()
    made.finish({"seconds": 2.0, "read": 10, "mapped": 8, "filtered": 0, "set_aside": 2, "by_entity": {"a": 8}})
    assert made.line("in")[1].tolist() == [5.0, 5.0]


def test_a_table_for_copying_has_a_row_for_each_point_that_is_drawn() -> None:
    lines = of(3).table(("in", "set_aside"), SeriesSpan(0, 10)).splitlines()
    assert lines[0] == "seconds\tin\tset aside"
    assert lines[2] == "0.250\t4000.000\t20.000"
    assert len(lines) == 5


def test_numbers_read_as_people_write_them() -> None:
    assert [amount(value) for value in (0, 0.5, 812_400, 3_662_905)] == ["0", "0.5", "812 k", "3.66 M"]
    assert [duration(value) for value in (0.31, 42, 250, 273_600)] == ["0.3 s", "42 s", "4 min 10 s", "3 d 4 h"]
    assert [duration_ns(value) for value in (12, 410, 114_000, 2.5e9)] == ["12 ns", "0.41 µs", "114 µs", "2.5 s"]
    assert [share(part, 1_000) for part in (0, 640, 1_000)] == ["0.0 %", "64.0 %", "100 %"]
    assert share(999_999, 1_000_000) == "> 99.9 %"
    assert size(158_000_000) == "158 MB"


# the chart in the window


@pytest.fixture
def live(window: Window) -> Window:
    """Show a run that has gone on for three minutes."""
    activate(window)
    window.show_page(2)
    page = window.run_page
    page._runs_for = page._project.workbench
    page.own = FollowedRun("Test · state 4")
    page.show_own()
    whole = course("r1", 720)
    for event in whole[:2]:
        window.spark.told.emit(event)
    for event in whole[2:-20]:
        page.own.take(event)
    for event in whole[-20:]:
        window.spark.told.emit(event)
    return window


def drawn(chart: RunChart, name: str = "in") -> tuple[list[float], list[float]]:
    plots = chart._plots
    assert isinstance(plots, Plots)
    x, y = plots._curves[name].getData()
    return ([], []) if x is None else (x.tolist(), y.tolist())


def click(widget: object) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)  # type: ignore[call-overload]


def test_events_reach_the_chart_its_legend_and_the_figures(live: Window) -> None:
    chart, page = live.run_page.chart, live.run_page
    assert {entry.name: entry.value for entry in chart.entries} == {
        "in": "4,000", "mapped": "3,940", "filtered": "40", "set_aside": "20",
    }  # fmt: skip
    assert page.figures.read.value.text() == "720,000"
    assert page.figures.kernel.value.text() == "0.41 µs"
    x, y = drawn(chart)
    assert (round(min(x)), max(x), y[-1]) == (-60, 0.0, 4_000.0)


def test_a_window_shows_the_part_of_the_run_that_was_chosen(live: Window) -> None:
    chart = live.run_page.chart
    for at, first in ((1, -180.0), (2, 0.0), (0, -60.25)):
        chart.window_choice.setFocus()
        while chart.window_choice.currentIndex() != at:
            down = chart.window_choice.currentIndex() < at
            QTest.keyClick(chart.window_choice, Qt.Key.Key_Down if down else Qt.Key.Key_Up)
        assert drawn(chart)[0][0] == pytest.approx(first)


def test_a_paused_chart_stands_still_while_the_figures_go_on(live: Window) -> None:
    chart, page = live.run_page.chart, live.run_page
    click(chart.pause)
    before = drawn(chart)
    live.spark.told.emit(progress("r1", 740))
    assert drawn(chart) == before
    assert page.figures.read.value.text() == "740,000"
    assert chart.pause.text() == "Go on"
    click(chart.pause)
    assert drawn(chart) != before


def test_nothing_is_drawn_while_nobody_looks_and_all_of_it_when_somebody_does(live: Window) -> None:
    chart = live.run_page.chart
    live.show_page(0)
    before = drawn(chart)
    live.spark.told.emit(progress("r1", 760))
    assert drawn(chart) == before
    live.show_page(2)
    assert drawn(chart) != before


def test_copied_data_is_what_is_drawn(live: Window) -> None:
    chart = live.run_page.chart
    click(chart.entries[2])
    live.actions_table["copy_chart"].trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "seconds\tin\tmapped\tset aside"
    assert len(lines) - 1 == len(drawn(chart)[0])
    assert lines[-1] == "180.000\t4000.000\t3940.000\t20.000"
    assert live.notice.words.text().startswith(f"{len(lines) - 1} rows")


def test_a_press_on_a_legend_entry_hides_its_line_and_shows_it_again(live: Window) -> None:
    chart = live.run_page.chart
    entry = chart.entries[1]
    entry.setFocus()
    QTest.keyClick(entry, Qt.Key.Key_Space)
    plots = chart._plots
    assert plots is not None
    assert not plots._curves["mapped"].isVisible()
    QTest.keyClick(entry, Qt.Key.Key_Space)
    assert plots._curves["mapped"].isVisible()


def test_pointing_at_a_moment_shows_the_values_there(live: Window, qtbot: QtBot) -> None:
    chart = live.run_page.chart
    live.spark.told.emit(progress("r1", 721, entities=("payment",)))
    plots = chart._plots
    assert plots is not None
    middle = plots.rect().center() - QPoint(0, 40)
    QTest.mouseMove(live.windowHandle(), plots.mapTo(live, middle))
    qtbot.waitUntil(lambda: chart.moment.text().startswith("at 2 min"))
    assert chart.entries[0].value == "4,000"


def test_arrows_go_from_point_to_point_and_are_told_to_screen_readers(live: Window) -> None:
    chart = live.run_page.chart
    plots = chart._plots
    assert plots is not None
    plots.setFocus()
    QTest.keyClick(plots, Qt.Key.Key_Left)
    assert chart._pointed == 180.0
    QTest.keyClick(plots, Qt.Key.Key_Left)
    assert chart._pointed == 179.75
    assert "in 4,000" in plots.accessibleDescription()
    QTest.keyClick(plots, Qt.Key.Key_Escape)
    assert chart._pointed is None


def test_batch_time_and_backlog_stand_in_a_view_of_their_own(live: Window) -> None:
    chart = live.run_page.chart
    live.spark.told.emit(progress("r1", 721, 721, bytes_waiting=5_000_000))
    chart.views.setFocus()
    QTest.keyClick(chart.views, Qt.Key.Key_Down)
    assert chart.view == BATCHES
    assert {entry.name: entry.value for entry in chart.entries}["backlog"] == "5 MB"


def test_the_backlog_of_topics_is_told_in_records(live: Window) -> None:
    chart = live.run_page.chart
    chart.show_view(BATCHES)
    waiting = progress("r1", 721, 721, bytes_waiting=5_000_000)
    live.spark.told.emit(msgspec.structs.replace(waiting, unit="records"))
    assert {entry.name: entry.value for entry in chart.entries}["backlog"] == "5 M"


def test_an_entity_of_sixty_is_drawn_when_it_is_asked_for(live: Window) -> None:
    page = live.run_page
    names = [f"entity_{at:02}" for at in range(60)]
    live.spark.told.emit(progress("r1", 800, entities=names))
    page.chart.show_view(ENTITIES)
    assert [entry.name for entry in page.chart.entries][:2] == [entity_line("entity_00"), entity_line("payment")]
    assert len(page.chart.entries) == 6
    page.chart.show_entity("entity_40")
    assert entity_line("entity_40") in [entry.name for entry in page.chart.entries]


def test_the_controls_of_the_chart_are_reached_by_tab(live: Window) -> None:
    chart = live.run_page.chart
    chart.views.setFocus()
    met = []
    for _ in range(12):
        focus = QApplication.focusWidget()
        assert focus is not None
        met.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert {chart.window_choice, chart.pause, chart.copy, chart._plots, *chart.entries} <= set(met)


def test_another_run_begins_with_an_empty_chart(live: Window) -> None:
    live.spark.told.emit(RunStarted("r2", 1, 1))
    page = live.run_page
    page.own = FollowedRun("Test · state 5")
    page.show_own()
    assert len(page.chart.course) == 1
    assert page.chart.nothing.isVisible()
