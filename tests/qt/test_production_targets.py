"""Targets of production on the Warehouse page: what is done to one goes by the state that is published."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.core.progress import Watch
from metl_gui.ui.shell.window import Window
from metl_gui.ui.warehouse.load_panel import LoadPanel
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads import key_histories, warehouse_loads
from metl_gui.workbench.loads.target_documents import document_of
from metl_gui.workbench.loads.warehouse_loads import model_shapes
from metl_gui.workbench.runs.mapping_run import PRODUCTION, TEST
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.table_rows import with_table
from tests.qt.conftest import activate
from tests.unit.warehouse.worlds import at, part


def opened(window: Window) -> Workbench:
    assert window.project.workbench is not None
    return window.project.workbench


def panel_of(window: Window) -> LoadPanel:
    return window.warehouse.page.load


@pytest.fixture
def shown(window: Window, tmp_path: Path) -> Window:
    """Return a window on a target of production, loaded with one customer; the draft has another model since."""
    workbench, path = opened(window), tmp_path / "live.duckdb"
    tables = model_shapes(document_of(workbench, PRODUCTION))
    values = {"customer_id": 7, "name_family": "Kay", "address_country": "DE", "vip": True}
    message = Message(
        schema="fx.customers.person",
        row_key='{"id":7}',
        order_key="0001",
        op="c",
        values=values,
        position=Position("log", 0, 1),
        committed_at=at(1),
        seen_at=at(1),
    )
    staged = part(tmp_path, "customer", [message], tables.histories["customer"])
    with DuckDb(path) as target:
        owner = Owner(project=workbench.project_id, mode=PRODUCTION)
        Loader(target, tables, owner).load([staged], "first", Coverage(is_ordered=True))
    (model,) = window.project.value.models
    assert window.project.do(SetModel(with_table(model, "payment", None)))
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    panel_of(window).target.setText(f"duckdb:{path}")
    return window


def test_production_names_the_publication_and_tests_what_is_on_the_screen(shown: Window) -> None:
    mode = panel_of(shown).mode
    assert mode.isVisible()
    assert (mode.mode, mode.words.text()) == (TEST, "Goes by what is on the screen.")
    mode.buttons[TEST].setFocus()
    QTest.keyClick(mode.buttons[TEST], Qt.Key.Key_Right)
    live = shown.history.live.state
    assert live is not None
    assert mode.mode == PRODUCTION
    assert mode.words.text().startswith(f"Goes by state {live.state} “{live.name}”, published")


def test_with_nothing_published_there_is_no_choice_and_production_becomes_test(shown: Window) -> None:
    mode = panel_of(shown).mode
    mode.choose(PRODUCTION)
    mode.show_live(None)
    assert (mode.isVisible(), mode.mode, mode.live) == (False, TEST, None)


def test_a_project_that_is_opened_begins_with_tests(shown: Window) -> None:
    panel = panel_of(shown)
    panel.mode.choose(PRODUCTION)
    shown.show_project(Workbench.open(opened(shown).path, for_editing=False))
    assert panel.mode.mode == TEST


def test_an_audit_and_a_rebuild_of_production_go_by_what_is_published(shown: Window) -> None:
    panel = panel_of(shown)
    panel.audit.click()
    assert panel.pill.text() == "not audited"  # a test of the draft, whose model is another one
    panel.mode.choose(PRODUCTION)
    panel.audit.click()
    assert (panel.pill.text(), panel.found.rows) == ("is right", ())
    panel.rebuild.click()
    assert panel.pill.text() == "rebuilt"
    assert "payment" in {table for _, table in panel.found.rows}


def test_the_timeline_of_production_shows_a_table_as_it_is_published(shown: Window) -> None:
    (model,) = shown.project.value.models
    customer = model.table("customer")
    assert customer is not None
    page = shown.warehouse.page
    assert shown.project.do(SetModel(with_table(model, "customer", _without_country(customer))))
    page.show_table("customer")
    panel_of(shown).mode.choose(PRODUCTION)
    page.timeline.choose.click()
    chooser = next(each for each in shown.findChildren(Chooser) if each.isVisible())
    QTest.keyClicks(chooser.box, "7")
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    (version,) = (item.version for item in page.timeline.view.content.items if item.version is not None)
    assert dict(version.values)["country"] == "DE"


def _without_country(customer: Any) -> Any:
    return msgspec.structs.replace(customer, columns=tuple(one for one in customer.columns if one.name != "country"))


@pytest.mark.parametrize(("answer", "loads"), [("load", 1), ("cancel", 0)])
def test_a_load_into_production_asks_once_and_maps_with_the_state_it_named(
    answer: str, loads: int, shown: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    said: list[str] = []

    def load(_workbench: Workbench, request: Any, *_: Any, **_named: Any) -> Any:
        asked.append(request)
        return SimpleNamespace(load=LoadReport(load="l"))

    def ask(_title: str, text: str, *_: Any) -> str:
        said.append(text)
        return answer

    monkeypatch.setattr(warehouse_loads, "load_warehouse", load)
    monkeypatch.setattr(dialogs, "ask", ask)
    panel = panel_of(shown)
    panel.load.click()
    assert (asked.pop().mode, said) == (TEST, [])
    panel.mode.choose(PRODUCTION)
    panel.load.click()
    live = shown.history.live.state
    assert live is not None
    assert [(each.mode, each.state) for each in asked] == [(PRODUCTION, live.state)] * loads
    assert len(said) == 1
    assert f"state {live.state} “{live.name}”" in said[0]
    assert "Quitting asks first" in said[0]
    panel.plan.click()
    assert (len(asked), len(said)) == (loads + 1, 1)  # finding out writes nothing, so that nobody is asked


def test_who_reads_a_timeline_during_a_rebuild_does_not_end_that(
    threaded: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()

    def rebuild(_workbench: Workbench, _target: str, _model: str, watch: Watch, _mode: str) -> LoadReport:
        assert may_end.wait(60)
        watch.step("Loading the warehouse")  # raises where somebody ended it
        return LoadReport(load="l")

    monkeypatch.setattr(warehouse_loads, "rebuild_warehouse", rebuild)
    monkeypatch.setattr(key_histories, "dimension_keys", lambda *_: ())
    panel = panel_of(threaded)
    threaded.show_page(3)
    panel.rebuild.click()
    threaded.warehouse.page.show_table("customer")
    threaded.warehouse.timelines.choose_key()
    may_end.set()
    qtbot.waitUntil(lambda: panel.pill.text() == "rebuilt")
