"""The review list: a model over the review items, its rows, and the panel with the filter box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QLineEdit,
    QListView,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.blocks import BlockKey
from metl_gui.core.document import Document
from metl_gui.core.proposals import best_proposals
from metl_gui.core.review import ReviewItem
from metl_gui.ui.naming import block_words, number_of
from metl_gui.ui.pill import VERDICT_KINDS
from metl_gui.ui.surface import Surface
from metl_gui.ui.two_lines import WORDS_ROLE, TwoLineDelegate, TwoLines


@dataclass(frozen=True)
class ReviewRow:
    """One row: the item and its words."""

    item: ReviewItem
    title: str
    facts: str
    verdict: str


def rows_of(document: Document, items: tuple[ReviewItem, ...]) -> tuple[ReviewRow, ...]:
    """Put items into words."""
    return tuple(ReviewRow(i, block_words(document, i.key), _facts(document, i), i.block.verdict.value) for i in items)


def _facts(document: Document, item: ReviewItem) -> str:
    proposed = len(best_proposals(document, item.block))
    fresh, types, later = len(item.new_attributes), len(item.type_changes), len(item.chain)
    parts = [f"{len(item.losses)} lost"] if item.losses else []
    parts += [number_of(proposed, "proposal") if proposed else "no proposal"] if item.losses else []
    parts += [number_of(fresh, "new attribute")] if fresh else []
    parts += [number_of(types, "type change")] if types else []
    parts += [f"and {number_of(later, 'later version')}"] if later else []
    parts += ["postponed"] if item.block.postponed else []
    return " · ".join(parts)


class ReviewModel(QAbstractListModel):
    """The rows that pass the filter."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[ReviewRow, ...] = ()

    def show_rows(self, rows: tuple[ReviewRow, ...]) -> None:
        """Show other rows: those that are gone go, those that are new come, the rest is looked at again."""
        wanted = {row.item.key for row in rows}
        for at in range(len(self.rows) - 1, -1, -1):
            if self.rows[at].item.key not in wanted:
                self.beginRemoveRows(QModelIndex(), at, at)
                self.rows = self.rows[:at] + self.rows[at + 1 :]
                self.endRemoveRows()
        if [row.item.key for row in self.rows] == [row.item.key for row in rows]:
            self.rows = rows
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a row, or its words."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return row
        if role == WORDS_ROLE:
            return TwoLines(row.title, row.facts, row.verdict, VERDICT_KINDS.get(row.verdict, "plain"))
        return f"{row.title}, {row.verdict}, {row.facts}" if role == Qt.ItemDataRole.DisplayRole else None

    def row_of(self, key: BlockKey) -> int | None:
        """Return the row of a block."""
        return next((at for at, row in enumerate(self.rows) if row.item.key == key), None)


class _List(QListView):
    """A list whose letters are commands of the page, not a search."""

    pressed_key = Signal(object)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell Enter; the rest is the list's own."""
        if event.text() and event.text() == "\r" and not event.modifiers():
            self.pressed_key.emit(event.text().lower())
        else:
            super().keyPressEvent(event)


class ReviewList(Surface):
    """The list with its filter box.

    Signals:
        chosen: the ``ReviewItem`` that is current now, or ``None``.
        counted: how many rows are shown.
    """

    chosen = Signal(object)
    counted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", (420, 600), parent, share=(0.3, 1.0))
        self._all: tuple[ReviewRow, ...] = ()
        self._is_refreshing = False
        self.model = ReviewModel(self)
        self.box = QLineEdit()
        self.box.setPlaceholderText("Filter   schema, entity or verdict")
        self.box.setAccessibleName("Filter the review list")
        self.box.setClearButtonEnabled(True)
        self.view = _List()
        self.view.setAccessibleName("Waiting for a decision")
        self.view.setModel(self.model)
        self.view.setItemDelegate(TwoLineDelegate(self.view))
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 0)
        layout.setSpacing(8)
        holder = QVBoxLayout()
        holder.setContentsMargins(10, 0, 10, 0)
        holder.addWidget(self.box)
        layout.addLayout(holder)
        layout.addWidget(self.view, 1)
        self.box.textChanged.connect(self._filter)
        self.view.selectionModel().currentChanged.connect(self._current_changed)

    def show_items(self, document: Document, items: tuple[ReviewItem, ...]) -> None:
        """Show what waits; the current item stays current while it waits, else the one in its place."""
        at = self.view.currentIndex().row()
        current = self.current
        self._is_refreshing = True  # rows go one by one, and those that are left are not to be looked at meanwhile
        self._all = rows_of(document, items)
        self._filter()
        if self.model.rows and (current is None or not self.go_to(current.key)):
            self.go_to_row(min(max(at, 0), len(self.model.rows) - 1))
        self._is_refreshing = False
        self.chosen.emit(self.current)

    @property
    def current(self) -> ReviewItem | None:
        """The item that is current."""
        row = self.view.currentIndex().data(int(Qt.ItemDataRole.UserRole))
        return row.item if isinstance(row, ReviewRow) else None

    def go_to(self, key: BlockKey) -> bool:
        """Make the item of a block current; tell whether there is one."""
        at = self.model.row_of(key)
        if at is not None:
            self.go_to_row(at)
        return at is not None

    def go_to_row(self, row: int) -> None:
        """Make a row current."""
        if 0 <= row < len(self.model.rows):
            index = self.model.index(row)
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def next(self) -> None:
        """Go to the next item, after the last one to the first."""
        if self.model.rows:
            self.go_to_row((self.view.currentIndex().row() + 1) % len(self.model.rows))

    def _filter(self) -> None:
        words = self.box.text().lower().split()
        kept = tuple(r for r in self._all if all(w in f"{r.title} {r.verdict} {r.facts}".lower() for w in words))
        self.model.show_rows(kept)
        self.counted.emit(len(kept))

    def _current_changed(self, _current: QModelIndex, _before: QModelIndex) -> None:
        if not self._is_refreshing:
            self.chosen.emit(self.current)
