"""Switching theme and size: everything looks as it should, also what was hidden then, and no panel has another size."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QLabel,
    QRadioButton,
    QStyle,
    QStyleOptionButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from metl_gui.ui.actions.shortcut_sheet import KeysDialog
from metl_gui.ui.charts.plots import Plots
from metl_gui.ui.charts.series import RECORDS
from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.owners.entity_dialog import EntityDialog
from metl_gui.ui.shell.layout import docks_of
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import dresser
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.controller import SCALES
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.fitted_dialog import LEAST_PX, FittedDialog
from metl_gui.ui.widgets.table import ScaledTable
from metl_gui.ui.widgets.tree import paint_branch
from tests.flows.windows import Painted

_LONG_MS = 600_000
"""A pause before hidden widgets follow that no test waits for."""

_HIDDEN = [number for number, page in enumerate(PAGES) if page != "Map"]


def page_looks(window: Window, number: int) -> QImage:
    window.show_page(number)
    for _ in range(3):
        QApplication.sendPostedEvents()
        QApplication.processEvents()
    return window.grab().toImage()


def dress_everything(window: Window) -> None:
    """Dress what is seen and what is hidden in one go, as it is done before a window is shown."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    themes.dress(app)
    for widget in app.allWidgets():
        if hasattr(widget, "dress"):
            widget.dress()
    window.dressing.dressed.emit()


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


def test_how_spark_is_stands_whole_where_there_is_room_for_it_again(window: Window) -> None:
    window.resize(1600, 1000)
    words = window.head.spark.text()
    for percent, is_seen in ((200, False), (100, True)):
        window.dressing.scale_to(percent)
        page_looks(window, 0)
        assert window.head.spark.isVisible() == is_seen
    assert "\N{HORIZONTAL ELLIPSIS}" not in words
    assert window.head.spark.text() == words


def test_rows_of_tables_are_as_high_after_a_switch_of_the_size_as_when_they_were_made_at_it(window: Window) -> None:
    shown = window.run_page.body.entities.table
    window.dressing.scale_to(200)
    window.dressing.choose("dark")
    page_looks(window, PAGES.index("Run"))
    assert shown.verticalHeader().defaultSectionSize() == ScaledTable().verticalHeader().defaultSectionSize()
    assert shown.verticalHeader().defaultSectionSize() > shown.fontMetrics().height()


def test_rows_of_an_entity_follow_the_size_while_they_are_shown(window: Window) -> None:
    window.show_page(0)
    window.actions_table["new_entity"].trigger()
    (dialog,) = window.findChildren(EntityDialog)
    heights = []
    for percent in (100, 200):
        window.dressing.scale_to(percent)
        QApplication.processEvents()
        heights.append(dialog.view.verticalHeader().defaultSectionSize())
    dialog.reject()
    assert heights == [28, 56]


def test_the_number_of_a_sample_is_never_cut(window: Window) -> None:
    window.show_page(0)
    count = window.preview.panel.tools.count
    window.preview.panel.tools.show_count(0, 16)
    for percent in SCALES:
        window.dressing.scale_to(percent)
        QApplication.processEvents()
        around = count.style().sizeFromContents(
            QStyle.ContentsType.CT_PushButton, QStyleOptionButton(), QSize(0, 0), count
        )
        words = count.fontMetrics().horizontalAdvance(count.text())
        assert count.width() >= words + around.width(), percent


def filled(image: QImage) -> int:
    return sum(image.pixelColor(x, y).alpha() > 127 for x in range(image.width()) for y in range(image.height()))


