"""The sheet of keys: every key of the action table, searched as you type; and the dialog that changes keys.

``KeyTable`` holds the lines as a table that a view shows and filters. ``KeySheet`` lists them; ``KeysDialog`` is the
same list in which a person gives actions other keys.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QFont, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from metl_gui.ui.actions.keymap import Keymap
from metl_gui.ui.actions.table import MENUS
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.rows import Index
from metl_gui.ui.widgets.table import ColumnsModel, ScaledTable
from metl_gui.values import Value

COLUMNS = ("Keys", "What it does", "Where")


class KeyLine(Value):
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


class KeyTable(ColumnsModel):
    """The lines that pass the filter."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent=parent)
        self.rows: tuple[KeyLine, ...] = ()
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
        if [line.id for line in lines] == [line.id for line in self.rows]:
            self.rows = lines
            self.tell_changed()
            return
        self.beginResetModel()
        self.rows = lines
        self.endResetModel()

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return words, and the weight of keys that were changed."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        line = self.rows[index.row()]
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


class KeySheet(FittedDialog):
    """Lists the keys; a base for the dialog that changes them.

    Args:
        keymap: which action has which keys; followed while the sheet is open.
        with_unbound: list actions without keys too.
    """

    def __init__(self, keymap: Keymap, parent: QWidget | None = None, with_unbound: bool = False) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        self.keymap = keymap
        self._with_unbound = with_unbound
        self.model = KeyTable(self)
        self.box = QLineEdit()
        self.box.setPlaceholderText("Find a key or what it does")
        self.box.setAccessibleName("Find a key or what it does")
        self.box.setClearButtonEnabled(True)
        self.view = _make_view(self.model)
        self.close_button = KeyButton("Close", "Esc")
        self.close_button.clicked.connect(self.reject)
        heading = QLabel("Keys")
        heading.setProperty("kind", "heading")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(20, 18, 20, 16)
        self.body.setSpacing(10)
        self.body.addWidget(heading)
        self.body.addWidget(self.box)
        self.body.addWidget(self.view, 1)
        self.foot = QHBoxLayout()
        self.foot.addStretch(1)
        self.foot.addWidget(self.close_button)
        self.body.addLayout(self.foot)
        self.resize(themes.px(820), themes.px(620))
        self.box.setFocus()
        self.box.textChanged.connect(self.model.filter)
        keymap.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        self.model.show_lines(lines_of(self.keymap, self._with_unbound))


def _make_view(model: KeyTable) -> QTableView:
    view = ScaledTable()
    view.setAccessibleName("Keys")
    view.setModel(model)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setShowGrid(False)
    view.setTabKeyNavigation(False)
    header = view.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setHighlightSections(False)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
    return view


class KeysDialog(KeySheet):
    """Every action with its keys; what is chosen above gets its keys below, at once."""

    def __init__(self, keymap: Keymap, parent: QWidget | None = None) -> None:
        super().__init__(keymap, parent, with_unbound=True)
        self.setWindowTitle("Change keys")
        self.asked = QLabel()
        self.asked.setWordWrap(True)
        self.edit = QKeySequenceEdit()
        self.edit.setMaximumSequenceLength(1)
        self.edit.setAccessibleName("New keys")
        for line in self.edit.findChildren(QLineEdit):  # which has the keyboard, and is what a screen reader meets
            line.setAccessibleName("New keys")
        self.edit.setClearButtonEnabled(True)
        self.give_button = KeyButton("Use these keys", kind="primary")
        self.clear_button = KeyButton("No keys")
        self.reset_button = KeyButton("As at first")
        self.reset_all_button = KeyButton("All as at first")
        self.body.insertWidget(3, self.asked)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.edit, 1)
        for button in (self.give_button, self.clear_button, self.reset_button):
            row.addWidget(button)
        self.body.insertLayout(4, row)
        self.foot.insertWidget(0, self.reset_all_button)
        for button in (self.give_button, self.clear_button, self.reset_button, self.reset_all_button):
            button.setAutoDefault(False)
        self.close_button.setAutoDefault(False)
        self.view.selectionModel().currentRowChanged.connect(self._chosen)
        self.model.modelReset.connect(self._choose_first)
        self.edit.keySequenceChanged.connect(self._refresh_below)
        self.give_button.clicked.connect(self._give)
        self.clear_button.clicked.connect(self._clear)
        self.reset_button.clicked.connect(self._reset)
        self.reset_all_button.clicked.connect(self.keymap.reset_all)
        keymap.changed.connect(self._refresh_below)
        self._choose_first()

    @property
    def line(self) -> KeyLine | None:
        """The line that is chosen."""
        at = self.view.currentIndex().row()
        return self.model.rows[at] if 0 <= at < len(self.model.rows) else None

    def choose(self, id_: str) -> None:
        """Choose the line of an action."""
        for at, line in enumerate(self.model.rows):
            if line.id == id_:
                self.view.selectRow(at)

    def _choose_first(self) -> None:
        if self.model.rows:
            self.view.selectRow(0)
        self._refresh_below()

    def _chosen(self, _current: QModelIndex, _before: QModelIndex) -> None:
        self.edit.clear()
        self._refresh_below()

    def _refresh_below(self) -> None:
        line, wanted = self.line, self._wanted()
        self.give_button.setText("Use these keys")
        self.reset_button.setEnabled(line is not None and line.is_changed)
        self.clear_button.setEnabled(line is not None and bool(line.keys))
        if line is None:
            self.give_button.setEnabled(False)
            self.asked.setText("No action passes this filter.")
            return
        objection = self.keymap.objection(line.id, wanted)
        holder = self.keymap.holder(line.id, wanted) if wanted else None
        self.give_button.setEnabled(bool(wanted) and not objection)
        if objection:
            self.asked.setText(objection)
        elif holder is not None:
            self.asked.setText(f"{wanted} belongs to “{holder.words}”, which will have no keys then.")
            self.give_button.setText("Take them")
        else:
            self.asked.setText(f"Press the new keys for “{line.words}” in the box.")

    def _wanted(self) -> str:
        return self.edit.keySequence().toString(QKeySequence.SequenceFormat.PortableText)

    def _give(self) -> None:
        if self.line is not None:
            self.keymap.give(self.line.id, self._wanted())
            self.edit.clear()

    def _clear(self) -> None:
        if self.line is not None:
            self.keymap.give(self.line.id, "")

    def _reset(self) -> None:
        if self.line is not None:
            self.keymap.reset(self.line.id)
