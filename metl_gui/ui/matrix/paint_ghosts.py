"""Paints suggestions as rings where cells are large enough, the one that Enter takes with a thicker line and a dot."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera, level_at
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.ghosts import Ghost
from metl_gui.ui.theme import Theme

_SHARE = 0.52


def are_drawn(content: Content, camera: Camera) -> bool:
    """Whether cells are drawn one by one, so that a ring has its place."""
    levels = level_at(content.columns, camera.scale_x), level_at(content.rows, camera.scale_y)
    return levels == (Level.ATTRIBUTE, Level.ATTRIBUTE)


def paint_ghosts(
    painter: QPainter, content: Content, camera: Camera, ghosts: tuple[Ghost, ...], size: QRectF, theme: Theme
) -> None:
    """Paint the rings that lie in a viewport; none where cells are not drawn one by one."""
    columns, rows = content.columns, content.rows
    if not are_drawn(content, camera):
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for ghost in ghosts:
        column = columns.position_of(ghost.key[0], ghost.element.p)
        row = rows.position_of(ghost.key[1], ghost.element.q)
        if column is None or row is None:
            continue  # hidden, or gone since
        x, y = camera.on_screen(columns.begin(column) + 0.5, rows.begin(row) + 0.5)
        width = min(camera.scale_x, camera.scale_y) * _SHARE
        box = QRectF(x - width / 2, y - width / 2, width, width)
        if box.intersects(size):
            _paint_ring(painter, box, ghost.is_current, theme)
    painter.restore()


def _paint_ring(painter: QPainter, box: QRectF, is_current: bool, theme: Theme) -> None:
    painter.setPen(QPen(theme.good, 2.4 if is_current else 1.8))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(box)
    if is_current:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.good)
        dot = box.width() * 0.17
        painter.drawEllipse(box.center(), dot, dot)
