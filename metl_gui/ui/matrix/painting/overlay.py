"""Painters of what lies above the tiles: pointer and selection, focus, comments, suggestions.

``paint_overlay`` paints the bands of row and column under the pointer, and the selection. ``paint_focus`` dims
everything on the plane but the block that is looked at, and less the one that it came from. ``paint_comments`` paints a
small corner on a cell that was commented on or, where cells are not drawn one by one, on its block. ``paint_ghosts``
paints suggestions as rings where cells are large enough, the one that Enter takes with a thicker line and a dot; a
``Ghost`` is an element that is only suggested: nothing counts or maps it. ``paint_beside`` writes a few words beside a
cell.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF, QRegion

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import Camera, level_at
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme, faded
from metl_gui.ui.widgets.pill import PILL_PX, paint_pill, pill_width
from metl_gui.values import Value


class Pointer(Value):
    """The attribute positions under the pointer or the cursor."""

    column: int | None = None
    row: int | None = None


_LARGEST_BAND = 0.25
_EDGE_PX = 3.0


def span_of(axis: Axis, place: NodeRef | None) -> tuple[float, float] | None:
    """Return the stretch of an axis that a selected node takes, ``None`` when it is not on the plane."""
    if place is None:
        return None
    if place.version is not None and place.attribute is not None:
        position = axis.position_of(place.version, place.attribute)
        if position is not None:
            return axis.begin(position), axis.begin(position) + 1.0
    if place.version is not None:
        return axis.span_of_version(place.version)
    return axis.span_of_schema(place.schema)


def paint_overlay(
    painter: QPainter,
    content: PlaneContent,
    camera: Camera,
    size: QRectF,
    marked: tuple[Pointer, Selected],
    theme: Theme,
) -> None:
    """Paint bands and selection over a viewport."""
    pointer, selected = marked
    columns, rows = content.columns, content.rows
    band = faded(theme.accent, 0.10)
    wide, tall = span_of(columns, selected.source), span_of(rows, selected.target)
    for stretch, is_column in (
        (_pointed(columns, camera.scale_x, pointer.column), True),
        (_pointed(rows, camera.scale_y, pointer.row), False),
        (wide, True),
        (tall, False),
    ):
        if stretch is not None:
            _paint_band(painter, _band(camera, content, stretch, is_column, size), is_column, size, band)
    if wide is None or tall is None:
        return
    left, top = camera.on_screen(wide[0], tall[0])
    right, bottom = camera.on_screen(wide[1], tall[1])
    box = QRectF(left, top, right - left, bottom - top).adjusted(0, 0, 1, 1)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.accent, 2.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(_large_enough(box), 4, 4)


def _paint_band(painter: QPainter, box: QRectF, is_column: bool, size: QRectF, colour: QColor) -> None:
    """Tint a band; of one that takes much of the view only the edges, as a tint is what tiles tell shares by."""
    if box.width() * box.height() <= _LARGEST_BAND * size.width() * size.height():
        painter.fillRect(box, colour)
        return
    edge = _EDGE_PX
    if is_column:
        edges = (
            QRectF(box.left(), box.top(), edge, box.height()),
            QRectF(box.right() - edge, box.top(), edge, box.height()),
        )
    else:
        edges = (
            QRectF(box.left(), box.top(), box.width(), edge),
            QRectF(box.left(), box.bottom() - edge, box.width(), edge),
        )
    for each in edges:
        painter.fillRect(each, colour)


def _large_enough(box: QRectF) -> QRectF:
    """Grow the frame of something tiny, so that it is seen and does not hide what it frames."""
    wide, tall = max(8.0 - box.width(), 0.0) / 2, max(8.0 - box.height(), 0.0) / 2
    return box.adjusted(-wide, -tall, wide, tall)


def _pointed(axis: Axis, scale: float, position: int | None) -> tuple[float, float] | None:
    level = level_at(axis, scale)
    if position is None or level is None:
        return None
    spans = axis.spans(level)
    return spans.stretch(position if level is Level.ATTRIBUTE else spans.item_of(position))


def _band(camera: Camera, content: PlaneContent, stretch: tuple[float, float], is_column: bool, size: QRectF) -> QRectF:
    right, bottom = camera.on_screen(content.columns.length, content.rows.length)
    left, top = camera.on_screen(0.0, 0.0)
    if is_column:
        begin, end = camera.on_screen(stretch[0], 0)[0], camera.on_screen(stretch[1], 0)[0]
        return QRectF(begin, top, max(end - begin, 1.0), bottom - top).intersected(size)
    begin, end = camera.on_screen(0, stretch[0])[1], camera.on_screen(0, stretch[1])[1]
    return QRectF(left, begin, right - left, max(end - begin, 1.0)).intersected(size)


_BESIDE_PX = 5.0


def paint_beside(
    painter: QPainter, content: PlaneContent, camera: Camera, cell: Selected, words: str, size: QRectF
) -> None:
    """Write a few words beside a cell, first above it at the right: mappings mostly go down to the right."""
    wide, tall = span_of(content.columns, cell.source), span_of(content.rows, cell.target)
    if wide is None or tall is None:
        return
    left, top = camera.on_screen(wide[0], tall[0])
    right, bottom = camera.on_screen(wide[1], tall[1])
    if not QRectF(left, top, right - left, bottom - top).intersects(size):
        return
    width, height = pill_width(words), PILL_PX * themes.scale()
    after, before = right + _BESIDE_PX, left - _BESIDE_PX - width
    above, below = top - _BESIDE_PX - height, bottom + _BESIDE_PX
    corners = ((after, above), (before, below), (after, below), (before, above))
    boxes = [QRectF(x, y, width, height) for x, y in corners]
    painter.save()
    painter.setOpacity(0.94)
    paint_pill(painter, next((box for box in boxes if size.contains(box)), boxes[2]), words, "accent")
    painter.restore()


_MARGIN_PX = 3
_FAR, _NEAR = 0.66, 0.4


class Focus(Value):
    """What is looked at.

    Args:
        block: the block that stays bright.
        before: the block that it came from, dimmed a little.
    """

    block: BlockKey
    before: BlockKey | None = None


def box_of_block(content: PlaneContent, key: BlockKey) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of a block in units, ``None`` when it is not on the plane."""
    wide, tall = content.columns.span_of_version(key[0]), content.rows.span_of_version(key[1])
    return None if wide is None or tall is None else (wide[0], tall[0], wide[1], tall[1])


