"""The actions of the Run page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from metl_gui.ui.lanes.orders import ORDERS
from metl_gui.ui.shell.action_rows.conditions import Condition, WindowRow, all_of, can_run, has_project

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


def _something_is_live(window: Window) -> bool:
    return window.history.live.state is not None


def _something_waits_for_replay(window: Window) -> bool:
    return window.run_page.aside.replay.isEnabled()


def _goes_on(window: Window) -> bool:
    return bool(window.run_page.production.live)


def _has_course(window: Window) -> bool:
    return has_project(window) and len(window.run_page.chart.course) > 1


def _ordering(order: str) -> Callable[[Window], object]:
    return lambda window: window.run_commands.lanes.order(order)


def _can_order(order: str) -> Condition:
    return lambda window: has_project(window) and window.run_page.views.can_order(order)


RUN_ROWS = (
    WindowRow(
        "choose_topics",
        "Run",
        "Choose topics to read…",
        "Ctrl+Alt+R",
        lambda w: w.run_commands.topics.choose_source(),
    ),
    WindowRow(
        "choose_sink_topics",
        "Run",
        "Choose topics to write…",
        "Ctrl+Alt+T",
        lambda w: w.run_commands.topics.choose_sink(),
    ),
    WindowRow(
        "run_production",
        "Run",
        "Production run over files",
        does=lambda w: w.run_commands.run_production(),
        when=all_of(can_run, _something_is_live),
    ),
    WindowRow(
        "replay",
        "Run",
        "Replay what was set aside",
        "Ctrl+F5",
        does=lambda w: w.run_commands.replay(),
        when=all_of(can_run, _something_waits_for_replay),
    ),
    WindowRow(
        "live_run",
        "Run",
        "Production run that goes on",
        does=lambda w: w.run_commands.show_view(w.run_page.show_live),
        when=_goes_on,
    ),
    WindowRow(
        "run_lane",
        "Run",
        "How far the lane is",
        does=lambda w: w.run_commands.show_view(w.run_page.show_lane),
        when=lambda w: has_project(w) and w.run_page.is_lane,
    ),
    *(
        WindowRow(f"lane_{order}", "Run > Lane", words, does=_ordering(order), when=_can_order(order))
        for order, words in ORDERS.items()
    ),
    WindowRow(
        "run_details",
        "Run",
        "What a run read and filled",
        does=lambda w: w.run_commands.show_view(w.run_page.show_details),
    ),
    WindowRow(
        "run_speed",
        "Run",
        "How fast the kernel was",
        does=lambda w: w.run_commands.show_view(w.run_page.show_speed),
    ),
    WindowRow(
        "compare_runs",
        "Run",
        "Compare two runs",
        does=lambda w: w.run_commands.show_view(w.run_page.show_comparison),
    ),
    WindowRow(
        "pause_chart",
        "Run",
        "Keep the chart still",
        does=lambda w: w.run_page.chart.pause.toggle(),
        when=lambda w: has_project(w) and w.run_page.chart.pause.isEnabled(),
        is_checked=lambda w: w.run_page.chart.pause.isChecked(),
    ),
    WindowRow(
        "copy_chart",
        "Run",
        "Copy the data of the chart",
        does=lambda w: w.run_page.chart.copy_data(),
        when=_has_course,
    ),
)
