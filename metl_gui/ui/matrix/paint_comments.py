"""Paints what was commented on: a small corner on a cell or, where cells are not drawn one by one, on its block."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen, QPolygonF

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera, level_at
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.theme import Theme

_LEAST_PX = 14.0
_CORNER_PX = 7.0


@dataclass(frozen=True, slots=True)
class Commented:
    """A block that was commented on, or one element of it."""

    key: BlockKey
    element: Element | None = None


def paint_comments(
    painter: QPainter, content: Content, camera: Camera, commented: tuple[Commented, ...], size: QRectF, theme: Theme
) -> None:
    """Paint the corners that lie in a viewport; none on what is too small to point at."""
    if not commented:
        return
    columns, rows = content.columns, content.rows
    has_cells = level_at(columns, camera.scale_x) is level_at(rows, camera.scale_y) is Level.ATTRIBUTE
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.panel, 1.0))
    painter.setBrush(theme.text)
    boxes = {(each.key, each.element if has_cells else None): each for each in commented}
    for key, element in boxes:
        box = _box(content, camera, key, element)
        if box is not None and box.intersects(size) and min(box.width(), box.height()) >= _LEAST_PX:
            _paint_corner(painter, box)
    painter.restore()


def _box(content: Content, camera: Camera, key: BlockKey, element: Element | None) -> QRectF | None:
    columns, rows = content.columns, content.rows
    if element is None:
        wide, tall = columns.span_of_version(key[0]), rows.span_of_version(key[1])
    else:
        column, row = columns.position_of(key[0], element.p), rows.position_of(key[1], element.q)
        if column is None or row is None:
            return None
        left, top = columns.begin(column), rows.begin(row)
        wide, tall = (left, left + 1.0), (top, top + 1.0)
    if wide is None or tall is None:
        return None
    return QRectF(QPointF(*camera.on_screen(wide[0], tall[0])), QPointF(*camera.on_screen(wide[1], tall[1])))


def _paint_corner(painter: QPainter, box: QRectF) -> None:
    width = min(_CORNER_PX, box.width() * 0.45)
    corner = box.topLeft() + QPointF(1, 1)
    painter.drawPolygon(QPolygonF([corner, corner + QPointF(width, 0), corner + QPointF(0, width)]))
