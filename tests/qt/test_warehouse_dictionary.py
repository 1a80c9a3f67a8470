"""The dictionary of a warehouse model, written from the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from metl_gui.ui.shell.window import Window
from tests.qt.conftest import activate


@pytest.fixture
def shown(window: Window) -> Window:
    """Return a window with the page in front, on the model of the sample."""
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    return window


def _choosing(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (path, ""))


def test_the_button_writes_the_page_with_boxes_where_they_were_put(
    shown: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _choosing(monkeypatch, str(tmp_path / "fx.html"))
    star = shown.warehouse.page.star
    star.choose("table:date")
    QTest.keyClick(star, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    x, y = star.moved["table:date"]
    shown.warehouse.page.panel.line.dictionary.click()
    page = (tmp_path / "fx.html").read_text("utf-8")
    assert f'<rect x="{x:g}" y="{y:g}"' in page


def test_the_command_stands_in_the_menu_and_a_choice_of_no_file_writes_none(
    shown: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _choosing(monkeypatch, "")
    shown.actions_table["warehouse_dictionary"].trigger()
    assert list(tmp_path.glob("*.html")) == []


def test_a_page_that_cannot_be_written_is_told(shown: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _choosing(monkeypatch, str(tmp_path / "none" / "fx.html"))
    shown.warehouse.write_dictionary()
    assert "fx.html" in shown.notice.words.text()
