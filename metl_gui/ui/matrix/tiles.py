"""The picture of the plane that is on the screen: painted when something changed, else drawn again.

The cost of a picture follows its pixels and what is on the screen, never the size of the matrix.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter

from metl_gui.ui import theme as themes
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.hidden import paint_hidden
from metl_gui.ui.matrix.look import Look, Sign
from metl_gui.ui.matrix.paint_cells import paint_cells
from metl_gui.ui.matrix.paint_counts import paint_tiles
from metl_gui.ui.matrix.paint_density import paint_raster
from metl_gui.ui.matrix.paint_lost import paint_ghost_lines
from metl_gui.ui.matrix.pixels import Colours
from metl_gui.ui.matrix.tinting import NO_TINTING, Tinting
from metl_gui.ui.theme import Theme

_Key: TypeAlias = tuple[Camera, tuple[float, float], float, Theme, Tinting, bool, float]


class TileCache:
    """The painted plane of one content."""

    def __init__(self) -> None:
        self._content: Content | None = None
        self._picture: QImage | None = None
        self._pixels: Colours = np.empty((0, 0), np.uint32)
        self._key: _Key | None = None
        self.tinting = NO_TINTING
        self.is_comparing = False
        self.signs: frozenset[Sign] = frozenset()
        self.painted = 0

    def show(self, content: Content | None) -> None:
        """Take another content; the picture of the one before is dropped."""
        if content is not self._content:
            self._key = None
            self._content = content

    def draw(self, painter: QPainter, camera: Camera, size: tuple[float, float], ratio: float, theme: Theme) -> None:
        """Draw a viewport of pixels at a device pixel ratio."""
        if self._content is None:
            return
        key = camera, size, ratio, theme, self.tinting, self.is_comparing, themes.scale()
        if key != self._key or self._picture is None:
            self._key = None
            self._picture, pixels = self._blank(size, ratio)
            inner = QPainter(self._picture)
            look = Look(
                self._content, camera, size, ratio, theme, self.tinting, is_comparing=self.is_comparing, pixels=pixels
            )
            try:
                self.signs = paint_plane(inner, look)
            finally:
                inner.end()
            self._key = key
            self.painted += 1
        painter.drawImage(QPointF(0, 0), self._picture)

    def _blank(self, size: tuple[float, float], ratio: float) -> tuple[QImage, Colours]:
        """Return a picture over memory of our own, both as they were before when they have the size."""
        width, height = (round(side * ratio) for side in size)
        picture = self._picture
        if picture is None or self._pixels.shape != (height, width):
            self._pixels = np.empty((height, width), np.uint32)
            picture = QImage(self._pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)
        picture.setDevicePixelRatio(ratio)
        return picture, self._pixels


def paint_plane(painter: QPainter, look: Look) -> frozenset[Sign]:
    """Paint the plane at the levels that the scales allow, and return the signs that were used.

    What stood in the picture before is painted over everywhere.
    """
    level_x, level_y = look.levels
    if level_x is None or level_y is None:
        signs = paint_raster(painter, look)
    elif level_x is Level.ATTRIBUTE and level_y is Level.ATTRIBUTE:
        painter.fillRect(QRectF(0, 0, *look.size), look.theme.panel)
        signs = paint_cells(painter, look)
    else:
        signs = paint_tiles(painter, look, (level_x, level_y)) | paint_ghost_lines(painter, look)
    return signs | paint_hidden(painter, look)
