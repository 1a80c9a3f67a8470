"""A look at many suggestions before they are accepted: each block, what it gets, and a sample before and after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QLabel, QSplitter, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import perform
from metl_gui.core.counted import number_of
from metl_gui.core.edits.version_scope import LeftReason, VersionScope
from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.map.scope_dialog import left_row
from metl_gui.ui.map.scoped_edits import ScopedEdits, has_parallel_versions, left_words
from metl_gui.ui.preview.text import Ends, PreviewText, lay_out
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.workbench.mapping.acceptance import Acceptance, plan_acceptance
from metl_gui.workbench.mapping.suggestions import Suggestion
from metl_gui.workbench.samples.preview import Previews
from metl_gui.workbench.samples.project_samples import Sample
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import project_settings

_MOST_PAIRS = 8
_MOST_LEFT = 500
_SCOPES = (
    (VersionScope.ALL, "In all versions of each schema"),
    (VersionScope.LATER, "In these and later versions"),
    (VersionScope.THIS, "In these versions only"),
)


class AcceptanceDialog(FittedDialog):
    """Shows what accepting would do and lets it be done.

    Signals:
        wanted: the ``Acceptance`` to do.

    Args:
        project: the open project; when it changes, the plan is made anew.
        workbench: where writer schemas are looked up for the samples.
        chosen: the suggestions.
        which: says which they are.
        edits: say which other versions take part, of schemas until people choose otherwise.
    """

    wanted = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        workbench: Workbench,
        chosen: Sequence[Suggestion],
        which: str,
        edits: ScopedEdits,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._project, self._chosen, self._which = project, tuple(chosen), which
        self._needs_second = project_settings(workbench).second_person_confirms
        self._previews = Previews.of_project(workbench), Previews.of_project(workbench)
        self.plan: Acceptance | None = None
        self.after: Document = project.value
        self.heading, self.words = plain_label(kind="heading"), plain_label(kind="dim")
        self.scope = ThemedComboBox()
        self.types = QCheckBox("Where the types differ, too")
        self.entities = QCheckBox("The other versions of entities that keep several, too")
        self.entities.setChecked(edits.entity_versions_too)
        self.entities.setVisible(has_parallel_versions(project.value, {each.key[1] for each in self._chosen}))
        self.model: LineModel[tuple[Suggestion, ...]] = LineModel(self)
        self.view = line_view(self.model, "Blocks that suggestions are accepted in")
        self.pairs = plain_label()
        self.texts = PreviewText(), PreviewText()
        self.no_sample = plain_label(kind="dim")
        self.confirm = KeyButton("Accept and confirm", "Ctrl+Enter", "primary")
        self.leave_open = KeyButton("Accept, confirm later")
        self.cancel = KeyButton("Cancel", "Esc")
        self._build()
        self.scope.setCurrentIndex(self.scope.findData(edits.scope))
        self._connect()
        self._work_out()

    def accept(self) -> None:
        """Accept and, where one's own word is enough, confirm."""
        self._finish(Status.CONFIRMED)

    def accept_unconfirmed(self) -> None:
        """Accept, and leave it to be confirmed."""
        self._finish(Status.UNCONFIRMED)

    def _finish(self, status: Status) -> None:
        plan = self._planned(status)
        if plan.accepted:
            self.wanted.emit(plan)
            super().accept()

    def _planned(self, status: Status) -> Acceptance:
        scope = VersionScope(self.scope.currentData())  # Qt gives it back as a plain text
        return plan_acceptance(
            self._project.value,
            self._chosen,
            self._which,
            status,
            scope,
            entity_versions_too=self.entities.isChecked(),
            types_too=self.types.isChecked(),
        )

    def _work_out(self, _what: object = None) -> None:
        """Plan, and show the blocks; those with samples come first."""
        plan = self.plan = self._planned(Status.CONFIRMED)
        document = self._project.value
        self.after = perform(document, plan.edit).after
        for previews, of in zip(self._previews, (document, self.after), strict=True):
            previews.take(of, self._project.newest)
        blocks = [tuple(group) for _, group in groupby(sorted(plan.accepted, key=_key), key=_key)]
        sampled = {key for key in (group[0].key for group in blocks) if self._may_have_samples(key)}
        blocks.sort(key=lambda group: (group[0].key not in sampled, -len(group), str(group[0].block)))
        left = [(left_row(document, each), ()) for each in plan.left_there[:_MOST_LEFT]]
        self.model.show_rows([*((_row(group, group[0].key in sampled), group) for group in blocks), *left])
        self.types.setVisible(self.types.isChecked() or any(x.reason is LeftReason.TYPE for x in plan.left_there))
        count = number_of(len(plan.accepted), "suggestion")
        self.heading.setText(f"Accept {count} {self._which} in {number_of(plan.blocks, 'block')}")
        self.words.setText(self._sentence(plan, len(sampled)))
        self.confirm.setEnabled(bool(blocks))
        self.leave_open.setEnabled(bool(blocks))
        self.view.setCurrentIndex(self.model.index(0) if blocks else QModelIndex())
        self._show_block()

    def _sentence(self, plan: Acceptance, sampled: int) -> str:
        parts = [f"In other versions {number_of(plan.carried, 'element')} more."] if plan.carried else []
        if plan.left:
            parts.append(f"Left, as an end is taken or gone: {number_of(len(plan.left), 'suggestion')}.")
        parts += [left_words(plan.left_there)] if plan.left_there else []
        if self._needs_second:
            parts.append("A second person confirms them.")
        parts.append(f"Blocks with samples to look at: {sampled:,}. It is one undo step.")
        return " ".join(parts)

    def _may_have_samples(self, key: BlockKey) -> bool:
        shelf = self._project.samples
        return shelf is not None and self._project.value.extraction.schema_of(key[0]) in shelf.schemas

    def _show_block(self, *_what: object) -> None:
        group = self.model.at(self.view.currentIndex())
        document = self._project.value
        self.pairs.setText("\n".join(_pairs(group or ())))
        sample = self._sample(group[0].key) if group else None
        for text in self.texts:
            text.setVisible(sample is not None)
        self.no_sample.setVisible(sample is None and bool(group))
        if not group or sample is None:
            return
        key, ends = group[0].key, _ends(group)
        for text, previews, of in zip(self.texts, self._previews, (document, self.after), strict=True):
            text.show_laid(lay_out(of, previews.of(sample.raw, sample.place), key), ends)

    def _sample(self, key: BlockKey) -> Sample | None:
        """Return a sample of the version of a block, or else of another one."""
        shelf, document = self._project.samples, self._project.value
        if shelf is None or not self._may_have_samples(key):
            return None
        found = [each for each in shelf.of(document, document.extraction.schema_of(key[0])) if each.row is not None]
        return next((each for each in found if each.version == key[0]), found[0] if found else None)

    def _build(self) -> None:
        self.setWindowTitle("Accept suggestions")
        for scope, words in _SCOPES:
            self.scope.addItem(words, scope)
        self.scope.setAccessibleName("In which versions")
        self.words.setWordWrap(True)
        self.pairs.setWordWrap(True)
        self.no_sample.setText("No sample message of this schema: a test run (F5) brings some.")
        self.no_sample.setWordWrap(True)
        if self._needs_second:
            self.confirm.setText("Accept")
            self.leave_open.hide()
        beside = QWidget()
        right = QVBoxLayout(beside)
        right.setContentsMargins(12, 0, 0, 0)
        right.setSpacing(6)
        right.addWidget(self.pairs)
        right.addWidget(self.no_sample)
        for name, text in zip(("Before", "After"), self.texts, strict=True):
            label = QLabel(name)
            label.setProperty("kind", "heading")
            text.setAccessibleName(f"{name} the suggestions are accepted")
            right.addWidget(label)
            right.addWidget(text, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.view)
        split.addWidget(beside)
        split.setSizes([themes.px(320), themes.px(540)])
        split.setChildrenCollapsible(False)
        body = QVBoxLayout()
        body.addWidget(split, 1)
        body.addWidget(self.types)
        body.addWidget(self.entities)
        buttons = (self.confirm, self.leave_open, self.cancel)
        dialogs.lay_out(self, (self.heading, self.words), body, buttons, beside=self.scope)
        self.resize(themes.px(900), themes.px(560))

    def _connect(self) -> None:
        self.scope.currentIndexChanged.connect(self._work_out)
        self.types.toggled.connect(self._work_out)
        self.entities.toggled.connect(self._work_out)
        self.view.selectionModel().currentChanged.connect(self._show_block)
        self.confirm.clicked.connect(self.accept)
        self.leave_open.clicked.connect(self.accept_unconfirmed)
        self.cancel.clicked.connect(self.reject)
        self._project.changed.connect(self._work_out)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.accept)


def _key(suggestion: Suggestion) -> BlockKey:
    return suggestion.key


def _row(group: tuple[Suggestion, ...], is_sampled: bool) -> TwoLines:
    block = group[0].block
    title = f"{block.schema} {block.version} → {block.entity} {block.entity_version}"
    lowest = min(each.score for each in group)
    facts = f"{number_of(len(group), 'suggestion')}, {lowest:.2f} or more"
    return TwoLines(title, facts, "sample" if is_sampled else "")


def _pairs(group: tuple[Suggestion, ...]) -> list[str]:
    lines = [f"{each.score:.2f}  {each.names.to_path} from {each.names.from_path}" for each in group[:_MOST_PAIRS]]
    return [*lines, f"and {len(group) - _MOST_PAIRS:,} more"] if len(group) > _MOST_PAIRS else lines


def _ends(group: tuple[Suggestion, ...]) -> Ends:
    sources = ((Side.EXTRACTION, each.key[0], each.element.p) for each in group)
    targets = ((Side.CDM, each.key[1], each.element.q) for each in group)
    return frozenset((*sources, *targets))
