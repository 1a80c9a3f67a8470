"""Somebody with a mouse, who types only into boxes."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import (
    QWindow,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QMenu,
    QMenuBar,
    QTreeView,
    QWidget,
)

from metl_gui.ui.widgets.dock import Scrolled
from tests.qt.screen import child, name_of, plain, spot_in, text_of
from tests.qt.user import CDM, EXTRACTION, MOST_KEYS, User

_STEP_PX = 9
_LEFT = Qt.MouseButton.LeftButton
_NONE, _CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier


class Mouse(User):
    """Points and clicks; the keyboard is for writing into boxes."""

    points = True

    def click(self, widget: QWidget, at: QPoint | None = None, held: Qt.KeyboardModifier = _NONE) -> None:
        """Click on a place of a widget, which must not be covered by anything else."""
        window, spot = self._move_over(widget, at)
        QTest.mouseClick(window, _LEFT, held, spot)
        QApplication.processEvents()

    def wheel(self, widget: QWidget, turns: int, at: QPoint | None = None) -> None:
        """Turn the wheel over a widget, away from oneself for positive turns."""
        window, spot = self._move_over(widget, at)
        for _ in range(abs(turns)):
            QTest.wheelEvent(window, spot, QPoint(0, 120 if turns > 0 else -120))

    def do(self, *way: str) -> None:
        """Open menu after menu and click on the entry."""
        bar = self.window.menuBar()
        self._click_entry(bar, way[0])
        for words in way[1:]:
            menu = QApplication.activePopupWidget()
            assert isinstance(menu, QMenu), f"no menu opened before {words}"
            self._click_entry(menu, words)

    def press(self, name: str) -> None:
        """Click on the button."""
        self.click(self.find(name, QWidget))

    def map_field(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        """Click on both and take it from the menu: without a screen Qt makes no drag between widgets."""
        self.choose(EXTRACTION, source)
        self.choose(CDM, target)
        self.do("Mapping", "Map what is chosen")

    def connect(self, source: str, target: str) -> None:
        """Drag a line from row to row."""
        left, begin = self._row("Attributes of the schema", (source,))
        right, end = self._row("Attributes of the entity", (target,))
        window, spot = self._move_over(left, spot_in(begin))
        goal = right.mapTo(right.window(), spot_in(end))
        QTest.mousePress(window, _LEFT, _NONE, spot)
        for part in range(1, 6):
            QTest.mouseMove(window, spot + (goal - spot) * part / 5)
        QTest.mouseRelease(window, _LEFT, _NONE, goal)

    def copy(self) -> None:
        """Take it from the menu."""
        self.do("Edit", "Copy the block")

    def paste(self) -> None:
        """Take it from the menu."""
        self.do("Edit", "Paste a block")

    def enter(self, name: str) -> None:
        """Click into it."""
        widget = self.find_stop(name)
        seen = widget.viewport() if isinstance(widget, QAbstractItemView) else widget
        self.click(seen, QPoint(min(40, seen.width() // 2), seen.height() // 2))

    def choose(self, view: str, *ways: tuple[str, ...]) -> None:
        """Click on the rows, on the second and further ones with Ctrl."""
        for at, way in enumerate(ways):
            shown, box = self._row(view, way)
            self.click(shown, spot_in(box), _CONTROL if at else _NONE)

    def take_found(self, words: str) -> None:
        """Click on the line."""
        self.choose("Found everywhere", (words,))

    def undo(self) -> None:
        """Press the button in the head bar."""
        self.press("Undo ")

    def redo(self) -> None:
        """Take it from the menu; there is no button."""
        self.do("Edit", "Redo")

    def stand_on(self, source: str, target: str) -> None:
        """Move over the columns until the status bar names the source, then over the rows until it names the target."""
        plane = self.find("Matrix", QWidget)
        found = self._sweep(plane, [QPoint(x, plane.height() // 2) for x in range(0, plane.width(), _STEP_PX)], source)
        self._sweep(plane, [QPoint(found.x(), y) for y in range(0, plane.height(), _STEP_PX)], target, also=source)

    def set_cell(self) -> None:
        """Click where the pointer is."""
        self.click(self.find("Matrix", QWidget), self._at)

    # inside

    def _move_over(self, widget: QWidget, at: QPoint | None) -> tuple[QWindow, QPoint]:
        top = widget.window()
        window = top.windowHandle()
        for area in top.findChildren(Scrolled):  # a dialog may need more than the screen has
            if area.isAncestorOf(widget) and widget.visibleRegion().isEmpty():
                area.ensureWidgetVisible(widget)
        spot = widget.mapTo(top, widget.rect().center() if at is None else at)
        hit = top.childAt(spot) or top
        assert hit is widget or widget.isAncestorOf(hit), f"{name_of(widget)!r} is covered by {name_of(hit)!r} {hit}"
        QTest.mouseMove(window, spot)
        QApplication.processEvents()
        return window, spot

    def _click_entry(self, menu: QMenu | QMenuBar, words: str) -> None:
        for action in menu.actions():
            if plain(action.text()).startswith(words):
                assert action.isEnabled(), f"{words!r} cannot be done now"
                self.click(menu, menu.actionGeometry(action).center())
                return
        raise AssertionError(f"no entry {words!r} among {[plain(action.text()) for action in menu.actions()]}")

    def _row(self, name: str, way: tuple[str, ...]) -> tuple[QWidget, QRect]:
        """Open what is closed on the way to a row, by clicks on its branch, and turn the wheel until it is in sight."""
        view = self.find(name, QAbstractItemView)
        index = QModelIndex()
        for words in way:
            if index.isValid() and isinstance(view, QTreeView) and not view.isExpanded(index):
                box = self._in_sight(view, index)
                self.click(view.viewport(), QPoint(box.left() - view.indentation() // 2, box.center().y()))
                assert view.isExpanded(index), f"a click on its branch does not open {text_of(index)!r}"
            index = child(view, index, words)
        return view.viewport(), self._in_sight(view, index)

    def _in_sight(self, view: QAbstractItemView, index: QModelIndex) -> QRect:
        for _ in range(MOST_KEYS):
            box, seen = view.visualRect(index), view.viewport().rect()
            if not box.isEmpty() and seen.contains(QPoint(seen.center().x(), box.center().y())):
                return box
            self.wheel(view.viewport(), 1 if box.top() < 0 else -1)
        raise AssertionError(f"{text_of(index)!r} does not come into sight of {name_of(view)!r}")

    @staticmethod
    def _hover(plane: QWidget, spot: QPoint) -> None:
        QTest.mouseMove(plane.window().windowHandle(), plane.mapTo(plane.window(), spot))

    def _sweep(self, plane: QWidget, spots: list[QPoint], words: str, also: str = "") -> QPoint:
        self._hover(plane, QPoint(2, 2))
        resting = self.status  # where nothing lies under the pointer, it says what is selected
        for spot in spots:
            self._hover(plane, spot)
            if self.status != resting and words in self.status and also in self.status:
                self._at = spot
                return spot
        raise AssertionError(f"the pointer meets no {words!r}; the status bar says {self.status!r}")
