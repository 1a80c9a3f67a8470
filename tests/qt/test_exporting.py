"""Exports from the window take what is published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from metl_gui.ui.history.publish_dialog import PublishDialog
from metl_gui.ui.window import Window
from metl_gui.workbench.publishing import live_state
from metl_gui.workbench.session import Workbench


def test_the_export_is_the_live_state_and_not_what_is_on_the_screen(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, workbench = tmp_path / "out.json", window.project.workbench
    assert workbench is not None
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    window.actions_table["export"].trigger()
    live = live_state(workbench)
    assert live is not None
    assert json.loads(path.read_text())["state"] == live.state < window.project.value.state
    assert window.notice.words.text().endswith(f"of state {live.state:,} exported.")


def test_an_export_without_a_published_state_offers_to_publish(
    make_window: Callable[[], Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: pytest.fail("nothing can be exported"))
    window = make_window()
    window.show_project(Workbench.create(tmp_path / "new.metl"))
    window.actions_table["export"].trigger()
    assert window.notice.words.text() == "Nothing is published yet, and exports take what is."
    QTest.mouseClick(window.notice.action, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    (dialog,) = (found for found in window.findChildren(PublishDialog) if found.isVisible())
    dialog.reject()
