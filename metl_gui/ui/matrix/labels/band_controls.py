"""What a band of a header offers beside its name: a triangle that folds what lies below it, a pin that keeps it there.

Neither is an edit. Bands that are too short for both and some letters have none; their menu has the same.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.values import Value

_LEAST_PX = 84
_CONTROL_PX = 16
_HALF_PX = 3.5
_HEAD_PX = 2.6


class BandControl(Value):
    """One control.

    Args:
        box: where it takes clicks, in pixels of its header.
        node: the schema, entity or version of the band.
        pins: whether it is the pin.
        is_pinned: whether the node is pinned.
    """

    box: QRectF
    node: NodeRef
    pins: bool
    is_pinned: bool = False

    @property
    def words(self) -> str:
        """What a click does."""
        if not self.pins:
            return "Fold this in the matrix; H shows everything again"
        return "Let filters hide this again" if self.is_pinned else "Pin this: no filter hides it from the matrix"


def controls_of(axis: Axis, level: Level, item: int, seen: QRectF, pinned: frozenset[NodeRef]) -> list[BandControl]:
    """Return the controls of a band, none where there is no room.

    Args:
        axis, level, item: what the band stands for.
        seen: the part of the band that is in sight, along the axis on its longer side.
        pinned: the nodes of the axis that are pinned.
    """
    is_upright = axis.side is Side.CDM
    length = seen.height() if is_upright else seen.width()
    if level not in (Level.SCHEMA, Level.VERSION) or length < themes.px(_LEAST_PX):
        return []
    schema = axis.schema_id(item) if level is Level.SCHEMA else axis.schema_of(item)
    node = NodeRef(schema, None if level is Level.SCHEMA else axis.version_id(item))
    size = float(themes.px(_CONTROL_PX))
    first, last = QRectF(seen), QRectF(seen)
    if is_upright:
        first.setHeight(size)
        last.setTop(seen.bottom() - size)
    else:
        first.setWidth(size)
        last.setLeft(seen.right() - size)
    return [BandControl(first, node, False), BandControl(last, node, True, node in pinned)]


def paint_controls(painter: QPainter, controls: list[BandControl], theme: Theme) -> None:
    """Paint triangles and pins, those that are pinned filled."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    scale = themes.scale()
    for control in controls:
        x, y = control.box.center().x(), control.box.center().y()
        if not control.pins:
            half = _HALF_PX * scale
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.dim)
            corners = [QPointF(x - half, y - half / 2), QPointF(x + half, y - half / 2), QPointF(x, y + half * 0.7)]
            painter.drawPolygon(QPolygonF(corners))
            continue
        ink, head = theme.accent if control.is_pinned else theme.dim, _HEAD_PX * scale
        painter.setPen(QPen(ink, 1.2 * scale))
        painter.setBrush(ink if control.is_pinned else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QPointF(x, y - head * 0.7), head, head)
        painter.drawLine(QPointF(x, y + head * 0.3), QPointF(x, y + head * 2))
