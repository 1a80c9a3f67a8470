"""A second view of the matrix on the Review page: the block that waits, bright, beside the one that it came from."""

from __future__ import annotations

from typing import TypeAlias

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.map import descriptions
from metl_gui.ui.matrix.input.hit_test import Box, Cell
from metl_gui.ui.matrix.labels.headers import top_px
from metl_gui.ui.matrix.labels.legend import legend_px
from metl_gui.ui.matrix.layout.camera import MARGIN_PX, looking_at, tallest_cell
from metl_gui.ui.matrix.layout.content import PlaneContent, content_of
from metl_gui.ui.matrix.painting.overlay import Focus, box_of_block
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.block_lists import RefusedWords, takes_all
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.notes import NodeNotes
from metl_gui.ui.project.selection import Selected, Selection, still_there
from metl_gui.ui.project.text import block_words
from metl_gui.ui.widgets.labels import Elided

_ROWS = 11
_LEAST_CELL = 18.0
"""Pixels of a cell whose names can be read."""

Run: TypeAlias = tuple[tuple[Cell, ...], tuple[Cell, ...]]
"""Cells to set, and cells left out because an end is taken."""


class MatrixPane(QWidget):
    """Shows the plane of the Map page at one decision; only the blocks that are decided on take edits.

    Signals:
        toggle_wanted: a ``Cell`` that a click or Space wants set or cleared.
        run_wanted: a ``Run`` of cells.
        dropped: a ``Landing`` of fields dragged from a tree.
        loss_picked: a block's key and the ``Loss`` of the ghost that was clicked.
    """

    toggle_wanted = Signal(object)
    run_wanted = Signal(object)
    dropped = Signal(object)
    loss_picked = Signal(object)

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._selection = selection
        self._item: ReviewItem | None = None
        self._key: BlockKey | None = None
        self._workbench = project.workbench
        self._document: Document | None = None
        self._is_picking = False
        self._is_fed = False
        self._is_framed = False
        self._notes = {side: NodeNotes(project, side) for side in Side}
        self.matrix = MatrixView()
        self.matrix.setAccessibleName("The block that waits, in the matrix")
        self.matrix.setMinimumSize(320, 240)
        self.matrix.panes.has_map = False  # one looks at a place here; the whole has its map on the Map page
        self.caption = Elided(kind="dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.caption)
        layout.addWidget(self.matrix, 1)
        self.matrix.describe = self._spoken
        self.matrix.tip = self._tip
        self.refused: RefusedWords = takes_all
        self.matrix.picked.connect(self._picked)
        self.matrix.toggle_wanted.connect(self._toggle)
        self.matrix.run_wanted.connect(self._run)
        self.matrix.dropped.connect(self.dropped)
        self.matrix.loss_picked.connect(self.loss_picked)
        self.matrix.moved.connect(self._frame_block)
        selection.changed.connect(self._show_selected)
        for key, does in (("F", self.matrix.fit), ("Z", self.look_at_item), ("Backspace", self.matrix.go_up)):
            shortcut = QShortcut(QKeySequence(key), self.matrix)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(does)

    def sizeHint(self) -> QSize:
        """Return room for headers, legend and a dozen attributes; whatever is larger is panned."""
        around = top_px() + legend_px() + self.caption.sizeHint().height() + 2 * MARGIN_PX
        return QSize(600, round(around + _ROWS * tallest_cell()))

    def show_content(self, content: PlaneContent | None) -> None:
        """Show the plane as the Map page has laid it out, with nothing hidden."""
        self._is_fed = True
        if self._project.workbench is not self._workbench:
            self._workbench = self._project.workbench
            self._item, self._key = None, None
            self.matrix.forget_places()
        if content is not None:
            self.matrix.show_content(content)
            if self._item is not None and self._document is content.document:
                self._show_block(self._item, content)

    def show_item(self, document: Document, item: ReviewItem | None) -> None:
        """Look at the block of a decision and the one that it came from; at the same block again nothing moves.

        Args:
            document: the state that is shown.
            item: the decision, ``None`` for nothing.
        """
        self._document, self._item = document, item
        if not self._is_fed:
            self.matrix.show_content(content_of(document))
        content = self.matrix.content
        if item is None:
            self._key = None
            self.matrix.show_focus(None)
        elif content is not None and content.document is document:
            self._show_block(item, content)

    def _show_block(self, item: ReviewItem, content: PlaneContent) -> None:
        self.matrix.show_focus(Focus(item.key, item.block.came_from))
        self._say(item, content)
        if item.key != self._key:
            self._key = item.key
            self._is_framed = False
            self._frame_block()

    def _frame_block(self) -> None:
        """Look at the block for the first time, as soon as there is a viewport to frame it in."""
        if not self._is_framed and self.matrix.isVisible() and self.matrix.place() is not None:
            self._is_framed = True
            self.look_at_item()

    def look_at_item(self) -> None:
        """Look at the block, and at the one before as well where both can be read."""
        content, item = self.matrix.content, self._item
        after = box_of_block(content, item.key) if content is not None and item is not None else None
        if content is None or item is None or after is None:
            return
        came_from = item.block.came_from
        before = box_of_block(content, came_from) if came_from is not None else None
        both = _around(before, after) if before is not None else after
        self.matrix.jump(looking_at(self.matrix.frame, both if self._can_be_read(both) else after))

    def _can_be_read(self, box: Box) -> bool:
        frame = self.matrix.frame
        return (box[2] - box[0]) * _LEAST_CELL <= frame.width and (box[3] - box[1]) * _LEAST_CELL <= frame.height

    def _say(self, item: ReviewItem, content: PlaneContent) -> None:
        document, came_from = content.document, item.block.came_from
        parts = [block_words(document, item.key)]
        if came_from is not None and box_of_block(content, came_from) is not None:
            parts.append(f"dim: {block_words(document, came_from)}, which it came from")
        if any(cell.is_ghost for cell in content.lost_cells(item.key)):
            parts.append("hatched: what was removed, a click brings its card")
        self.caption.setText(" · ".join(parts))

    def _show_selected(self, selected: Selected) -> None:
        self.matrix.show_selected(selected, bring_into_sight=not self._is_picking and self.isVisible())

    def _picked(self, selected: Selected) -> None:
        self._is_picking = True  # what was picked on the plane is in sight: it must not move under the pointer
        try:
            self._selection.choose(still_there(self._project.value, selected))
        finally:
            self._is_picking = False

    def _takes(self, key: BlockKey) -> bool:
        """Whether a block is decided on here; all others are only looked at."""
        return self._item is not None and key in (self._item.key, *self._item.chain)

    def _toggle(self, cell: Cell) -> None:
        if self._takes(cell.key):
            self.toggle_wanted.emit(cell)

    def _run(self, run: Run) -> None:
        if all(self._takes(cell.key) for cell in run[0]):
            self.run_wanted.emit(run)

    def _spoken(self, selected: Selected) -> str:
        content = self.matrix.content
        return descriptions.spoken(content, selected, ()) if content is not None else ""

    def _tip(self, selected: Selected) -> str:
        content = self.matrix.content
        if content is None:
            return ""
        return descriptions.tip(
            content,
            selected,
            (),
            lambda side, place: self._notes[side].of(place),
            self._project.comments(),
            refused=self.refused,
        )


def _around(one: Box, other: Box) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])
