"""What the Run page leads to beyond itself: versions to add, blocks to review, replays, topics.

``RunLinks`` follows its numbers: from a figure to what it counts, from two runs to what differs. ``TopicCommands``
leads to the topics that it reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.runs.run_spec import Mode, ReplayOrder, RunPolicy, SinkSpec, SourceSpec
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.ui.charts.figures import KERNEL, READ
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.history.production_state import ProductionState
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.kafka.sink_dialog import SinkDialog
from metl_gui.ui.kafka.source_dialog import SourceDialog
from metl_gui.ui.map.side_by_side import SideBySide
from metl_gui.ui.messages.pairs import RecordLink
from metl_gui.ui.messages.set_aside import ADD, GO, REVIEW, next_step, reason_words
from metl_gui.ui.project.linked_places import selected_at
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.review.commands import ReviewCommands
from metl_gui.ui.run.comparison import ENTITY, REASON, ComparisonCell
from metl_gui.ui.run.history import RunEntry
from metl_gui.ui.run.lane_commands import LaneCommands
from metl_gui.ui.run.meanwhile import Meanwhile
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.importing.version_tasks import REASONS, version_tasks
from metl_gui.workbench.links.link import PlaceKind
from metl_gui.workbench.links.set_aside import Mending, mending_place, topic_of
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.runs.fill_rates import AttributeFilled
from metl_gui.workbench.runs.history import compare_runs
from metl_gui.workbench.runs.mapping_run import PRODUCTION, TEST, RunRequest
from metl_gui.workbench.runs.replay import what_waits
from metl_gui.workbench.runs.set_aside_records import set_aside_records

if TYPE_CHECKING:
    from metl_gui.ui.run.page import RunPage
    from metl_gui.workbench.loads.message_runs import BroughtMessage


_RUN = PAGES.index("Run")


class TopicCommands:
    """Shows the dialogs of topics over one page."""

    def __init__(self, context: AppContext, page: RunPage) -> None:
        self._context, self._places = context, page.setup.places
        self._places.topics_wanted.connect(self._choose)

    def choose_source(self, servers: str = "") -> None:
        """Ask for topics to read.

        Args:
            servers: an address without topics that is offered first.
        """
        context, places = self._context, self._places
        context.navigate.show_page(_RUN)
        also = (servers,) if servers else (places.sink.text(),)
        now = places.topic_source
        if servers:
            now = type(now)(servers, now.start)
        dialog = SourceDialog(context.jobs, lambda: context.project.value, now, also, context.window)
        dialog.chosen.connect(places.take_source)
        self._show(dialog)

    def choose_sink(self) -> None:
        """Ask for topics to write."""
        context, places = self._context, self._places
        context.navigate.show_page(_RUN)
        entities = sorted(entity.name for entity in context.project.value.cdm.schemas())
        dialog = SinkDialog(context.jobs, entities, places.topic_sink, (places.source.text(),), context.window)
        dialog.chosen.connect(places.take_sink)
        self._show(dialog)

    def _choose(self, which: str) -> None:
        if which == "source":
            self.choose_source()
        else:
            self.choose_sink()

    def _show(self, dialog: SourceDialog | SinkDialog) -> None:
        dialog.profiles_wanted.connect(self._show_profiles)
        show_about(self._context.project, dialog)

    def _show_profiles(self) -> None:
        self._context.navigate.show_profiles(ProfileKind.KAFKA)


_LOOKED_AT = 200


class RunCommands:
    """The commands of one Run page.

    Args:
        page: the Run page.
        review: adds versions and shows what waits.
        live: what is published, which production runs take.
        sides: the view of the matrix that was worked in shows what messages lead to.
    """

    def __init__(
        self, context: AppContext, page: RunPage, review: ReviewCommands, live: ProductionState, sides: SideBySide
    ) -> None:
        self._context, self._page, self._project = context, page, context.project
        self._review_commands, self._live, self._sides = review, live, sides
        self._looking = NewestJob(context.jobs, page)
        context.project.opened.connect(self._looking.cancel)
        self.topics, self.lanes = TopicCommands(context, page), LaneCommands(context, page)
        self.meanwhile = Meanwhile(context, page)
        self._page.aside.step_wanted.connect(self.take_step)
        self._page.aside.replay_wanted.connect(self.replay)
        self._page.setup.mode.publish_wanted.connect(context.actions["publish"].trigger)
        self._page.messages.cell_wanted.connect(self.show_cell)
        self._page.messages.place_wanted.connect(self.show_place)
        self._page.compared.connect(self.show_compared)
        self._page.views.version_chosen.connect(self.show_version)
        self._page.views.attribute_chosen.connect(self._show_filled)
        self._page.chart.copied.connect(self._tell_copied)
        self._page.setup.target.profiles_wanted.connect(self._show_profiles)
        self._page.found_versions.connect(self._tell_found)
        self._page.noted.connect(self._tell_notes)
        self._page.shown.connect(context.actions.refresh)
        self._page.production.changed.connect(context.actions.refresh)
        live.changed.connect(self._show_live)
        self._project.opened.connect(self._show_live)

    # next steps

    def take_step(self, reason: str) -> None:
        """Do what mends a reason: add the version, go to the block in review, or show the records."""
        kind = next_step(reason).kind
        if kind == ADD:
            self._add_version()
        elif kind == REVIEW:
            self._look(reason, _LOOKED_AT, self._review)
        else:
            self._page.messages.show_reason(reason)
            if kind == GO:
                self._look(reason, 1, self.show_places)

    def _look(self, reason: str, count: int, then: Callable[[Sequence[SetAsideRecord]], None]) -> None:
        """Read what the shown run set aside for a reason, and do something with it."""
        errors, *_ = self._aside_of_shown()

        def done(outcome: JobOutcome[list[SetAsideRecord]]) -> None:
            if outcome.error is not None:
                dialogs.tell(outcome.error, self._context.window)
            elif outcome.value is not None:
                then(outcome.value)

        self._looking.start("Reading records", lambda _watch: set_aside_records(errors, count, reason), done)

    def show_view(self, show: Callable[[], None]) -> None:
        """Show the Run page in one of its views."""
        self._context.navigate.show_page(_RUN)
        show()

    def show_message(self, brought: BroughtMessage) -> None:
        """Show a message in the run that brought it to a warehouse, or only the run where it keeps others."""
        self._context.navigate.show_page(_RUN)
        self._page.setup.history.select(brought.run.run_id)
        self._page.show_whole()
        self._page.show_past(brought.run)
        if brought.place:
            self._page.messages.show_place(brought.place)
        else:
            self._context.notify(brought.words)

    def show_cell(self, link: RecordLink) -> None:
        """Bring the cell that mapped a part of a message."""
        document, (v, w) = self._project.value, link.block
        if document.extraction.find_version(v) is None or document.cdm.find_version(w) is None:
            self._context.notify(f"{link.words} is not in the state that is shown.", is_good=False)
            return
        source = place_of_version(document, Side.EXTRACTION, v, link.element.p)
        target = place_of_version(document, Side.CDM, w, link.element.q)
        self._bring(Selected(source, target))

    def show_places(self, records: Sequence[SetAsideRecord]) -> None:
        """Go where a person mends what set the first of some records aside."""
        if records:
            self.show_place(records[0])

    def show_place(self, record: SetAsideRecord) -> None:
        """Go where a person mends what set one record aside."""
        document = self._project.value
        found, words = mending_place(document, record), ""
        if found.mending is Mending.ADD:
            if self._add_version(record):
                return
            words = "The version is known by now, or was dismissed. Replay what waits for it."
        words = words or found.words
        if not found.places:
            self._context.notify(f"{reason_words(record.reason)} {words}", is_good=False)
            return
        first = found.places[0]
        if first.kind is PlaceKind.REVIEW and self._review_commands.show_first([(first.ids[0], first.ids[1])]):
            return
        self._bring(selected_at(document, first))
        if len(found.places) > 1:
            other = selected_at(document, found.places[1])
            self._context.notify(words, "Show the other cell", lambda: self._bring(other))
        elif found.mending is Mending.SETTING:
            self._context.notify(words, "Schema settings…", self._context.actions["schema_settings"].trigger)
        else:
            self._context.notify(words)

    def show_version(self, name: str) -> None:
        """Bring the schema version ``schema@version`` of the extraction tree."""
        document = self._project.value
        schema, _, label = name.rpartition("@")
        found = document.extraction.named(schema)
        version = document.extraction.labelled(found.id, label) if found is not None else None
        if found is None or version is None:
            self._context.notify(f"{schema} {label} is not in the state that is shown.", is_good=False)
            return
        self._bring(Selected(source=NodeRef(found.id, version.id)))

    def show_attribute(self, entity: str, label: str, path: str) -> None:
        """Bring an attribute of an entity version."""
        document = self._project.value
        found = document.cdm.named(entity)
        version = document.cdm.labelled(found.id, label) if found is not None else None
        attribute = version.at_path(path) if version is not None else None
        if found is None or version is None or attribute is None:
            self._context.notify(f"{entity} {label} {path} is not in the state that is shown.", is_good=False)
            return
        self._bring(Selected(target=NodeRef(found.id, version.id, attribute.id)))

    def show_compared(self, compared: ComparisonCell) -> None:
        """Bring what a number of a comparison counts, where that is a version or an attribute."""
        if compared.path:
            entity, _, label = compared.name.rpartition("@")
            self.show_attribute(entity, label, compared.path)
        else:
            self.show_version(compared.name)

    def _show_filled(self, filled: AttributeFilled) -> None:
        self.show_attribute(filled.entity, filled.version, filled.path)

    def _tell_copied(self, rows: int) -> None:
        self._context.notify(f"{number_of(rows, 'row')} of the chart are on the clipboard, as a table with tabs.")

    def _show_profiles(self) -> None:
        self._context.actions["run.profiles"].trigger()

    def _bring(self, selected: Selected) -> None:
        """Show on the Map page what a message leads to."""
        self._context.navigate.show_page(PAGES.index("Map"))
        view = self._sides.worked_in
        view.note_jump()
        self._context.selection.choose(selected)
        view.fit_selection()

    def tasks(self) -> tuple[VersionTask, ...]:
        """Return the versions that the shown run has found and that nobody has added."""
        workbench, report = self._project.workbench, self._page.report
        if workbench is None or report is None:
            return ()
        run_id = report["run_id"]
        return tuple(task for task in version_tasks(workbench) if any(wait.run_id == run_id for wait in task.waits))

    def _add_version(self, record: SetAsideRecord | None = None) -> bool:
        """Add what the shown run has found, or what one of its records shows; tell whether there is such a thing."""
        found = self.tasks()
        if record is not None and len(found) > 1:
            named = [task for task in found if task.schema in (record.schema or "", topic_of(record))]
            found = tuple(named) or found
        if len(found) == 1 and self._project.can_edit:
            self._review_commands.add_version(found[0])
        elif found:
            self._context.navigate.show_page(PAGES.index("Review"))
        elif record is None:
            what = "These versions are known by now, or were dismissed. Replay what waits for them."
            self._context.notify(what, is_good=False)
        return bool(found)

    def _review(self, records: Sequence[SetAsideRecord]) -> None:
        """Show the first block that records wait for."""
        if not self._review_commands.show_first(self._held(records)):
            what = "These blocks wait no more. Publish what was decided, then replay their messages."
            self._context.notify(what, "Publish…", self._context.actions["publish"].trigger, is_good=False)

    def _held(self, records: Sequence[SetAsideRecord]) -> list[BlockKey]:
        """Return the blocks that records wait for, and those that their chains begin with."""
        found: dict[BlockKey, None] = {}
        for record in records:
            try:
                found[find_block(self._project.value, record.detail.partition(" needs review")[0])] = None
            except EditError:
                continue  # the block is gone by now
        chains = [item.key for item in self._project.review_items() if found.keys() & set(item.chain)]
        return [*found, *chains]

    # replays

    def replay(self) -> None:
        """Map again what the shown run set aside, in the mode of that run; one into topics sends them there again."""
        workbench, (errors, mode, sink) = self._project.workbench, self._aside_of_shown()
        if workbench is None or self._page.is_running or not errors:
            return
        if mode == PRODUCTION and not is_kafka(sink):
            title = "New or empty folder for the replayed messages"
            sink = QFileDialog.getExistingDirectory(self._context.window, title)
            if not sink:
                return
        wanted = self._page.aside.wanted
        reasons = () if set(wanted) == set(self._page.aside.waiting.reasons) else wanted
        self._context.navigate.show_page(_RUN)
        request = RunRequest(
            SourceSpec(address=errors, replay=ReplayOrder(reasons)),
            SinkSpec(address=sink if mode == PRODUCTION else ""),
            policy=RunPolicy(mode=mode),
        )
        self._page.replay(request)

    def _aside_of_shown(self) -> tuple[str, Mode, str]:
        """Return the error store or topic of the shown run, its mode, and where its messages go; empty for nothing."""
        report, live = self._page.report, self._page.production.followed
        if report is not None:
            return str(report.get("errors") or ""), report["mode"], str(report.get("outputs") or "")
        if live is not None and is_kafka(live.order.spec.sink.errors):
            spec = live.order.spec
            return spec.sink.errors, spec.policy.mode, spec.sink.address
        return "", TEST, ""

    def replay_of(self, task: VersionTask) -> Callable[[], None] | None:
        """Return what maps the records of a task in a test; ``None`` where they are gone, or wait for production."""
        wait = task.waits[-1] if task.waits else None
        if wait is None or wait.mode == PRODUCTION:
            return None
        # Servers are not asked here: the window would stand still where they do not answer.
        waits = REASONS if is_kafka(wait.errors) else what_waits(wait.errors).reasons
        reasons = tuple(reason for reason in waits if reason in REASONS)
        if not reasons:
            return None

        def again() -> None:
            self._context.navigate.show_page(_RUN)
            self._page.replay(RunRequest(SourceSpec(address=wait.errors, replay=ReplayOrder(reasons))))

        return again

    # what came of it

    def run_production(self) -> None:
        """Show the Run page and map with what is published."""
        self._context.navigate.show_page(_RUN)
        self._page.setup.mode.choose(PRODUCTION)
        self._page.run_chosen()

    def _tell_found(self, found: tuple[VersionTask, ...]) -> None:
        records = number_of(sum(task.records for task in found), "record")
        if len(found) == 1:
            words, action = f"{records} show a version of {found[0].schema} that nobody has added.", "Add this version"
        else:
            words, action = f"{records} show {len(found):,} versions that nobody has added.", "Review"
        self._context.notify(words, action, self._add_version, is_good=False)

    def _tell_notes(self, notes: tuple[str, ...]) -> None:
        self._context.notify(" ".join(notes), is_good=False)

    def _show_live(self, _what: object = None) -> None:
        self._page.setup.show_live(self._live.state)


class RunLinks(QObject):
    """Follows numbers on one page."""

    def __init__(self, page: RunPage) -> None:
        super().__init__(page)
        self._page = page
        page.figures.followed.connect(self._follow_figure)
        page.setup.history.comparison_wanted.connect(self._compare)
        page.views.followed.connect(self._follow_compared)

    def _follow_figure(self, figure: str) -> None:
        if figure == READ:
            self._page.show_details()
        elif figure == KERNEL:
            self._page.show_speed()

    def _compare(self, pair: tuple[RunEntry, RunEntry]) -> None:
        """Compare two runs; one that goes on is taken as far as it is."""
        known = {run.run_id: run for run in self._page.past_runs}
        a, b = (known.get(entry.run_id) for entry in pair)
        if a is not None and b is not None:
            self._page.views.comparison.show_comparison(compare_runs(a, b))
            self._page.show_compared()

    def _follow_compared(self, compared: ComparisonCell) -> None:
        """Show what a number of a comparison counts."""
        page = self._page
        if compared.kind in (ENTITY, REASON) or (not compared.path and "@" not in compared.name):
            page.setup.history.select(compared.run.run_id)
            page.show_whole()
            page.show_past(compared.run)
            if compared.kind == ENTITY:
                page.messages.show_entity(compared.name)
            elif compared.kind == REASON:
                page.messages.show_reason(compared.name)
        else:
            page.compared.emit(compared)
