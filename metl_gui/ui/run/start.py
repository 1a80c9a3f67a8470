"""What comes before a run: what is missing, topics to be made, and the question before production is started.

Topics are made when a person agrees. Also what the status bar says while production goes on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from metl_gui.core.project.named_states import NamedState
from metl_gui.core.runs.events import LaneProgressed, decode_event
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.errors import RunError, UserError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.kafka.servers_box import servers_of
from metl_gui.ui.kafka.sink_dialog import NewTopicsDialog
from metl_gui.ui.run.meanwhile import goes_on_words
from metl_gui.ui.run.progress import published_words, source_words
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show
from metl_gui.values import Value
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest
from metl_gui.workbench.runs.production import LiveRun, report_so_far
from metl_gui.workbench.runs.topics import make_topics, topics_wanted
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.core.runs.kafka import TopicPlan


_LOOKED_AT_BYTES = 256 << 10
_FORMATS = {"jsonl": "JSON lines", "parquet": "Parquet"}


def question_about(request: RunRequest, live: NamedState) -> tuple[str, str]:
    """Return title and text of the question: with what, from where, to where, how long."""
    blocks = "every block, what nobody has confirmed too" if request.include_unconfirmed else "confirmed blocks only"
    if request.policy.lane == "fast":
        until = "It goes on until somebody stops it" + (
            ", with this state whatever is published meanwhile."
            if request.mapping.is_frozen
            else ", and takes what is published meanwhile between two transactions."
        )
    elif not request.source.follow:
        until = "It ends when the source is read."
    elif request.mapping.is_frozen:
        until = "It goes on until somebody stops it, with this state whatever is published meanwhile."
    else:
        until = "It goes on until somebody stops it, and takes what is published meanwhile between two batches."
    lines = (
        f"It maps with {published_words(live)}: {blocks}.",
        f"From {request.source.address}",
        _to(request),
        f"On {request.spark}",
        f"{until} It is a process of its own: closing this window does not stop it.",
    )
    return "Start a production run?", "\n".join(lines)


def _to(request: RunRequest) -> str:
    """Say where messages go, and how often a reader sees each of them."""
    if not is_kafka(request.sink.address):
        dates = ", in folders by date" if request.sink.by_date else ""
        return f"To {request.sink.address}, as {_FORMATS[request.sink.format]}{dates}"
    often = "exactly once for consumers that read committed" if request.policy.lane == "fast" else "at least once"
    aside = f"; set aside into {request.sink.errors}" if request.sink.errors else ""
    return f"To {request.sink.address}, {often}{aside}"


def live_words(live: Sequence[LiveRun]) -> tuple[str, str]:
    """Say which production runs go on, and with which states; and below it one line for each.

    Returns:
        Words of the status bar, and their tooltip; both empty where none goes on.
    """
    if not live:
        return "", ""
    states = [_state_now(run) for run in live]
    newest = f"published state {max(states):,}"
    words = f"Production live · {newest}" if len(live) == 1 else f"{len(live)} production runs live · {newest}"
    lines = (
        f"{source_words(run.order.spec.source.address)}: state {state:,}"
        for run, state in zip(live, states, strict=True)
    )
    return words, "\n".join((*lines, goes_on_words(live)))


def _state_now(run: LiveRun) -> int:
    """Return the state of the last batch or transactions, or what the run began with."""
    if run.order.spec.is_lane:
        return _state_told(run)  # its counts are with Kafka, and nobody waits for that here
    try:
        return report_so_far(run.order).state
    except RunError:
        return run.order.spec.mapping.state


def _state_told(run: LiveRun) -> int:
    """Return the state that a lane told last."""
    try:
        with (run.folder / "events.jsonl").open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _LOOKED_AT_BYTES, 0))
            lines = file.read().splitlines()
    except OSError:
        return run.order.spec.mapping.state
    for line in reversed(lines):
        try:
            event = decode_event(line)
        except msgspec.MsgspecError:
            continue  # the first may be cut, the last may not be whole yet
        if isinstance(event, LaneProgressed):
            return event.state
    return run.order.spec.mapping.state


class _StartRequest(Value):
    """What is asked for: a run of a project, and what is published of it."""

    workbench: Workbench
    request: RunRequest
    live: NamedState | None


class RunStart(QObject):
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
        self._asked: _StartRequest | None = None

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
        if not request.source.address:
            hint = "Choose a file, a folder or topics under From."
            self._refuse("Nothing to map yet.", "No messages are chosen.", hint)
        elif is_production and not request.sink.address:
            hint = "Choose a folder or topics under To."
            self._refuse("Production needs a place for its messages.", "None is chosen.", hint)
        elif request.policy.lane == "fast" and not is_kafka(request.sink.errors):
            hint = "Name an error topic with Topics… under To, or choose batches."
            self._refuse("A fast lane needs a topic for what it sets aside.", "None is named.", hint)
        elif is_production and live is None:
            return  # the mode says so, and offers to publish
        elif is_kafka(request.sink.address) or is_kafka(request.sink.errors):
            self._asked = _StartRequest(workbench, request, live)
            title = "Looking whether the topics are there"
            self._looking.start(title, lambda _watch: topics_wanted(workbench, request), self._found)
        else:
            self._go_on(request, live)

    def forget(self) -> None:
        """Start nothing of what was asked for: its project was closed."""
        self._asked = None
        self._looking.cancel()

    def _found(self, outcome: JobOutcome[tuple[TopicPlan, ...]]) -> None:
        asked = self._asked
        if asked is None:
            return
        if outcome.error is not None:
            self.refused.emit(outcome.error)
        elif outcome.value:
            request = asked.request
            dialog = NewTopicsDialog(
                outcome.value, servers_of(request.sink.address) or servers_of(request.sink.errors), self._over
            )
            dialog.agreed.connect(self._make)
            show(dialog)
        elif outcome.value is not None:
            self._go_on(asked.request, asked.live)

    def _make(self, plans: tuple[TopicPlan, ...]) -> None:
        asked = self._asked
        if asked is not None:
            request = asked.request
            self._looking.start("Making topics", lambda _watch: make_topics(request, plans), self._made)

    def _made(self, outcome: JobOutcome[int]) -> None:
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
        if dialogs.ask(title, text, answers, self._over) == "start":
            self.production_ready.emit(request)

    def _refuse(self, title: str, text: str, hint: str) -> None:
        self.refused.emit(UserError(title, text, hint))