@pytest.mark.parametrize("is_open", [False, True])
def test_the_triangle_beside_a_row_grows_with_the_size(window: Window, is_open: bool) -> None:
    found = []
    for percent in (100, 200):
        window.dressing.scale_to(percent)
        image = QImage(60, 60, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        paint_branch(painter, QRect(0, 0, 50, 60), is_open)
        painter.end()
        found.append(filled(image))
    assert found[1] > 3 * found[0] > 0


def test_the_arrow_of_a_combo_box_grows_with_the_size(window: Window) -> None:
    found = []
    for percent in (100, 200):
        window.dressing.scale_to(percent)
        box = ThemedComboBox(window)
        box.resize(themes.px(80), themes.px(30))
        box.ensurePolished()
        right = box.grab().toImage().copy(box.width() - themes.px(24), themes.px(8), themes.px(20), themes.px(14))
        dim = themes.current().dim
        found.append(sum(right.pixelColor(x, y) == dim for x in range(right.width()) for y in range(right.height())))
        box.deleteLater()
    assert found[1] > 2 * found[0] > 0


@pytest.mark.parametrize("percent", SCALES)
@pytest.mark.parametrize("is_checked", [False, True])
def test_a_radio_button_is_round_at_every_size(window: Window, percent: int, is_checked: bool) -> None:
    window.dressing.scale_to(percent)
    button = QRadioButton("x", window)
    button.setChecked(is_checked)
    button.resize(button.sizeHint())
    option = QStyleOptionButton()
    button.initStyleOption(option)
    box = button.style().subElementRect(QStyle.SubElement.SE_RadioButtonIndicator, option, button)
    image = button.grab().toImage()
    ground = image.pixelColor(1, 1)
    corners = [image.pixelColor(at) for at in (box.topLeft(), box.topRight(), box.bottomLeft(), box.bottomRight())]
    assert corners == [ground] * 4
    middle_of_edge = image.pixelColor(box.center().x(), box.top() + 1)
    assert middle_of_edge != ground
    button.deleteLater()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_drawings_of_the_style_sheet_are_there_in_the_colour_of_quiet_text(name: str) -> None:
    theme = themes.load(name)
    sheet = themes.style_sheet(theme, QApplication.font())
    found = {Path(path) for path in re.findall(r'url\("([^"]+)"\)', sheet)}
    assert len(found) == 8
    for path in found:
        colour = theme.panel if path.name.startswith("check") else theme.dim
        assert colour.name().lower() in path.read_text("utf-8").lower(), path.name


def test_a_dialog_keeps_the_size_it_was_given_although_it_is_scrolled_on_small_screens(window: Window) -> None:
    dialog = FittedDialog(window)
    layout = QVBoxLayout(dialog)
    tall = QLabel("\n".join(str(line) for line in range(30)))
    tall.setMinimumSize(300, 380)
    layout.addWidget(tall)
    dialog.resize(700, 560)
    dialog.show()
    QApplication.processEvents()
    assert dialog.size() == QSize(700, 560)
    assert dialog.minimumSizeHint().height() <= LEAST_PX[1]
    dialog.reject()


def test_no_column_of_the_keys_is_squeezed_at_twice_the_size(window: Window) -> None:
    window.dressing.scale_to(200)
    dialog = KeysDialog(window.actions_table.keymap, window)
    dialog.resize(960, 500)
    dialog.show()
    QApplication.processEvents()
    header = dialog.view.horizontalHeader()
    assert min(header.sectionSize(at) for at in range(3)) > header.width() / 5
    dialog.close()


def test_words_beside_a_chart_are_never_nearer_than_a_line_at_twice_the_size_and_never_gone(window: Window) -> None:
    window.dressing.scale_to(200)
    plots = Plots()
    plots._take(RECORDS)
    axis = plots._lower.getAxis("left")
    for most in (1.0, 9.5, 40.0, 1_234.0):
        for size in (20.0, 57.0, 136.0, 400.0):
            ticks = sorted(tick for _, level in axis.tickValues(0.0, most, size) for tick in level)
            gaps = [(after - before) * size / most for before, after in pairwise(ticks)]
            assert not gaps or min(gaps) >= 28 * 0.99, (most, size)
            assert len(ticks) >= (2 if size > 2 * 28 else 1), (most, size)


@pytest.mark.parametrize("number", _HIDDEN, ids=lambda number: PAGES[number])
def test_a_page_that_was_hidden_looks_as_if_it_had_been_seen_when_theme_and_size_were_switched(
    window: Window, number: int
) -> None:
    for page in (*_HIDDEN, 0):
        page_looks(window, page)
    for theme, percent in (("dark", 100), ("dark", 150), ("light", 125)):
        window.dressing.choose(theme)
        window.dressing.scale_to(percent)
    looks = page_looks(window, number)
    dress_everything(window)
    assert page_looks(window, number) == looks


@pytest.mark.parametrize(("theme", "percent"), [("dark", 100), ("light", 200), ("dark", 125), ("light", 90)])
def test_a_page_that_is_seen_looks_after_a_switch_as_if_it_had_been_dressed_anew(
    window: Window, theme: str, percent: int
) -> None:
    page_looks(window, 0)
    window.dressing.choose(theme)
    window.dressing.scale_to(percent)
    looks = page_looks(window, 0)
    dress_everything(window)
    assert page_looks(window, 0) == looks


def test_what_is_seen_is_painted_once_at_another_size(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dresser, "_PAUSE_MS", _LONG_MS)
    page_looks(window, 0)
    painted = Painted(window.head)
    window.dressing.scale_to(125)
    for _ in range(3):
        QApplication.sendPostedEvents()
        QApplication.processEvents()
    assert painted.count == 1


def test_what_is_hidden_follows_a_switch_without_being_shown(window: Window, qtbot: QtBot) -> None:
    page_looks(window, PAGES.index("Run"))
    page_looks(window, 0)
    words = next(label for label in window.run_page.findChildren(QLabel) if label.property("kind") == "small")
    before, ground = words.font().pointSizeF(), window.run_page.palette().window().color()
    window.dressing.choose("dark")
    window.dressing.scale_to(200)
    qtbot.waitUntil(lambda: words.font().pointSizeF() > 1.9 * before)
    assert not window.run_page.isVisible()
    assert window.run_page.palette().window().color() != ground


def test_a_page_that_is_hidden_is_not_dressed_before_what_is_seen_is_painted(window: Window) -> None:
    page_looks(window, PAGES.index("Run"))
    page_looks(window, 0)
    words = next(label for label in window.run_page.findChildren(QLabel) if label.property("kind") == "small")
    before, title = words.font().pointSizeF(), window.head.height()
    window.dressing.scale_to(200)
    assert window.head.height() > title
    assert words.font().pointSizeF() == before


def test_what_a_page_that_is_seen_hides_is_dressed_once_it_is_shown(window: Window) -> None:
    page_looks(window, 0)
    words = DressedLabel(window.map)
    words.setText("words")
    words.ensurePolished()
    before = words.sizeHint()
    window.dressing.scale_to(200)
    assert words.scales == []
    assert words.sizeHint() == before
    words.show()
    assert words.scales == [2.0]
    assert words.sizeHint().height() > 1.8 * before.height()


def a_dock_behind(window: Window) -> QDockWidget:
    """Show all panels of the map, and return one behind another whose rows need no time to come."""
    page_looks(window, 0)
    for dock in docks_of(window.map):
        dock.show()
    QApplication.processEvents()
    dock = next(dock for dock in docks_of(window.map) if dock.windowTitle() == "Mapping list")
    assert dock.isVisible()
    assert dock.visibleRegion().isEmpty()
    return dock


@pytest.mark.parametrize("is_in_front", [True, False])
def test_what_a_dock_needs_is_as_before_after_a_switch_there_and_back(
    window: Window, qtbot: QtBot, is_in_front: bool
) -> None:
    dock, (front,) = a_dock_behind(window), [one for one in docks_of(window.map) if one.windowTitle() == "Block"]
    before = dock.minimumSize()
    for percent in (125, 100, 150, 100):
        window.dressing.scale_to(percent)
        page_looks(window, 0)
        (dock if percent > 100 and is_in_front else front).raise_()
        page_looks(window, 0)
    qtbot.waitUntil(lambda: not window.dressing.has_more_to_dress)
    page_looks(window, 0)
    assert dock.minimumSize() == before


def test_docks_take_their_places_at_once(window: Window) -> None:
    dock = docks_of(window.map)[0]
    assert dock.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, dock) == 0


