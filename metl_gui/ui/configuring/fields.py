"""The settings of a schema and of an entity as fields of a form: what each is called, what it does, how it is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCompleter, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.edits.settings import CHOICES
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.choice import Choice
from metl_gui.ui.plain import plain_label

_DIFFERS = "— not the same in all —"


@dataclass(frozen=True)
class SettingField:
    """One setting.

    Args:
        name: as ``metl set`` calls it.
        title: what people read.
        words: what it does, in a sentence.
        choices: what each value is called, the default first; empty where it is written.
        example: what a written one may look like.
    """

    name: str
    title: str
    words: str
    choices: tuple[str, ...] = ()
    example: str = ""


SCHEMA_FIELDS = (
    SettingField(
        "ask",
        "Ask me",
        "What of a new version waits on the review list. Lost elements always do.",
        ("only about lost elements", "about every new version", "about new attributes too"),
    ),
    SettingField(
        "meanwhile",
        "Until I have answered",
        "What production does with messages that a waiting block would map.",
        ("hold the messages back", "map what is left"),
    ),
    SettingField(
        "key",
        "Key",
        "The attributes that identify a row, in key order, where messages do not say so.",
        example="id, or region,number",
    ),
    SettingField(
        "replica_identity",
        "Row before a change",
        "What updates and deletes carry of the row as it was (PostgreSQL's replica identity).",
        ("only its key", "the whole row"),
    ),
    SettingField(
        "version_field",
        "Version field",
        "The path in a message whose value names the version, where nothing else does.",
        example="meta.schema_version",
    ),
    SettingField(
        "placeholder",
        "Placeholder",
        "What a connector sends for a value it did not read; it is passed on as unchanged.",
        example="__debezium_unavailable_value",
    ),
    SettingField(
        "framing",
        "Framing",
        "How binary messages name the schema that wrote them, where trying does not tell.",
        ("as the project says", "Confluent, 4 bytes", "Apicurio, 4 bytes", "Apicurio, 8 bytes", "none"),
    ),
)
"""The settings of an extraction schema; masks are set on attributes."""

ENTITY_FIELDS = (
    SettingField(
        "policy",
        "Versions that are fed",
        "Whether schemas feed the newest version of the entity only, or older ones beside it.",
        ("the newest only", "any, in parallel"),
    ),
)
"""The settings of an entity."""


def fields_of(side: Side) -> tuple[SettingField, ...]:
    """Return the settings of a schema or of an entity."""
    return SCHEMA_FIELDS if side is Side.EXTRACTION else ENTITY_FIELDS


class SettingEditor(QWidget):
    """Shows one setting of one or more schemas, and takes another value for all of them.

    Signals:
        edited: somebody gave it another value.

    Args:
        field: the setting.
        values: what each schema has now, empty for the default.
        paths: attributes to be offered while a path is written.
    """

    edited = Signal()

    def __init__(
        self, field: SettingField, values: Iterable[str], paths: tuple[str, ...] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.field = field
        self.choice: Choice | None = None
        self.line: QLineEdit | None = None
        found = set(values)
        self._common = found.pop() if len(found) == 1 else None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 6)
        layout.setSpacing(2)
        layout.addWidget(self._make_choice(field) if field.choices else self._make_line(field, paths))
        words = plain_label(field.words, "small")
        words.setWordWrap(True)
        layout.addWidget(words)

    @property
    def value(self) -> str | None:
        """The value that all are to have, ``None`` where nobody said anything."""
        if self.choice is not None:
            at = self.choice.currentData()
            now = None if at is None else _values(self.field)[at]
        else:
            text = self.line.text().strip() if self.line is not None else ""
            now = None if self._common is None and not text else ",".join(p.strip() for p in text.split(","))
        return None if now == self._shown else now

    @property
    def _shown(self) -> str | None:
        """The value that it had when it was shown."""
        return _values(self.field)[0] if self._common == "" and self.field.choices else self._common

    def _make_choice(self, field: SettingField) -> QWidget:
        self.choice = Choice()
        self.choice.setAccessibleName(field.title)
        self.choice.setAccessibleDescription(field.words)
        if self._common is None:
            self.choice.addItem(_DIFFERS, None)
        for at, words in enumerate(field.choices):
            self.choice.addItem(words, at)
        if self._shown is not None and self._shown in _values(field):
            self.choice.setCurrentIndex(_values(field).index(self._shown))
        self.choice.currentIndexChanged.connect(self._tell)
        return self.choice

    def _make_line(self, field: SettingField, paths: tuple[str, ...]) -> QWidget:
        self.line = QLineEdit(self._common or "")
        self.line.setAccessibleName(field.title)
        self.line.setAccessibleDescription(field.words)
        self.line.setPlaceholderText(_DIFFERS if self._common is None else field.example)
        if paths:
            completer = QCompleter(list(paths), self)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            self.line.setCompleter(completer)
        self.line.textEdited.connect(self._tell)
        return self.line

    def _tell(self, _what: object) -> None:
        self.edited.emit()


def _values(field: SettingField) -> tuple[str, ...]:
    return CHOICES[field.name]
