"""Paints the plane above cell level: tiles with their number of elements, or a density raster below 14 px."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter, QPen

from metl_gui.core.blocks import Status
from metl_gui.ui import theme as themes
from metl_gui.ui.contrast import mixed
from metl_gui.ui.matrix.axis import Floats, Level
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.theme import Theme

_RASTER_PX = 2


def paint_tiles(
    painter: QPainter,
    content: Content,
    scales: tuple[float, float],
    levels: tuple[Level, Level],
    area: QRectF,
    theme: Theme,
) -> None:
    """Paint the tiles of a pair of levels that lie in an area, in pixels from the plane's own top left."""
    sx, sy = scales
    wide, tall = content.columns.spans(levels[0]), content.rows.spans(levels[1])
    xs = wide.within(area.left() / sx, area.right() / sx)
    ys = tall.within(area.top() / sy, area.bottom() / sy)

    def box_of(x: int, y: int) -> QRectF:
        box = QRectF(wide.begin[x] * sx, tall.begin[y] * sy, 0, 0)
        box.setBottomRight(QPointF(wide.end[x] * sx, tall.end[y] * sy))
        inset = 1.0 if min(box.width(), box.height()) > 8 else 0.5
        return box.adjusted(inset, inset, -inset, -inset)

    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.bg if not theme.dark else theme.band)
    for x in xs:
        painter.drawRects([box_of(x, y) for y in ys])
    painter.setFont(themes.small())
    metrics = QFontMetricsF(themes.small())
    for x, y, elements, share, waiting in content.counts(*levels).within(xs, ys):
        _paint_tile(painter, box_of(x, y), (elements, share, waiting), metrics, theme)


def _paint_tile(
    painter: QPainter, box: QRectF, facts: tuple[int, float, int], metrics: QFontMetricsF, theme: Theme
) -> None:
    elements, share, waiting = facts
    tint = theme.tint(share) if elements else theme.reviewbg
    outline, width = theme.review_outline
    painter.setPen(QPen(outline, width) if waiting else Qt.PenStyle.NoPen)
    painter.setBrush(tint)
    painter.drawRoundedRect(box, 3, 3)
    words = f"{elements:,}"
    if elements and metrics.horizontalAdvance(words) + 4 <= box.width() and metrics.height() <= box.height() + 1:
        painter.setPen(theme.on_tint(tint))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
    if waiting and min(box.width(), box.height()) >= 10:
        painter.setPen(QPen(outline, 1))
        painter.setBrush(theme.reviewmark)
        painter.drawEllipse(QPointF(box.right() - 5, box.top() + 5), 3.0, 3.0)


def paint_raster(painter: QPainter, content: Content, scales: tuple[float, float], area: QRectF, theme: Theme) -> None:
    """Paint the density of elements, one square of two pixels a bin, and what waits above it."""
    sx, sy = scales
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.drawImage(area, density(content, scales, area, theme))
    outline, _ = theme.review_outline
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(outline)
    wide, tall = content.columns.spans(Level.VERSION), content.rows.spans(Level.VERSION)
    for (x, y), block in content.blocks.items():
        if block.status is Status.NEEDS_REVIEW:
            box = QRectF(wide.begin[x] * sx, tall.begin[y] * sy, 3, 3)
            painter.drawRect(box.adjusted(0, 0, max(0.0, (wide.end[x] - wide.begin[x]) * sx - 3), 0))


def density(content: Content, scales: tuple[float, float], area: QRectF, theme: Theme) -> QImage:
    """Bin the elements of an area to the screen and colour the bins; empty ones are the colour of zero."""
    columns = max(1, round(area.width() / _RASTER_PX))
    rows = max(1, round(area.height() / _RASTER_PX))
    x = _bins(content.columns.spans(Level.ATTRIBUTE).begin[content.column], scales[0], area.left())
    y = _bins(content.rows.spans(Level.ATTRIBUTE).begin[content.row], scales[1], area.top())
    inside = (x >= 0) & (x < columns) & (y >= 0) & (y < rows)
    counts = np.bincount(y[inside] * columns + x[inside], minlength=columns * rows)
    most = max(_RASTER_PX / max(scales), 1.0)  # a bin of 1:1 blocks holds no more than its shorter side
    ramp = [theme.bg.rgb() & 0xFFFFFFFF]
    ramp += [mixed(theme.panel, theme.accent, 0.45 + 0.55 * step / 15).rgb() & 0xFFFFFFFF for step in range(16)]
    steps = np.where(counts > 0, 1 + np.minimum(15, counts * 15 / most).astype(np.int64), 0)
    pixels = np.ascontiguousarray(np.array(ramp, np.uint32)[steps].reshape(rows, columns))
    return QImage(pixels.tobytes(), columns, rows, columns * 4, QImage.Format.Format_RGB32).copy()


def _bins(places: Floats, scale: float, origin: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.floor((places * scale - origin) / _RASTER_PX).astype(np.int64)
