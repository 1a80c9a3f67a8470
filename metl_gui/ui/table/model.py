"""The mapping list as Qt sees it: numbers of elements in the order to show, each described when it is painted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.core.mapping_rows import Column, MappingRows, Rows, Where
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.ui import theme as themes
from metl_gui.ui.plain import plain_tip

Index: TypeAlias = QModelIndex | QPersistentModelIndex
COLUMNS = tuple(Column)
_NO_ROWS = np.zeros(0, np.int32)
_COMPARED_ROWS = 500_000
_MOST_MOVED = 5_000
_KEPT_TEXTS = 2_000
_STATUS_WORDS = {Status.RETIRED: "retired", Status.NEEDS_REVIEW: "needs review"}


class MappingModel(QAbstractTableModel):
    """One row an element, in the columns of ``Column``."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
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
        if len(rows):
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(COLUMNS) - 1))

    def where(self, row: int) -> Where | None:
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

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the columns, hidden ones included."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a heading."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section].value
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return the words of a cell, also as its tooltip; the status has its colour."""
        if not index.isValid():
            return None
        column = COLUMNS[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            words = self.texts(index.row())[index.column()]
            return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        if role == Qt.ItemDataRole.ForegroundRole:
            if column is Column.STATUS and self.texts(index.row())[index.column()] == Status.NEEDS_REVIEW.value:
                return themes.current().review
            if column in (Column.TYPE, Column.CDM_TYPE, Column.WHO, Column.WHEN):
                return themes.current().dim
        return None

    def _reset(self, mapping: MappingRows | None, rows: Rows) -> None:
        self.beginResetModel()
        self.mapping, self.rows, self._texts = mapping, rows, {}
        self.endResetModel()


def describe(document: Document, where: Where) -> tuple[str, ...]:
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
