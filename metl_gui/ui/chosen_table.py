"""Things to choose from: a table with a mark for each, which may be filtered while somebody types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.plain import plain_tip

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Choosable:
    """One row.

    Args:
        name: what is chosen by it, and its first cell.
        cells: what else is said.
        why_not: why it cannot be chosen; empty when it can.
    """

    name: str
    cells: tuple[str, ...] = ()
    why_not: str = ""


class ChosenModel(QAbstractTableModel):
    """The rows that are shown, each chosen or not; those that are hidden stay as they are.

    Signals:
        chosen_changed: another row is chosen, or one no more.

    Args:
        headers: of the columns.
        numbers: the columns that hold numbers.
    """

    chosen_changed = Signal()

    def __init__(self, headers: Sequence[str], numbers: Iterable[int] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headers, self._numbers = tuple(headers), frozenset(numbers)
        self.shown: tuple[Choosable, ...] = ()
        self.chosen: dict[str, None] = {}
        self.can_choose = True

    def show_rows(self, rows: Sequence[Choosable], can_choose: bool = True) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.shown, self.can_choose = tuple(rows), can_choose
        self.endResetModel()

    def choose(self, names: Iterable[str]) -> None:
        """Choose what is called so and nothing else."""
        self.chosen = dict.fromkeys(names)
        if self.shown:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.shown) - 1, 0))
        self.chosen_changed.emit()

    def toggle(self, row: int) -> None:
        """Choose a row, or no more."""
        if self.can_choose and 0 <= row < len(self.shown) and not self.shown[row].why_not:
            name = self.shown[row].name
            if name in self.chosen:
                del self.chosen[name]
            else:
                self.chosen[name] = None
            self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
            self.chosen_changed.emit()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the rows."""
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the columns."""
        return 0 if parent.isValid() else len(self._headers)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Say what can be done with a cell."""
        is_mark = index.isValid() and index.column() == 0 and self._has_mark(self.shown[index.row()])
        return super().flags(index) | (Qt.ItemFlag.ItemIsUserCheckable if is_mark else Qt.ItemFlag.NoItemFlags)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a header's words and side."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in self._numbers else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: _Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return what a cell says, or whether its row is chosen."""
        if not index.isValid() or index.row() >= len(self.shown):
            return None
        row, column = self.shown[index.row()], index.column()
        words = (row.name, *row.cells)[column]
        if role == Qt.ItemDataRole.DisplayRole:
            return words
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row.why_not or words)
        if role == Qt.ItemDataRole.ForegroundRole and row.why_not:
            return themes.current().dim
        if role == Qt.ItemDataRole.TextAlignmentRole and column in self._numbers:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.CheckStateRole and column == 0 and self._has_mark(row):
            return Qt.CheckState.Checked if row.name in self.chosen else Qt.CheckState.Unchecked
        return None

    def setData(self, index: _Index, _value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Take a click on the mark."""
        if role != Qt.ItemDataRole.CheckStateRole or not self.can_choose:
            return False
        self.toggle(index.row())
        return True

    def _has_mark(self, row: Choosable) -> bool:
        return self.can_choose and not row.why_not


class ChosenTable(QTableView):
    """The table; Space chooses the row one stands on.

    Signals:
        looked: the name of the row that somebody stands on now.

    Args:
        name: what screen readers call it.
        headers: of the columns.
        numbers: the columns that hold numbers.
    """

    looked = Signal(object)

    def __init__(
        self, name: str, headers: Sequence[str], numbers: Iterable[int] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.rows = ChosenModel(headers, numbers, self)
        self.setModel(self.rows)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(themes.px(24))
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.selectionModel().currentRowChanged.connect(self._look)
        self.doubleClicked.connect(self._toggle)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose with Space; everything else is the view's."""
        if event.key() == Qt.Key.Key_Space:
            self.rows.toggle(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def _toggle(self, index: QModelIndex) -> None:
        self.rows.toggle(index.row())

    def _look(self, index: QModelIndex, _before: QModelIndex) -> None:
        if index.isValid():
            self.looked.emit(self.rows.shown[index.row()].name)
