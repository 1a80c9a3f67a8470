"""Two people at the window: one has a mouse and types only into boxes, one has nothing but a keyboard.

They send events to windows, as a screen and a keyboard do, and read what stands on the screen: names, texts, rows.
They call nothing of the program, and the focus goes where clicks and keys take it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QKeySequence, QTextDocumentFragment, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QDockWidget,
    QLabel,
    QMenu,
    QMenuBar,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from metl_gui.ui.window import Window

T = TypeVar("T", bound=QWidget)

EXTRACTION, CDM = "Extraction tree", "Canonical model tree"
_PATIENCE_MS = 20_000
_MOST_KEYS = 400
_STEP_PX = 9
_LEFT = Qt.MouseButton.LeftButton
_NONE, _CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier


class User(ABC):
    """What both can see, and what they have in common.

    Args:
        window: what they sit before.
        qtbot: waits.
    """

    points = False
    """Whether there is a mouse."""

    def __init__(self, window: Window, qtbot: QtBot) -> None:
        self.window = window
        self.bot = qtbot
        self.heard: list[str] = []
        window.map.matrix.announced.connect(self.heard.append)

    # what stands on the screen

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until something is so."""
        self.bot.waitUntil(lambda: bool(holds()), timeout=_PATIENCE_MS)

    def find(self, name: str, kind: type[T]) -> T:
        """Find what is visible and enabled by its name or, failing that, by how its name begins."""
        found = list(_visible(kind))
        exact = [widget for widget in found if name_of(widget) == name]
        near = exact or [widget for widget in found if name_of(widget).startswith(name)]
        assert near, f"nothing on the screen is called {name!r}, but {sorted({name_of(each) for each in found} - {''})}"
        return near[0]

    def sees(self, name: str) -> bool:
        """Whether something whose name or text begins so is on the screen."""
        return any(name_of(widget).startswith(name) for widget in _visible(QWidget))

    def can(self, button: str) -> bool:
        """Whether a button can be pressed."""
        return any(name_of(each).startswith(button) for each in _visible(QAbstractButton))

    def docked(self, title: str) -> str:
        """Return the title line of the dock that begins so."""
        lines = (words_in(dock.titleBarWidget()) for dock in _visible(QDockWidget) if dock.titleBarWidget() is not None)
        return next((line for line in lines if line.startswith(title)), "")

    def picture_of(self, name: str) -> bytes:
        """Return what a widget looks like."""
        return bytes(self.find(name, QWidget).grab().toImage().bits())

    def set_cell_of(self, source: str, target: str) -> None:
        """Set or clear a cell."""
        self.stand_on(source, target)
        self.set_cell()

    @property
    def status(self) -> str:
        """What the status bar says."""
        return words_in(self.window.statusBar())

    @property
    def notice(self) -> str:
        """What the notice says, empty without one."""
        return next((words_in(widget) for widget in _visible(QWidget) if name_of(widget) == "Notice"), "")

    @property
    def undo_words(self) -> str:
        """What the undo button promises."""
        names = (name_of(widget) for widget in self.window.findChildren(QAbstractButton) if widget.isVisible())
        return next(name for name in names if name.startswith(("Undo ", "Nothing to undo")))

    def entry(self, menu: str, words: str) -> str:
        """Return how an entry of a menu reads now."""
        for title in self.window.menuBar().actions():
            opened = title.menu()
            if _plain(title.text()) == menu and isinstance(opened, QMenu):
                return next(_plain(each.text()) for each in opened.actions() if _plain(each.text()).startswith(words))
        raise AssertionError(f"no menu {menu!r}")

    def current(self, view: str) -> str:
        """Return the words of the current row of a list or tree."""
        return text_of(self.find(view, QAbstractItemView).currentIndex())

    def rows(self, view: str) -> list[str]:
        """Return the words of the outermost rows of a list or tree."""
        model = self.find(view, QAbstractItemView).model()
        return [text_of(model.index(row, 0)) for row in range(model.rowCount())]

    # what both do, each in their way

    @abstractmethod
    def do(self, *way: str) -> None:
        """Do what an entry of a menu says, by the way to it."""

    @abstractmethod
    def press(self, name: str) -> None:
        """Press a button."""

    def answer(self, name: str, key: str, at: str = "") -> None:
        """Press a button or, without a mouse, the key that stands beside its name.

        Args:
            name: the button.
            key: its key.
            at: the view that takes the key, where that is another one than has the keyboard.
        """
        shown = str(getattr(self.find(name, QAbstractButton), "key", ""))
        assert shown == key, f"beside {name!r} stands {shown!r}"
        if self.points:
            self.press(name)
            return
        if at:
            self.enter(at)
        self.key(key)

    @abstractmethod
    def connect(self, source: str, target: str) -> None:
        """Map a field to another one in the block editor."""

    @abstractmethod
    def copy(self) -> None:
        """Copy the block of the selection."""

    @abstractmethod
    def paste(self) -> None:
        """Paste onto the block of the selection."""

    @abstractmethod
    def enter(self, name: str) -> None:
        """Bring the keyboard into a box or a view."""

    @abstractmethod
    def choose(self, view: str, *ways: tuple[str, ...]) -> None:
        """Choose rows of a list or tree, each by the words on the way to it."""

    @abstractmethod
    def take(self, view: str, way: tuple[str, ...]) -> None:
        """Choose a row and do what a double click or Enter does with it."""

    @abstractmethod
    def take_found(self, words: str) -> None:
        """Go to a line of what search everywhere found."""

    @abstractmethod
    def undo(self) -> None:
        """Take the last step back."""

    @abstractmethod
    def redo(self) -> None:
        """Do again what was taken back."""

    @abstractmethod
    def stand_on(self, source: str, target: str) -> None:
        """Come to a cell of the matrix by what the status bar says of it, without editing."""

    @abstractmethod
    def set_cell(self) -> None:
        """Set or clear the cell one stands on."""

    def write(self, box: str, text: str, ends_with: str = "") -> None:
        """Write a text into a box, in place of what is there."""
        self.enter(box)
        self.key("Ctrl+A")
        self.type(text)
        if ends_with:
            self.key(ends_with)

    def type(self, text: str) -> None:
        """Type letters where the keyboard is."""
        for letter in text:
            QTest.keyClick(_with_keyboard(), ord(letter))
        QApplication.processEvents()

    def key(self, keys: str) -> None:
        """Press a key, with what is held down with it."""
        chord = QKeySequence(keys)[0]
        QTest.keyClick(_with_keyboard(), chord.key(), chord.keyboardModifiers())
        QApplication.processEvents()


