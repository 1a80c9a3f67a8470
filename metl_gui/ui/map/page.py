"""The Map page: trees left and right, the matrix between them, the block panel below."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QWidget

from metl_gui.core.nodes import Side
from metl_gui.ui import asking
from metl_gui.ui.block.panel import BlockPanel
from metl_gui.ui.conflict import Answer, Conflict, describe, toggle
from metl_gui.ui.dock import Dock
from metl_gui.ui.document import Changed, OpenProject
from metl_gui.ui.map.empty import EmptyMap
from metl_gui.ui.matrix.content import content_after, content_of
from metl_gui.ui.matrix.hits import Cell
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.selection import Selected, Selection
from metl_gui.ui.trees.panel import TreePanel


class MapPage(QMainWindow):
    """One of the three pages.

    Signals:
        import_wanted: the ``Side`` that schemas are asked for, while there is nothing to map.
        review_wanted: the lost elements of the selected block are to be decided on.
    """

    import_wanted = Signal(object)
    review_wanted = Signal()

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setObjectName("mapPage")
        self._project = project
        self._selection = selection
        self._is_picking = False
        self.matrix = MatrixView()
        self.sources = TreePanel(Side.EXTRACTION, project, selection)
        self.targets = TreePanel(Side.CDM, project, selection)
        self.block = BlockPanel(project, selection)
        self.source_dock = Dock("extractionDock", "Extraction", self.sources)
        self.target_dock = Dock("cdmDock", "Canonical model", self.targets)
        self.block_dock = Dock("blockDock", "Block", self.block)
        self.block_dock.add_tools(self.block.tools)
        self._build()
        self.sources.counted.connect(self._count_sources)
        self.targets.counted.connect(self._count_targets)
        self.matrix.picked.connect(self._picked)
        self.matrix.toggle_wanted.connect(self.toggle)
        self.matrix.opened.connect(self.open_block)
        self.block.toggle_wanted.connect(self.toggle)
        self.block.retold.connect(self._tell_block)
        self.block.review_wanted.connect(self._want_review)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        selection.changed.connect(self._show_selected)

    def toggle(self, cell: Cell) -> None:
        """Set or clear an element; where an end is taken, ask what to do."""
        meant = toggle(self._project.value, cell.key, cell.element)
        if not isinstance(meant, Conflict):
            self._project.do(meant)
            return
        title, text = describe(self._project.value, meant)
        answers = [(Answer.REPLACE.value, "Replace")]
        answers += [(Answer.SWAP.value, "Swap the two")] if meant.can_swap else []
        answer = asking.ask(title, text, [*answers, (Answer.CANCEL.value, "Cancel")], self)
        if answer != Answer.CANCEL:
            self._project.do(meant.swap() if answer == Answer.SWAP else meant.replace())

    def _build(self) -> None:
        self.empty = EmptyMap()
        self.empty.import_wanted.connect(self.import_wanted)
        self.middle = QStackedWidget()
        self.middle.addWidget(self.matrix)
        self.middle.addWidget(self.empty)
        self.setCentralWidget(self.middle)
        self.setDockNestingEnabled(True)
        for corner, area in (
            (Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea),
            (Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea),
        ):
            self.setCorner(corner, area)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.source_dock)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.target_dock)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.block_dock)

    def _opened(self, _workbench: object) -> None:
        self.matrix.show_content(content_of(self._project.value))
        self._show_middle()

    def _show_middle(self) -> None:
        self.empty.show_document(self._project.value)
        self.middle.setCurrentWidget(self.empty if self.empty.is_needed else self.matrix)

    def _changed(self, changed: Changed) -> None:
        content = self.matrix.content
        if content is not None and changed.same_trees and changed.blocks is not None:
            self.matrix.show_content(content_after(content, changed.after, changed.blocks))
        else:
            self.matrix.show_content(content_of(changed.after))
            self._show_middle()

    def _picked(self, selected: Selected) -> None:
        self._is_picking = True  # what was picked on the plane is in sight: it must not move under the pointer
        try:
            self._selection.choose(selected)
        finally:
            self._is_picking = False

    def _show_selected(self, selected: Selected) -> None:
        self.matrix.show_selected(selected, bring_into_sight=not self._is_picking)

    def _tell_block(self) -> None:
        title, pill, kind, facts = self.block.told
        self.block_dock.say(title, facts, pill, kind)

    def _want_review(self, _key: object) -> None:
        self.review_wanted.emit()

    def open_block(self, _key: object = None) -> None:
        """Show the block editor of what is selected, with the keyboard on it."""
        self.block_dock.show()
        self.block_dock.raise_()
        self.block.take_focus()

    def _count_sources(self, counts: tuple[int, int]) -> None:
        self.source_dock.say("Extraction", _count_words(counts, "schema", "schemas"))

    def _count_targets(self, counts: tuple[int, int]) -> None:
        self.target_dock.say("Canonical model", _count_words(counts, "entity", "entities"))


def _count_words(counts: tuple[int, int], one: str, many: str) -> str:
    shown, whole = counts
    words = one if whole == 1 else many
    return f"{whole:,} {words}" if shown == whole else f"{shown:,} of {whole:,} {words}"
