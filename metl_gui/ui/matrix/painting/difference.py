"""Marks of what differs between two states, elements that came and elements that went, and their painter.

They are painted on every level: single marks, numbers on tiles, dots on a raster.

Cost: of placing them, a search for each; of a picture, some passes over all marks and what is in sight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from metl_gui.core.differences.block_difference import BlockDifference
from metl_gui.core.differences.document_difference import Difference
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import Camera, level_at
from metl_gui.ui.matrix.layout.content import PlaneContent, axis_of
from metl_gui.ui.matrix.layout.spans import Floats
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints
from metl_gui.ui.matrix.painting.cells import mark_side
from metl_gui.ui.matrix.painting.paint_context import Sign
from metl_gui.ui.matrix.painting.text_layout import TextPainter
from metl_gui.ui.matrix.painting.version_changes import paint_change
from metl_gui.ui.theming.marks import MarkShape, paint_mark
from metl_gui.ui.theming.theme import Theme
from metl_gui.values import Value

ADDED: Literal["added"] = "added"
REMOVED: Literal["removed"] = "removed"


class ElementDifference(NamedTuple):
    """One element that differs.

    Args:
        key: the block that it is in, or was.
        element: the element.
        kind: whether it came or went.
    """

    key: BlockKey
    element: Element
    kind: Literal["added", "removed"]


class PlacedMarks(Value, eq=False):
    """Marks by attribute positions.

    Shape: ``column``, ``row`` and ``is_added`` have one entry a mark that is on the plane.

    Args:
        gone: how many elements went together with their version or attribute, so that they have no place any more.
        hidden: how many marks the plane leaves out just now.
    """

    column: Ints
    row: Ints
    is_added: npt.NDArray[np.bool_]
    gone: int = 0
    hidden: int = 0

    def __len__(self) -> int:
        return len(self.column)

    @property
    def added(self) -> int:
        """How many elements on the plane came."""
        return int(self.is_added.sum())

    @property
    def removed(self) -> int:
        """How many went, and have their place still."""
        return len(self) - self.added


def placed_marks(content: PlaneContent, marks: tuple[ElementDifference, ...]) -> PlacedMarks:
    """Find the places of marks in what is laid out."""
    ids = np.array([(*mark.key, *mark.element) for mark in marks], np.int64).reshape(-1, 4)
    is_added = np.array([mark.kind == ADDED for mark in marks], np.bool_)
    column, knows_p = _positions(content, Side.EXTRACTION, ids[:, 0], ids[:, 3])
    row, knows_q = _positions(content, Side.CDM, ids[:, 1], ids[:, 2])
    there = (column != NOWHERE) & (row != NOWHERE)
    gone = ~there & ~(knows_p & knows_q)
    hidden = int((~there & ~gone).sum())
    return PlacedMarks(column[there], row[there], is_added[there], int(gone.sum()), hidden)


def difference_words(marks: PlacedMarks) -> dict[Sign, str]:
    """Say in the legend how many elements came and went, those without a place on the plane too."""
    beside = [f"{marks.gone:,} with their version"] if marks.gone else []
    beside += [f"{marks.hidden:,} changes hidden"] if marks.hidden else []
    went = ", ".join([f"{marks.removed:,} removed", *beside])
    words = {Sign.CAME: f"{marks.added:,} added"} if marks.added else {}
    return words | ({Sign.WENT: went} if marks.removed or beside else {})


def _positions(
    content: PlaneContent, side: Side, versions: Ints, attributes: Ints
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the positions of attributes, ``NOWHERE`` for those not on the axis, and which of them their tree knows."""
    axis: Axis = axis_of(content, side)
    items = axis.version_items(versions)
    is_on = items != NOWHERE
    found = np.full(len(versions), NOWHERE, np.int64)
    found[is_on] = axis.positions(items[is_on], attributes[is_on])
    known = found != NOWHERE
    if not known.all():
        rest = np.flatnonzero(~known)
        rows = axis.nodes.rows(versions[rest])
        is_there = rows != NOWHERE
        held = np.zeros(len(rest), np.bool_)
        held[is_there] = axis.nodes.places(rows[is_there], attributes[rest][is_there]) != NOWHERE
        known[rest] = held & _may_hold_blocks(axis, versions[rest])
    return found, known


