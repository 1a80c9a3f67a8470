"""Hatched boxes: strips of one thickness are parts of one kept picture, since lines take ten times as long."""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar, TypeAlias

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPen

_STEP_PX = 5.0
_LENGTH_PX = 100 * _STEP_PX
_KEPT = 40
_Key: TypeAlias = tuple[float, bool, int, int, float]


class Hatching:
    """Hatches with one painter.

    Args:
        painter: its transform may move but not scale.
        ratio: device pixels a pixel.
        is_vector: draw lines, for files that keep them.
    """

    _kept: ClassVar[OrderedDict[_Key, QImage]] = OrderedDict()

    def __init__(self, painter: QPainter, ratio: float, *, is_vector: bool = False) -> None:
        self._painter = painter
        self._ratio = ratio
        self._is_vector = is_vector

    def fill(self, box: QRectF, sight: QRectF, colour: QColor, ground: QColor) -> None:
        """Hatch the part of a box that is in sight; the lines begin at the box, so that they move with it."""
        seen = box.intersected(sight)
        if seen.isEmpty():
            return
        is_tall = box.height() >= box.width()
        thick = box.width() if is_tall else box.height()
        if self._is_vector:
            self._painter.save()
            self._painter.setClipRect(seen)
            self._painter.translate(box.topLeft())
            _draw(self._painter, box.width(), box.height(), colour, ground)
            self._painter.restore()
            return
        picture = self._picture(thick, is_tall, colour, ground)
        begin, end = (seen.top(), seen.bottom()) if is_tall else (seen.left(), seen.right())
        start = box.top() if is_tall else box.left()
        across = (seen.left() - box.left()) if is_tall else (seen.top() - box.top())
        width = seen.width() if is_tall else seen.height()
        r = self._ratio
        while begin < end:
            phase = (begin - start) % _STEP_PX
            length = min(end - begin, _LENGTH_PX - _STEP_PX)
            if is_tall:
                at, part = QPointF(seen.left(), begin), QRectF(across * r, phase * r, width * r, length * r)
            else:
                at, part = QPointF(begin, seen.top()), QRectF(phase * r, across * r, length * r, width * r)
            self._painter.drawImage(at, picture, part)
            begin += length

    def _picture(self, thick: float, is_tall: bool, colour: QColor, ground: QColor) -> QImage:
        key = thick, is_tall, colour.rgba(), ground.rgba(), self._ratio
        picture = self._kept.get(key)
        if picture is None:
            size = (thick, _LENGTH_PX) if is_tall else (_LENGTH_PX, thick)
            width, height = (max(1, round(side * self._ratio)) for side in size)
            picture = QImage(width, height, QImage.Format.Format_RGB32)
            picture.setDevicePixelRatio(self._ratio)
            painter = QPainter(picture)
            _draw(painter, *size, colour, ground)
            painter.end()
            self._kept[key] = picture
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return picture


def _draw(painter: QPainter, width: float, height: float, colour: QColor, ground: QColor) -> None:
    """Draw a box at the origin; its pattern repeats along its longer side."""
    painter.fillRect(QRectF(0, 0, width, height), ground)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1.0))
    reach = min(width, height)
    steps = [_STEP_PX * step for step in range(int((max(width, height) + reach) / _STEP_PX) + 2)]
    if height >= width:
        painter.drawLines([QLineF(0, at, width, at - reach) for at in steps])
    else:
        painter.drawLines([QLineF(at, 0, at - reach, height) for at in steps])
