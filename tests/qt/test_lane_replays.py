"""From a lane that goes on to a replay of what it set aside, and from the command line to the lane."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec
import pytest

from metl_gui.ui.run import set_aside
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.runs.production import ORDER, LiveRun, find_run
from metl_gui.workbench.runs.replay import StillWaiting
from metl_gui.workbench.session import Workbench
from tests.helpers.run_requests import replay_request
from tests.qt.recorded_lanes import keep_lane

_ERRORS = "kafka://127.0.0.1:1/shop-errors"


def keep_lane_with_errors(workbench: Workbench) -> LiveRun:
    run = keep_lane(workbench, "lane-1", os.getpid())
    order = msgspec.structs.replace(run.order, kept=msgspec.structs.replace(run.order.kept, errors=_ERRORS))
    (run.folder / ORDER).write_bytes(msgspec.json.encode(order))
    return find_run(workbench.project_id, run.run_id)


def test_what_a_lane_set_aside_is_offered_for_a_replay_into_its_own_topics_while_it_goes_on(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, replayed = list[tuple[str, str]](), list[RunRequest]()

    def look(errors: str, mode: str) -> StillWaiting:
        looked.append((errors, mode))
        return StillWaiting(("unknown_version",), is_untouched=False)

    monkeypatch.setattr(set_aside, "what_waits", look)
    monkeypatch.setattr(window.spark, "replay", lambda _workbench, request: replayed.append(request))
    workbench = window.project.workbench
    assert workbench is not None
    run = keep_lane_with_errors(workbench)
    page = window.run_page
    assert not page.aside.replay.isEnabled()
    page.attach(run)
    assert looked == [(_ERRORS, "production")]
    assert page.aside.replay.text() == "Replay what waits"
    window.actions_table.refresh()
    window.actions_table["replay"].trigger()
    assert replayed == [replay_request(_ERRORS, run.order.spec.sink.address, mode="production")]


def test_a_window_that_is_started_for_the_live_run_shows_it_as_soon_as_its_project_is_open(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    with Workbench.open(sample.project) as workbench:
        keep_lane(workbench, "lane-1", os.getpid())
    window = make_window()
    window.projects.open_path(sample.project)  # shown on the Map page, and found so the next time
    window.projects.close()
    window.projects.open_path(sample.project, shows_live=True)
    assert window.stack.currentWidget() is window.run_page
    assert window.run_page.production.followed is not None
    assert window.run_page.production.followed.run_id == "lane-1"
