"""The palette as a dialog: a box, the list of what fits, Enter does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
)
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from metl_gui.ui import theme as themes
from metl_gui.ui.palette.entries import Entry, found
from metl_gui.ui.row_background import paint_row_background

_NOWHERE = QModelIndex()
_ROW_PX = 28
_PAD_PX = 12


class PaletteModel(QAbstractListModel):
    """The entries that fit."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: tuple[Entry, ...] = ()

    def show_entries(self, entries: tuple[Entry, ...]) -> None:
        """Show others."""
        self.beginResetModel()
        self.entries = entries
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NOWHERE) -> int:
        """Count the entries."""
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return an entry, or its words as they are read aloud."""
        if not index.isValid() or index.row() >= len(self.entries):
            return None
        entry = self.entries[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return ", ".join(part for part in (entry.words, entry.keys, entry.where) if part)
        return None


class EntryDelegate(QStyledItemDelegate):
    """Paints words left, menu and keys right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """One line high."""
        return QSize(200, themes.px(_ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one line."""
        entry = index.data(int(Qt.ItemDataRole.UserRole))
        if not isinstance(entry, Entry):
            return
        theme, pad = themes.current(), themes.px(_PAD_PX)
        painter.save()
        is_selected = paint_row_background(painter, option)
        box = QRectF(option.rect).adjusted(pad, 0, -pad, 0)
        for words, font in ((entry.keys, themes.mono()), (entry.where, themes.small())):
            width = QFontMetricsF(font).horizontalAdvance(words)
            painter.setFont(font)
            painter.setPen(theme.text if is_selected else theme.dim)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
            box.setRight(box.right() - (width + pad if words else 0))
        font = themes.scaled(1.0)
        painter.setFont(font)
        painter.setPen(theme.text)
        elided = QFontMetricsF(font).elidedText(entry.words, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
        painter.restore()


class Palette(QDialog):
    """Asks what to do.

    Args:
        entries: what can be done now.
        recent: ids of what was done last, the newest first.

    Signals:
        chosen: the ``Entry`` to be done; connect it queued, so that the palette has gone and the focus is back by then.
    """

    chosen = Signal(object)

    def __init__(self, entries: Sequence[Entry], recent: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Do what?")
        self._entries, self._recent = entries, recent
        self.box = QLineEdit()
        self.box.setPlaceholderText("Type a few letters of what you want to do")
        self.box.setAccessibleName("What do you want to do?")
        self.model = PaletteModel(self)
        self.view = QListView()
        self.view.setAccessibleName("What can be done now")
        self.view.setModel(self.model)
        self.view.setItemDelegate(EntryDelegate(self.view))
        self.view.setUniformItemSizes(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.none = QLabel("Nothing that can be done now has these letters.")
        self.none.setProperty("kind", "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.setSpacing(8)
        layout.addWidget(self.box)
        layout.addWidget(self.none)
        layout.addWidget(self.view, 1)
        self.resize(themes.px(620), themes.px(440))
        self.box.setFocus()
        self.box.installEventFilter(self)
        self.box.textChanged.connect(self._filter)
        self.box.returnPressed.connect(self._take)
        self.view.clicked.connect(self._clicked)
        self._filter("")

    def place_over(self, window: QWidget) -> None:
        """Stand at the upper middle of a window, inside it."""
        self.resize(min(self.width(), window.width() - 40), min(self.height(), window.height() - 80))
        middle = window.mapToGlobal(window.rect().center())
        top = window.mapToGlobal(window.rect().topLeft())
        self.move(middle.x() - self.width() // 2, top.y() + min(72, window.height() // 8))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and down move through the list while the box has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            page = max(self.view.height() // themes.px(_ROW_PX) - 1, 1)
            steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -page, Qt.Key.Key_PageDown: page}
            step = steps.get(Qt.Key(event.key()))
            if step is not None and watched is self.box:
                self._go_to(self.view.currentIndex().row() + step)
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        self.model.show_entries(found(self._entries, text, self._recent))
        self.none.setVisible(not self.model.entries)
        if self.model.entries:
            self._go_to(0)

    def _go_to(self, row: int) -> None:
        index = self.model.index(min(max(row, 0), len(self.model.entries) - 1))
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)
        words = index.data()
        if words and self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.box, str(words)))

    def _take(self) -> None:
        entry = self.view.currentIndex().data(int(Qt.ItemDataRole.UserRole))
        if isinstance(entry, Entry):
            self.accept()
            self.chosen.emit(entry)

    def _clicked(self, _index: QModelIndex) -> None:
        self._take()
