"""Version progression of one schema as Qt sees it: versions down, entities across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.lineage_search import Step, version_progress
from metl_gui.ui.plain import plain_tip

CELL_ROLE = int(Qt.ItemDataRole.UserRole)
Index: TypeAlias = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ProgressCell:
    """One block.

    Args:
        key: (v, w).
        elements: how many elements it has.
        change: how it differs from the version before.
        waits: it needs review.
    """

    key: BlockKey
    elements: int
    change: Step
    waits: bool

    @property
    def words(self) -> str:
        """What the cell says: ``4 elements, smaller``."""
        noun = "element" if self.elements == 1 else "elements"
        return f"{self.elements} {noun}, {self.change.value}" + (", needs review" if self.waits else "")


class ProgressionModel(QAbstractTableModel):
    """Rows are the versions of a schema, oldest first; columns the entity versions that any of them feeds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[int, str]] = []
        self._columns: list[tuple[int, str]] = []
        self._cells: dict[BlockKey, ProgressCell] = {}

    def show_schema(self, document: Document, schema_id: int | None) -> None:
        """Show another schema, or another state of it."""
        rows: list[tuple[int, str]] = []
        cells: dict[BlockKey, ProgressCell] = {}
        if schema_id is not None:
            rows = [(version.id, version.label) for version in document.extraction.versions(schema_id)]
            for part in version_progress(document, schema_id):
                block = document.matrix.block(*part.key)
                waits = block is not None and block.status is Status.NEEDS_REVIEW
                cells[part.key] = ProgressCell(part.key, part.elements, part.change, waits)
        targets = [document.cdm.version(w) for w in dict.fromkeys(w for _, w in cells)]
        columns = [
            (version.id, f"{document.cdm.schema(version.schema_id).name} {version.label}") for version in targets
        ]
        self.beginResetModel()
        self._rows, self._columns, self._cells = rows, columns, cells
        self.endResetModel()

    def cell(self, index: Index) -> ProgressCell | None:
        """Return the block of a cell, ``None`` before an entity is fed."""
        if not index.isValid():
            return None
        return self._cells.get(self.key(index))

    def key(self, index: Index) -> BlockKey:
        """Return (v, w) of a cell."""
        return self._rows[index.row()][0], self._columns[index.column()][0]

    def index_of(self, key: BlockKey) -> QModelIndex:
        """Return the cell of a block, an invalid index when it is not here."""
        rows, columns = [v for v, _ in self._rows], [w for w, _ in self._columns]
        if key[0] not in rows or key[1] not in columns:
            return QModelIndex()
        return self.index(rows.index(key[0]), columns.index(key[1]))

    # Qt's questions

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the versions."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the entities."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a version or an entity."""
        names = self._columns if orientation is Qt.Orientation.Horizontal else self._rows
        is_text = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        if not is_text or not 0 <= section < len(names):
            return None
        name = names[section][1]
        words = name if orientation is Qt.Orientation.Horizontal else f"version {name}"
        return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a cell, or its words."""
        if not index.isValid():
            return None
        cell = self.cell(index)
        if role == CELL_ROLE:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.words if cell is not None else ""
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            place = f"{self._rows[index.row()][1]} → {self._columns[index.column()][1]}"
            words = f"{place}: {cell.words if cell is not None else 'not fed yet'}"
            return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        return None