def paint_focus(
    painter: QPainter, content: PlaneContent, camera: Camera, focus: Focus, size: QRectF, theme: Theme
) -> None:
    """Lay the colour of the panel over a viewport, but not over the block."""
    block = _pixels(content, camera, focus.block)
    before = _pixels(content, camera, focus.before) if focus.before is not None else QRect()
    far = QRegion(size.toAlignedRect()) - QRegion(block) - QRegion(before)
    painter.save()
    painter.setClipRegion(far)
    painter.fillRect(size, faded(theme.panel, _FAR))
    painter.setClipRegion(QRegion(before) - QRegion(block))
    painter.fillRect(size, faded(theme.panel, _NEAR))
    painter.restore()


def _pixels(content: PlaneContent, camera: Camera, key: BlockKey) -> QRect:
    box = box_of_block(content, key)
    if box is None:
        return QRect()
    left, top = camera.on_screen(box[0], box[1])
    right, bottom = camera.on_screen(box[2], box[3])
    margin = _MARGIN_PX
    return QRectF(left, top, right - left, bottom - top).adjusted(-margin, -margin, margin, margin).toAlignedRect()


_LEAST_PX = 14.0
_CORNER_PX = 7.0


class Commented(Value):
    """A block that was commented on, or one element of it."""

    key: BlockKey
    element: Element | None = None


