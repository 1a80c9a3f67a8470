"""The lines of the sheet of keys as a table that a view can show and filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont, QKeySequence

from metl_gui.ui import theme as themes
from metl_gui.ui.actions import MENUS
from metl_gui.ui.keys.keymap import Keymap

COLUMNS = ("Keys", "What it does", "Where")
_NOWHERE = QModelIndex()


@dataclass(frozen=True)
class KeyLine:
    """One line of the sheet.

    Args:
        id: of the action.
        keys: as people write them; several for some.
        words: what it does.
        where: its menu, or the view whose key it is.
        is_changed: whether a person gave it these keys.
    """

    id: str
    keys: str
    words: str
    where: str
    is_changed: bool = False

    def passes(self, words: list[str]) -> bool:
        """Whether it holds every one of some words in lower case."""
        text = f"{self.keys} {self.words} {self.where}".lower()
        return all(word in text for word in words)


def lines_of(keymap: Keymap, with_unbound: bool = False) -> tuple[KeyLine, ...]:
    """Return the lines of the sheet, by menu.

    Args:
        keymap: which action has which keys.
        with_unbound: list actions without keys too, but no gestures: what can be given keys.
    """
    found = []
    for row in sorted(keymap.rows.values(), key=lambda row: MENUS.index(row.menu.partition(" > ")[0])):
        if with_unbound and row.is_hint:
            continue
        keys = row.shortcut if row.is_hint else ", ".join(_native(sequence) for sequence in keymap.sequences(row.id))
        if keys or with_unbound:
            where = row.menu if row.scope == "window" else f"in the {row.scope}"
            found.append(KeyLine(row.id, keys, row.words, where, keymap.is_changed(row.id)))
    return tuple(found)


def _native(sequence: QKeySequence) -> str:
    return sequence.toString(QKeySequence.SequenceFormat.NativeText)


class KeyTable(QAbstractTableModel):
    """The lines that pass the filter."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: tuple[KeyLine, ...] = ()
        self._all: tuple[KeyLine, ...] = ()
        self._words: list[str] = []

    def show_lines(self, lines: tuple[KeyLine, ...]) -> None:
        """Show other lines, or the same with other keys."""
        self._all = lines
        self._refresh()

    def filter(self, text: str) -> None:
        """Show the lines that hold every word."""
        self._words = text.lower().split()
        self._refresh()

    def _refresh(self) -> None:
        lines = tuple(line for line in self._all if line.passes(self._words))
        if [line.id for line in lines] == [line.id for line in self.lines]:
            self.lines = lines
            if lines:
                self.dataChanged.emit(self.index(0, 0), self.index(len(lines) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NOWHERE) -> int:
        """Count the lines."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NOWHERE) -> int:
        """Count the columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Name the columns."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return words, and the weight of keys that were changed."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line = self.lines[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            changed = " (your own)" if line.is_changed else ""
            return (f"{line.keys}{changed}", line.words, line.where)[index.column()]
        if role == Qt.ItemDataRole.FontRole and index.column() == 0:
            font = QFont(themes.mono())
            font.setBold(line.is_changed)
            return font
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == len(COLUMNS) - 1:
            return themes.current().dim
        return None
