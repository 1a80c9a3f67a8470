"""The table of the mapping list: selection by ranges, keys of its own."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from metl_gui.core.mapping_rows import Column, Rows
from metl_gui.ui import theme as themes
from metl_gui.ui.table.model import COLUMNS, MappingModel

_WIDTHS = {
    Column.SCHEMA: 220,
    Column.VERSION: 62,
    Column.ATTRIBUTE: 160,
    Column.TYPE: 124,
    Column.ENTITY: 120,
    Column.ENTITY_VERSION: 98,
    Column.CDM_ATTRIBUTE: 160,
    Column.CDM_TYPE: 100,
    Column.STATUS: 116,
    Column.WHO: 84,
    Column.WHEN: 124,
    Column.COMMENT: 180,
}
_OWN_KEYS = (QKeySequence.StandardKey.Delete, QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)


class MappingView(QTableView):
    """Rows of elements.

    Signals:
        clear_wanted: Delete was pressed.
        copy_wanted: Ctrl+C was pressed.
    """

    clear_wanted = Signal()
    copy_wanted = Signal()

    def __init__(self, model: MappingModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows_model = model
        self._wanted = -1
        self.setModel(model)
        self.setAccessibleName("Mapping list")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSectionsMovable(True)
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setAccessibleName("Columns of the mapping list")
        self._scale = themes.scale()
        for at, column in enumerate(COLUMNS):
            self.setColumnWidth(at, themes.px(_WIDTHS[column]))
        self.dress()

    def dress(self) -> None:
        """Follow the scale; columns keep the shares that a person gave them."""
        self.verticalHeader().setDefaultSectionSize(themes.px(24))
        grown = themes.scale() / self._scale
        self._scale = themes.scale()
        for at in range(len(COLUMNS)):
            if not self.isColumnHidden(at):
                self.setColumnWidth(at, round(self.columnWidth(at) * grown))

    def selectAll(self) -> None:
        """Select every row as one range: asking Qt to do it costs a question for each cell."""
        model = self.rows_model
        if len(model.rows):
            first, last = model.index(0, 0), model.index(len(model.rows) - 1, len(COLUMNS) - 1)
            self.selectionModel().select(QItemSelection(first, last), QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def stand_on(self, row: int) -> None:
        """Bring a row into sight, now and when the view gets the size it is to have."""
        self._wanted = row
        self.scrollTo(self.rows_model.index(row, 0), QAbstractItemView.ScrollHint.EnsureVisible)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the current row in sight."""
        super().resizeEvent(event)
        if self._wanted >= 0 and self._wanted == self.currentIndex().row():
            self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.EnsureVisible)

    def chosen_rows(self) -> Rows:
        """Return the places of the selected rows, sorted."""
        selection = self.selectionModel().selection()
        ranges = (selection.at(at) for at in range(selection.count()))
        parts = [np.arange(part.top(), part.bottom() + 1, dtype=np.int32) for part in ranges]
        return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int32)

    def event(self, event: QEvent) -> bool:
        """Keep keys that the window has too: here they are about rows."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_own(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear, copy or select all."""
        if event.matches(QKeySequence.StandardKey.Delete):
            self.clear_wanted.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.selectAll()
        else:
            super().keyPressEvent(event)


def _is_own(event: QKeyEvent) -> bool:
    return any(event.matches(key) for key in _OWN_KEYS)