def paint_comments(
    painter: QPainter,
    content: PlaneContent,
    camera: Camera,
    commented: tuple[Commented, ...],
    size: QRectF,
    theme: Theme,
) -> None:
    """Paint the corners that lie in a viewport; none on what is too small to point at."""
    if not commented:
        return
    columns, rows = content.columns, content.rows
    has_cells = level_at(columns, camera.scale_x) is level_at(rows, camera.scale_y) is Level.ATTRIBUTE
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.panel, 1.0))
    painter.setBrush(theme.text)
    boxes = {(each.key, each.element if has_cells else None): each for each in commented}
    for key, element in boxes:
        box = _box(content, camera, key, element)
        if box is not None and box.intersects(size) and min(box.width(), box.height()) >= _LEAST_PX:
            _paint_corner(painter, box)
    painter.restore()


def _box(content: PlaneContent, camera: Camera, key: BlockKey, element: Element | None) -> QRectF | None:
    columns, rows = content.columns, content.rows
    if element is None:
        wide, tall = columns.span_of_version(key[0]), rows.span_of_version(key[1])
    else:
        column, row = columns.position_of(key[0], element.p), rows.position_of(key[1], element.q)
        if column is None or row is None:
            return None
        left, top = columns.begin(column), rows.begin(row)
        wide, tall = (left, left + 1.0), (top, top + 1.0)
    if wide is None or tall is None:
        return None
    return QRectF(QPointF(*camera.on_screen(wide[0], tall[0])), QPointF(*camera.on_screen(wide[1], tall[1])))


def _paint_corner(painter: QPainter, box: QRectF) -> None:
    width = min(_CORNER_PX, box.width() * 0.45)
    corner = box.topLeft() + QPointF(1, 1)
    painter.drawPolygon(QPolygonF([corner, corner + QPointF(width, 0), corner + QPointF(0, width)]))


class Ghost(Value):
    """A suggested element of one block.

    Args:
        key: (v, w).
        element: the element that would be set.
        score: 0 to 1.
        reason: why it is suggested, in words.
        is_current: the candidate that Enter accepts, painted stronger.
    """

    key: BlockKey
    element: Element
    score: float
    reason: str
    is_current: bool = False


_SHARE = 0.52


def are_drawn(content: PlaneContent, camera: Camera) -> bool:
    """Whether cells are drawn one by one, so that a ring has its place."""
    levels = level_at(content.columns, camera.scale_x), level_at(content.rows, camera.scale_y)
    return levels == (Level.ATTRIBUTE, Level.ATTRIBUTE)


def paint_ghosts(
    painter: QPainter, content: PlaneContent, camera: Camera, ghosts: tuple[Ghost, ...], size: QRectF, theme: Theme
) -> None:
    """Paint the rings that lie in a viewport; none where cells are not drawn one by one."""
    columns, rows = content.columns, content.rows
    if not are_drawn(content, camera):
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for ghost in ghosts:
        column = columns.position_of(ghost.key[0], ghost.element.p)
        row = rows.position_of(ghost.key[1], ghost.element.q)
        if column is None or row is None:
            continue  # hidden, or gone since
        x, y = camera.on_screen(columns.begin(column) + 0.5, rows.begin(row) + 0.5)
        width = min(camera.scale_x, camera.scale_y) * _SHARE
        box = QRectF(x - width / 2, y - width / 2, width, width)
        if box.intersects(size):
            _paint_ring(painter, box, ghost.is_current, theme)
    painter.restore()


def _paint_ring(painter: QPainter, box: QRectF, is_current: bool, theme: Theme) -> None:
    painter.setPen(QPen(theme.good, 2.4 if is_current else 1.8))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(box)
    if is_current:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.good)
        dot = box.width() * 0.17
        painter.drawEllipse(box.center(), dot, dot)
