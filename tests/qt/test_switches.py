"""Switching the theme there and back: everything looks as before, and no panel has another size."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDockWidget

from metl_gui.ui.shell.window import Window


def test_a_window_looks_the_same_after_its_theme_was_switched_there_and_back(window: Window) -> None:
    def look() -> tuple[QImage, list[QRect]]:
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        docks = [dock for dock in window.map.findChildren(QDockWidget) if dock.isVisible()]
        return window.grab().toImage(), [dock.geometry() for dock in docks]

    window.actions_table["theme_light"].trigger()
    window.show_page(0)
    first, places = look()
    window.actions_table["theme_dark"].trigger()
    other, places_there = look()
    assert other != first
    assert places_there == places
    window.actions_table["theme_light"].trigger()
    assert look() == (first, places)
