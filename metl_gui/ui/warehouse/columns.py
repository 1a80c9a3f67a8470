"""The columns of one table as a grid in which names, sources, types, histories and tests are changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from metl_gui.core.search.problems import Severity
from metl_gui.core.warehouse_model import History
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.ui.widgets.rows import Index
from metl_gui.ui.widgets.table import ColumnsModel
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.values import Value
from metl_gui.workbench.warehouse.table_rows import ColumnPart, RowMember, TableRow

HISTORIES: dict[History, str] = {
    0: "0 · first value stays",
    1: "1 · last value everywhere",
    2: "2 · a version each",
    3: "3 · value before beside",
    6: "6 · 2, and the last value",
}
_PARTS = {
    ColumnPart.KEY: "key",
    ColumnPart.COLUMN: "column",
    ColumnPart.MEASURE: "measure",
    ColumnPart.DEGENERATE: "degenerate",
    ColumnPart.REFERENCE: "reference",
    ColumnPart.SETTING: "setting",
    ColumnPart.EVERY: "attribute",
}
_HEADERS = ("Column", "Is a", "From or expression", "Type", "History", "Tests", "Checks")
_SOURCE, _TYPE, _HISTORY, _TESTS, _CHECKS = 2, 3, 4, 5, 6
_WIDTHS = {0: 130, 1: 96, _TYPE: 112, _HISTORY: 186, _TESTS: 110}
_MEMBERS = {
    0: RowMember.NAME,
    _SOURCE: RowMember.SOURCE,
    _TYPE: RowMember.TYPE,
    _HISTORY: RowMember.HISTORY,
    _TESTS: RowMember.TESTS,
}
_LONGEST = 10_000
"""Letters of a cell that are taken at most."""


class TableRowChange(Value):
    """What a person wrote into a cell."""

    row: TableRow
    member: RowMember
    text: str


class TableColumnsModel(ColumnsModel):
    """The rows of a table.

    Signals:
        changed: a ``TableRowChange`` that is asked for; nothing is changed here.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_HEADERS, (), parent)
        self.rows: tuple[TableRow, ...] = ()
        self.can_edit = False

    def show_rows(self, rows: Sequence[TableRow], *, can_edit: bool) -> None:
        """Show other rows; those that are as before stay where they are."""
        self.can_edit = can_edit
        old, new = self.rows, tuple(rows)
        if len(old) != len(new):
            before, after = _alike(old, new)
            if len(old) > before + after:
                self.beginRemoveRows(QModelIndex(), before, len(old) - after - 1)
                self.rows = old[:before] + old[len(old) - after :]
                self.endRemoveRows()
            if len(new) > before + after:
                self.beginInsertRows(QModelIndex(), before, len(new) - after - 1)
                self.rows = self.rows[:before] + new[before : len(new) - after] + self.rows[before:]
                self.endInsertRows()
        self.rows = new
        self.tell_changed()

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Say which cells can be changed."""
        member = _MEMBERS.get(index.column()) if index.isValid() else None
        can = self.can_edit and member is not None and self.rows[index.row()].can_change(member)
        return super().flags(index) | (Qt.ItemFlag.ItemIsEditable if can else Qt.ItemFlag.NoItemFlags)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return what a cell says."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row, column = self.rows[index.row()], index.column()
        words = _cells(row)[column]
        if role == Qt.ItemDataRole.DisplayRole:
            return words
        if role == Qt.ItemDataRole.EditRole:
            return "" if column == _TYPE and words.startswith("(") else words
        if role == Qt.ItemDataRole.ToolTipRole:
            problems = "\n".join(in_window(f"{one.message} {one.hint}".strip()) for one in row.problems)
            return plain_tip(problems if column == _CHECKS else words)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(row, column)
        return None

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Ask for what was written; a text that is as before asks for nothing."""
        member = _MEMBERS.get(index.column())
        text = str(value)[:_LONGEST].strip()
        if role != Qt.ItemDataRole.EditRole or member is None or not index.isValid():
            return False
        if text == index.data(Qt.ItemDataRole.EditRole):
            return False
        self.changed.emit(TableRowChange(self.rows[index.row()], member, text))
        return True

    def _colour(self, row: TableRow, column: int) -> Any:
        theme = themes.current()
        if column == _CHECKS and row.problems:
            return {Severity.ERROR: theme.bad, Severity.NOTE: theme.dim}.get(row.problems[0].severity, theme.review)
        is_read_only = not any(row.can_change(member) for member in (RowMember.SOURCE, RowMember.TYPE))
        return theme.dim if column == 1 or (is_read_only and column) else None


