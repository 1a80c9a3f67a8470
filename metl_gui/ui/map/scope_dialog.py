"""What an edit would do in other versions, before it is done, and what was left of it afterwards."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Edit
from metl_gui.core.counted import number_of
from metl_gui.core.edits.version_scope import LeftElement, LeftReason
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.map.scoped_edits import ScopedEdit, left_words
from metl_gui.ui.project.text import block_words, path_of
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dialogs import lay_out
from metl_gui.ui.widgets.edit_preview import PreviewPane
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view

_SHOWN = 500
_PILLS = {
    LeftReason.TAKEN: ("taken", "plain"),
    LeftReason.RETIRED: ("retired", "plain"),
    LeftReason.TYPE: ("type differs", "review"),
    LeftReason.LOSS: ("review", "review"),
}


class ScopeDialog(FittedDialog):
    """Shows the blocks that change beside what is left, and lets people choose more along or less.

    Args:
        planned: what is to be done; what was done, to see what was left.
        jobs: where the preview is worked out.
        is_done: whether it was done already.

    Signals:
        wanted: the ``ScopedEdit`` to do.
    """

    wanted = Signal(object)

    def __init__(self, planned: ScopedEdit, jobs: Jobs, is_done: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._planned, self._is_done = planned, is_done
        self._types = sum(each.reason is LeftReason.TYPE for each in planned.plan.left)
        self.setWindowTitle("What was left" if is_done else "In many versions")
        self.heading = plain_label(kind="heading")
        self.words = plain_label(kind="dim")
        self.left_heading = plain_label(kind="heading")
        self.model: LineModel[LeftElement] = LineModel(self)
        self.view = line_view(self.model, "What is left")
        self.preview = PreviewPane(jobs)
        self.types = QCheckBox()
        self.entities = QCheckBox("The other versions of the entity, too")
        self.do = KeyButton("", "Ctrl+Enter", "primary")
        self.alone = KeyButton("Only in this version")
        self.cancel = KeyButton("Close" if is_done else "Cancel", "Esc")
        self._build()
        self._connect()
        self._show()

    @property
    def planned(self) -> ScopedEdit:
        """What would be done now."""
        return self._planned

    def accept(self) -> None:
        """Do what is shown and close."""
        if self.do.isEnabled():
            self.wanted.emit(self._planned)
            super().accept()

    def _only_here(self) -> None:
        self.wanted.emit(self._planned.alone())
        super().accept()

    def _choose(self) -> None:
        self._planned = self._planned.chosen(
            self._planned.document,
            types_too=self.types.isChecked(),
            entity_versions_too=self.entities.isChecked(),
        )
        self._show()

    def _show(self) -> None:
        planned, plan = self._planned, self._planned.plan
        title = planned.title or planned.edits[0].title(planned.document)
        others = number_of(planned.others, "version")
        if self._is_done:
            self.heading.setText(f"{title}: what was left")
            self.do.setText(f"Map in {others}, too" if plan.edits else "Map these, too")
        else:
            versions = number_of(planned.versions, "version")
            self.heading.setText(f"{title}, in {versions}?")
            self.do.setText(f"Do it in {versions}")
        elements, where = number_of(plan.changed, "element"), number_of(planned.others, "other version")
        self.words.setText(f"{elements} in {where}, as one undo step.")
        self.words.setVisible(bool(plan.edits))
        self.left_heading.setText(left_words(plan.left) or "Nothing is left")
        self.model.show_rows([(left_row(planned.document, each), each) for each in plan.left[:_SHOWN]])
        can_do = bool(plan.edits) or not planned.is_done
        self.do.setEnabled(can_do)
        self.preview.setVisible(can_do)
        self.preview.ask((lambda: _asked(planned)) if can_do else None)

    def _build(self) -> None:
        for label in (self.heading, self.words, self.left_heading):
            label.setWordWrap(True)
        self.types.setText(f"Where the types differ, too ({self._types:,})")
        self.types.setVisible(self._types > 0)
        self.entities.setChecked(self._planned.entity_versions_too)
        self.entities.setVisible(self._planned.has_parallel_versions)
        self.alone.setVisible(not self._planned.is_done and bool(self._planned.plan.edits))
        can_do = not self._is_done or self._types > 0 or self._planned.has_parallel_versions
        self.do.setVisible(can_do)
        lists = QHBoxLayout()
        lists.setSpacing(16)
        left = QVBoxLayout()
        left.addWidget(self.left_heading)
        left.addWidget(self.view, 1)
        lists.addWidget(self.preview, 1)
        lists.addLayout(left, 1)
        body = QVBoxLayout()
        body.addLayout(lists, 1)
        for box in (self.types, self.entities):
            body.addWidget(box)
        lay_out(self, (self.heading, self.words), body, (self.do, self.alone, self.cancel))
        self.resize(themes.px(820), themes.px(460))

    def _connect(self) -> None:
        for box in (self.types, self.entities):
            box.toggled.connect(self._choose)
        self.do.clicked.connect(self.accept)
        self.alone.clicked.connect(self._only_here)
        self.cancel.clicked.connect(self.reject)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.accept)


def _asked(planned: ScopedEdit) -> tuple[Document, Edit]:
    return planned.document, planned.edit()


def left_row(document: Document, left: LeftElement) -> TwoLines:
    """Return what a list says of an element that was left."""
    source = path_of(document, Side.EXTRACTION, left.key[0], left.element.p)
    target = path_of(document, Side.CDM, left.key[1], left.element.q)
    return TwoLines(block_words(document, left.key), f"{source} → {target}: {left.reason.value}", *_PILLS[left.reason])
