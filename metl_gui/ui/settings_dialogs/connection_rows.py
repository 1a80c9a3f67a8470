"""The rows of a form of connections: a title, a field, and a sentence below it.

``SecretRows`` are the secrets of a profile: what each is for, where it is kept, and its value while it is given.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.ui.settings_dialogs.connection_fields import ConnectionField
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.workbench.profiles.saved_profiles import KEYRING, VARIABLE

_PLACES = ("in the keyring", "in a variable")
_KEPT = "kept; type to replace"
_VALUE = "its value"
_VARIABLE = "NAME_OF_THE_VARIABLE"


class SecretRow(QWidget):
    """One secret.

    Signals:
        edited: somebody changed it.
        dropped: this row, which is to go.

    Args:
        name: what it is for.
        place: ``keyring`` or ``env:NAME``.
        is_kept: its value is in the keyring already.
        is_named: its name is written in the row; else somebody else says it.
    """

    edited = Signal()
    dropped = Signal(object)

    def __init__(
        self, name: str, place: str, *, is_kept: bool, is_named: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._is_named = is_named
        self.name, self.value, self.place = QLineEdit(name), QLineEdit(), ThemedComboBox()
        self.name.setPlaceholderText("token, or spark....")
        self.name.setAccessibleName("What the secret is for")
        self.place.addItems(_PLACES)
        self.place.setAccessibleName("Where the secret lies")
        self.away = KeyButton("✕", kind="number")
        self.away.setAccessibleName("Take this secret out")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.name, 3)
        layout.addWidget(self.place)
        layout.addWidget(self.value, 3)
        layout.addWidget(self.away)
        self.name.setVisible(is_named)
        self.show_place(place, is_kept=is_kept)
        self.name.textEdited.connect(self._tell)
        self.value.textEdited.connect(self._tell)
        self.place.currentIndexChanged.connect(self._moved)
        self.away.clicked.connect(self._drop)

    def show_place(self, place: str, *, is_kept: bool) -> None:
        """Show where the secret lies, and whether its value is there."""
        self._is_kept = is_kept
        self.place.blockSignals(True)
        self.place.setCurrentIndex(0 if place == KEYRING else 1)
        self.place.blockSignals(False)
        self.value.setText("" if place == KEYRING else place.removeprefix(VARIABLE))
        self._show_place()

    @property
    def is_given(self) -> bool:
        """Whether there is a secret at all: kept already, or somebody wrote a value or a variable."""
        return (self.is_in_keyring and self._is_kept) or bool(self.value.text().strip())

    @property
    def is_in_keyring(self) -> bool:
        """Whether the keyring keeps it."""
        return self.place.currentIndex() == 0

    @property
    def where(self) -> str:
        """Where it lies, as profiles say it."""
        return KEYRING if self.is_in_keyring else f"{VARIABLE}{self.value.text().strip()}"

    def _drop(self) -> None:
        if self._is_named:
            self.dropped.emit(self)
        else:
            self.show_place(KEYRING, is_kept=False)
            self.edited.emit()

    def _moved(self, _at: int) -> None:
        self.value.clear()
        self._show_place()
        self.edited.emit()

    def _tell(self, _text: str) -> None:
        self.away.setVisible(self._is_named or self.is_given)
        self.edited.emit()

    def _show_place(self) -> None:
        mode = QLineEdit.EchoMode.Password if self.is_in_keyring else QLineEdit.EchoMode.Normal
        self.value.setEchoMode(mode)
        kept = _KEPT if self._is_kept else _VALUE if self._is_named else ""
        self.away.setVisible(self._is_named or self._is_kept)
        self.value.setPlaceholderText(kept if self.is_in_keyring else _VARIABLE)
        self.value.setAccessibleName("Value of the secret" if self.is_in_keyring else "Name of the variable")


class SecretRows(QWidget):
    """All secrets of a profile.

    Signals:
        edited: somebody changed one of them.
    """

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[SecretRow] = []
        self.more = KeyButton("Add a secret", kind="link")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(6)
        foot = QHBoxLayout()
        foot.addWidget(self.more)
        foot.addStretch(1)
        self._layout.addLayout(foot)
        self.more.clicked.connect(self._add_empty)

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Where each secret lies, by its name; rows without one are left out."""
        return tuple((row.name.text().strip(), row.where) for row in self.rows if row.name.text().strip())

    @property
    def values(self) -> dict[str, str]:
        """The values that were given for the keyring."""
        return {
            row.name.text().strip(): row.value.text() for row in self.rows if row.is_in_keyring and row.value.text()
        }

    def show_secrets(self, places: Mapping[str, str]) -> None:
        """Show the secrets of another profile; their values stay where they are."""
        for row in list(self.rows):
            self._drop(row)
        for name, place in places.items():
            self._add(SecretRow(name, place, is_kept=place == KEYRING))

    def _add_empty(self) -> None:
        row = SecretRow("", KEYRING, is_kept=False)
        self._add(row)
        row.name.setFocus()
        self.edited.emit()

    def _add(self, row: SecretRow) -> None:
        self.rows.append(row)
        self._layout.insertWidget(self._layout.count() - 1, row)
        row.edited.connect(self.edited)
        row.dropped.connect(self._dropped)

    def _dropped(self, row: SecretRow) -> None:
        self._drop(row)
        self.edited.emit()

    def _drop(self, row: SecretRow) -> None:
        self.rows.remove(row)
        self._layout.removeWidget(row)
        row.hide()
        row.deleteLater()


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
        self.choice: ThemedComboBox | None = None
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


def _choice(field: ConnectionField) -> ThemedComboBox:
    choice = ThemedComboBox()
    for value, words in field.choices:
        choice.addItem(words, value)
    return choice


def _same(one: object, other: str) -> bool:
    return str(one or "").lower() == other.lower()