def _alike(old: Sequence[TableRow], new: Sequence[TableRow]) -> tuple[int, int]:
    """Return how many rows have the same names at the beginning, and of the others at the end."""
    most = min(len(old), len(new))
    names, others = ([(row.part, row.name) for row in rows] for rows in (old, new))
    before = next((at for at in range(most) if names[at] != others[at]), most)
    after = next((at for at in range(most - before) if names[-1 - at] != others[-1 - at]), most - before)
    return before, after


def _cells(row: TableRow) -> tuple[str, ...]:
    history = HISTORIES[row.history] if row.history is not None else ""
    checks = row.problems[0].message if row.problems else ""
    more = f" (and {len(row.problems) - 1} more)" if len(row.problems) > 1 else ""
    return row.name, _PARTS[row.part], row.source, row.type, history, row.tests, checks + more


class HistoryDelegate(QStyledItemDelegate):
    """Offers the kinds of history, each with what it means."""

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index) -> QWidget:
        """Make a box with the five kinds."""
        box = ThemedComboBox(parent)
        box.setAccessibleName("History")
        for number, words in HISTORIES.items():
            box.addItem(words, str(number))
        box.activated.connect(self._take)
        return box

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Show what is so."""
        cast(QComboBox, editor).setCurrentText(str(index.data()))

    def setModelData(
        self, editor: QWidget, model: QAbstractItemModel, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Ask for what was chosen."""
        box = cast(QComboBox, editor)
        if box.currentText() != index.data():
            model.setData(index, box.currentData())

    def _take(self) -> None:
        box = self.sender()
        if isinstance(box, QWidget):
            self.commitData.emit(box)
            self.closeEditor.emit(box)


class ColumnsView(QTableView):
    """The grid; Enter or F2 changes a cell, Delete asks to remove its row.

    Signals:
        removal_wanted: the ``TableRow`` that is to go.
    """

    removal_wanted = Signal(object)

    def __init__(self, model: TableColumnsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = model
        self.setModel(model)
        self.setAccessibleName("Columns of the table")
        self.setItemDelegateForColumn(_HISTORY, HistoryDelegate(self))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed | triggers.AnyKeyPressed)
        self.verticalHeader().hide()
        self._size()

    @property
    def row(self) -> TableRow | None:
        """The row one stands on."""
        at = self.currentIndex().row()
        return self.rows.rows[at] if 0 <= at < len(self.rows.rows) else None

    def dress(self) -> None:
        """Follow the scale."""
        self._size()

    def event(self, event: QEvent) -> bool:
        """Keep Delete from keys of the window while a row can go."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride and _deletes(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Change with Enter, remove with Delete; everything else is the view's."""
        is_editing = self.state() is QAbstractItemView.State.EditingState
        if _deletes(event) and self.row is not None and not is_editing:
            self.removal_wanted.emit(self.row)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not is_editing:
            self.edit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def fit(self) -> None:
        """Hide the columns that say nothing of any row."""
        rows = self.rows.rows
        self.setColumnHidden(_HISTORY, not any(row.history is not None for row in rows))
        self.setColumnHidden(_TESTS, not any(row.can_change(RowMember.TESTS) for row in rows))
        self.setColumnHidden(_TYPE, not any(row.type or row.can_change(RowMember.TYPE) for row in rows))
        self.setColumnHidden(_CHECKS, not any(row.problems for row in rows))

    def _size(self) -> None:
        self.verticalHeader().setDefaultSectionSize(themes.px(28))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setMinimumSectionSize(themes.px(64))
        for column, width in _WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(column, themes.px(width))
        for column in (_SOURCE, _CHECKS):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)


def _deletes(event: QKeyEvent) -> bool:
    return event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
