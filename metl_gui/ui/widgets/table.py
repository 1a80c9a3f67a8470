"""Small tables: cells with bars and pills, and rows to check.

``ColumnsModel`` is what the models of all tables have in common. ``TableModel`` is for figures of a run, such as
messages by entity or records set aside by reason. ``CheckTable`` has things to choose from, with a mark for each, which
may be filtered while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.empty_bar import BarOfRows
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.ui.widgets.rows import LEFT, RIGHT, Index
from metl_gui.values import Value

SHARE_ROLE = int(Qt.ItemDataRole.UserRole)
PILL_ROLE = SHARE_ROLE + 1
HEADING_PX = 28
"""Height of the title line of a table, with or without a button in it."""
_ROW_PX = 24


class TableCell(Value):
    """One cell.

    Args:
        words: what is read.
        is_number: stands at the right.
        share: draws a bar of 0 to 1 instead of words.
        pill: draws the words in a pill of this kind.
        is_link: somebody who clicks it is led somewhere.
        tip: what it says when it is pointed at, and to screen readers where it has no words.
    """

    words: str
    is_number: bool = False
    share: float | None = None
    pill: str = ""
    is_link: bool = False
    tip: str = ""


class ColumnsModel(QAbstractTableModel):
    """Rows below the names of their columns; what stands in a cell is left to ``data``.

    Args:
        headers: of the columns.
        numbers: the columns that hold numbers, which stand at the right.
    """

    def __init__(self, headers: Sequence[str], numbers: Iterable[int] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headers, self._numbers = tuple(headers), frozenset(numbers)
        self.rows: Sized = ()

    def tell_changed(self) -> None:
        """Tell that every cell is to be looked at again."""
        if len(self.rows):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(self._headers) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the columns, hidden ones included."""
        return 0 if parent.isValid() else len(self._headers)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a header's words and side."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._headers):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(RIGHT if section in self._numbers else LEFT)
        return None


class TableModel(ColumnsModel):
    """Rows of cells under headers."""

    def __init__(self, headers: Sequence[TableCell], parent: QObject | None = None) -> None:
        numbers = (at for at, header in enumerate(headers) if header.is_number)
        super().__init__([header.words for header in headers], numbers, parent)
        self.rows: tuple[tuple[TableCell, ...], ...] = ()

    def show_rows(self, rows: Sequence[tuple[TableCell, ...]]) -> None:
        """Show other rows; rows come and go at the end, so that a live run does not reset the table."""
        old, new = len(self.rows), len(rows)
        if new > old:
            self.beginInsertRows(QModelIndex(), old, new - 1)
            self.rows = tuple(rows)
            self.endInsertRows()
        elif new < old:
            self.beginRemoveRows(QModelIndex(), new, old - 1)
            self.rows = tuple(rows)
            self.endRemoveRows()
        else:
            self.rows = tuple(rows)
        self.tell_changed()

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a cell's words, side, share or pill."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        cell = self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return None if cell.share is not None else cell.words
        if role == Qt.ItemDataRole.TextAlignmentRole and cell.is_number:
            return int(RIGHT)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole) and cell.tip:
            return plain_tip(cell.tip) if role == Qt.ItemDataRole.ToolTipRole else cell.tip
        if role == SHARE_ROLE:
            return cell.share
        if role == Qt.ItemDataRole.ForegroundRole and cell.is_link:
            return themes.current().accent
        return cell.pill if role == PILL_ROLE else None


class CellDelegate(QStyledItemDelegate):
    """Paints bars and pills; the rest is the style's."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one cell."""
        share, pill = index.data(SHARE_ROLE), index.data(PILL_ROLE)
        box = QRectF(option.rect)
        if pill:
            words = str(index.data())
            width = min(pill_width(words), box.width() - 12)
            paint_pill(painter, QRectF(box.left() + 8, box.top(), width, box.height()), words, str(pill))
        elif share is not None:
            _paint_bar(painter, box, float(share))
        else:
            super().paint(painter, option, index)