def test_no_widget_has_a_style_sheet_of_its_own_which_a_switch_would_leave_as_it_is(window: Window) -> None:
    for page in (*_HIDDEN, 0):
        page_looks(window, page)
    assert [widget for widget in QApplication.allWidgets() if widget.window() is window and widget.styleSheet()] == []


def test_switches_and_sizes_of_the_window_may_follow_each_other_while_what_is_hidden_waits(window: Window) -> None:
    a_dock_behind(window)
    for width, height, percent, theme, title in (
        (1600, 1000, 150, "dark", "Mapping list"),
        (1100, 700, 125, "light", "History"),
        (3840, 2160, 200, "dark", "Reverse search"),
        (1600, 1000, 100, "light", "To do"),
    ):
        window.resize(width, height)
        page_looks(window, 0)
        window.dressing.choose(theme)
        window.dressing.scale_to(percent)
        page_looks(window, 0)
        (dock,) = (dock for dock in docks_of(window.map) if dock.windowTitle() == title)
        dock.raise_()
        page_looks(window, 0)
        assert window.head.height() == themes.px(46)


def looks_at_one_size(window: Window, panel: QWidget) -> QImage:
    """Grab a panel; how wide its dock is depends on what its neighbours, of which all are open, asked for in turn."""
    page_looks(window, 0)
    panel.resize(640, 250)
    return panel.grab().toImage()


