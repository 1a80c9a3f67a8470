"""The secrets of a profile as rows: what each is for, where it lies, and its value while it is given."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.ui.choice import Choice
from metl_gui.ui.pill import KeyButton
from metl_gui.workbench.secret_store import KEYRING, VARIABLE

_PLACES = ("in the keyring", "in a variable")
_KEPT = "kept; type to replace"
_VALUE = "its value"
_VARIABLE = "NAME_OF_THE_VARIABLE"


class SecretRow(QWidget):
    """One secret.

    Signals:
        edited: somebody changed it.
        dropped: it is to go.

    Args:
        name: what it is for.
        place: ``keyring`` or ``env:NAME``.
        is_kept: its value is in the keyring already.
        is_named: its name is written in the row; else somebody else says it.
    """

    edited = Signal()
    dropped = Signal()

    def __init__(
        self, name: str, place: str, *, is_kept: bool, is_named: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._is_named = is_named
        self.name, self.value, self.place = QLineEdit(name), QLineEdit(), Choice()
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
            self.dropped.emit()
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

    def _dropped(self) -> None:
        row = self.sender()
        if isinstance(row, SecretRow):
            self._drop(row)
            self.edited.emit()

    def _drop(self, row: SecretRow) -> None:
        self.rows.remove(row)
        self._layout.removeWidget(row)
        row.hide()
        row.deleteLater()
