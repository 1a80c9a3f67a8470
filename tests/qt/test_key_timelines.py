"""Timelines of keys on the Warehouse page: which target they are of, and what leads to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from metl_gui.core.edits.warehouse import SetModel
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.loads.key_histories import dimension_key_history
from metl_gui.workbench.runs.mapping_run import PRODUCTION, TEST
from tests.qt.conftest import activate
from tests.qt.held_jobs import HeldJobs
from tests.qt.loaded_targets import loaded_customer


@pytest.fixture
def shown(window: Window, tmp_path: Path) -> Window:
    """Return a window with the timeline of a customer in front, of a real target."""
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    page = window.warehouse.page
    page.load.target.setText(loaded_customer(window, tmp_path))
    page.show_table("customer")
    page.timeline_dock.show()
    page.timeline_dock.raise_()
    history = dimension_key_history(window.project.value, page.load.target_text, "customer", ("7",))
    window.warehouse.timelines.show_history(history)
    return window


def _to_production(window: Window) -> None:
    window.warehouse.page.load.mode.buttons[PRODUCTION].click()


def _to_other_file(window: Window) -> None:
    window.warehouse.page.load.target.setText("duckdb:other.duckdb")


def _to_other_model(window: Window) -> None:
    (model,) = window.project.value.models
    assert window.project.do(SetModel(type(model)(name="other")))
    window.warehouse.choose_model("other")


@pytest.mark.parametrize("go", [_to_production, _to_other_file, _to_other_model])
def test_a_timeline_goes_when_another_target_mode_or_model_is_chosen(
    shown: Window, go: Callable[[Window], None]
) -> None:
    timeline = shown.warehouse.page.timeline
    assert (timeline.title.text(), len(timeline.view.content.items)) == ("customer 7", 2)
    go(shown)
    assert (timeline.title.text(), timeline.view.content.items) == ("", ())
    assert timeline.words.text().startswith("Choose a key")


def test_a_timeline_stays_when_its_own_target_is_chosen_or_written_otherwise(shown: Window) -> None:
    page = shown.warehouse.page
    page.load.mode.choose(TEST)
    page.load.target.setText(page.load.target_text.removeprefix("duckdb:"))
    shown.warehouse.refresh()
    assert page.timeline.title.text() == "customer 7"


def test_a_key_that_is_still_read_when_production_is_chosen_is_not_shown(
    shown: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, timelines, jobs = shown.warehouse.page, shown.warehouse.timelines, HeldJobs()
    timelines.clear()
    monkeypatch.setattr(timelines._opening, "_jobs", jobs)
    timelines._show_key(("7",))
    _to_production(shown)
    jobs.release()
    assert page.timeline.title.text() == ""
