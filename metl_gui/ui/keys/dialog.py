"""The dialog in which a person gives actions other keys."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QKeySequenceEdit, QLabel, QWidget

from metl_gui.ui.keys.keymap import Keymap
from metl_gui.ui.keys.sheet import KeySheet
from metl_gui.ui.keys.table import KeyLine
from metl_gui.ui.pill import KeyButton


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
        return self.model.lines[at] if 0 <= at < len(self.model.lines) else None

    def choose(self, id_: str) -> None:
        """Choose the line of an action."""
        for at, line in enumerate(self.model.lines):
            if line.id == id_:
                self.view.selectRow(at)

    def _choose_first(self) -> None:
        if self.model.lines:
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
