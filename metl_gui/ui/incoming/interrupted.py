"""Says that an import was interrupted, and goes on with it or forgets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from metl_gui.core.project.pending_imports import Remainder
from metl_gui.ui.jobs import Outcome
from metl_gui.ui.naming import number_of
from metl_gui.ui.newest_job import NewestJob
from metl_gui.workbench.importing import remainders
from metl_gui.workbench.resuming import words
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


class Interrupted(QObject):
    """What imports into the project of one window have still to add."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._looking = NewestJob(window.jobs, self)
        self.left: tuple[Remainder, ...] = ()
        window.project.opened.connect(self._opened)

    @property
    def is_there(self) -> bool:
        """Whether something is left to do."""
        return bool(self.left)

    def look(self) -> None:
        """Find out what is left, and say it."""
        workbench = self._window.project.workbench
        if workbench is not None and workbench.is_for_editing and workbench.kept.pending_imports.all():
            self._looking.start("Looking at an interrupted import", lambda _watch: remainders(workbench), self._say)
        else:
            self._keep(())

    def forget(self) -> None:
        """Let it go; what was added stays."""
        workbench = self._window.project.workbench
        if workbench is None:
            return
        count = sum(len(left.declarations) for left in self.left)
        for left in self.left:
            workbench.kept.pending_imports.end(left.began.id)
        self._keep(())
        self._window.notify(f"{number_of(count, 'version')} of the interrupted import will not be added.")

    def _opened(self, workbench: Workbench | None) -> None:
        self._looking.cancel()
        self._keep(())
        if workbench is not None:
            self.look()

    def _say(self, outcome: Outcome[tuple[Remainder, ...]]) -> None:
        self._keep(outcome.value or ())
        for left in self.left:
            self._window.notify(words(left), "Go on", self._window.commands.resume_imports, is_good=False)

    def _keep(self, left: tuple[Remainder, ...]) -> None:
        self.left = left
        self._window.actions_table.refresh()
