"""A line to type into, over the head of the matrix: where to go, or what to call a place. No dialog; Esc closes it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QLineEdit, QListWidget, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes

_WIDE = 560
_TOP = 10
_MOST_ROWS = 10


def _proposes_nothing(_text: str) -> list[str]:
    return []


class LineSheet(QFrame):
    """Asks for a line of text.

    Args:
        name: what screen readers call it.
        hint: stands in the empty line.
        foot: what keys do, under the line while nothing is wrong.
        propose: whole texts that the typed one may become.

    Signals:
        accepted: the text, by Enter; who listens closes the sheet or says what is wrong.
    """

    accepted = Signal(str)

    def __init__(
        self,
        parent: QWidget,
        name: str,
        hint: str,
        foot: str,
        propose: Callable[[str], list[str]] = _proposes_nothing,
    ) -> None:
        super().__init__(parent)
        self._foot = foot
        self.setProperty("surface", "sheet")
        self.setAccessibleName(name)
        self._propose = propose
        self._came_from: QWidget | None = None
        self.line = QLineEdit()
        self.line.setPlaceholderText(hint)
        self.line.setAccessibleName(name)
        self.rows = QListWidget()
        self.rows.setAccessibleName("Proposals")
        self.rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.rows.setFrameShape(QFrame.Shape.NoFrame)
        self.note = QLabel()
        self.note.setProperty("kind", "small")
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 10, 10, 10)
        layout.setSpacing(6)
        for widget in (self.line, self.rows, self.note):
            layout.addWidget(widget)
        self.line.textChanged.connect(self._typed)
        self.line.returnPressed.connect(self._enter)
        self.line.installEventFilter(self)
        self.rows.itemClicked.connect(lambda item: self._take(item.text()))
        self.hide()

    def ask(self, text: str = "") -> None:
        """Show the line, with a text to change or accept."""
        focus = QApplication.focusWidget()
        if focus is not None and not self.isAncestorOf(focus):
            self._came_from = focus
        self.line.setText(text)
        self.line.selectAll()
        self._typed(text)
        self.show()
        self.raise_()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def say(self, words: str) -> None:
        """Say under the line what is wrong with it."""
        self.note.setText(words or self._foot)
        self._place()

    def leave(self) -> None:
        """Close the sheet and give the focus back."""
        if self.isVisible():
            self.hide()
            back, self._came_from = self._came_from, None
            if back is not None:
                back.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep what the line leaves: it means nothing to the view below."""
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the proposals by arrows, take one by Tab, close by Esc or when the focus goes elsewhere."""
        if event.type() is QEvent.Type.FocusOut and self.isVisible():
            focus = QApplication.focusWidget()
            if focus is not None and not self.isAncestorOf(focus):
                self._came_from = None
                self.hide()
            return False
        if not isinstance(event, QKeyEvent) or event.type() is not QEvent.Type.KeyPress:
            return False
        key = Qt.Key(event.key())
        if key is Qt.Key.Key_Escape:
            self.leave()
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self._move(1 if key is Qt.Key.Key_Down else -1)
        elif key is Qt.Key.Key_Tab and self.rows.count():
            self._take(self.rows.item(max(self.rows.currentRow(), 0)).text())
        else:
            return False
        return True

    def _typed(self, text: str) -> None:
        self.rows.clear()
        self.rows.addItems(self._propose(text)[:_MOST_ROWS])
        self.rows.setVisible(self.rows.count() > 0)
        self.say("")

    def _move(self, by: int) -> None:
        if self.rows.count():
            self.rows.setCurrentRow(min(max(self.rows.currentRow() + by, 0), self.rows.count() - 1))
            words = self.rows.item(self.rows.currentRow()).text()
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.line, words))

    def _enter(self) -> None:
        row = self.rows.currentRow()
        if row >= 0:
            self._take(self.rows.item(row).text())
        else:
            self.accepted.emit(self.line.text())

    def _take(self, text: str) -> None:
        self.line.setText(text)
        self.line.setFocus()

    def _place(self) -> None:
        parent = self.parentWidget()
        if parent is None:
            return
        wide = min(themes.px(_WIDE), parent.width() - 2 * _TOP)
        self.setFixedWidth(wide)
        wanted = self.rows.sizeHintForRow(0) * self.rows.count() + 4 if self.rows.count() else 0
        self.rows.setFixedHeight(0)
        self.adjustSize()
        room = parent.height() - 2 * _TOP - self.height()
        self.rows.setFixedHeight(min(wanted, max(room, 0)))
        self.adjustSize()
        self.move((parent.width() - wide) // 2, _TOP)
