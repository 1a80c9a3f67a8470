"""A list of rows of two lines, each standing for something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QListView

from metl_gui.ui.plain import plain_tip
from metl_gui.ui.two_lines import WORDS_ROLE, TwoLineDelegate, TwoLines

Index: TypeAlias = QModelIndex | QPersistentModelIndex
T = TypeVar("T")


class LineModel(QAbstractListModel, Generic[T]):
    """Rows with what each stands for; shown anew as a whole."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[tuple[TwoLines, T], ...] = ()

    def show_rows(self, rows: Sequence[tuple[TwoLines, T]]) -> None:
        """Show other rows; the same ones stay as they are, with what is selected of them."""
        if tuple(rows) != self.rows:
            self.beginResetModel()
            self.rows = tuple(rows)
            self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return the words of a row, as one text for screen readers and as two lines to paint."""
        if not index.isValid():
            return None
        words = self.rows[index.row()][0]
        if role == WORDS_ROLE:
            return words
        if role == Qt.ItemDataRole.DisplayRole:
            return ", ".join(part.rstrip(".") for part in (words.title, words.pill, words.facts) if part)
        return plain_tip(f"{words.title}\n{words.facts}") if role == Qt.ItemDataRole.ToolTipRole else None

    def at(self, index: Index) -> T | None:
        """Return what a row stands for."""
        return self.rows[index.row()][1] if index.isValid() else None


def line_view(model: LineModel[Any], name: str) -> QListView:
    """Make the view of such a list."""
    view = QListView()
    view.setAccessibleName(name)
    view.setModel(model)
    view.setItemDelegate(TwoLineDelegate(view))
    view.setUniformItemSizes(True)
    view.setMouseTracking(True)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    return view
