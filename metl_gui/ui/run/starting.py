"""What comes before a run: what is missing is said, and production is asked about."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from metl_gui.errors import UserError
from metl_gui.store.states import NamedState
from metl_gui.ui import asking
from metl_gui.ui.run.production_words import question_about
from metl_gui.workbench.running import PRODUCTION, RunRequest


class Starting(QObject):
    """Leads from what the fields ask for to a run that can be started.

    Signals:
        test_ready, production_ready: a ``RunRequest`` that nothing is missing of.
        refused: a ``UserError``: something is missing.

    Args:
        over: the widget that questions lie over.
    """

    test_ready = Signal(object)
    production_ready = Signal(object)
    refused = Signal(object)

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over

    def begin(self, request: RunRequest, live: NamedState | None) -> None:
        """Look whether a run can be started, ask what must be asked, and say that it is ready.

        Args:
            request: what the fields ask for.
            live: the published state that production uses, ``None`` for none.
        """
        is_production = request.mode == PRODUCTION
        if not request.source:
            self._refuse("Nothing to map yet.", "No messages are chosen.", "Choose a file or a folder under From.")
        elif is_production and not request.sink:
            self._refuse("Production needs a place for its messages.", "No folder is chosen.", "Choose one under To.")
        elif not is_production:
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
