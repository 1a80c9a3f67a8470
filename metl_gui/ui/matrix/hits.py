"""What lies where: from pixels of the viewport to nodes and cells of the plane, and back."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.blocks import BlockKey, Element
from metl_gui.core.nodes import Side
from metl_gui.ui.matrix.axis import Axis, Level
from metl_gui.ui.matrix.camera import Camera, level_at
from metl_gui.ui.matrix.content import Content, axis_of
from metl_gui.ui.matrix.overlay import span_of
from metl_gui.ui.selection import Place, Selected

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in units of the plane."""


@dataclass(frozen=True)
class Cell:
    """A cell of the plane: the block and the element it stands for."""

    key: BlockKey
    element: Element


@dataclass(frozen=True)
class Hits:
    """Answers for one content seen by one camera."""

    content: Content
    camera: Camera

    @property
    def shows_cells(self) -> bool:
        """Whether single cells are drawn."""
        return self.level(Side.EXTRACTION) is Level.ATTRIBUTE and self.level(Side.CDM) is Level.ATTRIBUTE

    def level(self, side: Side) -> Level | None:
        """Return the level that is drawn of one axis."""
        scale = self.camera.scale_x if side is Side.EXTRACTION else self.camera.scale_y
        return level_at(axis_of(self.content, side), scale)

    def positions(self, x: float, y: float) -> tuple[int | None, int | None]:
        """Return the attribute positions under a point of the viewport, each ``None`` beyond its axis or in a gap."""
        place = self.camera.on_plane(x, y)
        column = self.content.columns.spans(Level.ATTRIBUTE).at(place[0]) if x >= 0 else None
        row = self.content.rows.spans(Level.ATTRIBUTE).at(place[1]) if y >= 0 else None
        return column, row

    def cell(self, x: float, y: float) -> Cell | None:
        """Return the cell under a point of the viewport, when cells are drawn."""
        column, row = self.positions(x, y)
        return (
            cell_of(self.content, column, row) if column is not None and row is not None and self.shows_cells else None
        )

    def selected(self, x: float, y: float, kept: Selected) -> Selected | None:
        """Return what a click means at a point of the viewport, or of a header (a negative coordinate)."""
        if x < 0 and y < 0:
            return None
        place = self.camera.on_plane(x, y)
        source = self._node(Side.EXTRACTION, place[0]) if x >= 0 else None
        target = self._node(Side.CDM, place[1]) if y >= 0 else None
        if y < 0:
            return kept.with_place(Side.EXTRACTION, source) if source else None
        if x < 0:
            return kept.with_place(Side.CDM, target) if target else None
        return Selected(source, target) if source and target else None

    def box(self, selected: Selected) -> Box | None:
        """Return where what is selected lies; an axis without a selected node is taken where it is looked at."""
        wide = span_of(self.content.columns, selected.source)
        tall = span_of(self.content.rows, selected.target)
        if wide is None and tall is None:
            return None
        wide = wide or (self.camera.left, self.camera.left + 1)
        tall = tall or (self.camera.top, self.camera.top + 1)
        return wide[0], tall[0], wide[1], tall[1]

    def _node(self, side: Side, place: float) -> Place | None:
        """Return the node of the drawn level at a place of an axis; of groups the schema."""
        axis, level = axis_of(self.content, side), self.level(side)
        if level is None or level is Level.GROUP:
            level = Level.SCHEMA
        at = axis.spans(level).at(place)
        return None if at is None else node_of(axis, level, at)


def node_of(axis: Axis, level: Level, item: int) -> Place:
    """Return the node that an item of an axis stands for: attribute, version or schema."""
    id_ = int(axis.spans(level).ids[item])
    if level is Level.SCHEMA:
        return Place(id_)
    version = axis.versions[int(axis.version_of[item]) if level is Level.ATTRIBUTE else item]
    return Place(version.schema_id, version.id, id_ if level is Level.ATTRIBUTE else None)


def position_of(axis: Axis, place: Place | None) -> int | None:
    """Return the position of an attribute on an axis; ``None`` for other nodes, and where it is not on the plane."""
    if place is None or place.version is None or place.attribute is None:
        return None
    return axis.position.get(place.attribute)


def cell_of(content: Content, column: int, row: int) -> Cell:
    """Return the cell at a pair of attribute positions."""
    source, target = node_of(content.columns, Level.ATTRIBUTE, column), node_of(content.rows, Level.ATTRIBUTE, row)
    return cell_between(source, target)


def cell_between(source: Place, target: Place) -> Cell:
    """Return the cell of two attributes."""
    ends = source.version, source.attribute, target.version, target.attribute
    if None in ends:
        raise ValueError("a cell lies between two attributes")
    v, p, w, q = (int(end or 0) for end in ends)
    return Cell((v, w), Element(q, p))
