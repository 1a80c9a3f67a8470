"""What would end the run or load that this window does: quitting, the end of the session, another project in its place.

All ask first, in the same way: wait for the run, stop it, or stay; they ask about other jobs that say what stopping
costs, too: imports, rebuilds and audits of a warehouse. Production runs are processes of their own that go on without
the window, so that nobody is asked about them: the question names them, and the next opening of the project tells what
they did meanwhile. Loads of a warehouse are the window's own, in production too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QProgressBar, QWidget

from metl_gui.core.progress import Progress
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.ui.jobs.jobs import Job, JobOutcome
from metl_gui.ui.run.head import show_share
from metl_gui.ui.run.meanwhile import goes_on_words
from metl_gui.ui.run.processes import RunningLoad
from metl_gui.ui.widgets.dialogs import QuestionDialog
from metl_gui.ui.widgets.labels import Elided
from metl_gui.values import Value
from metl_gui.workbench.runs.mapping_run import RunRequest, RunResult

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window
    from metl_gui.workbench.loads.warehouse_loads import LoadedRun

_WAIT, _STOP, _STAY = "wait", "stop", "cancel"


class EndingStep(Value):
    """What a person wants to do that the run would not survive.

    Args:
        title: it in words, as a question begins: ``Open shop``.
        words: as a button says it: ``open it``.
        then: what happens at last: ``shop is opened``.
    """

    title: str
    words: str
    then: str


QUITTING = EndingStep("Quit", "quit", "METL Workbench quits by itself")


def opening(name: str) -> EndingStep:
    """Return the step that shows another project."""
    return EndingStep(f"Open {name}", "open it", f"{name} is opened")


def closing(name: str) -> EndingStep:
    """Return the step that closes the project."""
    return EndingStep(f"Close {name}", "close it", f"{name} is closed")


class Session(Protocol):
    """What is asked of Qt's ``QSessionManager``, when the person logs out or the computer is shut down."""

    def allowsInteraction(self) -> bool:
        """Ask whether the person may be asked."""

    def release(self) -> None:
        """Say that nothing is asked any more."""

    def cancel(self) -> None:
        """Ask that the session goes on."""


class RunQuestion(QuestionDialog):
    """Says what goes on and how far it is, and asks; it stays until the run or the person ends it.

    Args:
        step: what is wanted.
        kind: what goes on: ``test run``.
        text: what stopping would cost.
        has_end: waiting for it makes sense.

    Signals:
        chosen: ``wait``, ``stop`` or ``cancel``, each as often as it is pressed.
    """

    chosen = Signal(object)

    def __init__(self, step: EndingStep, kind: str, text: str, has_end: bool, parent: QWidget | None = None) -> None:
        wait = [(_WAIT, f"Wait, then {step.words}")] if has_end else []
        answers = [*wait, (_STOP, f"Stop and {step.words}"), (_STAY, "Cancel")]
        article = "an" if kind[0] in "aeiou" else "a"
        super().__init__(f"{step.title} while {article} {kind} goes on?", text, answers, parent)
        self._step, self._kind = step, kind
        self.facts = Elided("", "dim")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(f"Progress of the {kind}")
        self.insert(self.bar, self.facts)
        self.setAccessibleDescription(text)

    def show_progress(self, facts: str, share: float) -> None:
        """Say how far the run is."""
        self.facts.setText(facts)
        self.bar.setAccessibleDescription(facts)
        show_share(self.bar, share)

    def wait(self) -> None:
        """Say that the run is waited for; that can be taken back."""
        text = f"When it is finished, {self._step.then}. If it fails, this window stays and says why."
        self._say_on(f"Waiting for the {self._kind}", text, _WAIT)

    def stop(self) -> None:
        """Say that the run is being stopped."""
        self._say_on(f"Stopping the {self._kind}", f"In a moment {self._step.then}.", _WAIT, _STOP)

    def reject(self) -> None:
        """Take Esc, and the dialog's own X, for staying."""
        self.chosen.emit(_STAY)

    def _say_on(self, title: str, text: str, *answered: str) -> None:
        self.say(title, text)
        self.setAccessibleDescription(text)
        for id_ in answered:
            if id_ in self.buttons:
                self.buttons[id_].hide()
        stay = self.buttons[_STAY]
        stay.setText(f"Do not {self._step.words}")
        stay.updateGeometry()
        stay.setDefault(True)
        stay.setFocus(Qt.FocusReason.OtherFocusReason)

    def _pressed(self, answer: str) -> None:
        self.chosen.emit(answer)