def _may_hold_blocks(axis: Axis, versions: Ints) -> npt.NDArray[np.bool_]:
    """Say which versions the plane could show: of an entity with one version in use only the newest.

    Source: docs/architecture/model.md, "Rules that always hold".
    """
    if axis.side is Side.EXTRACTION:
        return np.ones(len(versions), np.bool_)
    tree, found = axis.nodes.tree, []
    for id_ in versions.tolist():
        version = tree.find_version(id_)
        entity = tree.schema(version.schema_id) if version is not None else None
        found.append(entity is not None and (entity.setting("policy") == "parallel" or entity.version_ids[-1] == id_))
    return np.array(found, np.bool_)


def marks_of(difference: Difference, before: Document, after: Document) -> tuple[ElementDifference, ...]:
    """Return the marks of a difference of two states of one project, to be shown on the later one."""
    return tuple(mark for block in difference.blocks for mark in _marks_of_block(block, before, after))


def _marks_of_block(block: BlockDifference, before: Document, after: Document) -> Iterator[ElementDifference]:
    if block.after is not None:
        for element in block.added_elements:
            yield ElementDifference(block.after, element, ADDED)
    if block.before is not None:
        for element in block.removed_elements:
            yield _removed(block.before, block.after, element, before, after)


def _removed(
    key: BlockKey, now: BlockKey | None, element: Element, before: Document, after: Document
) -> ElementDifference:
    """Mark an element where it was; in a block that moved to another entity version, where it would be now."""
    old = before.cdm.find_version(key[1])
    new = after.cdm.find_version(now[1]) if now is not None and now != key else None
    was = old.attribute(element.q) if old is not None else None
    follows = new.of_lineage(was.lineage) if new is not None and was is not None else None
    if now is None or follows is None:
        return ElementDifference(key, element, REMOVED)
    return ElementDifference(now, Element(follows.id, element.p), REMOVED)


_DOT_PX = 5.0


class _Sheet(Value):
    """What is painted on."""

    painter: QPainter
    content: PlaneContent
    camera: Camera
    size: QRectF
    theme: Theme


def paint_difference(
    painter: QPainter, content: PlaneContent, camera: Camera, marks: PlacedMarks, size: QRectF, theme: Theme
) -> None:
    """Paint the marks that lie in a viewport at the levels that the scales allow."""
    if not len(marks):
        return
    sheet = _Sheet(painter, content, camera, size, theme)
    levels = level_at(content.columns, camera.scale_x), level_at(content.rows, camera.scale_y)
    painter.save()
    if levels == (Level.ATTRIBUTE, Level.ATTRIBUTE):
        _paint_cells(sheet, marks)
    elif levels[0] is None or levels[1] is None:
        _paint_dots(sheet, marks)
    else:
        _paint_tiles(sheet, marks, levels[0], levels[1])
    painter.restore()


def _paint_cells(sheet: _Sheet, marks: PlacedMarks) -> None:
    camera, side = sheet.camera, mark_side(sheet.camera.scale_x, sheet.camera.scale_y)
    x = (sheet.content.columns.runs.places(marks.column) + 0.5 - camera.left) * camera.scale_x - side / 2
    y = (sheet.content.rows.runs.places(marks.row) + 0.5 - camera.top) * camera.scale_y - side / 2
    near = sheet.size.adjusted(-side, -side, 0, 0)
    seen = (x >= near.left()) & (x <= near.right()) & (y >= near.top()) & (y <= near.bottom())
    for left, top, is_added in zip(
        np.rint(x[seen]).tolist(), np.rint(y[seen]).tolist(), marks.is_added[seen].tolist(), strict=True
    ):
        shape = MarkShape.ADDED if is_added else MarkShape.LOST
        paint_mark(sheet.painter, QRectF(left, top, side, side), shape, sheet.theme)


