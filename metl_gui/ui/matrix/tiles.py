"""Squares of painted pixels, kept by zoom; a frame paints only the squares that it has not seen yet.

The cost of a frame follows what is on the screen, never the size of the matrix.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeAlias

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera, level_at
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.paint_cells import paint_cells
from metl_gui.ui.matrix.paint_counts import paint_raster, paint_tiles
from metl_gui.ui.theme import Theme

SIDE_PX = 384
_KEPT = 160

_Key: TypeAlias = tuple[float, float, float, str, int, int]


class TileCache:
    """Painted squares of one content, at most a fixed number of them, the oldest go first."""

    def __init__(self) -> None:
        self._images: OrderedDict[_Key, QImage] = OrderedDict()
        self._content: Content | None = None
        self.painted = 0

    def show(self, content: Content | None) -> None:
        """Take another content; what was painted of the one before is dropped."""
        if content is not self._content:
            self._images.clear()
            self._content = content

    def draw(self, painter: QPainter, camera: Camera, size: tuple[float, float], ratio: float, theme: Theme) -> None:
        """Draw a viewport of pixels at a device pixel ratio."""
        if self._content is None:
            return
        left, top = round(camera.left * camera.scale_x), round(camera.top * camera.scale_y)
        for row in range(top // SIDE_PX, int(top + size[1]) // SIDE_PX + 1):
            for column in range(left // SIDE_PX, int(left + size[0]) // SIDE_PX + 1):
                key = (camera.scale_x, camera.scale_y, ratio, theme.name, column, row)
                image = self._images.get(key)
                if image is None:
                    image = self._paint(self._content, key, theme)
                    self._images[key] = image
                    while len(self._images) > _KEPT:
                        self._images.popitem(last=False)
                self._images.move_to_end(key)
                painter.drawImage(QPointF(column * SIDE_PX - left, row * SIDE_PX - top), image)

    def _paint(self, content: Content, key: _Key, theme: Theme) -> QImage:
        scale_x, scale_y, ratio, _, column, row = key
        self.painted += 1
        pixels = round(SIDE_PX * ratio)
        image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        area = QRectF(column * SIDE_PX, row * SIDE_PX, SIDE_PX, SIDE_PX)
        painter = QPainter(image)
        painter.translate(-area.topLeft())
        paint_area(painter, content, (scale_x, scale_y), area, theme)
        painter.end()
        return image


def paint_area(painter: QPainter, content: Content, scales: tuple[float, float], area: QRectF, theme: Theme) -> None:
    """Paint an area of the plane at the levels that the scales allow."""
    plane = QRectF(0, 0, content.columns.length * scales[0], content.rows.length * scales[1])
    inside = area.intersected(plane)
    if inside.isEmpty():
        return
    level_x, level_y = level_at(content.columns, scales[0]), level_at(content.rows, scales[1])
    if level_x is None or level_y is None:
        paint_raster(painter, content, scales, inside, theme)
    elif level_x is Level.ATTRIBUTE and level_y is Level.ATTRIBUTE:
        paint_cells(painter, content, scales, area, theme)
    else:
        paint_tiles(painter, content, scales, (level_x, level_y), area, theme)
