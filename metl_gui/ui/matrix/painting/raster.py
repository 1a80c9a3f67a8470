"""The plane as pixels: which item every device pixel of an axis shows, and tiles painted by table look-ups.

What is painted costs what the picture's pixels cost, however many items, tiles or elements lie under it.

Shape: pictures are (height, width); arrays of an axis have one entry a device pixel.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from metl_gui.ui.matrix.layout.spans import Spans, median_of
from metl_gui.ui.theming.theme import mixed
from metl_gui.values import Value

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Colours = npt.NDArray[np.uint32]

_SHADES = 6
"""Steps between the ground and a full colour at the rounded corners of tiles."""
_ROOMY_PX = 10
_BAND_LINES = 96


class PixelLine(Value, eq=False):
    """One axis in sight, in device pixels.

    Args:
        items: the items that have a pixel, in order.
        begin, end: their pixels, half open; beyond the picture where an item is cut.
        of_pixel: per pixel the row of ``items``, -1 in a gap.
        inset: per pixel the distance to the nearer end of its item.
    """

    items: Ints
    begin: Ints
    end: Ints
    of_pixel: Ints
    inset: Ints

    @classmethod
    def of(cls, spans: Spans, place: float, scale: float, ratio: float, length: int) -> PixelLine:
        """Lay the items of a level on pixels; between two there is a gap where both have room.

        Args:
            spans: the items.
            place: where the picture begins, in units.
            scale: pixels a unit.
            ratio: device pixels a pixel.
            length: device pixels of the picture.
        """
        seen = spans.within(place, place + length / (scale * ratio))
        begin = np.rint((spans.begins(seen) - place) * scale * ratio).astype(np.int64)
        end = np.rint((spans.ends(seen) - place) * scale * ratio).astype(np.int64)
        gap = round((2 if spans.median_length * scale > _ROOMY_PX else 1) * ratio)
        limit = np.append(begin[1:], np.iinfo(np.int64).max) - gap
        end = np.maximum(np.minimum(end, limit), begin)
        kept = np.flatnonzero(np.append(begin[1:] != begin[:-1], True)) if len(begin) else np.empty(0, np.int64)
        begin, end = begin[kept], np.maximum(end[kept], begin[kept] + 1)
        pixel = np.arange(length, dtype=np.int64)
        at = np.searchsorted(begin, pixel, side="right") - 1
        if len(begin):
            inside = (at >= 0) & (pixel < end[at])
            inset = np.minimum(pixel - begin[at], end[at] - 1 - pixel)
        else:
            inside, inset = np.zeros(length, np.bool_), pixel
        return cls(kept + seen.start, begin, end, np.where(inside, at, -1), np.where(inside, inset, 0))

    def rows_of(self, items: Ints) -> Ints:
        """Return the rows of some items in sight; of items that begin on one pixel the last stands for all."""
        return np.minimum(np.searchsorted(self.items, items), max(len(self.items) - 1, 0))

    @property
    def median_length(self) -> float:
        """Device pixels of the item in the middle."""
        return median_of((self.end - self.begin).astype(np.float64))


class Plates(Value, eq=False):
    """Rounded tiles, as the few lines of pixels that differ.

    Shape: ``lines`` is (lines that differ, width), ``of_row`` has one entry a line of the picture.

    Args:
        lines: 0 where the ground is, else colour numbers with the shades of the corners (see ``palette``).
        of_row: which of them every line of the picture is.
    """

    lines: Bytes
    of_row: Ints

    def paint(self, into: Colours, table: Colours) -> None:
        """Write the colours of a table into a picture of the right size."""
        height, width = self.lines.shape
        lines = coloured(self.lines, table)
        pixels = np.frombuffer(lines.constBits(), np.uint32).reshape(height, width)
        np.take(pixels, self.of_row, axis=0, out=into, mode="clip")

    def draw(self, painter: QPainter, table: Colours, ratio: float) -> None:
        """Draw the picture at the origin, a few lines at a time, which are read while the caches still hold them.

        Args:
            painter: where to.
            table: the colours.
            ratio: device pixels a pixel, a whole number.
        """
        height, width = len(self.of_row), self.lines.shape[1]
        lines = coloured(self.lines, table)
        pixels = np.frombuffer(lines.constBits(), np.uint32).reshape(self.lines.shape)
        band = np.empty((min(_BAND_LINES, height), width), np.uint32)
        image = QImage(band.data, width, len(band), width * 4, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        for begin in range(0, height, _BAND_LINES):
            drawn = self.of_row[begin : begin + _BAND_LINES]
            pixels.take(drawn, axis=0, out=band[: len(drawn)], mode="clip")
            painter.drawImage(QPointF(0, begin / ratio), image, QRectF(0, 0, width, len(drawn)))

    def image(self, table: Colours, ratio: float) -> QImage:
        """Return the picture in the colours of a table."""
        pixels = np.empty((len(self.of_row), self.lines.shape[1]), np.uint32)
        self.paint(pixels, table)
        return picture(pixels, ratio)


def plates(columns: PixelLine, rows: PixelLine, tints: Bytes, radius: int) -> Plates:
    """Lay rounded tiles out.

    Args:
        columns, rows: the axes.
        tints: colour number of every tile, from 1.
        radius: of the corners, in device pixels.

    Shape: ``tints`` is (rows, columns).
    """
    cover = _cover(radius)
    wide = np.concatenate([tints, np.zeros((len(tints), 1), np.uint8)], axis=1)[:, columns.of_pixel]
    across = np.minimum(columns.inset, radius)
    first = (wide - 1) * np.uint8(_SHADES - 1)
    lines = np.zeros((len(tints) * (radius + 1) + 1, wide.shape[1]), np.uint8)
    for step in range(radius + 1):
        shade = cover[step, across]
        lines[step : -1 : radius + 1] = (first + shade) * ((wide > 0) & (shade > 0))
    line = np.where(rows.of_pixel < 0, len(lines) - 1, rows.of_pixel * (radius + 1) + np.minimum(rows.inset, radius))
    return Plates(lines, line)


def palette(ground: QColor, colours: list[QColor]) -> Colours:
    """Return the colour table of ``Plates``: the ground, then the shades of every colour up to itself."""
    shades = [mixed(ground, colour, step / (_SHADES - 1)) for colour in colours for step in range(1, _SHADES)]
    return table_of([ground, *shades])


def table_of(colours: list[QColor]) -> Colours:
    """Return colours as pixels."""
    return np.array([colour.rgba() for colour in colours], np.uint32)


def coloured(numbers: Bytes, table: Colours) -> QImage:
    """Turn colour numbers into pixels; Qt does it in a fifth of numpy's time."""
    height, width = numbers.shape
    whole = np.ascontiguousarray(numbers)
    image = QImage(whole.data, width, height, width, QImage.Format.Format_Indexed8)
    image.setColorTable(table.tolist())
    return image.convertToFormat(QImage.Format.Format_RGB32)


def picture(pixels: Colours, ratio: float) -> QImage:
    """Make a picture of pixels; it keeps its own."""
    height, width = pixels.shape
    whole = np.ascontiguousarray(pixels)
    image = QImage(whole.data, width, height, width * 4, QImage.Format.Format_RGB32).copy()
    image.setDevicePixelRatio(ratio)
    return image


@cache
def _cover(radius: int) -> Bytes:
    """Return the shade of a pixel by its distances to the ends of its tile, 1 to the full one."""
    fine = (np.arange((radius + 1) * 4) + 0.5) / 4
    away = np.maximum(radius - fine, 0.0)
    inside = np.hypot(away[:, None], away[None, :]) <= max(radius, 0.5)
    share = inside.reshape(radius + 1, 4, radius + 1, 4).mean(axis=(1, 3))
    share[radius, :] = share[:, radius] = 1.0
    shades: Bytes = np.rint(share * (_SHADES - 1)).astype(np.uint8)
    return shades
