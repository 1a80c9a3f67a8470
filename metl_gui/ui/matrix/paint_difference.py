"""Paints what differs between two states, on every level: single marks, numbers on tiles, dots on a raster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from metl_gui.ui.marks import MarkShape, paint_mark
from metl_gui.ui.matrix.axis import Axis, Level
from metl_gui.ui.matrix.camera import Camera, level_at
from metl_gui.ui.matrix.changes import paint_change
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.lettering import Lettering
from metl_gui.ui.matrix.marks_of_difference import PlacedMarks
from metl_gui.ui.matrix.paint_cells import mark_side
from metl_gui.ui.matrix.spans import Floats
from metl_gui.ui.theme import Theme

_DOT_PX = 5.0


@dataclass(frozen=True)
class _Sheet:
    """What is painted on."""

    painter: QPainter
    content: Content
    camera: Camera
    size: QRectF
    theme: Theme


def paint_difference(
    painter: QPainter, content: Content, camera: Camera, marks: PlacedMarks, size: QRectF, theme: Theme
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
    letters = Lettering(sheet.painter, sheet.painter.device().devicePixelRatioF(), factor=0.8)
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
