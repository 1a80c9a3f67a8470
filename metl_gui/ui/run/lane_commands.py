"""Orders to the lane that is shown, and loads of existing rows through it.

An order says first what it does, and is done when a person agrees. A load is looked at first, done by a job, and told
of afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from metl_gui.core.counted import number_of
from metl_gui.core.progress import Watch
from metl_gui.core.project.named_states import NamedState
from metl_gui.errors import MetlError, RunCancelled
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.lanes.load_dialog import LoadDialog, given_up_words, loaded_words, needs_another, stopped_words
from metl_gui.ui.lanes.orders import (
    FREEZE,
    LOAD,
    ORDERS,
    ROLL_BACK,
    UNFREEZE,
    RollBack,
    RollBackDialog,
    SetBackDialog,
    agreement_words,
    done_words,
    freeze_words,
    unfreeze_words,
)
from metl_gui.ui.run.head import LANE
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.values import Value
from metl_gui.workbench.lanes.control import CoordinationStatus, Lane, find_lane, freeze, roll_back, unfreeze
from metl_gui.workbench.lanes.initial_load import Loadable, LoadPlan, give_up, loadables, loads_of
from metl_gui.workbench.lanes.offset_reset import OffsetResetPlan, OffsetResetResult, repeated_since, set_back
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.publishing.publication import published_states
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.core.runs.lanes import LoadProgress, PartitionReset
    from metl_gui.ui.run.page import RunPage


class _Done(Value):
    """A load that is over, or that nobody waits for any more."""

    words: str
    is_good: bool


class LoadCommands(QObject):
    """Asks for loads and does them; several may go on."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context.window)
        self._context = context
        self._looking = NewestJob(context.jobs, self)
        self.lane: Lane | None = None

    def ask(self, run_id: str) -> None:
        """Look which tables a lane reads, and ask what of them is to be loaded."""
        workbench = self._context.project.workbench
        if workbench is None:
            return

        def facts(_watch: Watch) -> tuple[Lane, tuple[Loadable, ...]]:
            lane = find_lane(workbench, run_id)
            return lane, loadables(lane)

        self._looking.start("Looking which tables the lane reads", facts, self._show)

    def _show(self, outcome: JobOutcome[tuple[Lane, tuple[Loadable, ...]]]) -> None:
        workbench = self._context.project.workbench
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._context.window)
        if outcome.value is None or workbench is None:
            return
        self.lane, tables = outcome.value
        dialog = LoadDialog(self._context.jobs, workbench, self.lane, tables, self._context.window)
        dialog.agreed.connect(self._load)
        dialog.given_up.connect(self._give_up)
        dialog.profiles_wanted.connect(self._show_profiles)
        show_about(self._context.project, dialog)

    def _load(self, plan: LoadPlan) -> None:
        def do(watch: Watch) -> _Done:
            try:
                done = plan.do(watch)
            except RunCancelled:
                return _Done(stopped_words(plan, loads_of(plan.lane)), is_good=False)
            return _Done(loaded_words(plan, done), is_good=not needs_another(done))

        self._context.jobs.start("Loading existing rows", do, self._over)

    def _give_up(self, topics: Sequence[str]) -> None:
        lane = self.lane
        if lane is not None:

            def do(watch: Watch) -> _Done:
                done: tuple[LoadProgress, ...] = give_up(lane, topics, watch)
                return _Done(given_up_words(done), is_good=True)

            self._context.jobs.start("Giving the load up", do, self._over)

    def _over(self, outcome: JobOutcome[_Done]) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._context.window)
        elif outcome.value is not None:
            self._context.notify(outcome.value.words, is_good=outcome.value.is_good)

    def _show_profiles(self) -> None:
        self._context.navigate.show_profiles(ProfileKind.POSTGRESQL)


_LOOK_MS = 1_000
_AGAIN_LOOKS = 30
_Facts = tuple[Lane, tuple[NamedState, ...], "tuple[PartitionReset, ...]"]


