"""Rounded boxes on the matrix: small ones are kept pictures, of large ones the flat parts are filled.

Qt lays every rounded rectangle out as a path again, which takes as long as ten fills or pictures.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar, TypeAlias

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

_KEPT = 1_000
_SMALL_PX = 6_000
_Key: TypeAlias = tuple[float, float, int, int, float, float, float]


class Boxes:
    """Draws boxes with one painter.

    Args:
        painter: its transform may move but not scale.
        ratio: device pixels a pixel.
        radius: of the corners.
        is_vector: draw shapes, for files that keep them.
    """

    _kept: ClassVar[OrderedDict[_Key, QImage]] = OrderedDict()

    def __init__(self, painter: QPainter, ratio: float, radius: float, *, is_vector: bool = False) -> None:
        self._painter = painter
        self._ratio = ratio
        self._radius = round(radius * ratio) / ratio
        self._is_vector = is_vector

    def draw(self, box: QRectF, fill: QColor, outline: QColor | None = None, width: float = 0.0) -> None:
        """Draw a box; its outline lies within."""
        left, top, right, bottom = (
            round(side * self._ratio) / self._ratio for side in (box.left(), box.top(), box.right(), box.bottom())
        )
        line = max(1.0, round(width * self._ratio)) / self._ratio if outline is not None else 0.0
        whole = QRectF(left, top, right - left, bottom - top)
        r = self._radius
        if self._is_vector or min(whole.width(), whole.height()) < 2 * r:
            _draw_shape(self._painter, whole, (fill, outline, line), r)
            return
        if whole.width() * whole.height() <= _SMALL_PX:
            picture = self._picture((whole.width(), whole.height()), fill, outline, line)
            self._painter.drawImage(whole.topLeft(), picture)
            return
        fill_rect = self._painter.fillRect
        wide, tall = whole.width() - 2 * r, whole.height() - 2 * r
        fill_rect(QRectF(left + r, top + line, wide, whole.height() - 2 * line), fill)
        fill_rect(QRectF(left + line, top + r, r - line, tall), fill)
        fill_rect(QRectF(right - r, top + r, r - line, tall), fill)
        if outline is not None:
            fill_rect(QRectF(left + r, top, wide, line), outline)
            fill_rect(QRectF(left + r, bottom - line, wide, line), outline)
            fill_rect(QRectF(left, top + r, line, tall), outline)
            fill_rect(QRectF(right - line, top + r, line, tall), outline)
        self._draw_corners((left, top, right, bottom), self._picture((2 * r, 2 * r), fill, outline, line))

    def _draw_corners(self, sides: tuple[float, float, float, float], picture: QImage) -> None:
        left, top, right, bottom = sides
        r, pixels = self._radius, picture.width() / 2
        for x, from_x in ((left, 0.0), (right - r, pixels)):
            for y, from_y in ((top, 0.0), (bottom - r, pixels)):
                self._painter.drawImage(QPointF(x, y), picture, QRectF(from_x, from_y, pixels, pixels))

    def _picture(self, size: tuple[float, float], fill: QColor, outline: QColor | None, line: float) -> QImage:
        """Return the picture of a box; the quarters of the smallest one are the corners of all."""
        ratio, radius = self._ratio, self._radius
        key = *size, fill.rgba(), outline.rgba() if outline is not None else 0, line, radius, ratio
        picture = self._kept.get(key)
        if picture is None:
            width, height = (round(side * ratio) for side in size)
            picture = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            painter = QPainter(picture)
            _draw_shape(painter, QRectF(0, 0, *size), (fill, outline, line), radius)
            painter.end()
            self._kept[key] = picture
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return picture


def _draw_shape(painter: QPainter, box: QRectF, colours: tuple[QColor, QColor | None, float], radius: float) -> None:
    fill, outline, line = colours
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(outline, line) if outline is not None else Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    inset = line / 2
    painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), radius - inset, radius - inset)
