"""Timelines of keys on the Warehouse page: which target they are of, and what leads to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from metl_gui.core.dimensional.loads.load_report import LoadReport, TableCounts
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.errors import RunCancelled
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.workbench.loads import warehouse_loads
from metl_gui.workbench.loads.key_histories import dimension_key_history
from metl_gui.workbench.loads.warehouse_loads import AuditReport
from metl_gui.workbench.runs.mapping_run import PRODUCTION, TEST
from tests.qt.conftest import activate
from tests.qt.held_jobs import HeldJobs
from tests.qt.loaded_targets import loaded_customer, loaded_payments


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
    assert timeline.title.isVisible()
    go(shown)
    assert (timeline.title.text(), timeline.view.content.items) == ("", ())
    assert not timeline.title.isVisible()
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


# what an audit found


@pytest.fixture
def audited(window: Window, tmp_path: Path) -> Window:
    """Return a window that has audited a target in which somebody changed a customer and two payments."""
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    target = loaded_payments(window, tmp_path, ["C-7", "C-7"])
    with DuckDb(Path(target.removeprefix("duckdb:"))) as opened:
        opened.run("UPDATE customer SET family_name = 'Dupont' WHERE customer_id = 7")
        opened.run("UPDATE payment SET status = 'lost'")
    window.warehouse.page.load.target.setText(target)
    window.warehouse.page.load.audit.click()
    return window


def _choose_finding(window: Window, table: str) -> None:
    """Choose what was found in a table, by keyboard."""
    panel = window.warehouse.page.load
    tables = [one.table for _, one in panel.found.rows if not isinstance(one, str)]
    panel.results.setCurrentIndex(panel.found.index(tables.index(table), 0))
    QTest.keyClick(panel.results, Qt.Key.Key_Return)


def test_what_is_found_in_a_dimension_leads_to_the_timeline_of_the_key(audited: Window) -> None:
    page = audited.warehouse.page
    facts = {words.facts for words, _ in page.load.found.rows}
    assert facts == {"customer 7", "payment 1 and others"}
    page.show_table("account")
    _choose_finding(audited, "customer")
    assert (page.shown, page.timeline.title.text()) == ("customer", "customer 7")
    (version,) = (item.version for item in page.timeline.view.content.items if item.version is not None)
    assert dict(version.values)["family_name"] == "Dupont"
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(page.timeline.view, key)
    (why,) = (each for each in audited.findChildren(Chooser) if each.isVisible())
    assert any(one.section.startswith("family_name = Dubois") for one in why._choices)
    why.close()


def test_what_is_found_in_several_facts_asks_for_one_and_tells_why_it_is_so(audited: Window) -> None:
    _choose_finding(audited, "payment")
    (chooser,) = (each for each in audited.findChildren(Chooser) if each.isVisible())
    assert [one.words.title for one in chooser._choices] == ["payment 1", "payment 2"]
    QTest.keyClick(chooser.box, Qt.Key.Key_Down)
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    (why,) = (each for each in audited.findChildren(Chooser) if each.isVisible())
    assert why.windowTitle() == "Why payment 2 is so"
    assert any(one.section.startswith("status = booked") for one in why._choices)
    why.close()


def test_what_was_found_goes_when_another_target_is_chosen(audited: Window) -> None:
    panel = audited.warehouse.page.load
    assert (panel.pill.text(), len(panel.found.rows)) == ("2 problems", 2)
    _to_production(audited)
    assert (panel.pill.text(), panel.words.text(), panel.found.rows) == ("", "", ())
    panel.show_audit(AuditReport(panel.target_text))
    assert panel.pill.text() == "is right"
    _to_other_file(audited)
    assert (panel.pill.text(), panel.words.text()) == ("", "")


def test_an_audit_that_ends_when_another_target_is_chosen_says_which_it_is_of(
    audited: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, jobs = audited.warehouse.page.load, HeldJobs()
    monkeypatch.setattr(audited.warehouse._proving, "_jobs", jobs)
    panel.audit.click()
    _to_other_file(audited)
    assert panel.pill.text() == "auditing"
    jobs.release()
    assert panel.found.rows == ()
    assert panel.pill.text() == "2 problems"
    assert "loaded.duckdb: Rules that are broken" in panel.words.text()
    assert panel.words.text().endswith("Another target is chosen now.")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("audit", "The target was not proved to be right or wrong."),
        ("rebuild", "The tables stay as they were."),
    ],
)
def test_what_is_stopped_in_the_status_bar_is_not_said_to_go_on(
    audited: Window, monkeypatch: pytest.MonkeyPatch, act: str, words: str
) -> None:
    panel = audited.warehouse.page.load

    def stop(*_: object) -> NoReturn:
        raise RunCancelled

    monkeypatch.setattr(warehouse_loads, f"{act}_warehouse", stop)
    getattr(panel, act).click()
    assert (panel.pill.text(), panel.words.text()) == ("stopped", words)


def test_a_rebuild_that_ends_when_another_target_is_chosen_is_kept_as_one_of_its_own(
    audited: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, jobs = audited.warehouse.page.load, HeldJobs()
    held: list[str] = []
    rebuilt = panel.target_text
    panel.held.connect(held.append)
    monkeypatch.setattr(audited.warehouse._proving, "_jobs", jobs)
    panel.rebuild.click()
    _to_other_file(audited)
    jobs.release()
    assert (panel.pill.text(), held, panel.found.rows) == ("rebuilt", [rebuilt], ())
    assert panel.words.text() == f"{rebuilt}: The tables are those of the model. Another target is chosen now."


def test_a_load_that_ends_when_another_target_is_chosen_is_kept_as_one_of_its_own(
    audited: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = audited.warehouse.page.load
    held: list[str] = []
    loaded = panel.target_text
    report = LoadReport(load="l", messages=1, appended=1, tables={"customer": TableCounts(inserted=1)})

    def load(*_: object, **_named: object) -> SimpleNamespace:
        _to_other_file(audited)
        return SimpleNamespace(load=report)

    monkeypatch.setattr(warehouse_loads, "load_warehouse", load)
    panel.held.connect(held.append)
    panel.load.click()
    assert (panel.pill.text(), held, panel.found.rows) == ("loaded", [loaded], ())
