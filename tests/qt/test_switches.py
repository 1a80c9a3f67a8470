"""Switching the theme there and back: everything looks as before, and no panel has another size."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel

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


def test_the_name_of_the_project_is_never_cut_by_a_switch_of_theme_or_size(window: Window) -> None:
    name = window.menuBar().findChild(QLabel, "projectName")
    assert name is not None
    for theme, percent in (("dark", 100), ("dark", 200), ("light", 200), ("light", 100)):
        window.dressing.scale_to(percent)
        window.dressing.choose(theme)
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        assert name.text() == "fx.metl"
        assert name.width() >= name.sizeHint().width(), (theme, percent)
