"""The table of the mapping list: selection by ranges, keys of its own, copying of rows.

``MappingModel`` holds the numbers of elements in the order to show; each is described when it is painted. ``RowCopier``
copies rows as they are shown, with the headings, between the events of the window. They go into spreadsheets: a cell
that one would take for a formula gets an apostrophe, and the person is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.ui.jobs.timers import GeneratorRunner
from metl_gui.ui.table.rows import MappingColumn, MappingRows, RowElement, Rows
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.empty_bar import BarOfRows
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.ui.widgets.rows import Index
from metl_gui.ui.widgets.table import ColumnsModel
from metl_gui.workbench.mapping.clipboard import spreadsheet_line

COLUMNS = tuple(MappingColumn)
_NO_ROWS = np.zeros(0, np.int32)
_COMPARED_ROWS = 500_000
_MOST_MOVED = 5_000
_KEPT_TEXTS = 2_000
_STATUS_WORDS = {Status.RETIRED: "retired", Status.NEEDS_REVIEW: "needs review"}


class MappingModel(ColumnsModel):
    """One row an element, in the columns of ``Column``."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__([column.value for column in COLUMNS], parent=parent)
        self.mapping: MappingRows | None = None
        self.rows: Rows = _NO_ROWS
        self._texts: dict[int, tuple[str, ...]] = {}

    def show_rows(self, mapping: MappingRows | None, rows: Rows) -> None:
        """Show other rows; where few come and go, by difference, so that the view stays where it is."""
        before, old = self.mapping, self.rows
        if before is None or mapping is None or max(len(old), len(rows)) > _COMPARED_ROWS:
            self._reset(mapping, rows)
            return
        first, last = _difference(before.ends(old), mapping.ends(rows))
        gone, come = len(old) - last - first, len(rows) - last - first
        if max(gone, come) > _MOST_MOVED:
            self._reset(mapping, rows)
            return
        if gone:
            self.beginRemoveRows(QModelIndex(), first, first + gone - 1)
            self.rows = np.delete(old, slice(first, first + gone))
            self.endRemoveRows()
        self._texts = {}
        self.mapping, self.rows = mapping, np.delete(rows, slice(first, first + come))
        if come:
            self.beginInsertRows(QModelIndex(), first, first + come - 1)
            self.rows = rows
            self.endInsertRows()
        self.tell_changed()

    def where(self, row: int) -> RowElement | None:
        """Return the element of a row."""
        if self.mapping is None or not 0 <= row < len(self.rows):
            return None
        return self.mapping.where(int(self.rows[row]))

    def row_at(self, number: int) -> int:
        """Return where the element of a number stands, -1 when it is not shown."""
        found = np.flatnonzero(self.rows == number)
        return int(found[0]) if len(found) else -1

    def texts(self, row: int) -> tuple[str, ...]:
        """Return what a row says in every column."""
        if self.mapping is None or not 0 <= row < len(self.rows):
            return ("",) * len(COLUMNS)
        number = int(self.rows[row])
        found = self._texts.get(number)
        if found is None:
            if len(self._texts) >= _KEPT_TEXTS:
                self._texts.clear()
            found = self._texts[number] = describe(self.mapping.document, self.mapping.where(number))
        return found

    # Qt's questions

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return the words of a cell, also as its tooltip; the status has its colour."""
        if not index.isValid():
            return None
        column = COLUMNS[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            words = self.texts(index.row())[index.column()]
            return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        if role == Qt.ItemDataRole.ForegroundRole:
            if column is MappingColumn.STATUS and self.texts(index.row())[index.column()] == Status.NEEDS_REVIEW.value:
                return themes.current().review
            if column in (MappingColumn.TYPE, MappingColumn.CDM_TYPE, MappingColumn.WHO, MappingColumn.WHEN):
                return themes.current().dim
        return None

    def _reset(self, mapping: MappingRows | None, rows: Rows) -> None:
        self.beginResetModel()
        self.mapping, self.rows, self._texts = mapping, rows, {}
        self.endResetModel()


def describe(document: Document, where: RowElement) -> tuple[str, ...]:
    """Return what a row says of an element, column by column."""
    block = where.block
    version, target = document.extraction.version(block.version), document.cdm.version(block.entity_version)
    source = version.attribute(where.element.p)
    sink = target.attribute(where.element.q)
    return (
        document.tree(Side.EXTRACTION).schema(version.schema_id).name,
        version.label,
        *_attribute_texts(source),
        document.tree(Side.CDM).schema(target.schema_id).name,
        target.label,
        *_attribute_texts(sink),
        _STATUS_WORDS.get(block.status, block.status.value),
        block.who,
        when_words(block.when_ms),
        block.comment,
    )


def when_words(when_ms: int) -> str:
    """Return a moment as people write it, nothing for never."""
    return datetime.fromtimestamp(when_ms / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M") if when_ms else ""


def _attribute_texts(attribute: Attribute | None) -> tuple[str, str]:
    return (attribute.path, attribute.type_text) if attribute is not None else ("", "")


def _difference(old: NDArray[np.int64], new: NDArray[np.int64]) -> tuple[int, int]:
    """Return how many rows at the beginning and at the end are the same."""
    size = min(len(old), len(new))
    differ = np.flatnonzero(old[:size] != new[:size])
    first = int(differ[0]) if len(differ) else size
    rest = size - first
    differ = np.flatnonzero(old[len(old) - rest :][::-1] != new[len(new) - rest :][::-1])
    return first, int(differ[0]) if len(differ) else rest


_WIDTHS = {
    MappingColumn.SCHEMA: 220,
    MappingColumn.VERSION: 62,
    MappingColumn.ATTRIBUTE: 160,
    MappingColumn.TYPE: 124,
    MappingColumn.ENTITY: 120,
    MappingColumn.ENTITY_VERSION: 98,
    MappingColumn.CDM_ATTRIBUTE: 160,
    MappingColumn.CDM_TYPE: 100,
    MappingColumn.STATUS: 116,
    MappingColumn.WHO: 84,
    MappingColumn.WHEN: 124,
    MappingColumn.COMMENT: 180,
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
        BarOfRows(self)
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


_MOST_COPIED = 1_000_000
_COPIED_A_STEP = 500


class RowCopier(QObject):
    """Puts the selected rows of a view on the clipboard.

    Signals:
        said: what came of it, in words.
    """

    said = Signal(object)

    def __init__(self, model: MappingModel, view: MappingView) -> None:
        super().__init__(view)
        self._model, self._view = model, view
        self._lines: list[str] = []
        self._changed = 0
        self._steps = GeneratorRunner(self)
        self._steps.ended.connect(self._copied)

    def copy(self) -> None:
        """Copy the selected rows; many of them step by step."""
        rows = self._view.chosen_rows()
        if len(rows) > _MOST_COPIED:
            self.said.emit(f"{len(rows):,} rows are too many for the clipboard: filter first, or export the mapping")
        elif len(rows):
            self._steps.start(self._copying(rows), at_once=len(rows) <= _COPIED_A_STEP)

    def _copying(self, rows: Rows) -> Iterator[None]:
        header = self._view.horizontalHeader()
        order = [header.logicalIndex(at) for at in range(len(COLUMNS))]
        shown = [at for at in order if not self._view.isColumnHidden(at)]
        self._lines, self._changed = ["\t".join(COLUMNS[at].value for at in shown)], 0
        for count, row in enumerate(rows.tolist()):
            texts = self._model.texts(row)
            cells = [_plain(texts[at]) for at in shown]
            line, changed = spreadsheet_line(cells)
            self._changed += changed
            self._lines.append(line)
            if count % _COPIED_A_STEP == _COPIED_A_STEP - 1:
                yield

    def _copied(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._lines) + "\n")
        count = len(self._lines) - 1
        self._lines = []
        noted = f"; formulas in {number_of(self._changed, 'cell')} made text by apostrophes" if self._changed else ""
        self.said.emit(f"{number_of(count, 'row')} copied{noted}")


def _plain(text: str) -> str:
    """Keep a cell in its cell."""
    return text.replace("\t", " ").replace("\r", " ").replace("\n", " ")
