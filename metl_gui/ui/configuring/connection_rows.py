"""The rows of a form of connections: a title, a field, and a sentence below it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.choice import Choice
from metl_gui.ui.configuring.connection_fields import ConnectionField
from metl_gui.ui.configuring.secret_rows import SecretRow
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.secret_store import KEYRING


class FormRow(QWidget):
    """One row, put into a grid; shown and hidden with its title.

    Args:
        grid: where it stands, below what is there.
        title: what it is called.
        field: what is filled in.
        said: the part of it that a screen reader names.
        words: the sentence below; empty for none.
    """

    def __init__(self, grid: QGridLayout, title: str, field: QWidget, said: QWidget, words: str = "") -> None:
        super().__init__()
        self._label = plain_label(title)
        self._label.setBuddy(said)
        self._label.setContentsMargins(0, themes.px(5), 0, 0)
        self._words = plain_label("", "small")
        self._words.setWordWrap(True)
        self._said = said
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(field)
        column.addWidget(self._words)
        at = grid.rowCount()
        grid.addWidget(self._label, at, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self, at, 1)
        self.say(title, words)

    def say(self, title: str, words: str) -> None:
        """Call it something else."""
        self._label.setText(title)
        self._words.setText(words)
        self._words.setVisible(bool(words))
        self._said.setAccessibleName(title)
        self._said.setAccessibleDescription(words)

    def show_row(self, is_shown: bool) -> None:
        """Show or hide the whole row."""
        self._label.setVisible(is_shown)
        self.setVisible(is_shown)


class ConnectionRow(FormRow):
    """The row of one setting or secret.

    Signals:
        edited: somebody changed it.
    """

    edited = Signal()

    def __init__(self, grid: QGridLayout, field: ConnectionField) -> None:
        self.field = field
        self.choice: Choice | None = None
        self.secret: SecretRow | None = None
        self.line = QLineEdit()
        self.line.setPlaceholderText(field.example)
        self._files = KeyButton("File…")
        if field.is_secret:
            self.secret = SecretRow(field.name, KEYRING, is_kept=False, is_named=False)
        elif field.choices:
            self.choice = _choice(field)
        super().__init__(grid, field.title, *self._parts(), field.words)
        if self.secret is not None:
            self.secret.edited.connect(self.edited)
        if self.choice is not None:
            self.choice.activated.connect(self._tell)
        self.line.textEdited.connect(self._tell)
        self._files.clicked.connect(self._choose_file)
        self._files.setAccessibleName(f"Choose the file of {field.title.lower()}")

    @property
    def value(self) -> str:
        """What is filled in; empty for nothing, and of secrets."""
        if self.choice is not None:
            return str(self.choice.currentData() or "")
        return "" if self.secret is not None else self.line.text().strip()

    def show_value(self, value: str) -> None:
        """Show a setting; a value that is not among the choices is one of them then."""
        if self.choice is None:
            self.line.setText(value)
            return
        at = next((at for at in range(self.choice.count()) if _same(self.choice.itemData(at), value)), -1)
        if at < 0:
            self.choice.addItem(value, value)
            at = self.choice.count() - 1
        self.choice.setCurrentIndex(at)

    def show_secret(self, place: str) -> None:
        """Show where a secret lies, empty where there is none."""
        if self.secret is not None:
            self.secret.show_place(place or KEYRING, is_kept=place == KEYRING)

    def _parts(self) -> tuple[QWidget, QWidget]:
        """Return the field, and what of it is named."""
        if self.secret is not None:
            return self.secret, self.secret.value
        if self.choice is not None:
            return self.choice, self.choice
        if not self.field.is_file:
            return self.line, self.line
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.line, 1)
        row.addWidget(self._files)
        return both, self.line

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self.field.title, self.line.text())
        if path:
            self.line.setText(path)
            self.edited.emit()

    def _tell(self, _what: object = None) -> None:
        self.edited.emit()


def values_of(rows: Mapping[str, ConnectionRow]) -> dict[str, str]:
    """Return what is filled in, by name."""
    return {name: row.value for name, row in rows.items() if row.value}


def _choice(field: ConnectionField) -> Choice:
    choice = Choice()
    for value, words in field.choices:
        choice.addItem(words, value)
    return choice


def _same(one: object, other: str) -> bool:
    return str(one or "").lower() == other.lower()