class ShutdownController(QObject):
    """Asks before a step that would end the run of one window.

    Signals:
        answered: the question was answered, or the run has ended before.
    """

    answered = Signal()

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self.question: RunQuestion | None = None
        self._answer = ""
        self._then: Callable[[], object] = window.close
        self._otherwise: Callable[[], object] | None = None
        self._step = QUITTING
        self._load: RunningLoad | None = None
        self._job: Job | None = None
        self._load_progress: Progress | None = None
        window.spark.told.connect(self._show_progress)
        window.spark.load_progressed.connect(self._show_load)
        window.spark.ended.connect(self._spark_ended)
        window.spark.loaded.connect(self._spark_ended)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.commitDataRequest.connect(self.session_ends, Qt.ConnectionType.DirectConnection)

    def before(
        self, step: EndingStep, then: Callable[[], object], otherwise: Callable[[], object] | None = None
    ) -> None:
        """Do a step, at once where no run goes on in this window; else when the person has decided on that.

        Args:
            step: what it is, in words.
            then: does it.
            otherwise: called instead where the person stays.
        """
        if not self.has_to_ask():
            then()
            return
        if self.question is None:
            self._step, self._then, self._otherwise, self._answer = step, then, otherwise, ""
            self._load, self._job = self._window.spark.loading, None
            if not self._window.spark.is_running:
                self._job = self._window.jobs.lasting
            if self._job is not None:
                self._job.progressed.connect(self._show_job)
                self._job.ended.connect(self._job_ended)
            self.question = RunQuestion(step, self._kind, self._cost(), self._has_end, self._window)
            self.question.chosen.connect(self._chosen)
            self._show_progress()
            self._show_load(self._load_progress)
            self.question.open()
        elif otherwise is not None:  # one step at a time
            otherwise()
        self.question.raise_()
        self.question.activateWindow()

    def session_ends(self, session: Session) -> None:
        """Ask when the person logs out or shuts down; where nobody can be asked, stop the run, so that it is kept."""
        if not self.has_to_ask():
            return
        loop = QEventLoop()
        self._window.spark.ended.connect(loop.quit)
        self._window.spark.loaded.connect(loop.quit)
        self._window.jobs.changed.connect(loop.quit)
        self.answered.connect(loop.quit)
        may_ask = session.allowsInteraction()
        if may_ask:
            self.before(QUITTING, self._window.close)
            loop.exec()
            if self.has_to_ask() and self._answer != _STOP:
                session.cancel()
                return
        else:
            self._stop(*(job for job in self._window.jobs.running if job.cost))
        while self.has_to_ask():
            loop.exec()
        if may_ask:
            session.release()

    def has_to_ask(self) -> bool:
        """Whether something goes on that leaving would end."""
        return self._window.spark.is_running or self._window.jobs.lasting is not None

    @property
    def _request(self) -> RunRequest | None:
        return self._window.run_page.last_request

    @property
    def _kind(self) -> str:
        if self._job is not None:
            return self._job.title[0].lower() + self._job.title[1:]
        if self._load is not None:
            return self._load.kind
        return "replay" if self._request is not None and self._request.is_replay else "test run"

    @property
    def _has_end(self) -> bool:
        one_of = self._load is not None or self._job is not None
        return one_of or self._request is None or not self._request.source.follow

    def _cost(self) -> str:
        """Say what is there when it is stopped, and what goes on all the same."""
        text = self._own_cost()
        alone = goes_on_words(self._window.run_page.production.live)
        return f"{text} {alone}" if alone else text

    def _own_cost(self) -> str:
        request = self._request
        if self._job is not None:
            return self._job.cost
        if self._load is not None:
            if self._load.is_dry:
                return "It only finds out what a load would do, so that nothing is lost if you stop it."
            return f"If you stop it, nothing of it is in {self._load.target}: what was loaded before stays as it was."
        if request is not None and request.in_batches:
            stays = "what it has put in place stays"
        elif request is not None and is_kafka(request.sink.address):
            stays = "what it has sent stays in its topics"
        else:
            stays = "none of its messages is kept"
        return f"If you stop it, {stays}; the run history lists it with what it had counted by then."

    def _show_progress(self, _event: object = None) -> None:
        own = self._window.run_page.own
        if self.question is not None and self._job is None and own is not None:
            self.question.show_progress(own.facts, own.share)

    def _show_load(self, progress: Progress | None) -> None:
        self._load_progress = progress
        if self.question is not None and self._load is not None and progress is not None:
            self._show_share(progress)

    def _show_job(self, progress: Progress) -> None:
        if self.question is not None and self._job is not None:
            self._show_share(progress)

    def _show_share(self, progress: Progress) -> None:
        if self.question is not None:
            share = progress.done / progress.total if progress.total else -1.0
            self.question.show_progress(progress.text, share)

    def _chosen(self, answer: str) -> None:
        question, self._answer = self.question, answer
        if question is None:
            return
        if answer == _WAIT:
            question.wait()
        elif answer == _STOP:
            question.stop()
            self._stop(*([] if self._job is None else [self._job]))
        else:
            self._close_question()
            if self._otherwise is not None:
                self._otherwise()
        self.answered.emit()

    def _stop(self, *jobs: Job) -> None:
        """Stop some jobs, and the run or load where there is one."""
        for job in jobs:
            job.cancel()
        if self._window.spark.loading is not None:
            self._window.spark.stop()
        elif self._window.spark.is_running:
            self._window.run_page.stop()

    def _spark_ended(self, outcome: JobOutcome[RunResult] | JobOutcome[LoadedRun]) -> None:
        self._load_progress = None
        if self._job is None:
            self._ended(outcome)

    def _job_ended(self, end: tuple[Job, JobOutcome[Any]]) -> None:
        _, outcome = end
        self._ended(outcome)
        self._job = None

    def _ended(self, outcome: JobOutcome[Any]) -> None:
        if self.question is None:
            return
        kind, has_failed = self._kind, outcome.error is not None
        self._close_question()
        if self._answer == _STOP or (self._answer == _WAIT and not has_failed):
            QTimer.singleShot(0, self, self._then)  # who else hears of the end of the run comes first
            return
        if self._otherwise is not None:
            self._otherwise()
            return
        if has_failed:
            if self._job is None:
                self._window.show_page(2 if self._load is None else 3)
            self._window.notify(f"The {kind} failed; you did not {self._step.words} yet.", is_good=False)
        else:
            said = f"The {kind} has ended. Nothing is lost any more by what you wanted to do."
            self._window.notify(said, self._step.title, self._then, is_good=False)

    def _close_question(self) -> None:
        question, self.question = self.question, None
        if question is not None:
            question.done(0)
            question.deleteLater()
