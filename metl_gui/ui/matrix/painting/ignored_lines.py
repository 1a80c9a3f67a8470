"""Paints a dim line along each row and column that is never to be mapped, where attributes are drawn one by one.

Cost: places are worked out once for an axis; then what is in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter, QPen

from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import Camera, level_at
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.layout.spans import Floats
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints
from metl_gui.ui.theming.theme import Theme, faded
from metl_gui.values import Value


class IgnoredPlaces(Value, eq=False):
    """Attributes of one tree that are never to be mapped.

    Shape: the version and the id of one attribute for every entry, both int32.
    """

    versions: Ints
    attributes: Ints


_known: WeakKeyDictionary[Axis, tuple[IgnoredPlaces, Floats]] = WeakKeyDictionary()


def begins_of(axis: Axis, marked: IgnoredPlaces) -> Floats:
    """Return where attributes begin on an axis, sorted; those that are not on it are left out."""
    known = _known.get(axis)
    if known is not None and known[0] is marked:
        return known[1]
    items = axis.version_items(marked.versions)
    is_there = items != NOWHERE
    positions = axis.positions(items[is_there], marked.attributes[is_there])
    begins = np.sort(np.array([axis.begin(at) for at in positions[positions != NOWHERE].tolist()], np.float64))
    _known[axis] = marked, begins
    return begins


def paint_ignored(painter: QPainter, lines: Sequence[QLineF], theme: Theme) -> None:
    """Paint lines as ``lines_in`` returns them."""
    if lines:
        painter.setPen(ignored_pen(theme))
        painter.drawLines(lines)


def ignored_pen(theme: Theme) -> QPen:
    """Return the pen of the lines."""
    return QPen(faded(theme.dim, 0.55), 1.0)


def lines_in(
    content: PlaneContent, camera: Camera, marked: tuple[IgnoredPlaces, IgnoredPlaces], size: QRectF
) -> list[QLineF]:
    """Return the lines that lie in a viewport.

    Args:
        content: what is shown.
        camera: which part of it.
        marked: the columns and the rows.
        size: of the viewport.
    """
    left, top = camera.on_screen(0.0, 0.0)
    right, bottom = camera.on_screen(content.columns.length, content.rows.length)
    plane = QRectF(left, top, right - left, bottom - top).intersected(size)
    lines: list[QLineF] = []
    for axis, scale, origin, places in (
        (content.columns, camera.scale_x, left, marked[0]),
        (content.rows, camera.scale_y, top, marked[1]),
    ):
        if not len(places.versions) or level_at(axis, scale) is not Level.ATTRIBUTE:
            continue
        begins = begins_of(axis, places)
        is_column = axis is content.columns
        low, high = (plane.left(), plane.right()) if is_column else (plane.top(), plane.bottom())
        first, last = np.searchsorted(begins, ((low - origin) / scale - 1, (high - origin) / scale))
        middles = (origin + (begins[first:last] + 0.5) * scale).tolist()
        if is_column:
            lines += [QLineF(at, plane.top(), at, plane.bottom()) for at in middles]
        else:
            lines += [QLineF(plane.left(), at, plane.right(), at) for at in middles]
    return lines
