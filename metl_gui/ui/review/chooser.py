"""A small dialog in which one of several things is chosen: rows below headings, a box to search when they are many."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListView, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.plain import plain_label
from metl_gui.ui.review.choice_rows import ChoiceRows, Choosable
from metl_gui.ui.review.headed import HeadedDelegate, Heading
from metl_gui.ui.two_lines import TwoLines

_WIDTH_PX, _LEAST_PX, _MOST_PX = 460, 150, 520


class Chooser(QDialog):
    """Asks for one of several things.

    Args:
        title: what is asked, also the window's title.
        choices: what there is, by section.
        typed: words of the row that takes what was typed as it is, ``Assign to {}``; empty when nothing else will do.

    Signals:
        chosen: the value of the chosen row, or the text that was typed; by then this is hidden.
    """

    chosen = Signal(object)

    def __init__(
        self, title: str, choices: Sequence[Choosable], parent: QWidget | None = None, *, typed: str = ""
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._choices, self._typed = list(choices), typed
        self.box = QLineEdit()
        self.box.setPlaceholderText("Type a name, or a part of one" if typed else "Type a part of the name")
        self.box.setAccessibleName(title)
        self.box.setClearButtonEnabled(True)
        self.model = ChoiceRows(self)
        self.view = QListView()
        self.view.setAccessibleName("Choices")
        self.view.setModel(self.model)
        self.view.setItemDelegate(HeadedDelegate(self.view))
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setMouseTracking(True)
        heading = plain_label(title, "heading")
        heading.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.setSpacing(8)
        layout.addWidget(heading)
        layout.addWidget(self.box)
        layout.addWidget(self.view, 1)
        self.box.installEventFilter(self)
        self.box.textChanged.connect(self._filter)
        self.view.clicked.connect(self._take)
        self._filter("")
        self.resize(self.sizeHint())
        self.box.setFocus()

    def sizeHint(self) -> QSize:
        """As high as its rows, within reason."""
        rows = sum(self.view.sizeHintForRow(row) for row in range(min(self.model.rowCount(), 12)))
        height = min(max(rows + themes.px(100), themes.px(_LEAST_PX)), themes.px(_MOST_PX))
        return QSize(themes.px(_WIDTH_PX), height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up, down and Enter act on the rows while the box has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched is self.box:
            steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -8, Qt.Key.Key_PageDown: 8}
            step = steps.get(Qt.Key(event.key()))
            if step is not None:
                self._step(step)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take(self.view.currentIndex())
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        words = text.lower().split()
        found = [c for c in self._choices if all(word in f"{c.words.title} {c.words.facts}".lower() for word in words)]
        name = " ".join(text.split())
        is_known = any(choice.words.title.lower() == name.lower() for choice in found)
        if self._typed and name and not is_known:
            found.append(Choosable(TwoLines(self._typed.format(name), ""), name, found[-1].section if found else ""))
        self.model.show_rows(found)
        self._go_to(0, 1)

    def _step(self, step: int) -> None:
        at = self.view.currentIndex().row()
        last = self.model.rowCount() - 1
        self._go_to(min(max(at + step, 0), last), 1 if step > 0 else -1)

    def _go_to(self, row: int, direction: int) -> None:
        """Go to a row, past headings in a direction; where there is none that way, stay."""
        while 0 <= row < self.model.rowCount() and isinstance(self.model.rows[row], Heading):
            row += direction
        if 0 <= row < self.model.rowCount():
            index = self.model.index(row)
            self.view.setCurrentIndex(index)
            self.view.scrollTo(index)
            if self.isVisible():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.box, str(index.data())))

    def _take(self, index: QModelIndex) -> None:
        row = index.data(int(Qt.ItemDataRole.UserRole))
        if isinstance(row, Choosable):
            self.accept()
            self.chosen.emit(row.value)
