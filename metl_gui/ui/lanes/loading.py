"""Loads through the lane that is shown: looked at first, done beside the window, and told of afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from metl_gui.errors import RunCancelled
from metl_gui.ui import asking
from metl_gui.ui.jobs import Outcome
from metl_gui.ui.lanes.load_dialog import LoadDialog
from metl_gui.ui.lanes.load_words import given_up_words, loaded_words, needs_another, stopped_words
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.showing import show_about
from metl_gui.workbench.lanes import Lane, find_lane
from metl_gui.workbench.loading import Loadable, LoadPlan, give_up, loadables, loads_of
from metl_gui.workbench.profile_kinds import Kind
from metl_gui.workbench.progress import Watch

if TYPE_CHECKING:
    from metl_gui.engine.loading.lane_loads import LoadProgress
    from metl_gui.ui.window import Window


@dataclass(frozen=True)
class _Done:
    """A load that is over, or that nobody waits for any more."""

    words: str
    is_good: bool


class LaneLoading(QObject):
    """Asks for loads and does them; several may go on.

    Args:
        window: whose Run page shows the lane.
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._looking = NewestJob(window.jobs, self)
        self.lane: Lane | None = None

    def ask(self, run_id: str) -> None:
        """Look which tables a lane reads, and ask what of them is to be loaded."""
        workbench = self._window.project.workbench
        if workbench is None:
            return

        def facts(_watch: Watch) -> tuple[Lane, tuple[Loadable, ...]]:
            lane = find_lane(workbench, run_id)
            return lane, loadables(lane)

        self._looking.start("Looking which tables the lane reads", facts, self._show)

    def _show(self, outcome: Outcome[tuple[Lane, tuple[Loadable, ...]]]) -> None:
        workbench = self._window.project.workbench
        if outcome.error is not None:
            asking.tell(outcome.error, self._window)
        if outcome.value is None or workbench is None:
            return
        self.lane, tables = outcome.value
        dialog = LoadDialog(self._window.jobs, workbench, self.lane, tables, self._window)
        dialog.agreed.connect(self._load)
        dialog.given_up.connect(self._give_up)
        dialog.profiles_wanted.connect(self._show_profiles)
        show_about(self._window.project, dialog)

    def _load(self, plan: LoadPlan) -> None:
        def do(watch: Watch) -> _Done:
            try:
                done = plan.do(watch)
            except RunCancelled:
                return _Done(stopped_words(plan, loads_of(plan.lane)), is_good=False)
            return _Done(loaded_words(plan, done), is_good=not needs_another(done))

        self._window.jobs.start("Loading existing rows", do, self._over)

    def _give_up(self, topics: Sequence[str]) -> None:
        lane = self.lane
        if lane is not None:

            def do(watch: Watch) -> _Done:
                done: tuple[LoadProgress, ...] = give_up(lane, topics, watch)
                return _Done(given_up_words(done), is_good=True)

            self._window.jobs.start("Giving the load up", do, self._over)

    def _over(self, outcome: Outcome[_Done]) -> None:
        if outcome.error is not None:
            asking.tell(outcome.error, self._window)
        elif outcome.value is not None:
            self._window.notify(outcome.value.words, is_good=outcome.value.is_good)

    def _show_profiles(self) -> None:
        self._window.configuring.show_profiles(kind=Kind.POSTGRESQL)
