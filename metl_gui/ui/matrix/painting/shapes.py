"""Shapes of the matrix: rounded boxes, hatched boxes, and panes, which are painted by a function.

Small rounded boxes are kept pictures, of large ones the flat parts are filled: Qt lays every rounded rectangle out as a
path again, which takes as long as ten fills or pictures. Hatched boxes are strips: those of one thickness are parts of
one kept picture, since lines take ten times as long. A pane is a rectangle of the scene: the whole plane is one item,
as are the headers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import ClassVar, TypeAlias, TypeVar

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

T = TypeVar("T")

_MAX_KEPT_BOXES = 1_000
_SMALL_PX = 6_000
_BoxKey: TypeAlias = tuple[float, float, int, int, float, float, float]


class BoxPainter:
    """Draws boxes with one painter.

    Args:
        painter: its transform may move but not scale.
        ratio: device pixels a pixel.
        radius: of the corners.
        is_vector: draw shapes, for files that keep them.

    Attributes:
        radius: of the corners, in whole device pixels.
    """

    _kept: ClassVar[OrderedDict[_BoxKey, QImage]] = OrderedDict()

    def __init__(self, painter: QPainter, ratio: float, radius: float, *, is_vector: bool = False) -> None:
        self._painter = painter
        self._ratio = ratio
        self.radius = round(radius * ratio) / ratio
        self._is_vector = is_vector

    def draw(self, box: QRectF, fill: QColor, outline: QColor | None = None, width: float = 0.0) -> None:
        """Draw a box; its outline lies within."""
        r, ratio = self.radius, self._ratio
        left, top = round(box.left() * ratio) / ratio, round(box.top() * ratio) / ratio
        right, bottom = round(box.right() * ratio) / ratio, round(box.bottom() * ratio) / ratio
        line = max(1.0, round(width * ratio)) / ratio if outline is not None else 0.0
        across, down = right - left, bottom - top
        if self._is_vector or min(across, down) < 2 * r:
            _draw_shape(self._painter, QRectF(left, top, across, down), (fill, outline, line), r)
            return
        if across * down <= _SMALL_PX:
            self._painter.drawImage(QPointF(left, top), self._picture((across, down), fill, outline, line))
            return
        fill_rect = self._painter.fillRect
        wide, tall = across - 2 * r, down - 2 * r
        fill_rect(QRectF(left + r, top + line, wide, down - 2 * line), fill)
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
        r, pixels = self.radius, picture.width() / 2
        for x, from_x in ((left, 0.0), (right - r, pixels)):
            for y, from_y in ((top, 0.0), (bottom - r, pixels)):
                self._painter.drawImage(QPointF(x, y), picture, QRectF(from_x, from_y, pixels, pixels))

    def _picture(self, size: tuple[float, float], fill: QColor, outline: QColor | None, line: float) -> QImage:
        """Return the picture of a box; the quarters of the smallest one are the corners of all."""
        ratio, radius = self._ratio, self.radius
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
            if len(self._kept) > _MAX_KEPT_BOXES:
                self._kept.popitem(last=False)
        return picture


def _draw_shape(painter: QPainter, box: QRectF, colours: tuple[QColor, QColor | None, float], radius: float) -> None:
    fill, outline, line = colours
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(outline, line) if outline is not None else Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    inset = line / 2
    painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), radius - inset, radius - inset)


_STEP_PX = 5.0
_LENGTH_PX = 100 * _STEP_PX
_MAX_KEPT_HATCHES = 40
_HatchKey: TypeAlias = tuple[float, bool, int, int, float]


class HatchPainter:
    """Hatches with one painter.

    Args:
        painter: its transform may move but not scale.
        ratio: device pixels a pixel.
        is_vector: draw lines, for files that keep them.
    """

    _kept: ClassVar[OrderedDict[_HatchKey, QImage]] = OrderedDict()

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
            if len(self._kept) > _MAX_KEPT_HATCHES:
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


class Pane(QGraphicsItem):
    """One painted rectangle.

    Args:
        paint_into: called with a painter whose origin is the pane's top left, and the pane's size.
        depth: panes of a greater depth lie above others.
    """

    def __init__(self, paint_into: Callable[[QPainter, QRectF], None], depth: float) -> None:
        super().__init__()
        self._paint_into = paint_into
        self._size = QRectF()
        self.setZValue(depth)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemClipsToShape)

    def place(self, box: QRectF) -> None:
        """Put the pane at a box of the scene."""
        self.prepareGeometryChange()
        self._size = QRectF(0, 0, max(box.width(), 0.0), max(box.height(), 0.0))
        self.setPos(box.topLeft())

    def box(self) -> QRectF:
        """Return where the pane lies in the scene."""
        return self._size.translated(self.pos())

    def boundingRect(self) -> QRectF:
        """Return the pane's size, as Qt asks for it."""
        return self._size

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Paint through the function."""
        if not self._size.isEmpty():
            self._paint_into(painter, self._size)


class KeptPicture:
    """The picture of a pane, kept from the second time on that the pane shows the same.

    While a plane is moved every frame shows something else, and a picture of each would be painted and copied for
    nothing.
    """

    def __init__(self) -> None:
        self._picture: QImage | None = None
        self._shown: object = None

    def draw(
        self, painter: QPainter, size: QRectF, ground: QColor, shown: object, paint_into: Callable[[QPainter], object]
    ) -> None:
        """Draw the picture at the origin of a pane.

        Args:
            painter: of the pane.
            size: of the pane.
            ground: fills what is not painted.
            shown: equal to what was given before while the picture is the same.
            paint_into: paints it anew.
        """
        ratio = painter.device().devicePixelRatioF()
        now = shown, size, ratio, ground.rgba()
        if now != self._shown:
            self._shown, self._picture = now, None
            painter.fillRect(size, ground)
            paint_plainly(painter, paint_into)
            return
        if self._picture is None:
            width, height = round(size.width() * ratio), round(size.height() * ratio)
            self._picture = QImage(width, height, QImage.Format.Format_RGB32)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(ground)
            inner = QPainter(self._picture)
            try:
                paint_into(inner)
            finally:
                inner.end()
        painter.drawImage(QPointF(0, 0), self._picture)


def paint_plainly(painter: QPainter, paint_into: Callable[[QPainter], T]) -> T:
    """Paint with a painter as with a new one, and leave it as it was."""
    painter.save()
    try:
        painter.setRenderHints(painter.renderHints(), False)
        painter.setPen(Qt.GlobalColor.black)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        return paint_into(painter)
    finally:
        painter.restore()


def fill_around(painter: QPainter, area: QRectF, inner: QRectF, colour: QColor) -> None:
    """Fill an area but for a part of it that is painted anyway."""
    inner = inner.intersected(area)
    if inner.isEmpty():
        painter.fillRect(area, colour)
        return
    for part in (
        QRectF(area.left(), area.top(), area.width(), inner.top() - area.top()),
        QRectF(area.left(), inner.top(), inner.left() - area.left(), inner.height()),
        QRectF(inner.right(), inner.top(), area.right() - inner.right(), inner.height()),
        QRectF(area.left(), inner.bottom(), area.width(), area.bottom() - inner.bottom()),
    ):
        painter.fillRect(part, colour)
