"""Where the keyboard goes on the plane: the cursor by cells, tiles and blocks, drilling in and going up a level."""

from __future__ import annotations

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.hit_test import Box, Hits, item_of, node_of
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import Camera, Frame, fitted, level_at, looking_at, tallest_cell, widest_cell
from metl_gui.ui.matrix.layout.content import PlaneContent, axis_of
from metl_gui.ui.project.selection import NodeRef, Selected

_CLOSER = 1.05


def stepped(hits: Hits, selected: Selected, by: tuple[int, int], by_block: bool) -> Selected | None:
    """Move the cursor over what is drawn.

    Args:
        hits: what is drawn.
        selected: where the cursor is.
        by: steps along columns and rows.
        by_block: step to the first attribute of the next block, or to the next schema where tiles are drawn.

    Returns:
        The node on both sides; without a cursor the first one in sight, ``None`` on an empty plane.
    """
    source = _along(hits, Side.EXTRACTION, selected.source, by[0], by_block)
    target = _along(hits, Side.CDM, selected.target, by[1], by_block)
    return None if source is None or target is None else Selected(source, target)


def drilled(hits: Hits, frame: Frame, selected: Selected) -> Camera | None:
    """Look closer at what is selected: as closely as it fits or, when that is no closer, at its cells."""
    box = hits.box(selected)
    if box is None:
        return None
    camera = looking_at(frame, box)
    now = hits.camera
    if camera.scale_x > now.scale_x * _CLOSER or camera.scale_y > now.scale_y * _CLOSER:
        return camera
    cells = Camera(box[0], box[1], widest_cell(), tallest_cell())
    return cells.held(frame)


def raised(hits: Hits, frame: Frame, selected: Selected) -> tuple[Camera, Selected]:
    """Go up a level: look at what holds the selected nodes, until something coarser is drawn; lift the selection."""
    content = hits.content
    before = _levels(content, hits.camera)
    camera = fitted(frame)
    for level in (Level.SCHEMA, Level.GROUP, Level.OUTER_GROUP):
        box = _box_around(hits, selected, level, frame)
        candidate = looking_at(frame, box) if box is not None else camera
        if _levels(content, candidate) > before:
            camera = candidate
            break
    source = _lifted(content.columns, camera.scale_x, selected.source)
    target = _lifted(content.rows, camera.scale_y, selected.target)
    return camera, Selected(source, target)


def _along(hits: Hits, side: Side, place: NodeRef | None, by: int, by_block: bool) -> NodeRef | None:
    axis = axis_of(hits.content, side)
    level = drawn_level(hits, side)
    spans = axis.spans(level)
    if not len(spans):
        return None
    item = item_of(axis, level, place)
    if item is None:
        corner = hits.camera.left if side is Side.EXTRACTION else hits.camera.top
        in_sight = spans.within(max(corner, 0.0), axis.length)
        return node_of(axis, level, in_sight[0] if in_sight else 0)
    if not by_block:
        return node_of(axis, level, min(max(item + by, 0), len(spans) - 1))
    if not by:
        return node_of(axis, level, item)
    outer = axis.spans(Level(level + 1))
    block = outer.item_of(spans.first(item)) + by
    block = min(max(block, 0), len(outer) - 1)
    return node_of(axis, level, spans.item_of(outer.first(block)))


def drawn_level(hits: Hits, side: Side) -> Level:
    """Return the level that a cursor steps over: what is drawn, of groups and below it the schemas."""
    level = hits.level(side)
    return Level.SCHEMA if level is None or level > Level.SCHEMA else level


def _levels(content: PlaneContent, camera: Camera) -> int:
    """Say how coarse a picture is: the sum of the levels drawn, nothing drawn being the coarsest."""
    drawn = level_at(content.columns, camera.scale_x), level_at(content.rows, camera.scale_y)
    return sum(len(Level) if level is None else int(level) for level in drawn)


def _box_around(hits: Hits, selected: Selected, level: Level, frame: Frame) -> Box | None:
    """Return the box of the schemas or groups that hold what is selected, or what is in the middle of the picture."""
    ends: list[tuple[float, float]] = []
    camera = hits.camera
    middle = camera.on_plane(frame.width / 2, frame.height / 2)
    for side, centre in ((Side.EXTRACTION, middle[0]), (Side.CDM, middle[1])):
        axis = axis_of(hits.content, side)
        spans, attributes = axis.spans(level), axis.spans(Level.ATTRIBUTE)
        if not len(spans):
            return None
        schema = item_of(axis, Level.SCHEMA, selected.on(side))
        if schema is not None:
            position = axis.spans(Level.SCHEMA).first(schema)
        else:
            position = min(attributes.within(centre, axis.length).start, len(attributes) - 1)
        ends.append(spans.stretch(spans.item_of(position)))
    return ends[0][0], ends[1][0], ends[0][1], ends[1][1]


def _lifted(axis: Axis, scale: float, place: NodeRef | None) -> NodeRef | None:
    """Return the node of the drawn level that holds a node."""
    level = level_at(axis, scale)
    if place is None or level is Level.ATTRIBUTE:
        return place
    return NodeRef(place.schema, place.version) if level is Level.VERSION else NodeRef(place.schema)
