"""The gaps of the project, grouped by kind; a row jumps to what it is about."""

from __future__ import annotations

import itertools
from collections import Counter

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QStackedLayout, QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.search import gaps as room
from metl_gui.core.search.gaps import Gap
from metl_gui.core.search.problems import Severity
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import NodeRef, Selected, Selection
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.pill import ValueButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.workbench.publishing.checks import seen_in_runs
from metl_gui.workbench.session import Workbench

KINDS = {
    room.REQUIRED: "required, no source",
    room.NEVER_FED: "never fed",
    room.RETIRED: "retired, still sent",
    room.NEVER_MAPPED: "never mapped",
    room.UNMAPPED: "long unmapped",
}
"""The kinds of gaps in few words, in the order in which they are listed."""
MOST = 5_000
"""So many gaps are listed; who has more fills these first."""
_DELAY_MS = 400
_STEP = 200


class GapPanel(Surface):
    """Lists the gaps while it is seen; they are looked for beside the window.

    Signals:
        told: a ``str``, how many there are.
    """

    told = Signal(object)

    def __init__(self, project: OpenProject, selection: Selection, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__("panel", (600, 290), parent, share=(1.0, 0.29))
        self._project, self._selection = project, selection
        self._gaps: tuple[Gap, ...] = ()
        self._shown_for: Document | None = None
        self._looking = NewestJob(jobs, self)
        self._kind = ""
        self.model: LineModel[Gap] = LineModel(self)
        self.view = line_view(self.model, "Gaps")
        self.kinds: dict[str, ValueButton] = {}
        self.note = plain_label(kind="dim")
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._build()
        self.view.clicked.connect(self._go)
        self.view.activated.connect(self._go)
        project.opened.connect(self._opened)
        self._updater = PanelUpdater(project, self, self.look, delay_ms=_DELAY_MS, catches_up=False)

    @property
    def count(self) -> int:
        """How many gaps are known."""
        return len(self._gaps)

    def show_kind(self, kind: str) -> None:
        """List one kind of gap only, all of them for an empty one."""
        self._kind = kind
        for each, button in self.kinds.items():
            button.setChecked(each == kind)
        rows = [(_row(gap), gap) for gap in self._gaps if kind in ("", gap.problem.code)]
        self.model.show_rows(rows)

    def look(self) -> None:
        """Look for the gaps of what is open now."""
        workbench, document = self._project.workbench, self._project.value
        self._looking.cancel()
        if workbench is None or document is self._shown_for:
            return

        def done(outcome: JobOutcome[tuple[Gap, ...]]) -> None:
            if outcome.value is not None and self._project.value is document:
                self._show(document, outcome.value)
            elif outcome.error is not None:
                self.note.setText(str(outcome.error))

        self._looking.start("Looking for gaps", lambda watch: _found(workbench, document, watch), done)

    def showEvent(self, event: QShowEvent) -> None:
        """Look for what changed while nobody looked."""
        super().showEvent(event)
        self._updater.schedule()

    def _opened(self, _workbench: object) -> None:
        self._shown_for, self._gaps = None, ()
        self._show_counts()
        self._updater.schedule()

    def _show(self, document: Document, found: tuple[Gap, ...]) -> None:
        self._shown_for = document
        order = {code: at for at, code in enumerate(KINDS)}
        self._gaps = tuple(sorted(found, key=lambda gap: order[gap.problem.code]))
        self._show_counts()

    def _show_counts(self) -> None:
        counts = Counter(gap.problem.code for gap in self._gaps)
        self.kinds[""].setText(f"All {len(self._gaps)}")
        for code, words in KINDS.items():
            self.kinds[code].setText(f"{words} {counts[code]}")
            self.kinds[code].setVisible(bool(counts[code]))
        for button in self.kinds.values():
            button.updateGeometry()
        self.show_kind(self._kind if counts[self._kind] else "")
        more = len(self._gaps) >= MOST
        words = f"{len(self._gaps):,}{' or more' if more else ''} gap{'' if len(self._gaps) == 1 else 's'}"
        self.told.emit(words if self._shown_for is not None else "")
        is_known = self._shown_for is not None
        self.note.setText("No gaps: everything required has a source." if is_known else "Looking for gaps…")
        self._stack.setCurrentIndex(0 if self._gaps else 1)

    def _go(self, index: QModelIndex | QPersistentModelIndex) -> None:
        gap = self.model.at(index)
        if gap is not None:
            chosen = selected_of(self._project.value, gap)
            if chosen is not None:
                self._selection.choose(chosen)

    def _build(self) -> None:
        line = Surface("clear", (300, 30))
        row = QHBoxLayout(line)
        row.setContentsMargins(12, 0, 12, 6)
        row.setSpacing(0)
        for at, kind in enumerate(("", *KINDS)):
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
        scroll = QScrollArea()  # in a narrow dock the kinds are scrolled to; they never make it wider
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFixedHeight(themes.px(32))
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(line)
        layout.addWidget(scroll)
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


def _found(workbench: Workbench, document: Document, watch: Watch) -> tuple[Gap, ...]:
    found: list[Gap] = []
    for gap in itertools.islice(room.gaps(document, seen_in_runs(workbench)), MOST):
        if len(found) % _STEP == 0:
            watch.step("Looking for gaps")
        found.append(gap)
    return tuple(found)


def _row(gap: Gap) -> TwoLines:
    problem = gap.problem
    kind = "review" if problem.severity is Severity.WARNING else "plain"
    return TwoLines(problem.message, f"{problem.place} · {problem.hint}", KINDS[problem.code], kind)
