"""The history in one window: looking back, the panel and the strip on the Map page, what is done from there.

While the states go by, one stands at the same place of the plane in each, whatever a state in between lacked.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from metl_gui.core.changes.draft import Transition
from metl_gui.core.counted import number_of
from metl_gui.core.edits.titles import past_tense
from metl_gui.errors import MetlError, UserError
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.history.difference import DifferenceRow, selected_of
from metl_gui.ui.history.earlier_state import EarlierStateController, PastBanner
from metl_gui.ui.history.panel import HistoryPanel
from metl_gui.ui.history.production_state import ProductionState
from metl_gui.ui.history.publish_dialog import PublishDialog
from metl_gui.ui.history.time_strip import TimeStrip
from metl_gui.ui.history.why_panel import WhyPanel
from metl_gui.ui.jobs.jobs import JobOutcome
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.map.side_by_side import SideBySide
from metl_gui.ui.matrix.layout.camera import Camera, Viewpoint, camera_of
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.text import ago
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.ui.widgets.dock import Dock
from metl_gui.workbench.history.states import PastState, find_state, together
from metl_gui.workbench.publishing.publication import PublishResult, publish
from metl_gui.workbench.session import EditOrigin


class ViewpointRestorer(QObject):
    """Keeps the places from which somebody began to look back until they move themselves, one for each view.

    Args:
        sides: the views that stay where they are.
        looking: tells when it leaves a state and when it has arrived.
    """

    def __init__(
        self, project: OpenProject, sides: SideBySide, looking: EarlierStateController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._project, self._sides = project, sides
        self._places: dict[MatrixView, Viewpoint] = {}
        self._cameras: dict[MatrixView, Camera | None] = {}
        looking.leaving.connect(self._leave)
        looking.shown.connect(self._arrive)
        project.opened.connect(self._forget)

    def _leave(self) -> None:
        for view in self._sides.views:
            if view not in self._places or self._cameras.get(view) != view.camera:
                place = view.place()
                self._places = {other: kept for other, kept in self._places.items() if other is not view}
                self._places |= {view: place} if place is not None else {}

    def _arrive(self) -> None:
        for view in self._sides.views:
            content, place = view.content, self._places.get(view)
            if place is not None and content is not None and len(content.columns.runs) and len(content.rows.runs):
                view.look(camera_of(content, view.frame, place))
            self._cameras[view] = view.camera
        if self._project.looks_back is None:
            self._forget()

    def _forget(self, _workbench: object = None) -> None:
        self._places = {}


_COMPARABLE = "Projects and exports (*.metl *.json);;All files (*)"
_HISTORY_PX = 420
_WHY_PX = 320


class HistoryController(QObject):
    """Joins the parts.

    Args:
        page: gets the docks and the strip.

    Signals:
        link_wanted: the number of a state that a link is wanted to.
    """

    link_wanted = Signal(object)

    def __init__(self, context: AppContext, page: MapPage) -> None:
        super().__init__(context.window)
        self._context, self._page = context, page
        project, jobs = context.project, context.jobs
        self.live = ProductionState(project, context.window)
        self.looking = EarlierStateController(project, context.selection, jobs, self)
        self.standpoint = ViewpointRestorer(project, page.sides, self.looking, self)
        self.banner = PastBanner(project, self.looking)
        self.panel = HistoryPanel(project, self.looking, self.live, jobs)
        self.strip = TimeStrip(project, self.looking, self.live, jobs)
        self.why = WhyPanel(project, context.selection, self.looking, jobs)
        self.dock = Dock("historyDock", "History", self.panel)
        self.why_dock = Dock("whyDock", "Why", self.why)
        page.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.dock)
        page.tabifyDockWidget(page.block_dock, self.dock)
        page.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.why_dock)
        self.dock.hide()
        self.why_dock.hide()
        self.why.told.connect(self._tell_why)
        page.add_below_matrix(self.strip)
        self.strip.setVisible(context.settings.shows_time)
        self._is_seen = False
        self._is_laid_out = self._is_why_laid_out = False
        self.panel.told.connect(self._tell)
        self.panel.menu_wanted.connect(self._show_menu)
        self.panel.difference.chosen.connect(self._go_to)
        self.banner.back_wanted.connect(self.looking.come_back)
        self.banner.undo_wanted.connect(self.ask_and_undo)
        self.banner.comparison_wanted.connect(self.compare_with_now)
        self.panel.difference.told.connect(self._show_marks)
        self.dock.visibilityChanged.connect(self._seen)
        self.looking.shown.connect(self._show_marks)
        self.looking.failed.connect(self._refuse)

    # what is seen

    def show(self) -> None:
        """Show the history with the keyboard on it."""
        self._context.navigate.show_page(PAGES.index("Map"))
        is_new = self.dock.isHidden() and not self._is_laid_out
        _front(self.dock, self.panel.view)
        if is_new:  # beside the block editor it would have a few lines only; from then on it is as a person makes it
            self._is_laid_out = True
            self._page.resizeDocks([self.dock], [themes.px(_HISTORY_PX)], Qt.Orientation.Vertical)

    def show_why(self) -> None:
        """Show who mapped what is selected, with the keyboard on it."""
        self._context.navigate.show_page(PAGES.index("Map"))
        is_new = self.why_dock.isHidden() and not self._is_why_laid_out
        _front(self.why_dock, self.why.view)
        self.why.read()
        if is_new:
            self._is_why_laid_out = True
            self._page.resizeDocks([self.why_dock], [themes.px(_WHY_PX)], Qt.Orientation.Vertical)

    def show_strip(self, is_shown: bool) -> None:
        """Show the time slider with the keyboard on it, or hide it."""
        if is_shown:
            self._context.navigate.show_page(PAGES.index("Map"))
        self.strip.setVisible(is_shown)
        self._context.settings.shows_time = is_shown
        if is_shown:
            self.strip.take_focus()

    def refresh(self) -> None:
        """Read again what is known of states beside the edits: names, what is published, runs."""
        self.live.look()
        self.panel.read_soon()
        self.strip.read_soon()
        self.looking.look_again()

    def read_runs(self, _outcome: object = None) -> None:
        """Read the runs again: one has begun to be a mark of its state."""
        self.panel.read_soon()
        self.strip.read_soon()

    # what is done

    def step(self, by: int) -> None:
        """Look at the state some steps on, or back."""
        self.strip.step(by)

    def compare_with_now(self) -> None:
        """Compare the state that is meant with the newest one."""
        meant = self.meant
        if meant is not None:
            self.show()
            self.panel.compare(meant, None, f"From state {meant:,} to now, state {self.looking.newest:,}")

    def follow_live(self) -> None:
        """Compare the live state with the one that the window shows."""
        self.compare_with_live(self._context.project.looks_back or self.looking.newest)

    def compare_with_live(self, state: int | None = None) -> None:
        """Compare the live state with another one: the one that is meant, which is the newest one where none is."""
        live = self.live.number
        if live is None:
            self._context.notify("Nothing is published yet, so there is nothing live to compare with.")
            return
        meant = state or self.meant or self.looking.newest
        self.show()
        words = "now" if meant == self.looking.newest else f"state {meant:,}"
        if meant >= live:
            self.panel.compare(live, meant, f"From what is live, state {live:,}, to {words}")
        else:
            self.panel.compare(meant, live, f"From {words} to what is live, state {live:,}")

    def ask_and_compare_file(self) -> None:
        """Ask for another project or export, and compare it with the newest state."""
        workbench = self._context.project.workbench
        if workbench is None:
            return
        folder = str(workbench.path.parent)
        name, _ = QFileDialog.getOpenFileName(
            self._context.window, "Project or export to compare with", folder, _COMPARABLE
        )
        if name:
            self.compare_file(Path(name))

    def compare_file(self, path: Path) -> None:
        """Compare another project or export with the newest state."""
        self.show()
        self.panel.compare_file(path)

    def ask_and_undo(self) -> None:
        """Take back the edit that made the state that is meant, after one question that names it."""
        if self.meant is not None:
            self.ask_to_undo(self.meant)

    def ask_to_undo(self, state: int) -> None:
        """Take back the edit that made a state, after one question that names it."""
        workbench, past = self._context.project.workbench, self._past(state)
        if past is None or workbench is None:
            return
        try:
            count = together(workbench, past)
            title = workbench.title_of_group(state) if count > 1 else past.title
        except UserError as error:
            dialogs.tell(error, self._context.window)
            return
        others = f"It made {count:,} states together, which all go back. " if count > 1 else ""
        text = (
            f"{past.who} did it {ago(past.when_ms)}. {others}What was done elsewhere since stays. "
            "It makes a new state, which can be undone too."
        )
        answers = [("undo", "Undo it"), ("cancel", "Cancel")]
        if dialogs.ask(f"Undo “{title}”?", text, answers, self._context.window) == "undo":
            self.undo(past)

    def undo_of(self, state: int) -> None:
        """Take back the edit that made a state at once."""
        past = self._past(state)
        if past is not None:
            self.undo(past)

    def _past(self, state: int) -> PastState | None:
        """Read about a state; where the file cannot be asked, say so and return ``None``."""
        workbench = self._context.project.workbench
        try:
            return find_state(workbench, state) if workbench is not None else None
        except UserError as error:
            dialogs.tell(error, self._context.window)
            return None

    def undo(self, past: PastState) -> None:
        """Take back the edit that made a state; a refusal says what stands in the way."""
        context = self._context
        workbench = context.project.workbench
        if workbench is None:
            return

        def done(outcome: JobOutcome[Transition]) -> None:
            if outcome.error is not None:
                dialogs.tell(outcome.error, context.window)
            if context.project.workbench is workbench and outcome.value is not None:
                self.looking.come_back()
                context.project.catch_up()
                context.notify(f"{past_tense(outcome.value.title)}.")

        context.jobs.start(
            f"Undoing state {past.state:,}", lambda _watch: workbench.undo_state(past.state, EditOrigin.WINDOW), done
        )

    def ask_and_publish(self) -> None:
        """Show what publishing the state means, and ask once."""
        context = self._context
        workbench = context.project.workbench
        if workbench is None:
            return
        state = self.meant or self.looking.newest
        past = find_state(workbench, state)
        name = past.name if past is not None else ""
        dialog = PublishDialog(workbench, state, name, self.live.state, context.jobs, context.window)
        dialog.wanted.connect(self._publish)
        show_about(context.project, dialog)

    def _publish(self, wanted: tuple[int, str]) -> None:
        context = self._context
        workbench, (state, name) = context.project.workbench, wanted
        if workbench is None:
            return

        def done(outcome: JobOutcome[PublishResult]) -> None:
            if outcome.error is not None:
                dialogs.tell(outcome.error, context.window)
            if context.project.workbench is workbench:
                self.refresh()
                if outcome.value is not None:
                    context.notify(_published_words(outcome.value))

        context.jobs.start(f"Publishing state {state:,}", lambda _watch: publish(workbench, state, name), done)

    @property
    def meant(self) -> int | None:
        """The state that is meant: the one that is looked at, else the one on which the keyboard is in the history."""
        looks_back = self._context.project.looks_back
        if looks_back is not None:
            return looks_back
        chosen = self.panel.chosen if self.panel.view.hasFocus() else ()
        return chosen[0].state if len(chosen) == 1 else None

    def _go_to(self, row: DifferenceRow) -> None:
        context = self._context
        selected = selected_of(context.project.value, row)
        if selected.source is None and selected.target is None:
            context.notify("The state that is shown does not have it.", is_good=False)
        else:
            context.selection.choose(selected)

    def _show_menu(self, asked: tuple[tuple[PastState, ...], QPoint]) -> None:
        chosen, at = asked
        menu = QMenu(self.panel)
        table = self._context.actions
        table.refresh()
        for id_ in ("compare_with_now", "compare_with_live", "undo_state", "name_state", "publish"):
            menu.addAction(table[id_])
        menu.addSeparator()
        menu.addAction("Copy as text", self.panel.copy)
        if len(chosen) == 1:
            menu.addAction("Copy link").triggered.connect(lambda: self.link_wanted.emit(chosen[0].state))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    def _seen(self, is_seen: bool) -> None:
        self._is_seen = is_seen
        self._show_marks()

    def _show_marks(self, _what: object = None) -> None:
        """Mark in the matrix what two compared states differ in, or what the state that is looked at changed."""
        compared, looks_back = self.panel.difference.compared, self._context.project.looks_back
        is_meant = compared is not None and (not compared.asked.is_step or compared.asked.after == looks_back)
        has_marks = compared is not None and is_meant and self._is_seen
        self._page.matrix.show_difference(compared.marks if compared is not None and has_marks else None)
        self._context.actions.refresh()  # there is a way to the next difference now, or none

    def _tell(self, facts: str) -> None:
        self.dock.say("History", facts)

    def _tell_why(self, facts: str) -> None:
        self.why_dock.say("Why", facts)

    def _refuse(self, error: MetlError) -> None:
        self._context.notify(str(error), is_good=False)


def _published_words(published: PublishResult) -> str:
    name = f", {published.name}," if published.name else ""
    if not published.is_new:
        return f"State {published.state:,}{name} is live already."
    held = f" {number_of(published.held, 'block')} held back until reviewed." if published.held else ""
    return f"State {published.state:,}{name} is live now: production runs and exports use it.{held}"


def _front(dock: Dock, panel: QWidget) -> None:
    dock.show()
    dock.raise_()
    panel.setFocus(Qt.FocusReason.ShortcutFocusReason)
