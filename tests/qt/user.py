"""Two people at the window: one has a mouse and types only into boxes, one has nothing but a keyboard.

They send events to windows, as a screen and a keyboard do, and read what stands on the screen: names, texts, rows.
They call nothing of the program, and the focus goes where clicks and keys take it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QDockWidget,
    QMenu,
    QWidget,
)
from pytestqt.qtbot import QtBot

from metl_gui.ui.shell.window import Window
from tests.qt.screen import name_of, plain, press_keys, text_of, type_text, visible, words_in

T = TypeVar("T", bound=QWidget)

EXTRACTION, CDM = "Extraction tree", "Canonical model tree"
MOST_KEYS = 400
"""So many keys or turns of the wheel somebody tries before giving up."""


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
        self.bot.waitUntil(lambda: bool(holds()))

    def find(self, name: str, kind: type[T]) -> T:
        """Find what is visible and enabled by its name or, failing that, by how its name begins."""
        return self._called(name, list(visible(kind)))

    def find_stop(self, name: str) -> QWidget:
        """Find by its name what the keyboard can go to; docks and labels may be called the same."""
        return self._called(name, [each for each in visible(QWidget) if each.focusPolicy() & Qt.FocusPolicy.TabFocus])

    @staticmethod
    def _called(name: str, found: list[T]) -> T:
        exact = [widget for widget in found if name_of(widget) == name]
        near = exact or [widget for widget in found if name_of(widget).startswith(name)]
        assert near, f"nothing on the screen is called {name!r}, but {sorted({name_of(each) for each in found} - {''})}"
        return near[0]

    def sees(self, name: str) -> bool:
        """Whether something whose name or text begins so is on the screen."""
        return any(name_of(widget).startswith(name) for widget in visible(QWidget))

    def can(self, button: str) -> bool:
        """Whether a button can be pressed."""
        return any(name_of(each).startswith(button) for each in visible(QAbstractButton))

    def docked(self, title: str) -> str:
        """Return the title line of the dock that begins so."""
        lines = (words_in(dock.titleBarWidget()) for dock in visible(QDockWidget) if dock.titleBarWidget() is not None)
        return next((line for line in lines if line.startswith(title)), "")

    def picture_of(self, name: str) -> bytes:
        """Return what a widget looks like."""
        image = self.find(name, QWidget).grab().toImage()  # held, or its bytes would be gone before they are copied
        return bytes(image.bits())

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
        return next((words_in(widget) for widget in visible(QWidget) if name_of(widget) == "Notice"), "")

    @property
    def undo_words(self) -> str:
        """What the undo button promises."""
        names = (name_of(widget) for widget in self.window.findChildren(QAbstractButton) if widget.isVisible())
        return next(name for name in names if name.startswith(("Undo ", "Nothing to undo")))

    def entry(self, menu: str, words: str) -> str:
        """Return how an entry of a menu reads now."""
        for title in self.window.menuBar().actions():
            opened = title.menu()
            if plain(title.text()) == menu and isinstance(opened, QMenu):
                return next(plain(each.text()) for each in opened.actions() if plain(each.text()).startswith(words))
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
    def map_field(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        """Map a field of the extraction tree to one of the canonical model tree, by the ways to both."""

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

    def go_to_row(self, view: str, words: str) -> None:
        """Choose a row that one goes to by a click or by Enter."""
        self.choose(view, (words,))
        if not self.points:
            self.key("Return")

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
        type_text(text)

    def key(self, keys: str) -> None:
        """Press a key, with what is held down with it."""
        press_keys(keys)