def test_a_dock_behind_another_is_dressed_once_it_comes_to_the_front(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dresser, "_PAUSE_MS", _LONG_MS)
    dock = a_dock_behind(window)
    words = DressedLabel(dock)
    words.show()
    window.dressing.scale_to(110)
    assert words.scales == []
    dock.raise_()
    page_looks(window, 0)
    assert words.scales == [1.1]
    assert not dock.visibleRegion().isEmpty()


def test_a_dock_behind_another_follows_a_switch_where_it_is(window: Window, qtbot: QtBot) -> None:
    dock = a_dock_behind(window)
    words = DressedLabel(dock)
    words.show()
    window.dressing.scale_to(110)
    qtbot.waitUntil(lambda: not window.dressing.has_more_to_dress)
    assert words.scales == [1.1]
    assert dock.visibleRegion().isEmpty()


def test_what_is_seen_has_its_place_before_docks_behind_are_dressed(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_dock_behind(window)
    (front,) = (dock for dock in docks_of(window.map) if dock.windowTitle() == "Block")
    with monkeypatch.context() as patched:
        patched.setattr(dresser, "_PAUSE_MS", _LONG_MS)
        window.dressing.scale_to(125)
        page_looks(window, 0)
        width = front.width()
    window.dressing.dress()
    qtbot.waitUntil(lambda: not window.dressing.has_more_to_dress)
    page_looks(window, 0)
    assert front.width() == pytest.approx(width, abs=4)


@pytest.mark.parametrize("comes_at_once", [True, False])
def test_a_dock_that_was_behind_looks_as_if_it_had_been_in_front_when_it_was_dressed(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, comes_at_once: bool
) -> None:
    if comes_at_once:
        monkeypatch.setattr(dresser, "_PAUSE_MS", _LONG_MS)
    dock = a_dock_behind(window)
    window.dressing.choose("dark")
    window.dressing.scale_to(110)
    if not comes_at_once:
        qtbot.waitUntil(lambda: not window.dressing.has_more_to_dress)
    dock.raise_()
    looks = looks_at_one_size(window, dock.widget())
    dress_everything(window)
    assert looks_at_one_size(window, dock.widget()) == looks


def test_what_is_taken_out_of_a_hidden_page_before_its_turn_follows_a_switch_too(window: Window, qtbot: QtBot) -> None:
    page_looks(window, PAGES.index("Run"))
    words = DressedLabel(window.run_page)
    words.show()
    page_looks(window, 0)
    window.dressing.scale_to(200)
    words.setParent(window)
    qtbot.waitUntil(lambda: not window.dressing.has_more_to_dress)
    assert words.scales == [2.0]


class DressedLabel(QLabel):
    """A label that keeps something drawn, and notes the scales at which it was dressed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.scales: list[float] = []

    def dress(self) -> None:
        """Note it."""
        self.scales.append(themes.scale())
