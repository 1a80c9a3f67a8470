"""The settings of the chosen schemas or entities in one form: one edit for all of them, one undo step.

``fields_of`` returns the settings of a schema or an entity as fields: what each is called, what it does, how it is
given.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCompleter, QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Edit
from metl_gui.core.counted import number_of
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.settings import CHOICES, SetSettings
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.time_zones import NO_ZONE, TIME_ZONE, time_zone_names
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.core.trees.paths import join_list, split_list
from metl_gui.errors import EditError, near_names
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.edit_preview import PreviewPane
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.values import Value
from metl_gui.workbench.model.edit_effects import EditOutcome

_DIFFERS = "— not the same in all —"


class SettingField(Value):
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
    SettingField(
        TIME_ZONE,
        "Time zone",
        f"Where its local times hold, so that typed columns of instants can take them; {NO_ZONE}: in no one zone.",
        example="Europe/Berlin",
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
        offered: what is offered while a value is written.
    """

    edited = Signal()

    def __init__(
        self, field: SettingField, values: Iterable[str], offered: tuple[str, ...] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.field = field
        self.choice: ThemedComboBox | None = None
        self.line: QLineEdit | None = None
        found = set(values)
        self._common = found.pop() if len(found) == 1 else None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 6)
        layout.setSpacing(2)
        layout.addWidget(self._make_choice(field) if field.choices else self._make_line(field, offered))
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
            if self.field.name == "key":
                text = join_list(path.strip() for path in split_list(text))
            now = None if self._common is None and not text else text
        return None if now == self._shown else now

    @property
    def _shown(self) -> str | None:
        """The value that it had when it was shown."""
        return _values(self.field)[0] if self._common == "" and self.field.choices else self._common

    def _make_choice(self, field: SettingField) -> QWidget:
        self.choice = ThemedComboBox()
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

    def _make_line(self, field: SettingField, offered: tuple[str, ...]) -> QWidget:
        self.line = QLineEdit(self._common or "")
        self.line.setAccessibleName(field.title)
        self.line.setAccessibleDescription(field.words)
        self.line.setPlaceholderText(_DIFFERS if self._common is None else field.example)
        if offered:
            completer = QCompleter(list(offered), self)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            self.line.setCompleter(completer)
        self.line.textEdited.connect(self._tell)
        return self.line

    def _tell(self, _what: object) -> None:
        self.edited.emit()


def _values(field: SettingField) -> tuple[str, ...]:
    return CHOICES[field.name]


_NAMED = 3
_HOW_TO_LIST = "Name attributes by their dotted paths, with commas between; write a comma within a name as \\,"
_WIDTH_PX, _PREVIEW_PX = 680, 160