class ScaledTable(QTableView):
    """A table whose rows are as high as the scale asks for, also when it changes while they are shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.verticalHeader().hide()
        self._follow()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the scale."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._follow()

    def _follow(self) -> None:
        self.verticalHeader().setDefaultSectionSize(themes.px(_ROW_PX))


def make_table(name: str, model: TableModel) -> QTableView:
    """Make a quiet table view of a model."""
    view = ScaledTable()
    view.setAccessibleName(name)
    view.setModel(model)
    BarOfRows(view)
    view.setItemDelegate(CellDelegate(view))
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setTabKeyNavigation(False)
    view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    view.horizontalHeader().setHighlightSections(False)
    return view


def _paint_bar(painter: QPainter, box: QRectF, share: float) -> None:
    theme = themes.current()
    line = QRectF(box.left() + 10, box.center().y() - 3, box.width() - 22, 6)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.band)
    painter.drawRoundedRect(line, 3, 3)
    if share > 0:
        painter.setBrush(theme.accent)
        painter.drawRoundedRect(QRectF(line.left(), line.top(), max(4.0, line.width() * share), 6), 3, 3)
    painter.restore()


class CheckRow(Value):
    """One row.

    Args:
        name: what is chosen by it, and its first cell.
        cells: what else is said.
        why_not: why it cannot be chosen; empty when it can.
    """

    name: str
    cells: tuple[str, ...] = ()
    why_not: str = ""


class CheckTableModel(ColumnsModel):
    """The rows that are shown, each chosen or not; those that are hidden stay as they are.

    Signals:
        chosen_changed: another row is chosen, or one no more.

    Args:
        headers: of the columns.
        numbers: the columns that hold numbers, which stand at the right.
    """

    chosen_changed = Signal()

    def __init__(self, headers: Sequence[str], numbers: Iterable[int] = (), parent: QObject | None = None) -> None:
        super().__init__(headers, numbers, parent)
        self.rows: tuple[CheckRow, ...] = ()
        self.chosen: dict[str, None] = {}
        self.can_choose = True

    def show_rows(self, rows: Sequence[CheckRow], can_choose: bool = True) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows, self.can_choose = tuple(rows), can_choose
        self.endResetModel()

    def choose(self, names: Iterable[str]) -> None:
        """Choose what is called so and nothing else."""
        self.chosen = dict.fromkeys(names)
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, 0))
        self.chosen_changed.emit()

    def toggle(self, row: int) -> None:
        """Choose a row, or no more."""
        if self.can_choose and 0 <= row < len(self.rows) and not self.rows[row].why_not:
            name = self.rows[row].name
            if name in self.chosen:
                del self.chosen[name]
            else:
                self.chosen[name] = None
            self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
            self.chosen_changed.emit()

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Say what can be done with a cell."""
        is_mark = index.isValid() and index.column() == 0 and self._has_mark(self.rows[index.row()])
        return super().flags(index) | (Qt.ItemFlag.ItemIsUserCheckable if is_mark else Qt.ItemFlag.NoItemFlags)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return what a cell says, or whether its row is chosen."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row, column = self.rows[index.row()], index.column()
        words = (row.name, *row.cells)[column]
        if role == Qt.ItemDataRole.DisplayRole:
            return words
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row.why_not or words)
        if role == Qt.ItemDataRole.ForegroundRole and row.why_not:
            return themes.current().dim
        if role == Qt.ItemDataRole.TextAlignmentRole and column in self._numbers:
            return int(RIGHT)
        if role == Qt.ItemDataRole.CheckStateRole and column == 0 and self._has_mark(row):
            return Qt.CheckState.Checked if row.name in self.chosen else Qt.CheckState.Unchecked
        return None

    def setData(self, index: Index, _value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Take a click on the mark."""
        if role != Qt.ItemDataRole.CheckStateRole or not self.can_choose:
            return False
        self.toggle(index.row())
        return True

    def _has_mark(self, row: CheckRow) -> bool:
        return self.can_choose and not row.why_not


class CheckTable(ScaledTable):
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
        self.rows = CheckTableModel(headers, numbers, self)
        self.setModel(self.rows)
        BarOfRows(self)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
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
            self.looked.emit(self.rows.rows[index.row()].name)
