"""Targets that have to be rebuilt, as cards at the head of the review list."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.ui.shell.window import Window
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.warehouse_loads import model_shapes
from metl_gui.workbench.warehouse.table_rows import with_table
from tests.qt.conftest import activate
from tests.unit.warehouse.worlds import at, part


def change(window: Window, table: str) -> None:
    """Take a table out of the model."""
    (model,) = window.project.value.models
    assert window.project.do(SetModel(with_table(model, table, None)))


def read_again(window: Window) -> None:
    window.show_page(0)
    window.show_page(1)


def asked(window: Window) -> list[str]:
    return [one.target for one in window.review.list.rebuilds.shown]


def words(window: Window) -> str:
    return " ".join(label.text() for label in window.review.list.rebuilds.findChildren(QLabel) if label.isVisible())


@pytest.fixture
def target(window: Window, tmp_path: Path) -> str:
    """A target of the sample's model that the window has loaded; a table has gone from the model since."""
    workbench = window.project.workbench
    assert workbench is not None
    tables = model_shapes(window.project.value)
    values = {"customer_id": 7, "name_family": "Kay", "address_country": "DE", "vip": True}
    place = Position("log", 0, 1)
    message = Message("s", '{"id":7}', "0001", "c", values, position=place, committed_at=at(1), seen_at=at(1))
    with DuckDb(tmp_path / "w.duckdb") as opened:
        staged = part(tmp_path, "customer", [message], tables.histories["customer"])
        Loader(opened, tables, Owner(project=workbench.project_id, mode="test")).load([staged], "first")
    activate(window)
    found = f"duckdb:{tmp_path / 'w.duckdb'}"
    window.warehouse.page.load.target.setText(found)
    window.warehouse.page.load.show_load(LoadReport(load="l", messages=1, appended=1))
    change(window, "account_day")
    window.show_page(1)
    return found


def test_a_target_whose_model_has_changed_has_a_card_that_rebuilds_it(window: Window, target: str) -> None:
    strip = window.review.list.rebuilds
    assert asked(window) == [target]
    assert "account_day is gone · a rebuild makes" in words(window)
    assert "1 version, 0 facts re-keyed, under a minute" in words(window)
    assert [button.text() for button in strip.buttons] == ["Rebuild", "Keep as it is", "Later"]
    strip.buttons[0].setFocus()
    QTest.keyClick(strip.buttons[0], Qt.Key.Key_Space)
    assert window.page == 3
    assert window.warehouse.page.load.pill.text() == "rebuilt"
    window.show_page(1)
    assert asked(window) == []
    assert not strip.isVisible()


def test_what_stays_as_it_is_is_asked_for_again_once_the_model_changes_once_more(window: Window, target: str) -> None:
    strip = window.review.list.rebuilds
    strip.buttons[1].click()
    read_again(window)
    assert asked(window) == []
    assert f"{target} stays as it is" in window.notice.words.text()
    change(window, "payment")
    read_again(window)
    assert asked(window) == [target]


def test_keeping_a_target_is_undone_from_the_notice(window: Window, target: str) -> None:
    strip = window.review.list.rebuilds
    strip.buttons[1].click()
    assert asked(window) == []
    window.notice.action.click()
    assert asked(window) == [target]


def test_later_is_when_the_project_is_opened_again(window: Window, target: str) -> None:
    strip = window.review.list.rebuilds
    strip.buttons[2].click()
    read_again(window)
    assert asked(window) == []
    workbench = window.project.workbench
    window.project.opened.emit(workbench)
    read_again(window)
    assert asked(window) == [target]


def test_a_target_that_is_gone_and_one_that_was_only_planned_are_not_asked(
    window: Window, target: str, tmp_path: Path
) -> None:
    (tmp_path / "w.duckdb").unlink()
    read_again(window)
    assert asked(window) == []
    workbench = window.project.workbench
    assert workbench is not None
    window.warehouse.page.load.target.setText("duckdb:other.duckdb")
    window.warehouse.page.load.show_load(LoadReport(load="l"), is_dry=True)
    assert [*window.settings.warehouses(workbench.project_id)] == [target]
