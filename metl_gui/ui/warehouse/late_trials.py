"""What late messages would do to the key that the timeline shows; the target is read once for a key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from metl_gui.core.dimensional.loads.key_history import KeyHistory
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.warehouse.page import WarehousePage
from metl_gui.ui.warehouse.target_mode import state_reader
from metl_gui.ui.warehouse.timeline import LateMove
from metl_gui.ui.widgets import dialogs

if TYPE_CHECKING:
    from metl_gui.workbench.loads.late_messages import LateQuestions, WouldBe


class LateTrials(QObject):
    """Answers what the timeline asks, off the window's thread; of several questions the newest.

    Args:
        context: what controllers share.
        page: with the timeline.
    """

    def __init__(self, context: AppContext, page: WarehousePage) -> None:
        super().__init__(context.window)
        self._project, self._page = context.project, page
        self._reading, self._asking = NewestJob(context.jobs, self), NewestJob(context.jobs, self)
        self._history: KeyHistory | None = None
        self._questions: LateQuestions | None = None
        self._move: LateMove | None = None
        self._is_reading = False
        page.timeline.late_wanted.connect(self.ask)

    def begin(self, history: KeyHistory | None) -> None:
        """Take up another key; nothing is read before something is asked."""
        self._reading.cancel()
        self._asking.cancel()
        self._history, self._questions, self._move, self._is_reading = history, None, None, False

    def ask(self, move: LateMove | None) -> None:
        """Find out what a message would do, or ask nothing any more."""
        self._move, history = move, self._history
        if move is None or history is None:
            self._asking.cancel()
        elif self._questions is not None:
            task = partial(_answer, self._questions, move, self._page.timeline.other_values)
            self._asking.start("What a late message would do", task, self._answered, is_quiet=True)
        elif not self._is_reading:
            self._is_reading = True
            target, model = self._page.load.target_text, self._page.model.name
            state = state_reader(self._project, self._page.load.mode.mode)
            reading = partial(_read, state, target, history, model)
            self._reading.start(f"Reading a key of {history.table}", reading, self._read)

    def _read(self, outcome: JobOutcome[LateQuestions]) -> None:
        self._is_reading, self._questions = False, outcome.value
        if outcome.value is not None:
            self.ask(self._move)
        elif outcome.error is not None:
            self._page.timeline.show_would_be(dialogs.in_one_line(outcome.error), ())

    def _answered(self, outcome: JobOutcome[WouldBe]) -> None:
        if outcome.value is not None:
            self._page.timeline.show_would_be(outcome.value.words, outcome.value.versions)
        elif outcome.error is not None:
            self._page.timeline.show_would_be(dialogs.in_one_line(outcome.error), ())


# Tasks of jobs. What they import would keep the window from being shown: parsers of SQL, and the database.


def _read(state: Callable[[], Document], target: str, history: KeyHistory, model: str, _watch: Watch) -> LateQuestions:
    from metl_gui.workbench.loads.late_messages import late_questions

    return late_questions(state(), target, history.table, history.key, model)


def _answer(questions: LateQuestions, move: LateMove, values: dict[str, str], _watch: Watch) -> WouldBe:
    from metl_gui.workbench.loads.late_messages import would_be

    return would_be(questions, move.message, move.holds_from, values)
