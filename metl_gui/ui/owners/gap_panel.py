"""What is to do: gaps by kind, open attributes and those never to be mapped; a row jumps to what it is about."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QStackedLayout, QVBoxLayout, QWidget

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.search.gaps import Gap
from metl_gui.core.suggest.values import ValueEvidence
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.owners.todo_list import ATTRIBUTE_KINDS, KINDS, MOST, OPEN, ToDoContent, look, row_of
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import NodeRef, Selected, Selection
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.trees.node import node_menu
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.pill import ValueButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, line_view
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.mapping.suggestions import Suggestion, suggest_best
from metl_gui.workbench.mapping.todo import best_by_attribute

_DELAY_MS = 400


class GapPanel(Surface):
    """Lists what is to do while it is seen; it is looked for beside the window.

    Suggestions for open attributes are looked for while these are listed.

    Signals:
        told: a ``str``, how many gaps there are.
    """

    told = Signal(object)

    def __init__(self, project: OpenProject, selection: Selection, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__("panel", (600, 290), parent, share=(1.0, 0.29))
        self._project, self._selection = project, selection
        self._content = ToDoContent()
        self._best: Mapping[tuple[Side, int], Suggestion] = {}
        self._shown_for: Document | None = None
        self._suggested_for: Document | None = None
        self._looking, self._suggesting = NewestJob(jobs, self), NewestJob(jobs, self)
        self._kind = ""
        self.model: LineModel[Gap] = LineModel(self)
        self.view = line_view(self.model, "To do")
        self.kinds: dict[str, ValueButton] = {}
        self.progress = plain_label(kind="dim")
        self.progress.setWordWrap(True)
        self.note = plain_label(kind="dim")
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._build()
        self.view.clicked.connect(self._go)
        self.view.activated.connect(self._go)
        self.view.customContextMenuRequested.connect(self._show_menu)
        project.opened.connect(self._opened)
        self._updater = PanelUpdater(project, self, self.look, delay_ms=_DELAY_MS, catches_up=False)

    @property
    def count(self) -> int:
        """How many gaps are known."""
        return len(self._content.gaps)

    def show_kind(self, kind: str) -> None:
        """List one kind only, all gaps for an empty one."""
        self._kind = kind
        for each, button in self.kinds.items():
            button.setChecked(each == kind)
        self._scroll.ensureWidgetVisible(self.kinds[kind])
        self._show_rows()
        self._suggest()

    def look(self) -> None:
        """Look for what is to do in what is open now."""
        workbench, document = self._project.workbench, self._project.value
        self._looking.cancel()
        if workbench is None or document is self._shown_for:
            return

        def done(outcome: JobOutcome[ToDoContent]) -> None:
            if outcome.value is not None and self._project.value is document:
                self._show(document, outcome.value)
            elif outcome.error is not None:
                self.note.setText(in_window(str(outcome.error)))

        self._looking.start("Looking for gaps", lambda watch: look(workbench, document, watch), done)

    def showEvent(self, event: QShowEvent) -> None:
        """Look for what changed while nobody looked."""
        super().showEvent(event)
        self._updater.schedule()

    def _suggest(self) -> None:
        """Look for suggestions for the open attributes that are listed, unless they are known."""
        workbench, document = self._project.workbench, self._project.value
        if self._kind != OPEN or workbench is None or document in (self._suggested_for, None):
            return
        self._suggested_for = document
        refused = workbench.kept.refused_suggestions.all()
        samples, newest = self._project.samples, self._project.newest

        def alike(key: BlockKey) -> Mapping[Element, ValueEvidence]:
            return samples.alike(document, newest, key) if samples is not None else {}

        def task(watch: Watch) -> Mapping[tuple[Side, int], Suggestion]:
            return best_by_attribute(suggest_best(document, refused=refused, watch=watch, alike=alike))

        def done(outcome: JobOutcome[Mapping[tuple[Side, int], Suggestion]]) -> None:
            if outcome.value is not None and self._project.value is document:
                self._best = outcome.value
                self._show_rows()
            elif outcome.value is None:
                self._suggested_for = None

        self._suggesting.start("Looking for suggestions", task, done)

    def _opened(self, _workbench: object) -> None:
        self._shown_for = self._suggested_for = None
        self._content, self._best = ToDoContent(), {}
        self._show_counts()
        self._updater.schedule()

    def _show(self, document: Document, found: ToDoContent) -> None:
        self._shown_for, self._content = document, found
        self._show_counts()

    def _show_rows(self) -> None:
        gaps = self._content.of_kind(self._kind)
        best = self._best if self._kind == OPEN else {}
        at = self.view.currentIndex().row()
        self.model.show_rows([(row_of(gap, best.get((gap.side, gap.attribute))), gap) for gap in gaps])
        if 0 <= at < len(gaps):
            self.view.setCurrentIndex(self.model.index(at, 0))
        self._stack.setCurrentIndex(0 if gaps else 1)

    def _show_counts(self) -> None:
        counts = self._content.counts
        self.kinds[""].setText(f"All gaps {self.count}")
        for code, words in (KINDS | ATTRIBUTE_KINDS).items():
            self.kinds[code].setText(f"{words} {counts[code]:,}")
            self.kinds[code].setVisible(bool(counts[code]))
        for button in self.kinds.values():
            button.updateGeometry()
        self.progress.setText(self._content.words())
        more = self.count >= MOST
        words = f"{self.count:,}{' or more' if more else ''} gap{'' if self.count == 1 else 's'}"
        is_known = self._shown_for is not None
        self.told.emit(words if is_known else "")
        self.note.setText("No gaps: everything required has a source." if is_known else "Looking for gaps…")
        self.show_kind(self._kind if counts[self._kind] else "")

    def _go(self, index: QModelIndex | QPersistentModelIndex) -> None:
        gap = self.model.at(index)
        if gap is not None:
            chosen = selected_of(self._project.value, gap)
            if chosen is not None:
                self._selection.choose(chosen)

    def _show_menu(self, at: QPoint) -> None:
        index = self.view.indexAt(at)
        gap = self.model.at(index) if index.isValid() else None
        self._go(index)
        if gap is None:
            return
        self._selection.turn_to(gap.side)
        place = self._selection.current.on(gap.side)
        menu = node_menu(self, gap.side, place) if place is not None else None
        if menu is not None:
            menu.popup(self.view.viewport().mapToGlobal(at))

    def _build(self) -> None:
        line = Surface("clear", (300, 30))
        row = QHBoxLayout(line)
        row.setContentsMargins(12, 0, 12, 6)
        row.setSpacing(0)
        for at, kind in enumerate(("", *KINDS, *ATTRIBUTE_KINDS)):
            button = ValueButton(kind, "", kind="segment")
            button.setCheckable(True)
            button.set_height(24)
            button.setProperty("edge", "first" if at == 0 else "")
            button.chosen.connect(self.show_kind)
            row.addWidget(button)
            self.kinds[kind] = button
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        scroll = self._scroll = QScrollArea()  # in a narrow dock the kinds are scrolled to; they never make it wider
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFixedHeight(themes.px(32))
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(line)
        layout.addWidget(scroll)
        self.progress.setContentsMargins(14, 0, 14, 4)
        layout.addWidget(self.progress)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.view)
        self._stack.addWidget(self.note)
        layout.addLayout(self._stack, 1)


def selected_of(document: Document, gap: Gap) -> Selected | None:
    """Return the selection that shows a gap; ``None`` when it is gone."""
    version = document.tree(gap.side).find_version(gap.version)
    if version is None:
        return None
    attribute = gap.attribute if version.attribute(gap.attribute) is not None else None
    place = NodeRef(version.schema_id, version.id, attribute)
    if gap.block is None:
        return Selected().with_place(gap.side, place)
    entity_version = document.cdm.find_version(gap.block[1])
    target = NodeRef(entity_version.schema_id, entity_version.id) if entity_version is not None else None
    return Selected(place if gap.side is Side.EXTRACTION else None, target)
