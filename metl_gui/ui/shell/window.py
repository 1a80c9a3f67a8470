"""The one window: menus, head bar, the stack of start page and four pages, status bar."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, QSettings, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import MetlError, ProjectLockedError, ReadOnlyStateError
from metl_gui.ui.actions.menus import Actions
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.context.project_writer import ProjectWriter
from metl_gui.ui.drop.controller import DropController, files_in
from metl_gui.ui.frame.focus_return import FocusReturn
from metl_gui.ui.frame.head_bar import HeadBar
from metl_gui.ui.frame.start_page import OpeningPage, StartPage
from metl_gui.ui.frame.status_bar import StatusBar
from metl_gui.ui.history.controller import HistoryController
from metl_gui.ui.importing.commands import ImportCommands
from metl_gui.ui.jobs.jobs import CommandResult, Jobs
from metl_gui.ui.links.controller import LinkController
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.matrix.layout.ghost_lines import LostHere
from metl_gui.ui.owners.commands import OwnerCommands
from metl_gui.ui.owners.docks import OwnerDocks
from metl_gui.ui.palette.search_box import SearchBox
from metl_gui.ui.preview.controller import PreviewController
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selection
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.registries.controller import RegistryController
from metl_gui.ui.review.commands import ReviewCommands
from metl_gui.ui.review.page import ReviewPage
from metl_gui.ui.review.second_matrix import SecondMatrix
from metl_gui.ui.review.second_person import SecondPerson
from metl_gui.ui.run.cell_messages import CellMessages
from metl_gui.ui.run.commands import RunCommands
from metl_gui.ui.run.page import RunPage
from metl_gui.ui.run.processes import SparkRuns
from metl_gui.ui.search.docks import ListDocks
from metl_gui.ui.shell.action_rows.action_table import ORDER, all_rows
from metl_gui.ui.shell.action_rows.review_actions import CARD_KEYS
from metl_gui.ui.shell.commands import WindowCommands
from metl_gui.ui.shell.first_steps import FirstStepsController
from metl_gui.ui.shell.layout import FloatingDocks, WindowLayout, fill_panels, fill_recent
from metl_gui.ui.shell.notices import NoticeController
from metl_gui.ui.shell.project_status import ProjectFacts
from metl_gui.ui.shell.projects import Maintenance, PreparedProject, ProjectOpener, Projects
from metl_gui.ui.shell.setting_commands import SettingCommands
from metl_gui.ui.shell.shutdown import QUITTING, ShutdownController
from metl_gui.ui.shell.takeover import TakeoverController
from metl_gui.ui.suggest.panel import SuggestionController
from metl_gui.ui.theming.controller import ThemeController
from metl_gui.ui.warehouse.commands import WarehouseController
from metl_gui.ui.warehouse.rebuild_answers import RebuildAnswers
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dock import FocusRing
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.session import Workbench

LEAST_SIZE = (640, 400)
"""Width and height from which everything in the window can be reached, in pixels; never more than the screen has."""

FIRST_SIZE = (1600, 1000)

_WARM_UP_MS = 3_000


class Window(QMainWindow):
    """Joins pages, selection, jobs and the open project.

    Args:
        settings: where the view state is kept.
        jobs: the threads, or their synchronous twin.
        warms_up: start Spark some seconds after the first paint.
    """

    # Written down, because the rows of the action table refer to them before mypy has seen how they are made.
    settings: ViewSettings
    jobs: Jobs
    project: OpenProject
    selection: Selection
    spark: SparkRuns
    opening: ProjectOpener
    context: AppContext
    commands: WindowCommands
    imports: ImportCommands
    projects: Projects
    drops: DropController
    first_steps: FirstStepsController
    map: MapPage
    preview: PreviewController
    lists: ListDocks
    suggest: SuggestionController
    owners: OwnerCommands
    owner_docks: OwnerDocks
    history: HistoryController
    configuring: SettingCommands
    second: SecondPerson
    registries: RegistryController
    facts: ProjectFacts
    review: ReviewPage
    review_commands: ReviewCommands
    second_matrix: SecondMatrix
    run_page: RunPage
    run_commands: RunCommands
    warehouse: WarehouseController
    links: LinkController
    cell_messages: CellMessages
    leaving: ShutdownController
    takeover: TakeoverController
    stack: QStackedWidget
    notices: NoticeController
    dressing: ThemeController
    actions_table: Actions[Window]
    is_busy: bool

    def __init__(self, settings: QSettings, jobs: Jobs | None = None, warms_up: bool = True) -> None:
        super().__init__()
        self.setObjectName("window")
        self.settings = ViewSettings(settings)
        self.jobs = jobs if jobs is not None else Jobs(self)
        self.project = OpenProject(self)
        self.selection = Selection(self)
        self.spark = SparkRuns(self.jobs, self)
        self.opening = ProjectOpener(self.jobs, self)
        self.actions_table = Actions(self, all_rows(), self.settings)
        self.context = AppContext(
            window=self,
            settings=self.settings,
            jobs=self.jobs,
            project=self.project,
            selection=self.selection,
            actions=self.actions_table,
            writer=ProjectWriter(self.project, self.jobs, self.notify, self),
            notify=self.notify,
            navigate=self,
        )
        self.commands = WindowCommands(self)
        self.projects = Projects(self)
        self.imports = ImportCommands(self.context)
        self.drops = DropController(self.context, self.imports)
        self.upkeep = Maintenance(self.project, self.jobs, self)
        self.is_busy = False
        self._warms_up = warms_up
        self._make_pages()
        self._make_controllers()
        self._layout = WindowLayout(self)
        self._build()
        self.everywhere = SearchBox(self.context, self.head.search, self.commands.palette_entries)
        self._connect()
        self._join_controllers()
        self._show_keys()
        self.facts.show_none()
        self._layout.restore()

    def _make_pages(self) -> None:
        """Make what is seen, with what belongs to one page alone."""
        self.map = MapPage(self.project, self.selection, self.settings, self.jobs)
        self.preview = PreviewController(self.map, self.project, self.selection, self.jobs, self.settings)
        self.lists = ListDocks(self.map, self.map.block_dock, self.project, self.selection, self.jobs, self.settings)
        self.owner_docks = OwnerDocks(self.map, self.map.block_dock, self.project, self.selection, self.jobs)
        self.owners = OwnerCommands(self.context, self.owner_docks)
        self.suggest = SuggestionController(self.map, self.project, self.selection, self.jobs)
        self.review = ReviewPage(self.project, self.selection)
        self.review_commands = ReviewCommands(self.context, self.review)
        self.spark.busy.connect(self.review_commands.follow_run)
        self.second_matrix = SecondMatrix(self.project, self.selection, self.map, self.review, self)
        self.run_page = RunPage(self.project, self.spark, self.jobs, self.settings)
        self.start, self.opening_page = StartPage(), OpeningPage()
        self.head, self.status = HeadBar(), StatusBar()
        self.stack = QStackedWidget()

    def _make_controllers(self) -> None:
        """Make what acts on several pages."""
        self.history = HistoryController(self.context, self.map)
        for ended in (self.spark.ended, self.spark.loaded):
            ended.connect(self.history.read_runs)
        self.configuring = SettingCommands(self)
        self.second = SecondPerson(self.project, self.selection, self)
        self.registries = RegistryController(self.context, self.imports)
        self.facts = ProjectFacts(self)
        self.dressing = ThemeController(self.settings, self)
        self.run_commands = RunCommands(
            self.context, self.run_page, self.review_commands, self.history.live, self.map.sides
        )
        self.warehouse = WarehouseController(
            self.context, self.spark, self.history.live, lambda: self.run_page.setup.target.text
        )
        self.leaving = ShutdownController(self)
        self.review.take_keys(self.actions_table[id_] for id_ in CARD_KEYS)

    # pages

    @property
    def page(self) -> int:
        """The number of the page in front."""
        return self.stack.currentIndex()

    def show_profiles(self, kind: ProfileKind) -> None:
        """Show the connection profiles of a kind."""
        self.configuring.show_profiles(kind=kind)

    def show_page(self, number: int) -> None:
        """Bring a page to the front."""
        if self.project.workbench is not None:
            self.stack.setCurrentIndex(number)
            self.head.show_page(number)
            self._layout.restore_page()
            self._at_hand(number).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_project(self, workbench: Workbench, prepared: PreparedProject | None = None) -> None:
        """Show a project that was opened; see ``Projects.show``."""
        self.projects.show(workbench, prepared)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Keep the layout, then end every thread and process; a run that goes on is asked about first."""
        if self.leaving.has_to_ask():
            event.ignore()
            self.leaving.before(QUITTING, self.close)
            return
        self.projects.keep_visit()
        self._layout.keep()
        self.projects.stop()
        self.upkeep.stop()
        self.spark.shut_down()
        self.jobs.stop()
        self.opening.close_unshown()
        with self.actions_table.refreshed_once():
            self.project.close()
        super().closeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Start Spark some time after the first paint."""
        super().showEvent(event)
        self._layout.restore_page()
        if self._warms_up:
            self._warms_up = False
            QTimer.singleShot(_WARM_UP_MS, self, self._warm_up)

    def _warm_up(self) -> None:
        """Start the processes that would keep somebody waiting later, unless the window was closed meanwhile."""
        if self.isVisible():
            self.jobs.worker.warm_up()
            self.spark.warm_up()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files."""
        if files_in(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Say what was dropped; nothing is applied by dropping."""
        paths = files_in(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.drops.look_at(paths, self._tree_at(event.position().toPoint()))

    def _tree_at(self, spot: QPoint) -> Side | None:
        """Return the tree at a place of the window."""
        hit = self.childAt(spot)
        trees = {Side.EXTRACTION: self.map.sources, Side.CDM: self.map.targets}
        return next((side for side, tree in trees.items() if hit is not None and tree.isAncestorOf(hit)), None)

    def _at_hand(self, number: int) -> QWidget:
        run, warehouse = self.run_page.setup, self.warehouse.page
        return (self.map.sides.worked_in, self.review.list.view, run.at_hand, warehouse.at_hand)[number]

    # building

    def _build(self) -> None:
        self.setWindowTitle("METL Workbench")
        room = self.screen().availableSize()
        self.setMinimumSize(QSize(*LEAST_SIZE).boundedTo(room))
        self.setAcceptDrops(True)
        self.resize(QSize(*FIRST_SIZE).boundedTo(room))
        self.actions_table.fill(ORDER, {"matrix": self.map.matrix, "review list": self.review.list.view})
        self.second_matrix.keys = (self.actions_table["switch_scope"],)
        self.actions_table.add_live_menu("View > Panels", lambda menu: fill_panels(self, menu))
        recent = self.actions_table.add_live_menu("File > Open recent", lambda menu: fill_recent(self, menu))
        recent.triggered.connect(self._open_recent)
        watch = self.actions_table.add_live_menu("Schema > Watch for new versions", self.registries.fill_watch_menu)
        watch.triggered.connect(self.registries.choose_watched)
        self.actions_table.add_live_menu("View > Go > Bookmarks", self.map.going.fill_bookmarks)
        for page in (self.map, self.review, self.run_page, self.warehouse.page, self.start, self.opening_page):
            self.stack.addWidget(page)
        self.first_steps = FirstStepsController(self.context, self.drops)
        self.takeover = TakeoverController(self)
        central = QWidget()
        layout = QVBoxLayout(central)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        layout.addWidget(self.history.banner)
        layout.addWidget(self.takeover.banner)
        layout.addWidget(self.first_steps.strip)
        layout.addWidget(self.stack, 1)
        self.setCentralWidget(central)
        self.floating = FloatingDocks(self.stack)
        FocusRing(self.map.matrix)
        FocusReturn(self)
        self.notices = NoticeController(self)
        self.notice = self.notices.strip
        self.review.nothing.wanted.connect(self._do)
        self.setStatusBar(self.status)

    def _connect(self) -> None:
        self.head.page_wanted.connect(self.show_page)
        self.head.undo_wanted.connect(self.project.undo)
        self.head.run_wanted.connect(self.run)
        self.spark.said.connect(self.head.show_spark)
        self.spark.busy.connect(self._show_busy)
        self.jobs.changed.connect(self.status.show_job)
        self.jobs.broke.connect(self._tell_failed)
        self.facts.follow()
        self.project.refused.connect(self._refused)
        self.map.matrix.close_notice = self.notice.close_newest
        self.stack.currentChanged.connect(self.actions_table.refresh)
        self.stack.currentChanged.connect(self.first_steps.show_page)
        self.spark.ended.connect(self.first_steps.refresh)
        self.history.live.changed.connect(self.first_steps.refresh)
        self.lists.said.connect(self.notify)
        for told in (self.suggest.said, self.preview.said, self.map.said):
            told.connect(self._tell_said)
        self.preview.run_wanted.connect(self.run)
        self.preview.panel.retold.connect(self.actions_table.refresh)
        self.spark.ended.connect(self.project.read_samples_again)
        page, suggestions = self.map, self.suggest.suggestions
        for marks in (page.edits.switched, page.sides.switched, page.planes.arranged, suggestions.changed):
            marks.connect(self.actions_table.refresh)
        self.imports.like_others.connect(self.map.edits.map_like_others)
        self.review.edit_wanted.connect(self.map.edits.do_and_later)
        self.map.import_wanted.connect(self.imports.ask_and_import)
        self.map.entity_wanted.connect(self.actions_table["new_entity"].trigger)
        self.map.review_wanted.connect(self._show_review)
        self.second_matrix.loss_picked.connect(self._show_loss)
        self.start.new_wanted.connect(self.commands.new_project)
        self.start.open_wanted.connect(self.commands.ask_and_open)
        self.start.sample_wanted.connect(self.commands.open_sample)
        self.start.recent_wanted.connect(self.commands.open)
        self.start.registry_wanted.connect(self.registries.browse)
        self.registries.watch.changed.connect(self._show_watched)
        self.status.watched_wanted.connect(self.registries.watch.show_found)
        self.status.elements_wanted.connect(self._list_elements)
        self.status.review_wanted.connect(self._show_review)
        self.status.selection_wanted.connect(self._fit_selected)
        self.map.block.why_not_confirm = self.second.why_not
        self.status.second_wanted.connect(self.second.go_on)
        self.status.history_wanted.connect(self.history.show)
        self.status.production_wanted.connect(self.actions_table["live_run"].trigger)
        self.head.live_wanted.connect(self.history.follow_live)
        self.opening.began.connect(self._opening_began)
        self.opening.progressed.connect(self.opening_page.show_progress)
        self.opening.ended.connect(self._opening_ended)
        self.opening_page.cancel_wanted.connect(self.opening.cancel)
        self.actions_table.keymap.changed.connect(self._show_keys)
        self.upkeep.failed.connect(self._tell_failed)

    def _join_controllers(self) -> None:
        """Do for each controller what it asks of another one; none of them knows another page."""
        self.registries.project_wanted.connect(self.commands.new_project)
        self.registries.watch.review_wanted.connect(self._show_found)
        self.map.word_wanted.connect(self.commands.show_glossary)
        self.drops.project_wanted.connect(self.commands.open)
        self.drops.answers_wanted.connect(self._read_answers)
        self.drops.messages_wanted.connect(self._show_messages)
        self.drops.run_wanted.connect(self._run_messages)
        self.everywhere.tree_wanted.connect(self._filter_tree)
        self.review_commands.settling.undo_wanted.connect(self.history.undo_of)
        self.review_commands.settling.undo_question_wanted.connect(self.history.ask_to_undo)
        self.review_commands.replay_of = self.run_commands.replay_of
        self.warehouse.timelines.reasons.message_wanted.connect(self.run_commands.show_message)
        self.links = LinkController(self.context, self.map.sides, self.history, self.review, self.run_page)
        self.cell_messages = CellMessages(self.context, self.run_page, self.preview)
        self.links.project_wanted.connect(self.commands.open)
        self.projects.shown.connect(self.links.follow_waiting)
        self.map.going.link_wanted.connect(self.links.open)
        self.history.link_wanted.connect(self.links.copy_state)
        self.owner_docks.comments.link_wanted.connect(self.links.open)
        self.run_page.setup.history.link_wanted.connect(self.links.copy_run)
        self.run_page.aside.link_wanted.connect(self.links.copy_reason)
        RebuildAnswers(self.context, self.review, self.warehouse, lambda: self.spark.is_running)

    # following the project

    def _opening_began(self, name: str) -> None:
        """Say what is being opened; a project that is in front stays there until the next one can be shown."""
        self.opening_page.show_name(name)
        if self.project.workbench is None:
            self.stack.setCurrentWidget(self.opening_page)

    def _opening_ended(self, _outcome: object) -> None:
        if self.project.workbench is None and self.opening.job is None:
            self.facts.show_none()

    def _refused(self, error: MetlError) -> None:
        self.facts.refresh()
        if isinstance(error, ReadOnlyStateError):
            self.notify(str(error), "Back to now", self.history.looking.come_back, is_good=False)
            return
        if isinstance(error, ProjectLockedError) and (self.takeover.error is not None or self.project.was_editable):
            self.takeover.tell(error)
            self.takeover.refuse()
            return
        dialogs.tell(error, self)

    def notify(
        self, text: str, action_text: str = "", callback: Callable[[], object] | None = None, is_good: bool = True
    ) -> None:
        """Say what came of something, in the status bar, which does not take the focus; see ``Notify``."""
        self.notices.say(text, action_text, callback, is_good)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc that nothing else wants takes the notice away."""
        if event.key() != Qt.Key.Key_Escape or not self.notice.close_newest():
            super().keyPressEvent(event)

    def _list_elements(self) -> None:
        self.show_lists().show_mapping()

    def _fit_selected(self) -> None:
        self.show_page(0)
        self.map.sides.worked_in.fit_selection()

    def _tell_said(self, said: CommandResult) -> None:
        self.notify(said.text, said.action, said.callback, said.is_good)

    def _tell_failed(self, error: MetlError) -> None:
        self.notify(str(error), is_good=False)

    # small commands

    def on_review(self, decide: Callable[[], object]) -> None:
        """Decide what is in front; what is not in front is only shown."""
        if self.stack.currentWidget() is self.review:
            decide()
        else:
            self.show_page(1)

    def _do(self, id_: str) -> None:
        self.actions_table[id_].trigger()

    def _open_recent(self, action: QAction) -> None:
        if isinstance(action.data(), Path):
            self.commands.open(action.data())

    def _show_loss(self, lost: LostHere) -> None:
        """Bring the card of a lost element."""
        self.show_page(1)
        self.review.go_to_card(*lost)

    def _show_review(self) -> None:
        self.show_page(PAGES.index("Review"))

    def _show_found(self, key: BlockKey | None) -> None:
        """Show the review item of a block."""
        self.review_commands.show_first([key] if key is not None else [])

    def _read_answers(self, path: Path) -> None:
        self.show_page(PAGES.index("Review"))
        self.review_commands.read(path)

    def _show_messages(self, source: str) -> None:
        """Read samples of messages, which the next run takes too."""
        self.show_page(PAGES.index("Map"))
        self.run_page.setup.source.setText(source)
        self.preview.keep(source)

    def _run_messages(self, source: str) -> None:
        self.show_page(PAGES.index("Run"))
        self.run_page.setup.source.setText(source)
        self.run()

    def _filter_tree(self, wanted: tuple[Side, str]) -> None:
        side, words = wanted
        panel = self.map.sources if side is Side.EXTRACTION else self.map.targets
        self.show_page(PAGES.index("Map"))
        self.map.folding.reveal(panel)
        panel.filter_now(words)
        panel.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def run(self) -> None:
        """Show the Run page and start a test run."""
        if self.project.workbench is not None:
            self.show_page(2)
            self.run_page.run()

    def _show_watched(self) -> None:
        self.status.show_watched(*self.registries.watch.words)

    def _show_keys(self) -> None:
        keys = {id_: self.actions_table.keymap.keys(id_) for id_ in self.actions_table.rows}
        self.head.show_keys(keys)
        self.start.show_keys(keys)
        self.run_page.setup.show_keys(keys)
        self.history.banner.show_keys(keys)
        self.map.empty.show_keys(keys)
        self.review.show_keys(keys)

    def _show_busy(self, is_busy: bool) -> None:
        self.is_busy = is_busy
        self.head.run.setEnabled(not is_busy)
        self.actions_table.refresh()

    def choose_source(self) -> None:
        """Show the Run page and ask for the messages."""
        self.show_page(2)
        self.run_page.setup.choose_folder()

    def show_lists(self) -> ListDocks:
        """Bring the page of the lists to the front."""
        self.show_page(0)
        return self.lists

    def on_map(self) -> MapPage:
        """Bring the Map page to the front."""
        if self.stack.currentWidget() is not self.map:
            self.show_page(0)
        self.map.show_middle()
        return self.map

    def show_suggestions(self) -> SuggestionController:
        """Bring the page of the suggestions to the front."""
        self.show_page(0)
        return self.suggest

    def find_everywhere(self) -> None:
        """Go to the box that searches everywhere."""
        self.head.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.head.search.selectAll()