def _paint_tiles(sheet: _Sheet, marks: PlacedMarks, level_x: Level, level_y: Level) -> None:
    """Write on every tile how many came and went in it."""
    (x, left, right), (y, top, bottom) = (
        _sides(sheet.content.columns, level_x, marks.column, sheet.camera.left, sheet.camera.scale_x),
        _sides(sheet.content.rows, level_y, marks.row, sheet.camera.top, sheet.camera.scale_y),
    )
    seen = (right > 0) & (left < sheet.size.width()) & (bottom > 0) & (top < sheet.size.height())
    if not seen.any():
        return
    _, first, at = np.unique(np.stack([x[seen], y[seen]]), axis=1, return_index=True, return_inverse=True)
    at = at.reshape(-1)
    is_added = marks.is_added[seen]
    added = np.bincount(at, weights=is_added).astype(np.int64)
    removed = np.bincount(at, weights=~is_added).astype(np.int64)
    letters = TextPainter(sheet.painter, sheet.painter.device().devicePixelRatioF(), factor=0.8)
    places = (each[seen][first].tolist() for each in (left, top, right, bottom))
    for x0, y0, x1, y1, came, went in zip(*places, added.tolist(), removed.tolist(), strict=True):
        box = QRectF(x0, y0, max(x1 - x0, _DOT_PX), max(y1 - y0, _DOT_PX))
        paint_change(sheet.painter, letters, box, (came, went), sheet.theme)


def _sides(
    axis: Axis, level: Level, positions: npt.NDArray[np.signedinteger], place: float, scale: float
) -> tuple[npt.NDArray[np.signedinteger], Floats, Floats]:
    """Return the items of a level that hold positions, and where each begins and ends in pixels."""
    if level is Level.ATTRIBUTE:
        items, begins = positions, axis.runs.places(positions)
        return items, (begins - place) * scale, (begins + 1.0 - place) * scale
    spans = axis.spans(level)
    items = spans.items_of(positions)
    whole = range(len(spans))
    return items, (spans.begins(whole)[items] - place) * scale, (spans.ends(whole)[items] - place) * scale


def _paint_dots(sheet: _Sheet, marks: PlacedMarks) -> None:
    """Mark on a raster where something differs: a plus where elements came, a hollow square where only some went."""
    camera = sheet.camera
    x = (sheet.content.columns.runs.places(marks.column) - camera.left) * camera.scale_x // _DOT_PX
    y = (sheet.content.rows.runs.places(marks.row) - camera.top) * camera.scale_y // _DOT_PX
    spots = {
        (left, top): bool(is_added)
        for left, top, is_added in sorted(zip(x.tolist(), y.tolist(), marks.is_added.tolist(), strict=True))
    }
    painter, theme = sheet.painter, sheet.theme
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for (left, top), is_added in spots.items():
        box = QRectF(left * _DOT_PX, top * _DOT_PX, _DOT_PX, _DOT_PX)
        if not box.intersects(sheet.size):
            continue
        painter.fillRect(box.adjusted(-1, -1, 1, 1), theme.panel)  # else it drowns in the raster
        centre = box.center()
        if is_added:
            painter.setPen(QPen(theme.good, 1.6))
            painter.drawLine(QLineF(box.left(), centre.y(), box.right(), centre.y()))
            painter.drawLine(QLineF(QPointF(centre.x(), box.top()), QPointF(centre.x(), box.bottom())))
        else:
            painter.setPen(QPen(theme.review_outline[0], 1.2))
            painter.drawRect(box.adjusted(0.6, 0.6, -0.6, -0.6))
