"""The overview map in the corner: the whole plane, what waits, and what is in sight."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPen

from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.paint_density import density
from metl_gui.ui.theme import Theme

WIDTH_PX, HEIGHT_PX = 184.0, 112.0
_INSET = 8.0
_MOST_DOTS = 200


class Overview:
    """A small picture of everything, painted once for each content and theme."""

    def __init__(self) -> None:
        self._image: QImage | None = None
        self._of: tuple[Content, Theme, QRectF, float] | None = None

    def paint(self, painter: QPainter, size: QRectF, content: Content, seen: QRectF, theme: Theme) -> None:
        """Paint the map; ``seen`` is what is in sight, in units of the plane."""
        ratio = painter.device().devicePixelRatioF()
        key = content, theme, size, ratio
        if self._image is None or self._of is None or self._of[0] is not content or self._of[1:] != key[1:]:
            self._image = _picture(size, content, theme, ratio)
            self._of = key
        painter.drawImage(size.topLeft(), self._image)
        inner = _inner(size)
        scales = _scales(inner, content)
        frame = QRectF(seen.left() * scales[0], seen.top() * scales[1], 0, 0)
        frame.setBottomRight(QPointF(seen.right() * scales[0], seen.bottom() * scales[1]))
        frame = _grown(frame.translated(inner.topLeft()).intersected(inner.adjusted(-2, -2, 2, 2)))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
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


def _grown(frame: QRectF) -> QRectF:
    """Keep the frame large enough to be seen."""
    wide, tall = max(6.0 - frame.width(), 0.0) / 2, max(6.0 - frame.height(), 0.0) / 2
    return frame.adjusted(-wide, -tall, wide, tall)


def _picture(size: QRectF, content: Content, theme: Theme, ratio: float) -> QImage:
    """Paint everything but the frame."""
    picture = QImage(
        round(size.width() * ratio), round(size.height() * ratio), QImage.Format.Format_ARGB32_Premultiplied
    )
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.translate(-size.topLeft())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.line, 1))
    painter.setBrush(theme.panel)
    painter.drawRoundedRect(size.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    inner = _inner(size)
    scales = _scales(inner, content)
    if content.columns.length and content.rows.length:
        everything = (0.0, 0.0, content.columns.length, content.rows.length)
        binned, _ = density(content, everything, scales, theme)
        place = QRectF(inner.left() + binned.left * scales[0], inner.top() + binned.top * scales[1], 0, 0)
        place.setBottomRight(QPointF(inner.left() + binned.right * scales[0], inner.top() + binned.bottom * scales[1]))
        painter.setClipRect(inner)
        painter.drawImage(place, binned.picture)
        painter.setClipping(False)
        _paint_waiting(painter, content, inner, scales, theme)
    painter.end()
    return picture


def _paint_waiting(
    painter: QPainter, content: Content, inner: QRectF, scales: tuple[float, float], theme: Theme
) -> None:
    """Mark the blocks that wait, large enough to be seen; very many are told by the density alone."""
    if not content.document.matrix.waiting_count:
        return
    wide, tall = content.columns.spans(Level.VERSION), content.rows.spans(Level.VERSION)
    xs, ys = content.waiting_within(range(len(wide)), range(len(tall)))
    if len(xs) > _MOST_DOTS:
        return
    painter.setPen(QPen(theme.review_outline[0], 0.8))
    painter.setBrush(theme.reviewmark)
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        middle = (wide.begin(x) + wide.end(x)) / 2 * scales[0], (tall.begin(y) + tall.end(y)) / 2 * scales[1]
        painter.drawRect(QRectF(middle[0] - 2, middle[1] - 2, 4, 4).translated(inner.topLeft()))
