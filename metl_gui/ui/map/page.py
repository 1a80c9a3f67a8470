"""The Map page: trees left and right, the matrix between them, the block panel below.

Until there is something on both sides to map, another widget stands in the place of the matrix.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QApplication, QDockWidget, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.block.panel import BlockPanel
from metl_gui.ui.jobs.jobs import CommandResult, Jobs
from metl_gui.ui.map import descriptions as words
from metl_gui.ui.map.clipboard import Clipboard
from metl_gui.ui.map.conflict import ConflictSheet
from metl_gui.ui.map.mapper import EditQuestion, MappingController, VersionQuestion
from metl_gui.ui.map.matrix_menu import show_matrix_menu
from metl_gui.ui.map.navigation import Bookmarks, NavigationController
from metl_gui.ui.map.planes import Banner, PlaneArranger
from metl_gui.ui.map.scope_dialog import ScopeDialog
from metl_gui.ui.map.scoped_edits import ScopedEdit, ScopedEdits
from metl_gui.ui.map.side_by_side import SideBySide
from metl_gui.ui.map.tree_collapse import TreeCollapseController
from metl_gui.ui.matrix.drop_controller import Landing
from metl_gui.ui.matrix.input.hit_test import Cell, position_range
from metl_gui.ui.matrix.input.selected_content import CellExtent
from metl_gui.ui.matrix.layout.content import PlaneContent, SortOrder, axis_of
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.document import DocumentChange, OpenProject
from metl_gui.ui.project.notes import NodeNotes, NodeValues
from metl_gui.ui.project.refused_cells import RefusedCellFinder
from metl_gui.ui.project.selection import (
    CellRange,
    Dragged,
    NodeRef,
    Selected,
    Selection,
    place_of_version,
    still_there,
)
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.trees.panel import TreePanel
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dock import Dock, Scrolled
from metl_gui.ui.widgets.empty_place import EmptyPlace
from metl_gui.ui.widgets.panel_page import PanelPage
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.workbench.session import Workbench

_ELSEWHERE = "Values go over as they are; what computes them or fills them in are the columns of warehouse tables."


class EmptyMap(EmptyPlace):
    """Says what the place is for and offers what fills it.

    Signals:
        import_wanted: the ``Side`` whose button was pressed.
        entity_wanted: an entity is to be made by hand.
        word_wanted: the word of the glossary that says what the matrix does not do.
    """

    import_wanted = Signal(object)
    entity_wanted = Signal()
    word_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.is_needed = True
        self.sources = KeyButton("Import extraction schemas…", kind="primary")
        self.targets = KeyButton("Import the canonical model…", kind="primary")
        self.by_hand = KeyButton("New entity…")
        self.elsewhere = KeyButton("Constants, defaults, expressions?")
        self.elsewhere.setAccessibleDescription(_ELSEWHERE)
        self.by_hand.clicked.connect(self.entity_wanted)
        self.elsewhere.clicked.connect(lambda: self.word_wanted.emit("expression"))
        self.sources.clicked.connect(self._sources_pressed)
        self.targets.clicked.connect(self._targets_pressed)
        self.lay_out([self.sources, self.targets], [self.by_hand, self.elsewhere])

    def show_document(self, document: Document, looks_back: bool = False) -> None:
        """Offer what a document still lacks; an earlier state lacks it for ever."""
        has_sources, has_targets = (document.tree(side).has_schemas for side in (Side.EXTRACTION, Side.CDM))
        self.is_needed = not (has_sources and has_targets)
        self.sources.setVisible(not has_sources and not looks_back)
        self.targets.setVisible(not has_targets and not looks_back)
        self.by_hand.setVisible(not has_targets and not looks_back)
        if looks_back:
            sides = (("extraction schema", has_sources), ("entity", has_targets))
            lacking = " and no ".join(words for words, is_there in sides if not is_there)
            words = "Nothing to map in this state", f"There was no {lacking} then."
        elif has_sources:
            words = "No canonical model yet", "Its entities are the rows of the matrix."
        elif has_targets:
            words = "No extraction schemas yet", "Their attributes, version by version, are the columns of the matrix."
        else:
            words = "Nothing to map yet", "Columns are the attributes of extraction schemas, rows those of entities."
        self.title.setText(words[0])
        self.text.setText(words[1] if looks_back else f"{words[1]} {_ELSEWHERE}")
        self.elsewhere.setVisible(not looks_back)

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        buttons = {"import_schema": self.sources, "import_cdm": self.targets, "new_entity": self.by_hand}
        for id_, button in buttons.items():
            button.key = keys[id_]
            button.updateGeometry()

    def _sources_pressed(self) -> None:
        self.import_wanted.emit(Side.EXTRACTION)

    def _targets_pressed(self) -> None:
        self.import_wanted.emit(Side.CDM)


_LEAST_PX = (760, 470)
"""Width and height of the page at scale 1 that the matrix needs with other panels beside it."""

_MATRIX_PX = (360, 260)
"""What the matrix has at least beside other panels."""


class MapPage(PanelPage):
    """One of the four pages.

    Signals:
        import_wanted: the ``Side`` that schemas are asked for, while there is nothing to map.
        entity_wanted: an entity is to be made by hand, while there is none.
        word_wanted: a word of the glossary that is to be explained.
        review_wanted: the lost elements of the selected block are to be decided on.
        said: a ``CommandResult``: what came of a command.
    """

    import_wanted = Signal(object)
    entity_wanted = Signal()
    word_wanted = Signal(str)
    review_wanted = Signal()
    said = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        settings: ViewSettings | None,
        jobs: Jobs,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("mapPage", "Matrix", _LEAST_PX, parent)
        self._project = project
        self._selection = selection
        self._jobs = jobs
        self._settings = settings
        self._is_picking = False
        self._order = SortOrder.TREE
        self._notes = {side: NodeNotes(project, side) for side in Side}
        self._values = {side: NodeValues(project, side) for side in Side}
        self.refused = RefusedCellFinder(project, jobs, self)
        self._prepared: PlaneContent | None = None
        self._extent: CellExtent | None = None
        self._sheets: dict[QWidget, ConflictSheet] = {}
        self.matrix = MatrixView()
        self.others: list[MatrixView] = []
        """Views of the plane on other pages."""
        self.planes = PlaneArranger(jobs, self)
        self.edits = ScopedEdits(project, jobs, self)
        self.mapper = MappingController(project, selection, self.planes, self.edits, jobs, self)
        self.clipboard = Clipboard(project, selection, self.planes, self.edits, jobs, self)
        self.going = NavigationController(
            project, selection, self.matrix, Bookmarks(settings), self, lambda: self.sides.worked_in
        )
        self.sources = TreePanel(Side.EXTRACTION, project, selection)
        self.targets = TreePanel(Side.CDM, project, selection)
        self.block = BlockPanel(project, selection)
        self.source_dock = Dock("extractionDock", "Extraction", self.sources, scrolls=False)
        self.target_dock = Dock("cdmDock", "Canonical model", self.targets, scrolls=False)
        self.block_dock = Dock("blockDock", "Block", self.block)
        self.block_dock.line.title_comes_first = True
        self.block_dock.add_tools(self.block.tools)
        self.folding = TreeCollapseController(
            self, ((self.source_dock, self.sources), (self.target_dock, self.targets))
        )
        self.sides = SideBySide(self.matrix, self._prepare_view, self)
        self._build()
        self._connect()

    def take_prepared(self, content: PlaneContent) -> None:
        """Use a content that a job has laid out when its project is opened next."""
        self._prepared = content

    def stays_beside(self, dock: QDockWidget) -> bool:
        """Whether a dock is one of the trees, which are narrow strips where there is little room."""
        return dock in (self.source_dock, self.target_dock)

    def fit_middle(self, is_compact: bool) -> None:
        """Keep room for the matrix: panels beside it give way first."""
        self.middle.setMinimumSize(0, 0) if is_compact else self.middle.setMinimumSize(*_MATRIX_PX)

    def add_below_matrix(self, strip: QWidget) -> None:
        """Put a slim widget below the matrix, or what stands in its place."""
        layout = self._centre.layout()
        if layout is not None:
            layout.addWidget(strip)

    def toggle(self, cell: Cell) -> None:
        """Set or clear an element; where an end is taken, ask what to do."""
        self.mapper.toggle(cell)

    def drop(self, landing: Landing) -> None:
        """Map fields that were dragged from a tree."""
        self.mapper.drop(landing.dragged, landing.onto, landing.is_header)

    def open_block(self, selected: Selected | None = None) -> None:
        """Show the block editor of what is selected, with the keyboard on it.

        Args:
            selected: what was double clicked; a node without a partner brings the first block that it has.
        """
        if isinstance(selected, Selected):
            self._picked(self._with_partner(selected))
        self.block_dock.show()
        self.block_dock.raise_()
        self.block.take_focus()

    def rename_target(self) -> None:
        """Write another name into the row of the chosen entity, or another path into that of its attribute."""
        place = self._selection.current.target
        self.folding.reveal(self.targets)
        if place is None:
            return
        newest = self._project.value.cdm.newest(place.schema)
        is_newest = newest is not None and place.version in (None, newest.id)
        row = NodeRef(place.schema) if place.attribute is None else place
        if is_newest and self.targets.rename(row):
            return
        what = "entity" if place.attribute is None else "attribute"
        if is_newest:
            words = f"The filter of the tree hides this {what}: clear it to rename the {what} there."
        elif place.attribute is None:
            words = "A version keeps its number: rename the entity in its own row."
        else:
            words = "An older version keeps its names: rename the attribute in the newest one."
        self.said.emit(CommandResult(words, is_good=False))

    def chosen_on_axis(self, side: Side) -> frozenset[NodeRef]:
        """Return the chosen schemas, entities and versions of a tree, an attribute's version for it."""
        return frozenset(replace(place, attribute=None) for place in self._selection.current.all_on(side))

    def counts_of(self, selected: Selected) -> str:
        """Return in words what lies in a tile, nothing for a cell."""
        content = self.matrix.content
        return words.counted(content, selected) if content is not None else ""

    @property
    def sheet(self) -> ConflictSheet | None:
        """The sheet that asks just now."""
        return next((sheet for sheet in self._sheets.values() if sheet.isVisible()), None)

    def _build(self) -> None:
        self.empty = EmptyMap()
        self.empty.import_wanted.connect(self.import_wanted)
        self.empty.entity_wanted.connect(self.entity_wanted)
        self.empty.word_wanted.connect(self.word_wanted)
        self.banner = Banner(self.planes)
        plane = QWidget()
        layout = QVBoxLayout(plane)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self.sides.splitter, 1)
        self.middle = QStackedWidget()
        self.middle.addWidget(plane)
        self.middle.addWidget(Scrolled(self.empty, gives_way=True))
        self._centre = QWidget()
        column = QVBoxLayout(self._centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.middle, 1)
        self.setCentralWidget(self._centre)
        self.fit_middle(False)
        self.setDockNestingEnabled(True)
        for corner, area in (
            (Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea),
            (Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea),
        ):
            self.setCorner(corner, area)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.source_dock)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.target_dock)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.block_dock)

    def _connect(self) -> None:
        self.sources.counted.connect(self._count_sources)
        self.targets.counted.connect(self._count_targets)
        self.matrix.picked.connect(self._picked)
        self.matrix.toggle_wanted.connect(self.mapper.toggle)
        self.matrix.run_wanted.connect(self.mapper.run)
        self.matrix.dropped.connect(self.drop)
        self.matrix.opened.connect(self.open_block)
        self.matrix.fold_wanted.connect(lambda wish: self.planes.fold(wish[0], [wish[1]]))
        self.matrix.pin_wanted.connect(lambda wish: self.planes.pin(wish[0], [wish[1]]))
        self.refused.changed.connect(self._show_refused)
        self._prepare_view(self.matrix)
        self.edits.switched.connect(self._tell_scope)
        self.edits.asked.connect(self._show_scope)
        self.edits.left.connect(self._show_left)
        self.mapper.asked.connect(self._ask)
        self.mapper.version_asked.connect(self._ask_version)
        for speaker in (self.edits, self.mapper, self.clipboard, self.going):
            speaker.said.connect(self.said)
        self.clipboard.refused.connect(self._tell_refused)
        self.banner.switched.connect(self.planes.switch_everything)
        self.planes.arranged.connect(self._show_planes)
        self.planes.edited.connect(self._show_planes)
        self.sources.narrowed.connect(lambda passing: self.planes.filter(Side.EXTRACTION, passing))
        self.targets.narrowed.connect(lambda passing: self.planes.filter(Side.CDM, passing))
        self.block.toggle_wanted.connect(self.mapper.toggle)
        for fields in (self.block, self.sources, self.targets):
            fields.dropped.connect(self._dropped_on_field)
        self.targets.model.rename_wanted.connect(lambda wish: self.mapper.rename(*wish))
        self.block.retold.connect(self._tell_block)
        self.block.refused = self.refused.words
        self.block.review_wanted.connect(self._want_review)
        self._project.opened.connect(self._opened)
        self._project.changed.connect(self._changed)
        self._project.merged.connect(self.planes.rebase)
        self._selection.changed.connect(self._show_selected)
        for panel in (self.sources, self.targets):
            panel.view.let_go.connect(lambda: self.sides.worked_in.bring_into_sight(self._selection.current))
        self._selection.lies_within = self._lies_within

    @property
    def views(self) -> tuple[MatrixView, ...]:
        """All views of the plane."""
        return (*self.sides.views, *self.others)

    def _prepare_view(self, view: MatrixView) -> None:
        """Let a view ask this page for words and menus, and keep how large its overview map is drawn."""
        view.menu_wanted.connect(lambda wish: show_matrix_menu(view, wish))
        view.map_sized.connect(self._keep_map_width)
        view.describe = partial(self._spoken, view)
        view.tip = partial(self._tip, view)
        view.sight.beside = self.edits.words_at
        view.panes.map_width = self._settings.map_width if self._settings is not None else None

    def _keep_map_width(self, width: float | None) -> None:
        if self._settings is not None:
            self._settings.map_width = width

    def _show_refused(self) -> None:
        for view in self.views:
            view.show_refused(frozenset(self.refused.found))
        self.block.read_again()

    # following the project

    def _opened(self, workbench: Workbench | None) -> None:
        self._leave_sheets()
        self.sides.forget_places()
        self.going.open(workbench.project_id if workbench is not None else "")
        prepared, self._prepared = self._prepared, None
        self.planes.open(self._project.value, prepared)
        self._show_middle()

    def _show_middle(self) -> None:
        self.empty.show_document(self._project.value, self._project.looks_back is not None)
        self.middle.setCurrentIndex(1 if self.empty.is_needed else 0)

    def _changed(self, changed: DocumentChange) -> None:
        self._leave_sheets()
        self.planes.follow(changed)
        if not changed.same_trees:
            self._show_middle()

    def _show_planes(self) -> None:
        order, selected = self.planes.arrangement.order, self._selection.current
        if order is not self._order and selected.cells is not None:
            self._selection.choose(replace(selected, cells=None))  # other cells stand between its corners now
        self._order = order
        if self.planes.shown is not None:
            self.matrix.show_content(self.planes.shown, self.planes.whole)
            self.sides.show_content()
            for view in self.sides.views:
                view.show_pinned(self.planes.pinned(Side.EXTRACTION), self.planes.pinned(Side.CDM))

    # following the selection

    def _picked(self, selected: Selected) -> None:
        self._is_picking = True  # what was picked on the plane is in sight: it must not move under the pointer
        try:
            self._selection.choose(still_there(self._project.value, selected))
        finally:
            self._is_picking = False

    def _show_selected(self, selected: Selected) -> None:
        self._leave_sheets()
        is_held = self.sources.view.is_held or self.targets.view.is_held  # what a drag is meant for must not move
        comes_into_sight = not self._is_picking and not is_held
        for view in self.sides.views:
            view.show_selected(selected, bring_into_sight=comes_into_sight and view is self.sides.worked_in)
        if not self._is_picking and self.planes.hides:
            self._tell_hidden(selected)

    def _tell_hidden(self, selected: Selected) -> None:
        """Say so when one comes to something that the plane hides."""
        whole, shown = self.planes.whole, self.planes.shown
        for side, place in ((Side.EXTRACTION, selected.source), (Side.CDM, selected.target)):
            if whole is None or shown is None or place is None or position_range(axis_of(shown, side), place):
                continue
            if position_range(axis_of(whole, side), place):
                words = "This is hidden in the matrix just now."
                self.said.emit(CommandResult(words, "Show everything", self.planes.switch_everything, is_good=False))
                return

    def _lies_within(self, cells: CellRange, side: Side, place: NodeRef) -> bool:
        whole = self.planes.whole
        if whole is None:
            return False
        if self._extent is None or not self._extent.is_of(whole, cells):
            self._extent = CellExtent(whole.columns, whole.rows, cells)
        return self._extent.holds(side, place)

    def _spoken(self, view: MatrixView, selected: Selected) -> str:
        content = view.content
        return words.spoken(content, selected, view.sight.ghosts) if content is not None else ""

    def _tip(self, view: MatrixView, selected: Selected) -> str:
        content = view.content
        if content is None:
            return ""
        return words.tip(
            content,
            selected,
            view.sight.ghosts,
            lambda side, place: self._notes[side].of(place),
            self._project.comments(),
            lambda side, place: self._values[side].tip(place),
            self.refused.words,
        )

    def _with_partner(self, selected: Selected) -> Selected:
        """Add the other side's version of the first block that a node has, where none is chosen."""
        source, target, document = selected.source, selected.target, self._project.value
        if source is not None and source.version is not None and target is None:
            keys = document.matrix.column_keys(source.version)
            other = place_of_version(document, Side.CDM, keys[0][1]) if keys else None
            return selected.with_place(Side.CDM, other)
        if target is not None and target.version is not None and source is None:
            keys = document.matrix.row_keys(target.version)
            other = place_of_version(document, Side.EXTRACTION, keys[-1][0]) if keys else None
            return selected.with_place(Side.EXTRACTION, other)
        return selected

    # asking

    def _ask(self, question: EditQuestion) -> None:
        """Ask beside the cell: in the block panel when one works there, else over the matrix."""
        focus = QApplication.focusWidget()
        visible = [each for each in self.views if each.isVisible()]
        view = next((each for each in visible if each is self.sides.worked_in), visible[0] if visible else self.matrix)
        over: QWidget = self.block if focus is not None and self.block.isAncestorOf(focus) else view
        if over not in self._sheets:
            self._sheets[over] = ConflictSheet(over.viewport() if isinstance(over, MatrixView) else over)
        conflict = question.conflict
        cell = conflict.key, conflict.wanted
        near = self._brought_into_sight(view, *cell) if over is view else self.block.cell_box(*cell)
        self._sheets[over].ask(self._project.value, conflict, near, question.answered)

    def _ask_version(self, question: VersionQuestion) -> None:
        answers = [("make", question.answer), ("cancel", "Cancel")]
        dialog = dialogs.QuestionDialog(question.title, question.text, answers, self)
        dialog.finished.connect(lambda: question.make() if dialog.answer == "make" else None)
        dialogs.show_about(self._project, dialog)

    def _brought_into_sight(self, view: MatrixView, key: BlockKey, element: Element) -> QRect | None:
        """Return where a cell lies in a matrix, which moves to it when it was dropped on elsewhere."""
        box = view.cell_box(key, element)
        if box is None:
            document = self._project.value
            source = place_of_version(document, Side.EXTRACTION, key[0], element.p)
            target = place_of_version(document, Side.CDM, key[1], element.q)
            view.bring_into_sight(Selected(source, target))
            box = view.cell_box(key, element)
        return box

    def _tell_scope(self) -> None:
        for view in self.views:
            view.panes.repaint_marks()
        self.said.emit(CommandResult(f"Edits hold for {self.edits.words} from now on."))

    def _show_scope(self, planned: ScopedEdit) -> None:
        self._open_scope(ScopeDialog(planned, self._jobs, parent=self))

    def _show_left(self, planned: ScopedEdit) -> None:
        self._open_scope(ScopeDialog(planned.rest(self._project.value), self._jobs, is_done=True, parent=self))

    def _open_scope(self, dialog: ScopeDialog) -> None:
        dialog.wanted.connect(self.edits.do_planned)
        dialogs.show(dialog)

    def _leave_sheets(self) -> None:
        for sheet in self._sheets.values():
            sheet.close_unanswered()

    def _tell_refused(self, refusal: tuple[str, str]) -> None:
        dialogs.ask(*refusal, [("close", "Close")], self)

    def _tell_block(self) -> None:
        title, pill, kind, facts = self.block.told
        self.block_dock.say(title, facts, pill, kind)

    def _want_review(self, _key: object) -> None:
        self.review_wanted.emit()

    def _dropped_on_field(self, drop: tuple[Dragged, NodeRef]) -> None:
        self.mapper.drop(*drop)

    def _count_sources(self, counts: tuple[int, int]) -> None:
        self.source_dock.say("Extraction", _count_words(counts, "schema", "schemas"))

    def _count_targets(self, counts: tuple[int, int]) -> None:
        self.target_dock.say("Canonical model", _count_words(counts, "entity", "entities"))


def _count_words(counts: tuple[int, int], one: str, many: str) -> str:
    shown, whole = counts
    noun = one if whole == 1 else many
    return f"{whole:,} {noun}" if shown == whole else f"{shown:,} of {whole:,} {noun}"
