"""Somebody who has nothing but a keyboard."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtGui import (
    QAction,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QDockWidget,
    QMainWindow,
    QMenu,
    QTreeView,
    QWidget,
)

from tests.qt.screen import are_one_choice, child, name_of, plain, text_of
from tests.qt.user import CDM, EXTRACTION, MOST_KEYS, User

_FIRST_KEYS, _TURNS = 8, 8
"""How far somebody looks to one side for a cell at first, and how often further to the other; at last past all."""


class Keyboard(User):
    """Never touches a mouse."""

    def do(self, *way: str) -> None:
        """Open the menu by Alt and its letter, then go down to the entry; sub-menus open by Right.

        What stands in the Schema menu is done from the palette, by its words.
        """
        if way[0] == "Schema":
            self.key("Ctrl+Shift+P")
            self.type(way[-1])
            self.key("Return")
            return
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

    def map_field(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        """Choose both and press the key for it."""
        self.choose(EXTRACTION, source)
        self.choose(CDM, target)
        self.key("Ctrl+M")

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
        self._go_to(self.find_stop(name))

    def choose(self, view: str, *ways: tuple[str, ...]) -> None:
        """Go to the first row by arrows; with Ctrl the cursor moves alone, and Ctrl+Space adds a row."""
        self._go_to(self.find(view, QAbstractItemView))
        for at, way in enumerate(ways):
            self._walk(view, way, "Ctrl+" if at else "")
            if at:
                self.key("Ctrl+Space")

    def take_found(self, words: str) -> None:
        """Go down to the line and press Enter, while the box keeps the keyboard."""
        for _ in range(MOST_KEYS):
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
        """Press arrows until the status bar names both: a little to one side, then further to the other, and so on."""
        self.enter("Matrix")
        for words, there, back in ((source, "Right", "Left"), (target, "Down", "Up")):
            for turn in range(_TURNS):
                self._arrows(words, back if turn % 2 else there, _FIRST_KEYS << turn)
            assert words in self.status, f"no arrow leads to {words!r}; the status bar says {self.status!r}"

    def set_cell(self) -> None:
        """Press Space."""
        self.key("Space")

    # inside

    def _go_to(self, widget: QWidget) -> None:
        if widget.window() is self.window:
            panel = self._panel_of(widget)
            for _ in range(MOST_KEYS):
                focus = QApplication.focusWidget()
                if focus is not None and (focus is panel or panel.isAncestorOf(focus)):
                    break
                self.key("F6")
        for _ in range(MOST_KEYS):
            focus = QApplication.focusWidget()
            if focus is widget or (focus is not None and widget.isAncestorOf(focus)):
                return
            self.key("Right" if are_one_choice(focus, widget) else "Tab")
        raise AssertionError(f"no key leads to {name_of(widget)!r}")

    def _go_down(self, menu: QMenu, words: str) -> None:
        for _ in range(MOST_KEYS):
            action: QAction | None = menu.activeAction()  # none at first, whatever the stubs say
            if action is not None and plain(action.text()).startswith(words):
                assert action.isEnabled(), f"{words!r} cannot be done now"
                return
            self.key("Down")
        raise AssertionError(f"no entry {words!r} among {[plain(action.text()) for action in menu.actions()]}")

    def _panel_of(self, widget: QWidget) -> QWidget:
        """Return what F6 stops at on the way to a widget."""
        above: QWidget | None = widget
        while above is not None and not isinstance(above, QDockWidget):
            if above in (self.window.head, self.window.notice, self.window.statusBar()):
                return above
            above = above.parentWidget()
        if above is not None:
            return above
        page = self.window.stack.currentWidget()
        centre = page.centralWidget() if isinstance(page, QMainWindow) else page
        assert centre is not None
        return centre

    def _walk(self, name: str, way: tuple[str, ...], held: str) -> None:
        view = self.find(name, QAbstractItemView)
        index = QModelIndex()
        for words in way:
            if index.isValid() and isinstance(view, QTreeView) and not view.isExpanded(index):
                self.key("Right")
                assert view.isExpanded(index), f"Right does not open {text_of(index)!r}"
            index = child(view, index, words)
            here = view.currentIndex()
            below = view.visualRect(here).top() < view.visualRect(index).top()
            if here.parent() == index.parent():
                below = here.row() < index.row()
            for _ in range(MOST_KEYS):
                if view.currentIndex() == index:
                    break
                self.key(f"{held}Down" if below else f"{held}Up")
            assert view.currentIndex() == index, (
                f"arrows do not lead to {words!r}, but to {text_of(view.currentIndex())!r}"
            )

    def _arrows(self, words: str, arrow: str, most: int) -> None:
        before = ""
        for _ in range(most):
            if words in self.status or before == self.status:
                return
            before = self.status
            self.key(arrow)
