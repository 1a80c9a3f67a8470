"""Switching the theme there and back: everything looks as before, and no panel has another size."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel

from metl_gui.ui.actions.shortcut_sheet import KeysDialog
from metl_gui.ui.charts.plots import Plots
from metl_gui.ui.charts.series import RECORDS
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.table import ScaledTable


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


def test_rows_of_tables_are_as_high_after_a_switch_of_the_size_as_when_they_were_made_at_it(window: Window) -> None:
    shown = window.run_page.body.entities.table
    window.dressing.scale_to(200)
    window.dressing.choose("dark")
    QApplication.sendPostedEvents()
    QApplication.processEvents()
    assert shown.verticalHeader().defaultSectionSize() == ScaledTable().verticalHeader().defaultSectionSize()
    assert shown.verticalHeader().defaultSectionSize() > shown.fontMetrics().height()


def test_no_column_of_the_keys_is_squeezed_at_twice_the_size(window: Window) -> None:
    window.dressing.scale_to(200)
    dialog = KeysDialog(window.actions_table.keymap, window)
    dialog.resize(960, 500)
    dialog.show()
    QApplication.processEvents()
    header = dialog.view.horizontalHeader()
    assert min(header.sectionSize(at) for at in range(3)) > header.width() / 5
    dialog.close()


def test_words_beside_a_chart_are_never_nearer_than_a_line_at_twice_the_size(window: Window) -> None:
    window.dressing.scale_to(200)
    plots = Plots()
    plots._take(RECORDS)
    axis = plots._lower.getAxis("left")
    for most in (1.0, 9.5, 40.0, 1_234.0):
        for size in (20.0, 55.0, 140.0, 400.0):
            ticks = sorted(tick for _, level in axis.tickValues(0.0, most, size) for tick in level)
            gaps = [(after - before) * size / most for before, after in pairwise(ticks)]
            assert not gaps or min(gaps) >= 28 * 0.99, (most, size)
