"""Links in one window: what is in front is copied as a link, and a link leads to its place in its state.

Following a link shows, and does nothing else. What it leads into another project waits until that one is open.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.errors import LinkError, MetlError, UserError
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.history.controller import HistoryController
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.map.side_by_side import SideBySide
from metl_gui.ui.project.linked_places import place_of, review_place, selected_at
from metl_gui.ui.review.page import ReviewPage
from metl_gui.ui.run.page import RunPage
from metl_gui.workbench.links.known_projects import find_project, remember_project
from metl_gui.workbench.links.link import Link, LinkPlace, PlaceKind, read_link
from metl_gui.workbench.links.places import link_to

_OF_RUNS = (PlaceKind.RUN, PlaceKind.SET_ASIDE)


class LinkController(QObject):
    """Copies links and follows them.

    Signals:
        project_wanted: the ``Path`` of the project that a link leads into.

    Args:
        sides: the views of cells, blocks and nodes; links show these in the one that was worked in.
        history: leads to states.
        review, runs: the pages of what waits, and of runs.
    """

    project_wanted = Signal(object)

    def __init__(
        self, context: AppContext, sides: SideBySide, history: HistoryController, review: ReviewPage, runs: RunPage
    ) -> None:
        super().__init__(context.window)
        self._context, self._project = context, context.project
        self._sides, self._history, self._review, self._runs = sides, history, review, runs
        self._finding = NewestJob(context.jobs, self)
        self._waiting: Link | None = None
        self._awaited: Link | None = None
        history.looking.shown.connect(self._state_shown)
        history.looking.failed.connect(self._forget_state)
        self._project.opened.connect(self._opened)

    # copying

    @property
    def place(self) -> LinkPlace | None:
        """The place in front: what is selected, the current review item, or the run that is shown."""
        page = PAGES[self._context.navigate.page] if self._context.navigate.page < len(PAGES) else ""
        if page == "Review" and self._review.list.current is not None:
            return review_place(self._review.list.current.key)
        if page == "Run":
            return self._place_of_run()
        return place_of(self._context.selection.current)

    def copy(self) -> None:
        """Copy a link to the place in front."""
        place = self.place
        if place is None:
            self._context.notify("Select what the link is to lead to.", is_good=False)
        else:
            self.copy_place(place)

    def copy_place(self, place: LinkPlace) -> None:
        """Copy a link to a place of the state that is shown."""
        workbench = self._project.workbench
        if workbench is not None:
            self._take(link_to(workbench.project_id, self._project.value, place))

    def copy_state(self, state: int) -> None:
        """Copy a link to a state."""
        workbench = self._project.workbench
        if workbench is not None:
            self._take(Link(workbench.project_id, state, LinkPlace(PlaceKind.STATE), f"state {state}"))

    def copy_run(self, run_id: str) -> None:
        """Copy a link to a run."""
        self.copy_place(LinkPlace(PlaceKind.RUN, run=run_id))

    def copy_reason(self, reason: str) -> None:
        """Copy a link to what the run that is shown set aside for a reason."""
        run_id = self._runs.run_id
        if run_id:
            self.copy_place(LinkPlace(PlaceKind.SET_ASIDE, run=run_id, reason=reason))

    def _take(self, link: Link) -> None:
        QGuiApplication.clipboard().setText(str(link))
        self._context.notify(f"A link to {link.names} is on the clipboard.")

    def _place_of_run(self) -> LinkPlace | None:
        run_id, record = self._runs.run_id, self._runs.messages.record
        if not run_id:
            return None
        if isinstance(record, SetAsideRecord):
            return LinkPlace(PlaceKind.SET_ASIDE, run=run_id, reason=record.reason, position=record.position or "")
        return LinkPlace(PlaceKind.RUN, run=run_id)

    # following

    def open_copied(self) -> None:
        """Follow the link on the clipboard."""
        self.open(QGuiApplication.clipboard().text())

    def open(self, text: str) -> None:
        """Follow a link: in the open project, or in its own as soon as that is open."""
        self._waiting = self._awaited = None
        try:
            link = read_link(text)
            workbench = self._project.workbench
            if workbench is not None and workbench.project_id == link.project:
                self._follow(link)
                return
        except UserError as error:
            self._project.refused.emit(error)
            return
        near = tuple(self._context.settings.recent)

        def found(outcome: JobOutcome[Path]) -> None:
            if outcome.value is not None:
                self._waiting = link
                self.project_wanted.emit(outcome.value)
            elif outcome.error is not None:
                self._project.refused.emit(outcome.error)

        self._finding.start("Looking for the project", lambda _watch: find_project(link.project, near=near), found)

    def follow_waiting(self) -> None:
        """Follow the link that waited for its project, which is shown now."""
        link, self._waiting = self._waiting, None
        workbench = self._project.workbench
        if workbench is not None:
            remember_project(workbench.project_id, workbench.path)
        if link is not None and workbench is not None and workbench.project_id == link.project:
            try:
                self._follow(link)
            except UserError as error:
                self._project.refused.emit(error)

    def _follow(self, link: Link) -> None:
        looking = self._history.looking
        if link.state > looking.newest:
            name = self._project.workbench.path.name if self._project.workbench is not None else "the project"
            raise LinkError(
                f"State {link.state:,} of the link is not in {name}.",
                f"Its newest state is {looking.newest:,}.",
                "Open a newer copy of the project, or write the number of an earlier state in the link.",
            )
        if link.place.kind in _OF_RUNS:
            self._show_run(link.place)
        elif link.state == looking.newest:
            looking.come_back()
            self._show(link)
        elif link.state == self._project.looks_back:
            self._show(link)
        else:
            self._awaited = link
            looking.look_at(link.state)

    def _state_shown(self) -> None:
        link = self._awaited
        if link is not None and self._project.looks_back == link.state:
            self._awaited = None
            try:
                self._show(link)
            except UserError as error:
                self._project.refused.emit(error)

    def _forget_state(self, _error: MetlError) -> None:
        self._awaited = None

    def _show(self, link: Link) -> None:
        place = link.place
        if place.kind is PlaceKind.STATE:
            self._history.show()
            self._history.panel.choose(link.state)
            return
        selected = selected_at(self._project.value, place)
        if place.kind is PlaceKind.REVIEW:
            self._context.navigate.show_page(PAGES.index("Review"))
            if self._review.list.go_to((place.ids[0], place.ids[1])):
                return
            self._context.notify("Nothing waits for a decision there in this state; its block is shown.")
        self._context.navigate.show_page(PAGES.index("Map"))
        view = self._sides.worked_in
        view.note_jump()
        self._context.selection.choose(selected)
        view.fit_selection()
        view.announce(selected)

    def _show_run(self, place: LinkPlace) -> None:
        self._context.navigate.show_page(PAGES.index("Run"))
        if not self._runs.show_run(place.run):
            raise LinkError(
                "The run of the link is not there.",
                f"The project keeps no run {place.run}; old ones go when there are too many.",
                "Run the same messages again, and look at what that run set aside.",
            )
        if place.kind is PlaceKind.SET_ASIDE:
            self._runs.messages.show_reason(place.reason, place.position)

    def _opened(self, _workbench: object) -> None:
        self._awaited = None
