"""Rows below headings, to choose one from or only to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.ui.review.headed import HEADING_ROLE, Heading
from metl_gui.ui.two_lines import WORDS_ROLE, TwoLines

Index: TypeAlias = QModelIndex | QPersistentModelIndex

_NOWHERE = QModelIndex()


@dataclass(frozen=True)
class Choosable:
    """One row.

    Args:
        words: what it says.
        value: what is chosen with it.
        section: the heading it stands below.
    """

    words: TwoLines
    value: object
    section: str = ""


class ChoiceRows(QAbstractListModel):
    """Rows that fit what was typed, each section below its heading."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Choosable | Heading] = []

    def show_rows(self, choices: Sequence[Choosable]) -> None:
        """Show others; those of one section must stand together."""
        self.beginResetModel()
        self.rows = []
        section = ""
        for choice in choices:
            if choice.section != section:
                section = choice.section
                self.rows.append(Heading(section))
            self.rows.append(choice)
        self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Only choices can be chosen."""
        is_heading = index.isValid() and isinstance(self.rows[index.row()], Heading)
        return Qt.ItemFlag.NoItemFlags if is_heading else super().flags(index)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a row, or its words."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if isinstance(row, Heading):
            return {HEADING_ROLE: row, int(Qt.ItemDataRole.DisplayRole): row.words}.get(role)
        words = ", ".join(part for part in (row.words.title, row.words.pill, row.words.facts) if part)
        known = {int(Qt.ItemDataRole.UserRole): row, WORDS_ROLE: row.words, int(Qt.ItemDataRole.DisplayRole): words}
        return known.get(role)
