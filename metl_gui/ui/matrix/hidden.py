"""Marks where the relevance view or a filter leaves something out: dotted, so that hidden never looks deleted."""

from __future__ import annotations

from PySide6.QtCore import QLineF, Qt
from PySide6.QtGui import QPainter, QPen

from metl_gui.ui.matrix.axis import Axis
from metl_gui.ui.matrix.camera import LEAST_ITEM_PX
from metl_gui.ui.matrix.look import Look, Sign
from metl_gui.ui.theme import Theme

_MOST_NOTCHES = 400
_SHORT_PX, _LONG_PX = 5.0, 15.0


def notches(axis: Axis, place: float, scale: float, pixels: float) -> list[float]:
    """Return where on the screen something is left out; none where notches would stand closer than they are wide."""
    if not axis.is_partial:
        return []
    runs = axis.hidden_within(place, place + pixels / scale)
    if len(runs) > _MOST_NOTCHES:
        return []
    return [round(((run.begin + run.end) / 2 - place) * scale) + 0.5 for run in runs]


def reach_px(scale: float) -> float:
    """Return how far a notch reaches into the header: where cells are too small to read, many stand close together."""
    return _LONG_PX if scale >= LEAST_ITEM_PX else _SHORT_PX


def notch_pen(theme: Theme) -> QPen:
    """Return the pen of notches."""
    pen = QPen(theme.dim, 2.0, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.RoundCap)
    pen.setDashPattern([0.1, 2.2])
    return pen


def paint_hidden(painter: QPainter, look: Look) -> frozenset[Sign]:
    """Paint the notches of both axes: between cells across the plane, above coarser pictures at its edge."""
    c, content = look.camera, look.content
    right, bottom = c.on_screen(content.columns.length, content.rows.length)
    left, top = (max(edge, 0.0) for edge in c.on_screen(0.0, 0.0))
    right, bottom = min(right, look.size[0]), min(bottom, look.size[1])
    xs = notches(content.columns, c.left, c.scale_x, look.size[0])
    ys = notches(content.rows, c.top, c.scale_y, look.size[1])
    foot = bottom if c.scale_x >= LEAST_ITEM_PX else min(top + _SHORT_PX, bottom)
    end = right if c.scale_y >= LEAST_ITEM_PX else min(left + _SHORT_PX, right)
    lines = [QLineF(x, top, x, foot) for x in xs] + [QLineF(left, y, end, y) for y in ys]
    if not lines:
        return frozenset()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(notch_pen(look.theme))
    painter.drawLines(lines)
    return frozenset({Sign.HIDDEN})
