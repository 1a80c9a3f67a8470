"""The overview map in the corner: the whole plane, what waits, and what is in sight."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPen

from metl_gui.core.blocks import Status
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.paint_counts import density
from metl_gui.ui.theme import Theme

WIDTH_PX, HEIGHT_PX = 184.0, 112.0
_INSET = 8.0


class Overview:
    """A small picture of everything, painted once for each content and theme."""

    def __init__(self) -> None:
        self._image: QImage | None = None
        self._of: tuple[int, str] = (0, "")

    def paint(self, painter: QPainter, size: QRectF, content: Content, seen: QRectF, theme: Theme) -> None:
        """Paint the map; ``seen`` is what is in sight, in units of the plane."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(size.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        inner = _inner(size)
        scales = _scales(inner, content)
        if self._of != (id(content), theme.name):
            self._image = density(content, scales, QRectF(0, 0, inner.width(), inner.height()), theme)
            self._of = (id(content), theme.name)
        if self._image is not None:
            painter.drawImage(inner, self._image)
        _paint_waiting(painter, content, inner, scales, theme)
        frame = QRectF(seen.left() * scales[0], seen.top() * scales[1], 0, 0)
        frame.setBottomRight(QPointF(seen.right() * scales[0], seen.bottom() * scales[1]))
        frame = frame.translated(inner.topLeft()).intersected(inner.adjusted(-2, -2, 2, 2))
        painter.setPen(QPen(theme.text, 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, 2, 2)

    @staticmethod
    def place_at(size: QRectF, content: Content, at: QPointF) -> tuple[float, float]:
        """Return the place of the plane under a point of the map."""
        inner = _inner(size)
        scales = _scales(inner, content)
        return (at.x() - inner.left()) / scales[0], (at.y() - inner.top()) / scales[1]


def centred(camera: Camera, place: tuple[float, float], width: float, height: float) -> Camera:
    """Return the camera that has a place of the plane in its middle."""
    left = place[0] - width / camera.scale_x / 2
    return Camera(left, place[1] - height / camera.scale_y / 2, camera.scale_x, camera.scale_y)


def _inner(size: QRectF) -> QRectF:
    return size.adjusted(_INSET, _INSET, -_INSET, -_INSET)


def _scales(inner: QRectF, content: Content) -> tuple[float, float]:
    return inner.width() / max(content.columns.length, 1.0), inner.height() / max(content.rows.length, 1.0)


def _paint_waiting(
    painter: QPainter, content: Content, inner: QRectF, scales: tuple[float, float], theme: Theme
) -> None:
    wide, tall = content.columns.spans(Level.VERSION), content.rows.spans(Level.VERSION)
    painter.setPen(QPen(theme.review_outline[0], 0.8))
    painter.setBrush(theme.reviewmark)
    for (x, y), block in content.blocks.items():
        if block.status is Status.NEEDS_REVIEW:
            middle = QPointF(
                (wide.begin[x] + wide.end[x]) / 2 * scales[0], (tall.begin[y] + tall.end[y]) / 2 * scales[1]
            )
            painter.drawRect(QRectF(middle.x() - 2, middle.y() - 2, 4, 4).translated(inner.topLeft()))
