"""*Never map…*: why some attributes are never to be mapped, and what that changes, before it is done."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCompleter, QLabel, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Edit
from metl_gui.core.counted import number_of
from metl_gui.core.edits.ignored import LONGEST_REASON
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.attribute_facts import schemas_with_ignored
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.edit_preview import PreviewPane
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.workbench.mapping.todo import Marked, by_schema, ignoring, mapped_elements
from metl_gui.workbench.model.edit_effects import EditOutcome

_MOST_NAMED = 4
_STAND_IN = "…"
"""Stands for the reason in previews, for as long as nothing is written."""


class IgnoreDialog(FittedDialog):
    """Asks for the reason.

    Signals:
        wanted: the ``Edit`` to do.

    Args:
        project: read anew whenever it changes.
        jobs: where the preview is worked out.
        marked: the attributes.
    """

    wanted = Signal(object)

    def __init__(
        self, project: OpenProject, jobs: Jobs, marked: tuple[Marked, ...], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._project, self._marked = project, marked
        self._elements = 0
        self._can_do = False
        self.setWindowTitle("Never map…")
        self.heading, self.help = plain_label(kind="heading"), QLabel(_HELP)
        self.reason = QLineEdit()
        self.reason.setPlaceholderText("Why nobody needs it")
        self.reason.setAccessibleName("Reason")
        self.reason.setMaxLength(LONGEST_REASON)
        self.warning = plain_label(kind="dim")
        self.preview = PreviewPane(jobs)
        self.do = KeyButton("Never map", "Ctrl+Enter", "primary")
        self.cancel = KeyButton("Cancel", "Esc")
        self._build()
        self._connect()
        self._fill()

    def accept(self) -> None:
        """Do it and close."""
        if self.do.isEnabled():
            self.wanted.emit(ignoring(self._marked, self.reason.text(), unmaps=self._elements > 0))
            super().accept()

    def _fill(self) -> None:
        document = self._project.value
        paths = _paths(document, self._marked)
        if len(paths) < len(self._marked):
            self.reject()
            return
        self._elements = mapped_elements(document, self._marked)
        named = ", ".join(paths[:_MOST_NAMED]) + (
            f" and {len(paths) - _MOST_NAMED} more" if paths[_MOST_NAMED:] else ""
        )
        names = dict.fromkeys(document.tree(side).schema(schema).name for side, schema, _ in self._marked)
        of = next(iter(names)) if len(names) == 1 else f"{len(names)} schemas and entities"
        self.heading.setText(f"Never map {named} of {of}")
        told = number_of(self._elements, "element")
        self.warning.setText(f"It is mapped: {told} {'go' if self._elements != 1 else 'goes'} in all versions.")
        self.warning.setVisible(self._elements > 0)
        self.do.setText(f"Clear {told} and never map" if self._elements else "Never map")
        self.reason.setCompleter(_completer(document, self))
        self.preview.ask(self._asked)

    def _asked(self) -> tuple[Document, Edit]:
        return self._project.value, ignoring(self._marked, _STAND_IN, unmaps=self._elements > 0)

    def _judged(self, told: EditOutcome | None) -> None:
        self._can_do = told is not None
        self.preview.view.setVisible(bool(self.preview.model.rows))
        self._allow()

    def _allow(self) -> None:
        self.do.setEnabled(self._can_do and bool(self.reason.text().strip()))

    def _build(self) -> None:
        for label in (self.heading, self.help, self.warning):
            label.setWordWrap(True)
        self.help.setProperty("kind", "dim")
        body = QVBoxLayout()
        body.addWidget(self.reason)
        body.addWidget(self.warning)
        body.addWidget(self.preview, 1)
        self.preview.view.hide()
        dialogs.lay_out(self, (self.heading, self.help), body, (self.do, self.cancel))
        self.resize(themes.px(560), themes.px(360))

    def _connect(self) -> None:
        self.reason.textChanged.connect(self._allow)
        self.preview.judged.connect(self._judged)
        self.do.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        self._project.changed.connect(self._fill)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.accept)


_HELP = (
    "It is then not suggested, not open and no gap, in any version. Mapping it takes this back, as does Undo; "
    "the reason stands in its tooltip and in the list of what is to do."
)


def _paths(document: Document, marked: tuple[Marked, ...]) -> list[str]:
    """Return the newest paths of the attributes that are still there."""
    known: dict[tuple[Side, int], dict[int, Attribute]] = {}
    for (side, schema_id), lineages in by_schema(marked).items():
        known[side, schema_id] = document.tree(side).newest_of_lineages(schema_id, lineages)
    found = (known[side, schema_id].get(lineage) for side, schema_id, lineage in marked)
    return [attribute.path for attribute in found if attribute is not None]


def _completer(document: Document, parent: QWidget) -> QCompleter:
    """Offer the reasons that were given before, the commonest first."""
    marked = (schema for side in Side for schema in schemas_with_ignored(document.tree(side)))
    told = Counter(mark.reason for schema in marked for mark in schema.ignored)
    completer = QCompleter([reason for reason, _ in told.most_common()], parent)
    completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    completer.setFilterMode(Qt.MatchFlag.MatchContains)
    return completer
