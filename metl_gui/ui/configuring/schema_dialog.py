"""The settings of the chosen schemas or entities in one form: one edit for all of them, one undo step."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QFormLayout, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.composite import Several
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.errors import EditError, near_names
from metl_gui.ui import theme as themes
from metl_gui.ui.configuring.fields import SettingEditor, fields_of
from metl_gui.ui.document import OpenProject
from metl_gui.ui.jobs import Jobs
from metl_gui.ui.naming import number_of
from metl_gui.ui.owners.preview_pane import PreviewPane
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.effects import EditOutcome

_NAMED = 3
_WIDTH_PX, _PREVIEW_PX = 680, 160
_PATHS = ("key", "version_field")


class SchemaSettingsDialog(QDialog):
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
        self.editors = {
            field.name: SettingEditor(
                field, (schema.setting(field.name) for schema in schemas), paths if field.name in _PATHS else ()
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
        return Several(f"Set {said} for {number_of(len(edits), _noun(self._side))}", edits)

    def accept(self) -> None:
        """Do what the form says; what was not judged yet is judged first."""
        if not self.do.isEnabled():
            self._wants_done = True
            self.preview.work_out()
            return
        self.wanted.emit(self.edit)
        super().accept()

    def _check_paths(self, value: str) -> None:
        known = _paths(self._project.value, self._side, self._ids)
        for path in filter(None, value.split(",")):
            if path not in known:
                hint = near_names(path, known) or "Name attributes by their dotted paths, with commas between."
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