class LaneCommands(QObject):
    """Shows how the state of the lane is held, and takes orders.

    Args:
        page: the Run page, which shows the lane.
    """

    def __init__(self, context: AppContext, page: RunPage) -> None:
        super().__init__(context.window)
        self._context, self._page = context, page
        self._finding, self._doing = NewestJob(context.jobs, self), NewestJob(context.jobs, self)
        self.loading = LoadCommands(context)
        self._seen: tuple[str, object] = ("", None)
        self._looks = 0
        self.lane: Lane | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._page.views.order_wanted.connect(self.order)
        self._page.shown.connect(self.look)
        self._page.head.view_wanted.connect(self.look)
        self._timer.start()

    @property
    def run_id(self) -> str:
        """The lane that is shown and goes on; empty for none."""
        run = self._page.production.followed
        return run.run_id if run is not None and run.order.spec.is_lane else ""

    def look(self, _what: object = None) -> None:
        """Ask how the state is held when another lane is shown, its members changed, or it was long ago."""
        is_seen = self._page.views.currentIndex() == LANE and self._page.views.lane.isVisible()
        if not self.run_id or not is_seen:
            return
        now = (self.run_id, self._page.views.lane.lane.members)
        if self._seen[0] != now[0]:
            self.lane = None
        self._looks += 1
        if now != self._seen or self._looks >= _AGAIN_LOOKS:
            self._seen, self._looks = now, 0
            workbench, run_id = self._project(), self.run_id
            if workbench is not None:
                title = "Asking how the state of the lane is held"
                self._finding.start(title, lambda _watch: find_lane(workbench, run_id), self._found, is_quiet=True)

    def order(self, order: str) -> None:
        """Say what an order does, after a look at how things are, and do it when a person agrees."""
        workbench, run_id = self._project(), self.run_id
        if workbench is None or not run_id:
            return
        self._context.navigate.show_page(PAGES.index("Run"))
        if order == LOAD:
            self.loading.ask(run_id)
            return

        def facts(_watch: Watch) -> _Facts:
            lane = find_lane(workbench, run_id)
            since = repeated_since(lane) if order == ROLL_BACK and lane.agreement is not None else ()
            return lane, tuple(published_states(workbench)), since

        asks = {FREEZE: self._ask_freeze, UNFREEZE: self._ask_unfreeze, ROLL_BACK: self._ask_roll_back}
        self._doing.start(f"{ORDERS[order].rstrip('…')}: looking", facts, asks.get(order, self._ask_set_back))

    # asking

    def _ask_freeze(self, outcome: JobOutcome[_Facts]) -> None:
        lane = self._answered(outcome)
        if lane is not None and self._agrees("Freeze the state of the lanes?", freeze_words(lane), "Freeze"):
            self._doing.start("Freezing", lambda _watch: freeze(lane), self._froze)

    def _ask_unfreeze(self, outcome: JobOutcome[_Facts]) -> None:
        lane = self._answered(outcome)
        if lane is not None and self._agrees("Follow what is published?", unfreeze_words(lane), "Follow"):
            self._doing.start("Letting the lanes follow", lambda _watch: unfreeze(lane), self._followed)

    def _ask_roll_back(self, outcome: JobOutcome[_Facts]) -> None:
        lane = self._answered(outcome)
        if lane is None or outcome.value is None:
            return
        _, states, since = outcome.value
        dialog = RollBackDialog(
            lane, sorted(states, key=lambda each: -(each.published_ms or 0)), since, self._context.window
        )
        dialog.agreed.connect(self._roll_back)
        self.lane = lane
        show_about(self._context.project, dialog)

    def _ask_set_back(self, outcome: JobOutcome[_Facts]) -> None:
        lane = self._answered(outcome)
        if lane is not None:
            dialog = SetBackDialog(self._context.jobs, lane, self._context.window)
            dialog.agreed.connect(self._set_back)
            show_about(self._context.project, dialog)

    def _agrees(self, title: str, text: str, does: str) -> bool:
        return dialogs.ask(title, text, [("do", does), ("cancel", "Cancel")], self._context.window) == "do"

    def _answered(self, outcome: JobOutcome[_Facts]) -> Lane | None:
        """Return the lane that was looked at; say why there is none."""
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._context.window)
        if outcome.value is None:
            return None
        lane = outcome.value[0]
        if lane.agreement is None and lane.trouble:
            self._context.notify(lane.trouble, is_good=False)
            return None
        if lane.agreement is not None and lane.agreement.in_force is None:
            self._context.notify("No lane has taken up a state yet; wait until the first one maps.", is_good=False)
            return None
        return lane

    # doing

    def _roll_back(self, chosen: RollBack) -> None:
        workbench, lane = self._project(), self.lane
        if workbench is None or lane is None:
            return
        before = lane.agreement.in_force if lane.agreement is not None else None

        def do(watch: Watch) -> tuple[int, OffsetResetResult | None]:
            # First the state, so that nothing is repeated with the one that is left.
            roll_back(workbench, lane, chosen.state)
            if not chosen.repeats or before is None:
                return chosen.state, None
            return chosen.state, set_back(lane, f"state:{before}").do(watch)

        self._doing.start("Rolling back", do, self._rolled_back)

    def _set_back(self, plan: OffsetResetPlan) -> None:
        self._doing.start("Setting offsets back", plan.do, self._went_back)

    def _froze(self, outcome: JobOutcome[CoordinationStatus]) -> None:
        self._tell_agreed(FREEZE, outcome)

    def _followed(self, outcome: JobOutcome[CoordinationStatus]) -> None:
        self._tell_agreed(UNFREEZE, outcome)

    def _tell_agreed(self, order: str, outcome: JobOutcome[CoordinationStatus]) -> None:
        if outcome.value is not None:
            self._context.notify(done_words(order, outcome.value))
        self._over(outcome.error)

    def _rolled_back(self, outcome: JobOutcome[tuple[int, OffsetResetResult | None]]) -> None:
        if outcome.value is not None:
            state, done = outcome.value
            repeated = f" {_done_words(done)}" if done is not None else ""
            self._context.notify(f"State {state:,} is announced; the lanes take it up once all are ready.{repeated}")
        self._over(outcome.error)

    def _went_back(self, outcome: JobOutcome[OffsetResetResult]) -> None:
        if outcome.value is not None:
            self._context.notify(_done_words(outcome.value), is_good=not outcome.value.waiting)
        self._over(outcome.error)

    def _over(self, error: MetlError | None) -> None:
        if error is not None:
            dialogs.tell(error, self._context.window)
        self._looks = _AGAIN_LOOKS
        self.look()

    def _found(self, outcome: JobOutcome[Lane]) -> None:
        lane = outcome.value
        if lane is None or lane.run_id != self.run_id:
            return
        self.lane = lane
        is_frozen = lane.agreement is not None and lane.agreement.is_frozen
        self._page.views.lane.show_held(agreement_words(lane), is_frozen=is_frozen, is_alone=lane.keeps_its_state)
        self._context.actions.refresh()

    def _project(self) -> Workbench | None:
        return self._context.project.workbench


def _done_words(done: OffsetResetResult) -> str:
    words = f"{number_of(done.done, 'partition')} went back: up to {done.plan.records:,} records are mapped again."
    waits = f" {number_of(done.waiting, 'partition')} will go back when a task has it." if done.waiting else ""
    return words + waits
