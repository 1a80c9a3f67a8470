"""What stands on the screen: what is visible, what it is called, which words it shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleInterface,
    QGuiApplication,
    QKeySequence,
    QTextDocumentFragment,
    QWindow,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QWidget,
)

T = TypeVar("T", bound=QWidget)


def name_of(widget: QWidget) -> str:
    """Return what a screen reader calls a widget."""
    interface: QAccessibleInterface | None = QAccessible.queryAccessibleInterface(widget)
    return str(interface.text(QAccessible.Text.Name)).strip() if interface is not None else ""


def words_in(part: QWidget) -> str:
    """Return the texts of what is visible in a part of the window, from left to right."""
    shown = [label for label in part.findChildren(QWidget) if label.isVisible()]
    shown.sort(key=lambda widget: widget.mapTo(part, QPoint()).x())
    texts = (plain(each.text()) if isinstance(each, QLabel) else name_of(each) for each in shown)
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


def visible(kind: type[T]) -> Iterator[T]:
    """Yield what is visible and enabled, in the front window first; a dialog in front hides what is behind it."""
    front = QApplication.activeModalWidget()
    tops = [front] if front is not None else [top for top in QApplication.topLevelWidgets() if top.isVisible()]
    for top in tops:
        for widget in [top, *top.findChildren(kind)]:
            if isinstance(widget, kind) and widget.isVisible() and widget.isEnabled():
                yield widget


def are_one_choice(one: QWidget | None, other: QWidget) -> bool:
    """Whether two buttons belong to one choice, in which arrows go from one to the next."""
    if not isinstance(one, QAbstractButton) or not isinstance(other, QAbstractButton):
        return False
    return one.group() is not None and one.group() is other.group()


def spot_in(box: QRect) -> QPoint:
    return QPoint(box.left() + min(30, box.width() // 2), box.center().y())


def plain(text: str) -> str:
    text = QTextDocumentFragment.fromHtml(text).toPlainText() if "<" in text else text
    return text.replace("&", "")


def with_keyboard() -> QWindow:
    popup = QApplication.activePopupWidget()
    window: QWindow | None = popup.windowHandle() if popup is not None else QGuiApplication.focusWindow()
    if window is None:  # a dialog has gone, and there is no manager that activates what lies below it
        below = next(top for top in QApplication.topLevelWidgets() if top.isVisible())
        below.activateWindow()
        assert QTest.qWaitForWindowActive(below)
        window = below.windowHandle()
    return window


def type_text(text: str) -> None:
    """Type letters where the keyboard is."""
    for letter in text:
        QTest.keyClick(with_keyboard(), ord(letter))
    QApplication.processEvents()


def press_keys(keys: str) -> None:
    """Press a key, with what is held down with it."""
    chord = QKeySequence(keys)[0]  # type: ignore[index]  # the stubs do not say so
    QTest.keyClick(with_keyboard(), chord.key(), chord.keyboardModifiers())
    QApplication.processEvents()