class Mouse(User):
    """Points and clicks; the keyboard is for writing into boxes."""

    points = True

    def click(self, widget: QWidget, at: QPoint | None = None, held: Qt.KeyboardModifier = _NONE) -> None:
        """Click on a place of a widget, which must not be covered by anything else."""
        window, spot = self._move_over(widget, at)
        QTest.mouseClick(window, _LEFT, held, spot)
        QApplication.processEvents()

    def double_click(self, widget: QWidget, at: QPoint | None = None) -> None:
        """Click twice."""
        window, spot = self._move_over(widget, at)
        QTest.mouseClick(window, _LEFT, _NONE, spot)
        QTest.mouseDClick(window, _LEFT, _NONE, spot)
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

    def connect(self, source: str, target: str) -> None:
        """Drag a line from row to row."""
        left, begin = self._row("Attributes of the schema", (source,))
        right, end = self._row("Attributes of the entity", (target,))
        window, spot = self._move_over(left, _spot_in(begin))
        goal = right.mapTo(right.window(), _spot_in(end))
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
        widget = self.find(name, QWidget)
        seen = widget.viewport() if isinstance(widget, QAbstractItemView) else widget
        self.click(seen, QPoint(min(40, seen.width() // 2), seen.height() // 2))

    def choose(self, view: str, *ways: tuple[str, ...]) -> None:
        """Click on the rows, on the second and further ones with Ctrl."""
        for at, way in enumerate(ways):
            shown, box = self._row(view, way)
            self.click(shown, _spot_in(box), _CONTROL if at else _NONE)

    def take(self, view: str, way: tuple[str, ...]) -> None:
        """Double click on the row."""
        shown, box = self._row(view, way)
        self.double_click(shown, _spot_in(box))

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
        spot = widget.mapTo(top, widget.rect().center() if at is None else at)
        hit = top.childAt(spot) or top
        assert hit is widget or widget.isAncestorOf(hit), f"{name_of(widget)!r} is covered by {name_of(hit)!r} {hit}"
        QTest.mouseMove(window, spot)
        QApplication.processEvents()
        return window, spot

    def _click_entry(self, menu: QMenu | QMenuBar, words: str) -> None:
        for action in menu.actions():
            if _plain(action.text()).startswith(words):
                assert action.isEnabled(), f"{words!r} cannot be done now"
                self.click(menu, menu.actionGeometry(action).center())
                return
        raise AssertionError(f"no entry {words!r} among {[_plain(action.text()) for action in menu.actions()]}")

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
        for _ in range(_MOST_KEYS):
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


class Keyboard(User):
    """Never touches a mouse."""

    def do(self, *way: str) -> None:
        """Open the menu by Alt and its letter, then go down to the entry; sub-menus open by Right."""
        self.key(f"Alt+{way[0][0]}")
        for at, words in enumerate(way[1:], 1):
            menu = QApplication.activePopupWidget()
            assert isinstance(menu, QMenu), f"no menu opened before {words}"
            self._go_down(menu, words)
            self.key("Return" if at == len(way) - 1 else "Right")

    def press(self, name: str) -> None:
        """Go to the button and press Space."""
        self.enter(name)
        self.key("Space")

    def connect(self, source: str, target: str) -> None:
        """Begin a line by Enter, go to its other end and press Enter again."""
        self._walk("Attributes of the schema", (source,), "")
        self.key("Return")
        self._walk("Attributes of the entity", (target,), "")
        self.key("Return")

    def copy(self) -> None:
        """Press Ctrl+C on the matrix."""
        self.enter("Matrix")
        self.key("Ctrl+C")

    def paste(self) -> None:
        """Press Ctrl+V on the matrix."""
        self.enter("Matrix")
        self.key("Ctrl+V")

    def enter(self, name: str) -> None:
        """Go round the panels by F6 and, in the panel that has it, on by Tab."""
        widget = self.find(name, QWidget)
        if widget.window() is self.window:
            panel = self._panel_of(widget)
            for _ in range(_MOST_KEYS):
                focus = QApplication.focusWidget()
                if focus is not None and (focus is panel or panel.isAncestorOf(focus)):
                    break
                self.key("F6")
        for _ in range(_MOST_KEYS):
            focus = QApplication.focusWidget()
            if focus is widget or (focus is not None and widget.isAncestorOf(focus)):
                return
            self.key("Right" if _are_one_choice(focus, widget) else "Tab")
        raise AssertionError(f"no key leads to {name!r}")

    def choose(self, view: str, *ways: tuple[str, ...]) -> None:
        """Go to the first row by arrows; with Ctrl the cursor moves alone, and Ctrl+Space adds a row."""
        self.enter(view)
        for at, way in enumerate(ways):
            self._walk(view, way, "Ctrl+" if at else "")
            if at:
                self.key("Ctrl+Space")

    def take(self, view: str, way: tuple[str, ...]) -> None:
        """Go to the row and press Enter."""
        self.choose(view, way)
        self.key("Return")

    def take_found(self, words: str) -> None:
        """Go down to the line and press Enter, while the box keeps the keyboard."""
        for _ in range(_MOST_KEYS):
            if self.current("Found everywhere") == words:
                break
            self.key("Down")
        self.key("Return")

    def undo(self) -> None:
        """Press Ctrl+Z."""
        self.key("Ctrl+Z")

    def redo(self) -> None:
        """Press Ctrl+Shift+Z."""
        self.key("Ctrl+Shift+Z")

    def stand_on(self, source: str, target: str) -> None:
        """Press arrows until the status bar names both."""
        self.enter("Matrix")
        for words, there, back in ((source, "Right", "Left"), (target, "Down", "Up")):
            for arrow in (there, back):
                self._arrows(words, arrow)
            assert words in self.status, f"no arrow leads to {words!r}; the status bar says {self.status!r}"

    def set_cell(self) -> None:
        """Press Space."""
        self.key("Space")

    # inside

    def _go_down(self, menu: QMenu, words: str) -> None:
        for _ in range(_MOST_KEYS):
            action = menu.activeAction()
            if action is not None and _plain(action.text()).startswith(words):
                assert action.isEnabled(), f"{words!r} cannot be done now"
                return
            self.key("Down")
        raise AssertionError(f"no entry {words!r} among {[_plain(action.text()) for action in menu.actions()]}")

    def _panel_of(self, widget: QWidget) -> QWidget:
        """Return what F6 stops at on the way to a widget."""
        above: QWidget | None = widget
        while above is not None and not isinstance(above, QDockWidget):
            if above in (self.window.head, self.window.notice, self.window.statusBar()):
                return above
            above = above.parentWidget()
        page = self.window.stack.currentWidget()
        centre = page.centralWidget() if hasattr(page, "centralWidget") else page
        return above if above is not None else centre

    def _walk(self, name: str, way: tuple[str, ...], held: str) -> None:
        view = self.find(name, QAbstractItemView)
        index = QModelIndex()
        for words in way:
            if index.isValid() and isinstance(view, QTreeView) and not view.isExpanded(index):
                self.key("Right")
                assert view.isExpanded(index), f"Right does not open {text_of(index)!r}"
            index = child(view, index, words)
            below = view.visualRect(view.currentIndex()).top() < view.visualRect(index).top()
            for _ in range(_MOST_KEYS):
                if view.currentIndex() == index:
                    break
                self.key(f"{held}Down" if below else f"{held}Up")
            assert view.currentIndex() == index, (
                f"arrows do not lead to {words!r}, but to {text_of(view.currentIndex())!r}"
            )

    def _arrows(self, words: str, arrow: str) -> None:
        before = ""
        for _ in range(_MOST_KEYS):
            if words in self.status or before == self.status:
                return
            before = self.status
            self.key(arrow)


# reading the screen


def name_of(widget: QWidget) -> str:
    """Return what a screen reader calls a widget."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return str(interface.text(QAccessible.Text.Name)).strip() if interface is not None else ""


def words_in(part: QWidget) -> str:
    """Return the texts of what is visible in a part of the window, from left to right."""
    shown = [label for label in part.findChildren(QWidget) if label.isVisible()]
    shown.sort(key=lambda widget: widget.x())
    texts = (_plain(each.text()) if isinstance(each, QLabel) else name_of(each) for each in shown)
    return " | ".join(text for text in texts if text)


def text_of(index: QModelIndex) -> str:
    """Return the words of a row, as they are read aloud."""
    spoken = index.data(int(Qt.ItemDataRole.AccessibleTextRole))
    return str(index.data() if index.data() is not None else spoken or "")


def child(view: QAbstractItemView, above: QModelIndex, words: str) -> QModelIndex:
    """Find a row by its words or by how they begin."""
    model = view.model()
    rows = [model.index(row, 0, above) for row in range(model.rowCount(above))]
    exact = [index for index in rows if text_of(index) == words]
    near = exact or [index for index in rows if text_of(index).startswith(words)]
    assert near, f"{name_of(view)!r} has no row {words!r}: {[text_of(index) for index in rows]}"
    return near[0]


def _visible(kind: type[T]) -> Iterator[T]:
    """Yield what is visible and enabled, in the front window first; a dialog in front hides what is behind it."""
    front = QApplication.activeModalWidget()
    tops = [front] if front is not None else [top for top in QApplication.topLevelWidgets() if top.isVisible()]
    for top in tops:
        for widget in [top, *top.findChildren(kind)]:
            if isinstance(widget, kind) and widget.isVisible() and widget.isEnabled():
                yield widget


def _are_one_choice(one: QWidget | None, other: QWidget) -> bool:
    """Whether two buttons belong to one choice, in which arrows go from one to the next."""
    if not isinstance(one, QAbstractButton) or not isinstance(other, QAbstractButton):
        return False
    return one.group() is not None and one.group() is other.group()


def _spot_in(box: QRect) -> QPoint:
    return QPoint(box.left() + min(30, box.width() // 2), box.center().y())


def _plain(text: str) -> str:
    text = QTextDocumentFragment.fromHtml(text).toPlainText() if "<" in text else text
    return text.replace("&", "")


def _with_keyboard() -> QWindow:
    popup = QApplication.activePopupWidget()
    window = popup.windowHandle() if popup is not None else QGuiApplication.focusWindow()
    if window is None:  # a dialog has gone, and there is no manager that activates what lies below it
        below = next(top for top in QApplication.topLevelWidgets() if top.isVisible())
        below.activateWindow()
        assert QTest.qWaitForWindowActive(below)
        window = below.windowHandle()
    return window
