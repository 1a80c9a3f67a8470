"""Who decided a cell and when, for the places that show messages: read by a job, and known from then on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from PySide6.QtCore import QObject, Signal

from metl_gui.core.edits.titles import past_tense
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.errors import ProjectError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.text import ago
from metl_gui.workbench.history.blame import BlameEvent, origins
from metl_gui.workbench.session import Workbench

_KNOWN = 200
"""Blocks whose decisions are kept."""

Decided = Mapping[Element, BlameEvent | None]


class CellDecisions(QObject):
    """The decisions behind the elements of the open project.

    Signals:
        read: decisions that were asked about are known now.

    Args:
        jobs: where the history is read.
    """

    read = Signal()

    def __init__(self, project: OpenProject, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._reading = NewestJob(jobs, self)
        self._known: dict[tuple[int, BlockKey], Decided] = {}
        self._asked: tuple[int, BlockKey] | None = None
        project.opened.connect(self._forget)

    def words(self, key: BlockKey, element: Element, state: int = 0) -> str:
        """Say who mapped an element, when, and by which edit; empty until that is known.

        Args:
            key, element: the cell.
            state: as of this state; of the newest one where it is 0 or not there.
        """
        workbench = self._project.workbench
        if workbench is None:
            return ""
        newest = workbench.document.state
        wanted = (state if 0 < state <= newest else newest), key
        if wanted not in self._known and self._asked != wanted:
            self._ask(workbench, wanted)
        event = self._known.get(wanted, {}).get(element)
        return decision_words(event) if event is not None else ""

    def _ask(self, workbench: Workbench, wanted: tuple[int, BlockKey]) -> None:
        self._asked = wanted
        state, key = wanted

        def done(outcome: JobOutcome[Decided]) -> None:
            if self._asked == wanted:
                self._asked = None
            if workbench is not self._project.workbench:
                return
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[wanted] = outcome.value or {}
            self.read.emit()

        self._reading.start(
            "Asking the history",
            lambda _watch: origins(workbench, key, _document(workbench, state)),
            done,
            is_quiet=True,
        )

    def _forget(self, _workbench: object) -> None:
        self._reading.cancel()
        self._asked = None
        self._known.clear()


def decision_words(event: BlameEvent) -> str:
    """Say who did something, when, and what it was."""
    when_ms = int(datetime.fromisoformat(event.when).timestamp() * 1000)
    comment = f", “{event.comment}”" if event.comment else ""
    return f"by {event.who}, {ago(when_ms)}, state {event.state:,}: {past_tense(event.title)}{comment}"


def _document(workbench: Workbench, state: int) -> Document:
    try:
        return workbench.at_state(state)
    except ProjectError:  # the log was compacted over it
        return workbench.document
