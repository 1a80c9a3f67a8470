"""Choosing one of several things: in a dialog with a list, or in a combo box.

``Chooser`` is a small dialog: rows below headings, with a box to search when they are many. ``CHOICE_ROLES`` are for
such rows, to choose one from or only to be read. ``ThemedComboBox`` is a box to choose one of a few words from, with
the arrow that the style sheet leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox, QLineEdit, QListView, QVBoxLayout, QWidget

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.rows import HeadedModel, Heading, RowRoles, below_headings
from metl_gui.ui.widgets.two_line_list import WORDS_ROLE, HeadedDelegate, TwoLines
from metl_gui.values import Value


class ChoiceRow(Value):
    """One row.

    Args:
        words: what it says.
        value: what is chosen with it.
        section: the heading it stands below.
    """

    words: TwoLines
    value: object
    section: str = ""


def _spoken(choice: ChoiceRow) -> str:
    return ", ".join(part for part in (choice.words.title, choice.words.pill, choice.words.facts) if part)


CHOICE_ROLES = RowRoles[ChoiceRow](_spoken, others={WORDS_ROLE: attrgetter("words")})


def by_section(choices: Iterable[ChoiceRow]) -> tuple[ChoiceRow | Heading, ...]:
    """Put choices below the headings of their sections; those of one section must stand together."""
    return below_headings(choices, attrgetter("section"))


_WIDTH_PX, _LEAST_PX, _MOST_PX = 460, 150, 520


class Chooser(FittedDialog):
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
        self, title: str, choices: Sequence[ChoiceRow], parent: QWidget | None = None, *, typed: str = ""
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._choices, self._typed = list(choices), typed
        self.box = QLineEdit()
        self.box.setPlaceholderText("Type a name, or a part of one" if typed else "Type a part of the name")
        self.box.setAccessibleName(title)
        self.box.setClearButtonEnabled(True)
        self.model = HeadedModel(CHOICE_ROLES, self)
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
            found.append(ChoiceRow(TwoLines(self._typed.format(name), ""), name, found[-1].section if found else ""))
        self.model.show_rows(by_section(found))
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
        row = self.model.row_at(index)
        if row is not None:
            self.accept()
            self.chosen.emit(row.value)


class ThemedComboBox(QComboBox):
    """A combo box of the theme."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box, then an arrow in the colour of secondary text."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = themes.current()
        scale = themes.scale()
        painter.setPen(QPen(theme.dim if self.isEnabled() else theme.faint, 1.4 * scale))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        tip = QPointF(self.width() - 13.0 * scale, self.height() / 2)
        painter.drawPolyline([tip + corner * scale for corner in (QPointF(-4, -2), QPointF(0, 2), QPointF(4, -2))])
        painter.end()
