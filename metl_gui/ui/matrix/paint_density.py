"""Paints the plane below 14 px an item: how dense elements lie, and what waits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter

from metl_gui.ui.contrast import mixed
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.density import Density
from metl_gui.ui.matrix.look import Look, Sign, zero_of
from metl_gui.ui.matrix.pane import fill_around
from metl_gui.ui.matrix.pixels import Colours, coloured, table_of
from metl_gui.ui.theme import Theme

_RASTER_PX = 2.8
"""The most that a bin takes; bins are powers of two of a unit, so they take half of it at least."""
_RAMP = 16
_DECADES = 4
"""Powers of ten between the faintest density and the strongest."""


def paint_raster(painter: QPainter, look: Look) -> frozenset[Sign]:
    """Paint the density of elements below 14 px an item, and what waits above it."""
    content, c = look.content, look.camera
    left, top, right, bottom = look.box
    right, bottom = min(right, content.columns.length), min(bottom, content.rows.length)
    box = max(left, 0.0), max(top, 0.0), right, bottom
    sight = QRectF(0, 0, *look.size)
    if box[0] >= right or box[1] >= bottom:
        painter.fillRect(sight, look.theme.panel)
        return frozenset()
    place = QRectF(*c.on_screen(box[0], box[1]), (right - box[0]) * c.scale_x, (bottom - box[1]) * c.scale_y)
    fill_around(painter, sight, place.adjusted(1, 1, -1, -1), look.theme.panel)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    image, waits = density(content, box, (c.scale_x, c.scale_y), look.theme)
    painter.save()
    painter.setClipRect(place)
    spread = QRectF(*c.on_screen(image.left, image.top), 0, 0)
    spread.setBottomRight(QPointF(*c.on_screen(image.right, image.bottom)))
    painter.drawImage(spread, image.picture)
    painter.restore()
    return frozenset({Sign.DENSITY, Sign.REVIEW} if waits else {Sign.DENSITY})


@dataclass(frozen=True, eq=False)
class Binned:
    """A picture of densities and the box of the plane that it covers, in units."""

    picture: QImage
    left: float
    top: float
    right: float
    bottom: float


def density(
    content: Content, box: tuple[float, float, float, float], scales: tuple[float, float], theme: Theme
) -> tuple[Binned, bool]:
    """Colour the densities of a box of the plane: what holds nothing is zero, what waits is amber.

    Returns:
        The picture, and whether anything waits in it.
    """
    found = content.density(box, (_RASTER_PX / scales[0], _RASTER_PX / scales[1]))
    elements = found.elements.reshape(-1)
    held, waits = np.flatnonzero(elements), np.flatnonzero(found.waits)
    steps = np.zeros(len(elements), np.uint8)
    strength = 1 + np.log10(elements[held] / _capacity(content, found)) / _DECADES
    steps[held] = 1 + np.clip(strength * _RAMP, 0, _RAMP - 1).astype(np.uint8)
    steps[waits] = _RAMP + 1
    image = coloured(steps.reshape(found.elements.shape), _ramp(theme))
    return Binned(image, found.left, found.top, found.right, found.bottom), len(waits) > 0


def _capacity(content: Content, found: Density) -> float:
    """Return how many elements a bin would hold if blocks of the usual size, fully mapped, covered all of it."""
    rows, columns = found.elements.shape
    area = (found.right - found.left) * (found.bottom - found.top) / (columns * rows)
    sides = (axis.spans(Level.VERSION).median_length for axis in (content.columns, content.rows))
    return max(float(area) / max(*sides, 1.0), 1.0)


def _ramp(theme: Theme) -> Colours:
    """Return the colours of densities: zero, the ramp, and what waits."""
    ramp = [mixed(theme.panel, theme.accent, 0.35 + 0.65 * at / (_RAMP - 1)) for at in range(_RAMP)]
    return table_of([zero_of(theme), *ramp, theme.reviewmark])
