"""What a late message would do, tried in the timeline of a key: by keyboard, by dragging, and put back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.ui.shell.window import Window
from metl_gui.ui.warehouse.timeline import LateMove
from metl_gui.ui.warehouse.timeline_panel import TimelinePanel
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.key_history import key_history
from metl_gui.warehouse.late_messages import key_study
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads import late_messages
from metl_gui.workbench.loads.late_messages import LateQuestions
from tests.qt.conftest import activate
from tests.unit.warehouse.worlds import at, model_of, part, person_dimension


def message(order: int, city: str) -> Message:
    values = {"id": 1, "city": city, "mood": "glad", "nick": "K", "since": at(order)}
    return Message("a", '{"id":1}', f"{order:04}", "c", values, committed_at=at(order), seen_at=at(order))


def shown_key(window: Window, folder: Path, monkeypatch: pytest.MonkeyPatch, masked: Sequence[str] = ()) -> None:
    """Show a key of a target that was loaded: Kiel from the 10th hour, Bonn from the 30th."""
    _, tables = model_of(person_dimension(valid_at="since"))
    with DuckDb(folder / "w.duckdb") as target:
        parts = [part(folder, "person", [message(10, "Kiel"), message(30, "Bonn")])]
        load_parts(target, tables, parts, "load", Owner(project="p", mode="test"))
        history = key_history(target, tables, "person", ("1",))
        questions = LateQuestions(key_study(target, tables, "person", ("1",)), frozenset(masked), frozenset(masked))
    monkeypatch.setattr(late_messages, "late_questions", lambda *_: questions)
    page = window.warehouse.page
    page.show_table("customer")
    page.timeline_dock.show()
    page.timeline_dock.raise_()
    window.warehouse.timelines.show_history(history)


@pytest.fixture
def panel(window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TimelinePanel:
    """Return the panel with the key shown."""
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    shown_key(window, tmp_path, monkeypatch)
    return window.warehouse.page.timeline


def would_be(panel: TimelinePanel) -> list[str]:
    return [dict(item.version.values)["city"] for item in panel.view.would_be if item.version is not None]


def test_a_message_is_lifted_moved_dropped_and_put_back_by_keyboard(panel: TimelinePanel) -> None:
    view = panel.view
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Right):
        QTest.keyClick(view, key)
    panel.other.setText("city=Ulm")
    assert would_be(panel) == ["Kiel", "Ulm", "Bonn"]
    assert panel.words.text() == "Since 2026-01-01 20:00:00: 1 version opened, 1 version would end earlier."
    tried: list[LateMove | None] = []
    view.tried.connect(tried.append)
    QTest.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(view, Qt.Key.Key_Return)
    moved, dropped = tried
    assert moved is not None
    assert dropped is not None
    assert (moved.holds_from, moved.is_dropped, dropped.is_dropped) == (at(18), False, True)
    assert not panel.grab().toImage().isNull()
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert (view.ghost, would_be(panel), panel.other.isVisible()) == (None, [], False)


def test_a_message_is_dragged_along_the_axis_and_stays_where_it_was_dropped(panel: TimelinePanel) -> None:
    view = panel.view
    start, end = (view.item_rect(number).center().toPoint() for number in (0, 1))
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    for step in (1, 2, 3):
        QTest.mouseMove(view, start + QPoint((end.x() - start.x()) * 2 * step // 3, 0))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)
    assert view.ghost is not None
    assert view.ghost.start > 1
    assert would_be(panel) == ["Kiel", "Bonn", "Kiel"]


def test_a_value_that_cannot_be_is_said_and_shows_no_versions(panel: TimelinePanel) -> None:
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    panel.other.setText("town=Ulm")
    assert "no attribute town" in panel.words.text()
    assert would_be(panel) == []


def test_masked_values_stay_hidden_and_cannot_be_tried(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    activate(window)
    shown_key(window, tmp_path, monkeypatch, ["city"])
    panel = window.warehouse.page.timeline
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    assert set(would_be(panel)) == {"•••"}
    panel.other.setText("city=Ulm")
    assert "masked" in panel.words.text()
