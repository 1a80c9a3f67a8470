"""Painters of what stands between the attributes of an axis: ghosts with their lost elements, and notches.

A ghost column or row is hatched over everything that its version holds, stronger in the blocks that lost something with
it; the lost elements in it are painted with their reasons. A notch marks where the relevance view or a filter leaves
something out: dotted, so that hidden never looks deleted.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import least_item_px
from metl_gui.ui.matrix.layout.content import LostCell, PlaneContent, Stretch
from metl_gui.ui.matrix.layout.placement import GHOST
from metl_gui.ui.matrix.painting.paint_context import PaintContext, Sign
from metl_gui.ui.matrix.painting.shapes import HatchPainter
from metl_gui.ui.matrix.painting.text_layout import TextAlignment, TextPainter
from metl_gui.ui.theming.marks import MarkShape, paint_cross, paint_mark
from metl_gui.ui.theming.theme import Theme, mixed

_LINE_PX = 2.0
_LEAST_MARK_PX = 6.0
_LEAST_WORDS = 8


def paint_ghost_lines(painter: QPainter, look: PaintContext) -> frozenset[Sign]:
    """Hatch the ghosts in sight where single attributes of their axis are drawn."""
    painted = [_paint_axis(painter, look, is_column=True), _paint_axis(painter, look, is_column=False)]
    return frozenset({Sign.REMOVED} if any(painted) else ())


def paint_losses(
    painter: QPainter, letters: TextPainter, look: PaintContext, keys: Iterable[tuple[tuple[int, int], QRectF]]
) -> frozenset[Sign]:
    """Outline the lost elements of blocks, and write their reasons where there is room.

    Args:
        painter, letters: of the plane.
        look: what is painted.
        keys: the blocks that wait, as a pair of versions, with their boxes.
    """
    signs: set[Sign] = set()
    pictures: dict[float, QImage] = {}
    for at, box in keys:
        for cell in look.content.lost_cells(look.content.key_of(*at)):
            mark = _mark_box(look, cell.column, cell.row)
            if not mark.intersects(QRectF(0, 0, *look.size)):
                continue
            _put_mark(painter, look, mark, pictures)
            signs.add(Sign.LOST)
            if cell.rivals:
                paint_cross(painter, mark, look.theme, look.theme.review_outline[0])
                signs.add(Sign.CONFLICT)
            for rival in cell.rivals:
                paint_cross(painter, _mark_box(look, *rival), look.theme)
            _write_reason(painter, letters, look, cell, box, mark)
    return frozenset(signs)


def _put_mark(painter: QPainter, look: PaintContext, box: QRectF, pictures: dict[float, QImage]) -> None:
    """Draw the outline of a lost element, a picture that is made once a frame."""
    if look.is_vector:
        paint_mark(painter, box, MarkShape.LOST, look.theme)
        return
    side = box.width()
    if side not in pictures:
        pixels = round((side + 2) * look.ratio)
        picture = pictures[side] = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
        picture.setDevicePixelRatio(look.ratio)
        picture.fill(Qt.GlobalColor.transparent)
        inner = QPainter(picture)
        paint_mark(inner, QRectF(0, 0, side, side), MarkShape.LOST, look.theme)
        inner.end()
    painter.drawImage(box.topLeft(), pictures[side])


def _paint_axis(painter: QPainter, look: PaintContext, *, is_column: bool) -> bool:
    """Hatch the ghosts of one axis; whether there are any in sight."""
    if look.levels[0 if is_column else 1] is not Level.ATTRIBUTE:
        return False
    content = look.content
    axis, other = _axes(content, is_column=is_column)
    low, high = (look.box[0], look.box[2]) if is_column else (look.box[1], look.box[3])
    across = (look.box[1], look.box[3]) if is_column else (look.box[0], look.box[2])
    found = axis.ghosts.within(low, high)
    if not found:
        return False
    hatching = HatchPainter(painter, look.ratio, is_vector=look.is_vector)
    sight = QRectF(0, 0, *look.size)
    if look.levels[1 if is_column else 0] not in (Level.ATTRIBUTE, Level.VERSION):
        for _, begin in found:  # thousands of blocks may lie in one tile
            box = _pixels(look, (begin, begin + GHOST), (0.0, other.length), is_column=is_column)
            hatching.fill(box, sight, *_colours(look.theme, is_lost=False))
        return True
    spans = other.spans(Level.VERSION)
    seen = spans.within(*across)
    stretches = [spans.stretch(item) for item in seen]
    for line, begin in found:
        lost_in = {key for key, _ in line.losses}
        version = axis.spans(Level.VERSION).stretch(line.item)
        for item, stretch in zip(seen, stretches, strict=True):
            key = content.key_of(line.item, item) if is_column else content.key_of(item, line.item)
            frame = _pixels(look, version, stretch, is_column=is_column)
            inner = frame.adjusted(_LINE_PX, _LINE_PX, -_LINE_PX, -_LINE_PX)
            box = _pixels(look, (begin, begin + GHOST), stretch, is_column=is_column).intersected(inner)
            hatching.fill(box, sight, *_colours(look.theme, is_lost=key in lost_in))
    return True


def _pixels(look: PaintContext, along: tuple[float, float], across: tuple[float, float], *, is_column: bool) -> QRectF:
    """Return the pixels of a stretch of an axis and one of the other."""
    c = look.camera
    xs, ys = (along, across) if is_column else (across, along)
    left, top = c.on_screen(xs[0], ys[0])
    right, bottom = c.on_screen(xs[1], ys[1])
    return _snapped(look, QRectF(left, top, right - left, bottom - top))


def _axes(content: PlaneContent, *, is_column: bool) -> tuple[Axis, Axis]:
    return (content.columns, content.rows) if is_column else (content.rows, content.columns)


def _colours(theme: Theme, *, is_lost: bool) -> tuple[QColor, QColor]:
    """Return the colours of lines and ground."""
    if is_lost:
        return mixed(theme.reviewbg, theme.review_outline[0], 0.45), theme.reviewbg
    return mixed(theme.panel, theme.line, 0.9), theme.panel


def _snapped(look: PaintContext, box: QRectF) -> QRectF:
    r = look.ratio
    left, top, right, bottom = (round(side * r) / r for side in (box.left(), box.top(), box.right(), box.bottom()))
    return QRectF(left, top, right - left, bottom - top)


def _mark_box(look: PaintContext, column: Stretch, row: Stretch) -> QRectF:
    """Return the square of an element, as large as a mark or as a ghost allows."""
    c = look.camera
    width, height = (column[1] - column[0]) * c.scale_x, (row[1] - row[0]) * c.scale_y
    whole = min(14.0, 0.56 * min(c.scale_x, c.scale_y))
    side = float(round(max(_LEAST_MARK_PX, min(whole, width - 1.0, height - 1.0))))
    x = ((column[0] + column[1]) / 2 - c.left) * c.scale_x
    y = ((row[0] + row[1]) / 2 - c.top) * c.scale_y
    return _snapped(look, QRectF(x - side / 2, y - side / 2, side, side))


def _write_reason(
    painter: QPainter, letters: TextPainter, look: PaintContext, cell: LostCell, box: QRectF, mark: QRectF
) -> None:
    """Write why an element was lost into its row, on the side of the mark that has more room in the block."""
    fonts = letters.plain
    seen = box.adjusted(4, 0, -4, 0).intersected(QRectF(0, 0, *look.size))
    if look.camera.scale_y < fonts.height or seen.isEmpty():
        return
    before, behind = mark.left() - 3 - seen.left(), seen.right() - mark.right() - 3
    room = max(before, behind) - 6
    words = next((each for each in _reasons(cell) if fonts.width(each) <= room), "")
    words = words or fonts.elided(f"lost: {cell.loss.from_path}", room)
    if len(words) < _LEAST_WORDS:
        return
    width = fonts.width(words) + 6
    left = mark.right() + 3 if behind >= before else mark.left() - 3 - width
    label = QRectF(left, mark.center().y() - fonts.height / 2, width, fonts.height)
    painter.fillRect(label, look.theme.reviewbg)
    letters.write(words, label, look.theme.review, TextAlignment.MIDDLE)


def _reasons(cell: LostCell) -> tuple[str, ...]:
    """Return the reason, and shorter words for it."""
    loss = cell.loss
    return f"lost: {loss.reason}", loss.reason, f"lost: {loss.from_path}"


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
    return _LONG_PX if scale >= least_item_px() else _SHORT_PX


def notch_pen(theme: Theme) -> QPen:
    """Return the pen of notches."""
    pen = QPen(theme.dim, 2.0, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.RoundCap)
    pen.setDashPattern([0.1, 2.2])
    return pen


def paint_hidden(painter: QPainter, look: PaintContext) -> frozenset[Sign]:
    """Paint the notches of both axes: between cells across the plane, above coarser pictures at its edge."""
    c, content = look.camera, look.content
    right, bottom = c.on_screen(content.columns.length, content.rows.length)
    left, top = (max(edge, 0.0) for edge in c.on_screen(0.0, 0.0))
    right, bottom = min(right, look.size[0]), min(bottom, look.size[1])
    xs = notches(content.columns, c.left, c.scale_x, look.size[0])
    ys = notches(content.rows, c.top, c.scale_y, look.size[1])
    foot = bottom if c.scale_x >= least_item_px() else min(top + _SHORT_PX, bottom)
    end = right if c.scale_y >= least_item_px() else min(left + _SHORT_PX, right)
    lines = [QLineF(x, top, x, foot) for x in xs] + [QLineF(left, y, end, y) for y in ys]
    if not lines:
        return frozenset()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(notch_pen(look.theme))
    painter.drawLines(lines)
    return frozenset({Sign.HIDDEN})
