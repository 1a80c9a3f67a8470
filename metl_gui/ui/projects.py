"""Which project a window has in front: shown, closed, found again next time, and kept as ours while it is edited."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from metl_gui.errors import ProjectHeldError, UserError
from metl_gui.ui import asking
from metl_gui.ui.opening import Prepared
from metl_gui.ui.selection import Selected
from metl_gui.ui.visit import look_again, visit_of
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.ui.window import Window

_BEAT_MS = 30_000


class Projects(QObject):
    """The project in front of one window.

    Signals:
        shown: a project was opened and is shown as it was looked at last.
    """

    shown = Signal()

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._beat = QTimer(self)
        self._beat.setInterval(_BEAT_MS)
        self._beat.timeout.connect(self._tell_alive)
        window.project.opened.connect(self._opened)

    def show(self, workbench: Workbench, prepared: Prepared | None = None) -> None:
        """Show a project that was opened, as it was looked at last.

        Args:
            workbench: the project.
            prepared: what a job has worked out for it; without it that happens here.
        """
        window = self._window
        self.close()
        window.notice.clear()
        if window.settings.who:
            workbench.who = window.settings.who
        if prepared is not None:
            window.map.take_prepared(prepared.content)
        window.project.open(workbench, prepared.review if prepared is not None else None)
        window.settings.remember_project(workbench.path)
        look_again(window, window.settings.visit(workbench.project_id))
        window.settings.last_open = workbench.path
        self.shown.emit()

    def close(self) -> None:
        """Close the project; how it was looked at is kept."""
        window = self._window
        if window.project.workbench is not None:
            self.keep_visit()
            window.selection.choose(Selected())
            window.project.close()
        window.settings.last_open = None

    def open_last(self) -> None:
        """Open the project that was open when the window was closed; one that ends the program is tried once only."""
        window = self._window
        path = window.settings.last_open
        if path is None:
            return
        window.settings.last_open = None  # comes back when it is shown
        if path.is_file():
            window.commands.open(path)
        else:
            window.notify(f"{path.name} is not there any more: {path.parent}", is_good=False)

    def open_path(self, path: Path, source: str = "", shows_live: bool = False) -> None:
        """Open the project named on the command line.

        Args:
            path: the project.
            source: start a test run of it, when one is named.
            shows_live: show the production run that goes on.
        """
        window = self._window

        def run() -> None:
            self.shown.disconnect(run)
            workbench = window.project.workbench
            if workbench is not None and workbench.path.resolve() == path.resolve():  # not another one in its place
                if source:
                    window.run_page.setup.source.setText(source)
                    window.actions_table["run"].trigger()
                if shows_live:
                    window.actions_table["live_run"].trigger()

        if source or shows_live:
            self.shown.connect(run)
        window.commands.open(path)

    def keep_visit(self) -> None:
        """Keep how the project is looked at now, for its next opening."""
        workbench = self._window.project.workbench
        if workbench is None:
            return
        try:
            project_id = workbench.project_id
        except UserError:
            return  # the file is not where it was opened
        self._window.settings.save_visit(project_id, visit_of(self._window))

    def stop(self) -> None:
        """Tell no more that somebody is here."""
        self._beat.stop()

    def _opened(self, workbench: Workbench | None) -> None:
        if workbench is not None and workbench.is_for_editing:
            self._beat.start()
        else:
            self._beat.stop()

    def _tell_alive(self) -> None:
        workbench = self._window.project.workbench
        if workbench is None:
            return
        self.keep_visit()  # a killed window comes back too
        try:
            workbench.beat()
        except ProjectHeldError as error:
            self._beat.stop()
            self._window.facts.refresh()
            asking.tell(error, self._window)
        except UserError as error:
            self._window.notify(str(error), is_good=False)
