"""What lies where: from pixels of the viewport to nodes and cells of the plane, and back."""

from __future__ import annotations

import msgspec

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.labels.headers import left_px, level_in_left, level_in_top, top_px
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import Camera, level_at
from metl_gui.ui.matrix.layout.content import PlaneContent, axis_of
from metl_gui.ui.matrix.layout.ghost_lines import GhostLine, LostHere
from metl_gui.ui.matrix.painting.overlay import span_of
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.values import Value

FRAME_PX = 6.0
"""How near to a block a point between cells belongs to its frame."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in units of the plane."""


class Cell(Value):
    """A cell of the plane: the block and the element it stands for."""

    key: BlockKey
    element: Element


class Hits(Value):
    """Answers for one content seen by one camera."""

    content: PlaneContent
    camera: Camera
    top: float = msgspec.field(default_factory=top_px)
    """Height of the columns' header, in pixels."""
    left: float = msgspec.field(default_factory=left_px)
    """Width of the rows' header, in pixels."""

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
        """Return what a click means at a point of the viewport, or of a header (a negative coordinate).

        On the plane that is a node on both sides: a cell, a tile or, on a block's frame, its two versions.
        """
        if x < 0 and y < 0:
            return None
        if y < 0:
            source = self.node_at(Side.EXTRACTION, x, -y)
            return kept.with_place(Side.EXTRACTION, source) if source else None
        if x < 0:
            target = self.node_at(Side.CDM, y, -x)
            return kept.with_place(Side.CDM, target) if target else None
        nodes = self.node_at(Side.EXTRACTION, x), self.node_at(Side.CDM, y)
        if None not in nodes:
            return Selected(*nodes)
        return self._framed(x, y) if self.shows_cells else None

    def node_at(self, side: Side, along: float, depth: float | None = None) -> NodeRef | None:
        """Return the node at a pixel of an axis: of what is drawn or, so deep in the header, of the band there."""
        level, axis = self.level(side), axis_of(self.content, side)
        if depth is not None:
            level = self._level_in_header(side, depth)
        if level is None or level > Level.SCHEMA:
            level = Level.SCHEMA
        at = axis.spans(level).at(self._place(side, along))
        return None if at is None else node_of(axis, level, at)

    def loss_at(self, x: float, y: float) -> LostHere | None:
        """Return what was lost with the ghost at a point of the viewport, or of a header's names.

        In a block that lost something with it that is meant, anywhere else the first of its losses.
        """
        if x < 0 and y < 0:
            return None
        column = self._ghost(Side.EXTRACTION, x, -y if y < 0 else None) if x >= 0 else None
        row = self._ghost(Side.CDM, y, -x if x < 0 else None) if y >= 0 else None
        ghost = column or row
        if ghost is None:
            return None
        source, target = self._version_at(Side.EXTRACTION, x), self._version_at(Side.CDM, y)
        if source is None or target is None:
            return ghost.losses[0]
        key = self.content.key_of(source, target)
        return ghost.loss_in(key, row if column is not None else None) or ghost.loss_in(key) or ghost.losses[0]

    def _ghost(self, side: Side, along: float, depth: float | None) -> GhostLine | None:
        axis, level = axis_of(self.content, side), self.level(side)
        if depth is not None:
            level = self._level_in_header(side, depth)
        return axis.ghosts.at(self._place(side, along)) if level is Level.ATTRIBUTE else None

    def _level_in_header(self, side: Side, depth: float) -> Level | None:
        level = self.level(side)
        if side is Side.CDM:
            return level_in_left(level, self.left - depth)
        return level_in_top(self.content.columns, level, self.top - depth, self.top)

    def _version_at(self, side: Side, along: float) -> int | None:
        return axis_of(self.content, side).spans(Level.VERSION).at(self._place(side, along)) if along >= 0 else None

    def _place(self, side: Side, along: float) -> float:
        x, y = self.camera.on_plane(along, along)
        return x if side is Side.EXTRACTION else y

    def _framed(self, x: float, y: float) -> Selected | None:
        """Return the block whose frame lies at a point between cells."""
        source, target = self._version_near(Side.EXTRACTION, x), self._version_near(Side.CDM, y)
        return None if source is None or target is None else Selected(source, target)

    def _version_near(self, side: Side, along: float) -> NodeRef | None:
        axis = axis_of(self.content, side)
        near = (along, along - FRAME_PX, along + FRAME_PX)
        items = (axis.spans(Level.VERSION).at(self._place(side, each)) for each in near)
        item = next((each for each in items if each is not None), None)
        return None if item is None else node_of(axis, Level.VERSION, item)

    def box(self, selected: Selected) -> Box | None:
        """Return where what is selected lies; an axis without a selected node is taken where it is looked at."""
        wide = span_of(self.content.columns, selected.source)
        tall = span_of(self.content.rows, selected.target)
        if wide is None and tall is None:
            return None
        wide = wide or (self.camera.left, self.camera.left + 1)
        tall = tall or (self.camera.top, self.camera.top + 1)
        return wide[0], tall[0], wide[1], tall[1]


def node_of(axis: Axis, level: Level, item: int) -> NodeRef:
    """Return the node that an item of an axis stands for: attribute, version or schema."""
    if level is Level.SCHEMA:
        return NodeRef(axis.schema_id(item))
    version = axis.version_at(item) if level is Level.ATTRIBUTE else item
    attribute = axis.attribute_id(item) if level is Level.ATTRIBUTE else None
    return NodeRef(axis.schema_of(version), axis.version_id(version), attribute)


def item_of(axis: Axis, level: Level, place: NodeRef | None) -> int | None:
    """Return the item of a level that is a node or holds it, the first one inside a coarser node."""
    span = span_of(axis, place)
    if span is None:
        return None
    items = axis.spans(level).within(*span)
    return items[0] if items else None


def position_range(axis: Axis, place: NodeRef) -> range | None:
    """Return the attribute positions that a node takes, ``None`` when it is not on the plane."""
    span = span_of(axis, place)
    return None if span is None else axis.spans(Level.ATTRIBUTE).within(*span)


def block_ranges(content: PlaneContent, column: int, row: int) -> tuple[range, range]:
    """Return the attribute positions, on both axes, of the block that a cell lies in."""
    found = []
    for axis, position in ((content.columns, column), (content.rows, row)):
        spans, item = axis.spans(Level.VERSION), axis.version_at(position)
        found.append(range(spans.first(item), spans.last(item)))
    return found[0], found[1]


def position_of(axis: Axis, place: NodeRef | None) -> int | None:
    """Return the position of an attribute on an axis; ``None`` for other nodes, and where it is not on the plane."""
    if place is None or place.version is None or place.attribute is None:
        return None
    return axis.position_of(place.version, place.attribute)


def cell_of(content: PlaneContent, column: int, row: int) -> Cell:
    """Return the cell at a pair of attribute positions."""
    source, target = node_of(content.columns, Level.ATTRIBUTE, column), node_of(content.rows, Level.ATTRIBUTE, row)
    return cell_between(source, target)


def cell_between(source: NodeRef, target: NodeRef) -> Cell:
    """Return the cell of two attributes."""
    ends = source.version, source.attribute, target.version, target.attribute
    if None in ends:
        raise ValueError("a cell lies between two attributes")
    v, p, w, q = (int(end or 0) for end in ends)
    return Cell((v, w), Element(q, p))
