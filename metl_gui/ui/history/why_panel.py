"""Why is this mapped: what was done to the selected element, block or attribute, by whom, when, and in which state."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.edits.titles import past_tense
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.ui.history.earlier_state import EarlierStateController
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import NodeRef, Selected, Selection
from metl_gui.ui.project.text import ago, block_words, path_of, schema_name
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.values import Value
from metl_gui.workbench.history.blame import (
    CARRIED,
    CLEARED,
    CONFIRMED,
    LOST,
    RETIRED,
    SET,
    BlameEvent,
    Lineages,
    attribute_history,
    block_history,
    element_history,
)
from metl_gui.workbench.session import Workbench

_DELAY_MS = 200
_KINDS = {SET: "accent", CARRIED: "plain", CONFIRMED: "accent", CLEARED: "plain", LOST: "review", RETIRED: "plain"}
_NOTHING = "Select a cell, a block or an attribute to see who mapped it, when and why."


class _BlameTarget(Value):
    """What is asked about: an element or a block by its key, or an attribute by its lineage."""

    title: str
    where: str = ""
    key: BlockKey | None = None
    lineages: Lineages | None = None
    attribute: tuple[Side, int, int] | None = None


class WhyPanel(Surface):
    """Follows the selection while it is seen; a row leads to the state.

    Signals:
        told: a ``str``, how much was done.

    Args:
        looking: leads to a state.
        jobs: where the history is read.
    """

    told = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        looking: EarlierStateController,
        jobs: Jobs,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("panel", (284, 260), parent)
        self._project, self._selection, self._looking = project, selection, looking
        self._reading = NewestJob(jobs, self)
        self._shown: tuple[_BlameTarget, int] | None = None
        self.model: LineModel[BlameEvent] = LineModel(self)
        self.view = line_view(self.model, "Why it is mapped")
        self.view.setProperty("isMain", True)
        self.heading, self.where = Elided(kind="heading"), Elided(kind="small")
        self.note = plain_label(kind="dim")
        self.note.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 2, 12, 8)
        layout.setSpacing(4)
        layout.addWidget(self.heading)
        layout.addWidget(self.where)
        layout.addWidget(self.note)
        layout.addWidget(self.view, 1)
        layout.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.view.clicked.connect(self._go)
        self.view.activated.connect(self._go)
        self._updater = PanelUpdater(project, self, self.read, delay_ms=_DELAY_MS, catches_up=False)
        selection.changed.connect(self._updater.schedule)
        project.opened.connect(self._opened)
        self._say("", _NOTHING)

    def read(self) -> None:
        """Ask now about what is selected."""
        self._reading.cancel()  # what was asked before is not selected any more
        workbench = self._project.workbench
        asked = blame_target_of(self._project.value, self._selection.current) if workbench is not None else None
        if asked is None or workbench is None:
            self._shown = None
            self._say("", _NOTHING)
            return
        now = asked, workbench.document.state
        if now == self._shown:
            return

        def done(outcome: JobOutcome[tuple[BlameEvent, ...]]) -> None:
            if outcome.value is not None:
                self._shown = now
                self._show(asked, outcome.value)
            elif outcome.error is not None:
                self._say(asked.title, "\n".join(dialogs.words_of(outcome.error)), asked.where)

        self._reading.start("Asking the history", lambda _watch: _events(workbench, asked), done)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask about what was selected while nobody looked."""
        super().showEvent(event)
        self._updater.schedule()

    def _opened(self, _workbench: object) -> None:
        self._shown = None
        self._reading.cancel()
        self._say("", _NOTHING)
        self._updater.schedule()

    def _show(self, asked: _BlameTarget, events: tuple[BlameEvent, ...]) -> None:
        nothing = "" if events else "Nothing was ever done to it."
        self._say(asked.title, nothing, asked.where)
        self.model.show_rows([(_row(event), event) for event in events])
        self.view.setVisible(bool(events))
        self.told.emit(number_of(len(events), "state") if events else "")

    def _say(self, title: str, words: str, where: str = "") -> None:
        for label, text in ((self.heading, title), (self.where, where), (self.note, words)):
            label.setText(text)
            label.setVisible(bool(text))
        self.view.hide()
        self.model.show_rows(())
        self.told.emit("")

    def _go(self, index: QModelIndex) -> None:
        event = self.model.at(index)
        if event is not None:
            self._looking.look_at(event.state)


def blame_target_of(document: Document, selected: Selected) -> _BlameTarget | None:
    """Return what a selection asks about: an element, else the attribute it holds alone, else a block."""
    key, element = selected.block, selected.element
    if key is not None and element is not None:
        source, target = document.extraction.version(key[0]), document.cdm.version(key[1])
        p, q = source.attribute(element.p), target.attribute(element.q)
        if p is not None and q is not None:
            return _BlameTarget(f"{p.path} → {q.path}", block_words(document, key), key, (q.lineage, p.lineage))
    for side in Side:
        place = selected.on(side)
        if place is not None and place.version is not None and place.attribute is not None:
            return _of_attribute(document, side, place, place.version, place.attribute)
    return _BlameTarget(block_words(document, key), "The whole block", key) if key is not None else None


def _of_attribute(
    document: Document, side: Side, place: NodeRef, version_id: int, attribute_id: int
) -> _BlameTarget | None:
    version = document.tree(side).find_version(version_id)
    attribute = version.attribute(attribute_id) if version is not None else None
    if attribute is None:
        return None
    title = path_of(document, side, version_id, attribute_id)
    where = f"Attribute of {schema_name(document, side, place.schema)}"
    return _BlameTarget(title, where, attribute=(side, place.schema, attribute.lineage))


def _events(workbench: Workbench, asked: _BlameTarget) -> tuple[BlameEvent, ...]:
    if asked.attribute is not None:
        return attribute_history(workbench, *asked.attribute)
    if asked.key is None:
        raise EditError("Nothing is asked.")
    if asked.lineages is not None:
        return element_history(workbench, asked.key, asked.lineages)
    return block_history(workbench, asked.key)


def _row(event: BlameEvent) -> TwoLines:
    when_ms = int(datetime.fromisoformat(event.when).timestamp() * 1000)
    within = f"one of {event.states:,} states to {event.state:,}" if event.states > 1 else f"state {event.state:,}"
    parts = [f"{event.who}, {ago(when_ms)}", within]
    block = event.block
    parts += [f"version {block.version} → {block.entity_version}"] if block is not None else []
    parts += [text for text in (event.reason, event.comment and f"“{event.comment}”") if text]
    return TwoLines(past_tense(event.title), " · ".join(parts), event.what, _KINDS.get(event.what, "plain"))
