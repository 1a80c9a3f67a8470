"""What comes before a run: what is missing is said, topics are made when a person agrees, production is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from metl_gui.engine.kafka.servers import is_kafka
from metl_gui.errors import UserError
from metl_gui.store.repositories.states import NamedState
from metl_gui.ui import asking
from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.ui.kafka.making_dialog import MakingDialog
from metl_gui.ui.kafka.servers_box import servers_of
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.run.production_words import question_about
from metl_gui.ui.showing import show
from metl_gui.workbench.running import PRODUCTION, RunRequest
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.topics import make_topics, topics_wanted

if TYPE_CHECKING:
    from metl_gui.engine.kafka.topics import TopicPlan


@dataclass(frozen=True)
class _Asked:
    """What is asked for: a run of a project, and what is published of it."""

    workbench: Workbench
    request: RunRequest
    live: NamedState | None


class Starting(QObject):
    """Leads from what the fields ask for to a run that can be started.

    Signals:
        test_ready, production_ready: a ``RunRequest`` that nothing is missing of.
        refused: a ``UserError``: something is missing.

    Args:
        jobs: where Kafka's servers are asked.
        over: the widget that questions lie over.
    """

    test_ready = Signal(object)
    production_ready = Signal(object)
    refused = Signal(object)

    def __init__(self, jobs: Jobs, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self._looking = NewestJob(jobs, self)
        self._asked: _Asked | None = None

    def begin(self, workbench: Workbench, request: RunRequest, live: NamedState | None) -> None:
        """Look whether a run can be started, ask what must be asked, and say that it is ready.

        Args:
            workbench: the project.
            request: what the fields ask for.
            live: the published state that production uses, ``None`` for none.
        """
        is_production = request.mode == PRODUCTION
        self._asked = None
        self._looking.cancel()
        if not request.source:
            hint = "Choose a file, a folder or topics under From."
            self._refuse("Nothing to map yet.", "No messages are chosen.", hint)
        elif is_production and not request.sink:
            hint = "Choose a folder or topics under To."
            self._refuse("Production needs a place for its messages.", "None is chosen.", hint)
        elif request.lane == "fast" and not is_kafka(request.errors):
            hint = "Name an error topic with Topics… under To, or choose batches."
            self._refuse("A fast lane needs a topic for what it sets aside.", "None is named.", hint)
        elif is_production and live is None:
            return  # the mode says so, and offers to publish
        elif is_kafka(request.sink) or is_kafka(request.errors):
            self._asked = _Asked(workbench, request, live)
            title = "Looking whether the topics are there"
            self._looking.start(title, lambda _watch: topics_wanted(workbench, request), self._found)
        else:
            self._go_on(request, live)

    def forget(self) -> None:
        """Start nothing of what was asked for: its project was closed."""
        self._asked = None
        self._looking.cancel()

    def _found(self, outcome: Outcome[tuple[TopicPlan, ...]]) -> None:
        asked = self._asked
        if asked is None:
            return
        if outcome.error is not None:
            self.refused.emit(outcome.error)
        elif outcome.value:
            request = asked.request
            dialog = MakingDialog(outcome.value, servers_of(request.sink) or servers_of(request.errors), self._over)
            dialog.agreed.connect(self._make)
            show(dialog)
        elif outcome.value is not None:
            self._go_on(asked.request, asked.live)

    def _make(self, plans: tuple[TopicPlan, ...]) -> None:
        asked = self._asked
        if asked is not None:
            request = asked.request
            self._looking.start("Making topics", lambda _watch: make_topics(request, plans), self._made)

    def _made(self, outcome: Outcome[int]) -> None:
        asked = self._asked
        if outcome.error is not None:
            self.refused.emit(outcome.error)
        elif asked is not None and outcome.value is not None:
            self._go_on(asked.request, asked.live)

    def _go_on(self, request: RunRequest, live: NamedState | None) -> None:
        if request.mode != PRODUCTION:
            self.test_ready.emit(request)
        elif live is not None:
            self._ask_about(request, live)

    def _ask_about(self, request: RunRequest, live: NamedState) -> None:
        """Ask once with what is published, before a process is started that outlives the window."""
        title, text = question_about(request, live)
        answers = [("start", "Start production"), ("cancel", "Cancel")]
        if asking.ask(title, text, answers, self._over) == "start":
            self.production_ready.emit(request)

    def _refuse(self, title: str, text: str, hint: str) -> None:
        self.refused.emit(UserError(title, text, hint))
