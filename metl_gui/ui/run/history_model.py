"""The runs of a project as rows: those that go on now, then those that are over, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.ui.plain import plain_tip
from metl_gui.ui.two_lines import WORDS_ROLE, TwoLines

ENTRY_ROLE = int(Qt.ItemDataRole.UserRole)


@dataclass(frozen=True)
class HistoryEntry:
    """One run.

    Args:
        run_id: its id.
        words: what its row says.
        spoken: the row as it is read aloud.
        tip: more of it.
        is_live: it goes on, here or in a process of its own.
        run: what is known of it: a logged run, or one that goes on.
    """

    run_id: str
    words: TwoLines
    spoken: str
    tip: str = ""
    is_live: bool = False
    run: object = None


class HistoryModel(QAbstractListModel):
    """Rows of runs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: tuple[HistoryEntry, ...] = ()

    def show_entries(self, entries: Sequence[HistoryEntry]) -> None:
        """Show other rows; where some came in front or changed, what is selected stays selected."""
        entries = tuple(entries)
        if entries == self.entries:
            return
        old, new = [each.run_id for each in self.entries], [each.run_id for each in entries]
        more = len(new) - len(old)
        if more > 0 and new[more:] == old:
            self.beginInsertRows(QModelIndex(), 0, more - 1)
            self.entries = entries
            self.endInsertRows()
        elif new != old:
            self.beginResetModel()
            self.entries = entries
            self.endResetModel()
        self.entries = entries
        if entries:
            self.dataChanged.emit(self.index(0), self.index(len(entries) - 1))

    def row_of(self, run_id: str) -> int:
        """Return where a run stands, -1 where it does not."""
        return next((at for at, each in enumerate(self.entries) if each.run_id == run_id), -1)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the runs."""
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return what is read aloud, painted, or behind a row."""
        if not index.isValid() or index.row() >= len(self.entries):
            return None
        entry = self.entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(entry.tip)
        if role == WORDS_ROLE:
            return entry.words
        return entry if role == ENTRY_ROLE else None