class SchemaSettingsDialog(FittedDialog):
    """Shows what all have in common; only what somebody changes is set.

    Signals:
        wanted: the ``Edit`` to do.

    Args:
        project: read anew whenever it changes.
        jobs: where the preview is worked out.
        side: schemas or entities.
        ids: of them.
    """

    wanted = Signal(object)

    def __init__(
        self, project: OpenProject, jobs: Jobs, side: Side, ids: tuple[int, ...], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._project, self._side, self._ids = project, side, ids
        self._wants_done = False
        schemas = [project.value.tree(side).schema(id_) for id_ in ids]
        paths = _paths(project.value, side, ids)
        offered = {
            "key": tuple(join_list((path,)) for path in paths),
            "version_field": paths,
            TIME_ZONE: (NO_ZONE, *time_zone_names()),
        }
        self.editors = {
            field.name: SettingEditor(
                field, (schema.setting(field.name) for schema in schemas), offered.get(field.name, ())
            )
            for field in fields_of(side)
        }
        self.preview = PreviewPane(jobs)
        self.do, self.cancel = KeyButton("Set it", "Ctrl+Enter", "primary"), KeyButton("Cancel", "Esc")
        self._build(schemas)
        self.do.setEnabled(False)
        for editor in self.editors.values():
            editor.edited.connect(self._changed)
        self.preview.judged.connect(self._judged)
        self.do.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.accept)
        project.changed.connect(self._followed)

    @property
    def edit(self) -> Edit:
        """The edit that the form stands for now.

        Raises:
            EditError: it is none, or a path is not known.
        """
        values = tuple((name, value) for name, editor in self.editors.items() if (value := editor.value) is not None)
        if not values:
            raise EditError("Nothing is changed yet.")
        for name, value in values:
            if name == "key":
                self._check_paths(value)
        edits = tuple(SetSettings(self._side, id_, values) for id_ in self._ids)
        if len(edits) == 1:
            return edits[0]
        said = ", ".join(f"{name} = {value or 'default'}" for name, value in values)
        return CompositeEdit(f"Set {said} for {number_of(len(edits), _noun(self._side))}", edits)

    def accept(self) -> None:
        """Do what the form says; what was not judged yet is judged first."""
        if not self.do.isEnabled():
            self._wants_done = True
            self.preview.work_out()
            return
        self.wanted.emit(self.edit)
        super().accept()

    def go_to(self, name: str) -> None:
        """Put the focus on a setting."""
        editor = self.editors[name]
        (editor.choice or editor.line or editor).setFocus()

    def _check_paths(self, value: str) -> None:
        known = _paths(self._project.value, self._side, self._ids)
        for path in filter(None, split_list(value)):
            if path not in known:
                hint = near_names(path, known) or _HOW_TO_LIST
                raise EditError(f"No version has an attribute {path}.", hint=hint)

    def _changed(self) -> None:
        self.do.setEnabled(False)
        self.preview.ask(self._asked)

    def _asked(self) -> tuple[Document, Edit]:
        return self._project.value, self.edit

    def _judged(self, told: EditOutcome | None) -> None:
        self.do.setEnabled(told is not None)
        self.preview.view.setVisible(bool(self.preview.model.rows))
        wants_done, self._wants_done = self._wants_done, False
        if told is not None and wants_done:
            self.accept()

    def _followed(self, _changed: object) -> None:
        tree = self._project.value.tree(self._side)
        if any(tree.find_schema(id_) is None for id_ in self._ids):
            self.reject()

    def _build(self, schemas: list[Schema]) -> None:
        names = ", ".join(schema.name for schema in schemas[:_NAMED])
        names += f" and {len(schemas) - _NAMED:,} more" if len(schemas) > _NAMED else ""
        count = number_of(len(schemas), _noun(self._side)) if len(schemas) > 1 else _noun(self._side)
        self.setWindowTitle(f"Settings of {count}")
        heading = plain_label(f"Settings of {names}", "title")
        heading.setWordWrap(True)
        about = plain_label("They are part of the state: one undo step, written into exports.", "dim")
        about.setWordWrap(True)
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignRight)
        for editor in self.editors.values():
            label = plain_label(editor.field.title)
            label.setBuddy(editor.choice or editor.line or editor)
            label.setContentsMargins(0, 0, 0, 0)
            form.addRow(label, editor)
        foot = QHBoxLayout()
        foot.addStretch(1)
        for button in (self.do, self.cancel):
            button.setAutoDefault(False)
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(8)
        layout.addWidget(heading)
        layout.addWidget(about)
        layout.addSpacing(4)
        layout.addLayout(form)
        layout.addWidget(self.preview, 1 if self._side is Side.CDM else 0)
        layout.addStretch()
        layout.addLayout(foot)
        is_entity = self._side is Side.CDM
        self.preview.view.hide()
        self.preview.heading.setVisible(is_entity)
        width = themes.px(_WIDTH_PX)
        self.resize(width, layout.totalHeightForWidth(width) + (themes.px(_PREVIEW_PX) if is_entity else 0))


def _noun(side: Side) -> str:
    return "schema" if side is Side.EXTRACTION else "entity"


def _paths(document: Document, side: Side, ids: tuple[int, ...]) -> tuple[str, ...]:
    """Return the attributes of any version of the schemas, each once."""
    tree = document.tree(side)
    found = (a.path for id_ in ids for version in tree.versions(id_) for a in version.attributes)
    return tuple(dict.fromkeys(found))
