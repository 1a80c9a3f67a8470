"""Fields dragged from a tree over the matrix: where they would land, and what is taken there.

A field of the extraction tree lands on a row, a field of the canonical model on a column; a cell stands for the one
of the two that is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDragMoveEvent, QDropEvent

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.gesture_preview import GesturePreview, proposal
from metl_gui.ui.matrix.input.hit_test import Hits, position_of, position_range
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.content import axis_of
from metl_gui.ui.project.selection import Dragged, NodeRef, from_mime
from metl_gui.values import Value

if TYPE_CHECKING:
    from metl_gui.ui.matrix.view import MatrixView


class Landing(Value):
    """Fields and the node that they were dropped on.

    Args:
        dragged: the fields.
        onto: a node of the other side: an attribute takes the fields from there on.
        is_header: whether they were dropped on its header, where an entity takes them as new attributes.
    """

    dragged: Dragged
    onto: NodeRef
    is_header: bool = False

    @property
    def side(self) -> Side:
        """The side of the node that they were dropped on."""
        return other_side(self.dragged.side)


def other_side(side: Side) -> Side:
    """Return the other tree."""
    return Side.CDM if side is Side.EXTRACTION else Side.EXTRACTION


class FieldDropController:
    """Follows what is dragged over one view."""

    def __init__(self, view: MatrixView) -> None:
        self._view = view
        self._dragged: Dragged | None = None

    def enter(self, event: QDragMoveEvent) -> None:
        """Take a drag when it carries fields of a tree."""
        self._dragged = from_mime(event.mimeData())
        if self._dragged is not None and self._dragged.places and self._view.hits is not None:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def move(self, event: QDragMoveEvent) -> None:
        """Show where the fields would land, and what is taken there."""
        landing = self._landing(event.position())
        self._view.show_trial(None if landing is None else self._trial(landing))
        if landing is None:
            event.ignore()
        else:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def leave(self) -> None:
        """Forget the drag."""
        self._dragged = None
        self._view.show_trial(None)

    def drop(self, event: QDropEvent) -> None:
        """Ask for what the drop means."""
        self._dragged = from_mime(event.mimeData())
        landing = self._landing(event.position())
        self.leave()
        if landing is None:
            event.ignore()
        else:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._view.dropped.emit(landing)

    def _landing(self, at: QPointF) -> Landing | None:
        hits, dragged = self._view.hits, self._dragged
        if hits is None or dragged is None:
            return None
        inside = at - self._view.panes.plane.pos()
        is_for_rows = dragged.side is Side.EXTRACTION
        beside = inside.x() if is_for_rows else inside.y()
        along = inside.y() if is_for_rows else inside.x()
        if along < 0:
            return None
        onto = hits.node_at(other_side(dragged.side), along, -beside if beside < 0 else None)
        return None if onto is None else Landing(dragged, onto, beside < 0)

    def _trial(self, landing: Landing) -> GesturePreview | None:
        hits = self._view.hits
        axis = axis_of(hits.content, landing.side) if hits is not None else None
        at = position_of(axis, landing.onto) if axis is not None else None
        if hits is None or axis is None or at is None:
            return None
        return preview_of(hits, landing, at)


def preview_of(hits: Hits, landing: Landing, at: int) -> GesturePreview:
    """Work out where fields would land: the first on the row or column under the pointer, the others on the next ones.

    Cost: the elements of the blocks that the fields' versions make with the version under the pointer.
    """
    content = hits.content
    own_axis, axis = axis_of(content, landing.dragged.side), axis_of(content, landing.side)
    version = axis.version_at(at)
    last = axis.spans(Level.VERSION).last(version)
    is_for_rows = landing.side is Side.CDM
    positions = [_position(own_axis, place) for place in landing.dragged.attributes]
    shown = [position for position in positions if position is not None]
    pairs = list(zip(shown, range(at, last), strict=False))
    cells = pairs if is_for_rows else [(other, own) for own, other in pairs]
    elements: dict[tuple[int, int], bool] = {}
    across, along = range(axis.spans(Level.VERSION).first(version), last), range(0)
    for own in dict.fromkeys(own_axis.version_at(position) for position in shown):
        spans = own_axis.spans(Level.VERSION)
        along = range(spans.first(own), spans.last(own))
        columns, rows = (along, across) if is_for_rows else (across, along)
        elements.update({(column, row): True for column, row, _ in content.elements_within(columns, rows)})
    found = proposal(cells, elements)
    taken = tuple(row if is_for_rows else column for column, row in elements)
    return GesturePreview(found.wanted, found.refused, found.takers, over=(landing.side, at), taken=taken, across=along)


def _position(axis: Axis, place: NodeRef) -> int | None:
    found = position_range(axis, place)
    return found.start if found else None
