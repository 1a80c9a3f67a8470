"""Paints the plane at cell level: block frames, grid, marks and losses of what is in sight."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from metl_gui.core.matrix.blocks import Status
from metl_gui.core.trees.type_verdicts import TypeVerdict
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.content import Blocks, BlockTile, ElementFlag, PlaneContent
from metl_gui.ui.matrix.layout.elements import refused_marks
from metl_gui.ui.matrix.painting import paint_context
from metl_gui.ui.matrix.painting.axis_gaps import paint_ghost_lines, paint_losses
from metl_gui.ui.matrix.painting.paint_context import Overlay, PaintContext, Sign
from metl_gui.ui.matrix.painting.shapes import BoxPainter
from metl_gui.ui.matrix.painting.text_layout import TextAlignment, TextPainter
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.marks import VERDICT_PX, MarkShape, paint_mark, paint_verdict
from metl_gui.ui.theming.theme import mixed
from metl_gui.values import Value

CORNER = 4.0


class Edges(Value, eq=False):
    """Versions in sight along one axis, in pixels of the picture."""

    items: range
    begin: list[float]
    end: list[float]

    def stretch(self, item: int) -> tuple[float, float]:
        """Where a version begins and how long it is."""
        at = item - self.items.start
        return self.begin[at], self.end[at] - self.begin[at]


def paint_cells(painter: QPainter, look: PaintContext) -> frozenset[Sign]:
    """Paint what is in sight, and return the signs that were used."""
    wide, tall = _edges(look, is_column=True), _edges(look, is_column=False)
    blocks = look.content.blocks_within(wide.items, tall.items)
    known = {(tile.x, tile.y): tile for tile in blocks}
    tints = _tints(look, wide.items, tall.items, blocks)
    boxes = BoxPainter(painter, look.ratio, CORNER, is_vector=look.is_vector)
    _fill_between(painter, look, boxes.radius, (wide, tall))
    _paint_null_frames(boxes, look, (wide, tall), known)
    signs: set[Sign] = set()
    letters = TextPainter(painter, look.ratio, is_vector=look.is_vector, factor=0.82)
    grid: dict[int, list[QLineF]] = {}
    for key, tile in known.items():
        box = _box(wide, tall, *key)
        tint, words = tints.get(key, (None, ""))
        ground = _paint_frame(boxes, look, box, tile, tint)
        grid.setdefault(ground.rgb(), []).extend(_grid(look, box, key))
        if words:
            _paint_label(letters, box, words, look)
    _paint_grid(painter, look, grid)
    signs |= paint_ghost_lines(painter, look) | _paint_elements(painter, look)
    waiting = [(key, _box(wide, tall, *key)) for key, tile in known.items() if tile.status is Status.NEEDS_REVIEW]
    signs |= {Sign.REVIEW} if waiting else set()
    return frozenset(signs | paint_losses(painter, letters, look, waiting))


def cell_box(content: PlaneContent, column: int, row: int, scales: tuple[float, float]) -> QRectF:
    """Return the pixels of a cell, from the plane's own top left."""
    sx, sy = scales
    return QRectF(content.columns.begin(column) * sx, content.rows.begin(row) * sy, sx, sy)


def _edges(look: PaintContext, *, is_column: bool) -> Edges:
    axis = look.content.columns if is_column else look.content.rows
    c = look.camera
    place, scale = (c.left, c.scale_x) if is_column else (c.top, c.scale_y)
    spans = axis.spans(Level.VERSION)
    seen = spans.within(place, place + look.size[0 if is_column else 1] / scale)
    return Edges(seen, _snapped(spans.begins(seen), place, scale, look), _snapped(spans.ends(seen), place, scale, look))


def _snapped(places: paint_context.Floats, place: float, scale: float, look: PaintContext) -> list[float]:
    found: list[float] = (np.rint((places - place) * scale * look.ratio) / look.ratio).tolist()
    return found


def _box(wide: Edges, tall: Edges, x: int, y: int) -> QRectF:
    left, width = wide.stretch(x)
    top, height = tall.stretch(y)
    return QRectF(left, top, width, height)


def _fill_between(painter: QPainter, look: PaintContext, radius: float, edges: tuple[Edges, Edges]) -> None:
    """Fill what the boxes of blocks leave free: between them, and around their corners."""
    wide, tall = edges
    width, height = look.size
    least = min((end - begin for each in edges for begin, end in zip(each.begin, each.end, strict=True)), default=0.0)
    if look.is_vector or not look.ratio.is_integer() or least < 2 * radius:
        painter.fillRect(QRectF(0, 0, width, height), look.theme.panel)
        return
    for left, right in _gaps(wide, 0.0, width):
        painter.fillRect(QRectF(left, 0, right - left, height), look.theme.panel)
    for top, bottom in _gaps(tall, radius, height):
        painter.fillRect(QRectF(0, top, width, bottom - top), look.theme.panel)


def _gaps(edges: Edges, reach: float, length: float) -> list[tuple[float, float]]:
    """Return the stretches of a side between boxes, longer by a reach into these, as far as they are in sight."""
    low = [0.0, *(max(end - reach, 0.0) for end in edges.end)]
    high = [*(min(begin + reach, length) for begin in edges.begin), length]
    return [(begin, end) for begin, end in zip(low, high, strict=True) if begin < end]


def _paint_null_frames(
    boxes: BoxPainter, look: PaintContext, edges: tuple[Edges, Edges], known: dict[tuple[int, int], BlockTile]
) -> None:
    """Frame the blocks of which nothing is known."""
    wide, tall = edges
    theme = look.theme
    ground = _null_ground(look)
    for y in tall.items:
        for x in wide.items:
            if (x, y) not in known:
                boxes.draw(_box(wide, tall, x, y), ground, theme.line, 1.0)


def _null_ground(look: PaintContext) -> QColor:
    return mixed(look.theme.bg, look.theme.panel, 0.5 if look.theme.dark else 0.0)


def _paint_frame(boxes: BoxPainter, look: PaintContext, box: QRectF, tile: BlockTile, tint: QColor | None) -> QColor:
    """Frame a block and return the colour of its ground."""
    theme = look.theme
    outline, width, ground = theme.line, 1.0, _null_ground(look)
    if tile.status is Status.NEEDS_REVIEW:
        outline, width = theme.review_outline
        ground = theme.reviewbg
    elif tile.elements:
        ground = mixed(theme.panel, theme.accentbg, 0.55)
    ground = ground if tint is None else tint
    boxes.draw(box, ground, outline, width)
    return ground


def _tints(look: PaintContext, xs: range, ys: range, blocks: Blocks) -> dict[tuple[int, int], tuple[QColor, str]]:
    """Return the tint and the words that the overlay gives every block."""
    if look.tinting.overlay is Overlay.NONE or not len(blocks):
        return {}
    people = look.content.people
    facts = look.content.facts(Level.VERSION, Level.VERSION).within(xs, ys)
    when = dict(zip(zip(facts.x.tolist(), facts.y.tolist(), strict=True), facts.newest_ms.tolist(), strict=True))
    who = dict(zip(zip(facts.x.tolist(), facts.y.tolist(), strict=True), facts.who.tolist(), strict=True))
    tiles = list(blocks)
    room = look.content.counts(Level.VERSION, Level.VERSION).room(blocks.x, blocks.y)
    share = paint_context.share_of(blocks.elements, room)
    told = paint_context.TileStatistics(
        np.array([tile.elements for tile in tiles], np.int64),
        share,
        np.array([tile.status is Status.NEEDS_REVIEW for tile in tiles], np.int64),
        np.array([tile.status is Status.UNCONFIRMED for tile in tiles], np.int64),
        np.array([when.get((tile.x, tile.y), 0) for tile in tiles], np.int64),
        np.array([who.get((tile.x, tile.y), 0) for tile in tiles], np.int64),
    )
    scale = paint_context.scale_of(look.tinting, look.theme, people)
    found = {}
    for tile, at, part in zip(
        tiles, paint_context.steps_of(look.tinting, told, people).tolist(), share.tolist(), strict=True
    ):
        step = scale[at]
        colour = mixed(look.theme.panel, step.colour, 0.6)
        found[tile.x, tile.y] = colour, paint_context.words_of(look.tinting, step, tile.elements, part)
    return found


def _paint_label(letters: TextPainter, box: QRectF, words: str, look: PaintContext) -> None:
    foot = QRectF(box.left() + 4, box.bottom() - letters.plain.height - 1, box.width() - 8, letters.plain.height)
    seen = foot.intersected(QRectF(0, 0, *look.size))
    if letters.plain.width(words) <= seen.width():
        letters.write(words, seen, look.theme.text, TextAlignment.RIGHT)


def _grid(look: PaintContext, box: QRectF, key: tuple[int, int]) -> list[QLineF]:
    """Return the lines before every attribute of a block but the first ones."""
    c, content = look.camera, look.content
    seen = box.adjusted(3, 3, -4, -4).intersected(QRectF(-1, -1, look.size[0] + 2, look.size[1] + 2))
    xs = _line_places(content.columns, key[0], (c.left, c.scale_x, look.ratio), (seen.left(), seen.right()))
    ys = _line_places(content.rows, key[1], (c.top, c.scale_y, look.ratio), (seen.top(), seen.bottom()))
    lines = [QLineF(x, seen.top(), x, seen.bottom()) for x in xs]
    return lines + [QLineF(seen.left(), y, seen.right(), y) for y in ys]


def _line_places(axis: Axis, item: int, sight: tuple[float, float, float], within: tuple[float, float]) -> list[float]:
    """Return the pixels of a version's attributes but the first, as far as they are in sight."""
    spans = axis.spans(Level.VERSION)
    inner = range(spans.first(item) + 1, spans.last(item))
    left, scale, ratio = sight
    places = np.rint((axis.spans(Level.ATTRIBUTE).begins(inner) - left) * scale * ratio) / ratio
    found: list[float] = places[(places >= within[0]) & (places <= within[1])].tolist()
    return found


def _paint_grid(painter: QPainter, look: PaintContext, lines: dict[int, list[QLineF]]) -> None:
    """Draw the lines between cells in opaque colours, which takes an eighth of the time of clear ones."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    for ground, drawn in lines.items():
        painter.setPen(QPen(mixed(QColor.fromRgb(ground), look.theme.line, 0.55), int(look.ratio) / look.ratio))
        painter.drawLines(drawn)


def _paint_elements(painter: QPainter, look: PaintContext) -> set[Sign]:
    """Paint the marks of the elements in sight, each a picture that is made once a frame."""
    content, c = look.content, look.camera
    left, top, right, bottom = look.box
    columns = content.columns.spans(Level.ATTRIBUTE).within(left, right)
    rows = content.rows.spans(Level.ATTRIBUTE).within(top, bottom)
    found = content.elements_within(columns, rows)
    if not len(found.column):
        return set()
    side = mark_side(c.scale_x, c.scale_y)
    begins_x, begins_y = content.columns.spans(Level.ATTRIBUTE), content.rows.spans(Level.ATTRIBUTE)
    x = (begins_x.begins(columns)[found.column - columns.start] + 0.5 - c.left) * c.scale_x - side / 2
    y = (begins_y.begins(rows)[found.row - rows.start] + 0.5 - c.top) * c.scale_y - side / 2
    pictures: dict[int, QImage] = {}
    r, drawn = look.ratio, refused_marks(found, look.refused)
    for at_x, at_y, mark in zip(
        (np.rint(x * r) / r).tolist(), (np.rint(y * r) / r).tolist(), drawn.tolist(), strict=True
    ):
        if look.is_vector:
            _paint_mark(painter, QRectF(at_x, at_y, side, side), mark, look)
            continue
        if mark not in pictures:
            pictures[mark] = _mark_picture(mark, side, look)
        painter.drawImage(QPointF(at_x, at_y), pictures[mark])
    marks = set(pictures) | set(np.unique(drawn).tolist())
    signs = {Sign.UNCONFIRMED if mark & ElementFlag.UNCONFIRMED else Sign.MAPPED for mark in marks}
    signs |= {Sign.MAY_REFUSE} if any(mark & ElementFlag.MAY_REFUSE for mark in marks) else set()
    return signs | ({Sign.REINTERPRETED} if any(mark & ElementFlag.REINTERPRETED for mark in marks) else set())


def mark_side(scale_x: float, scale_y: float) -> float:
    """Return the side of a mark, in whole pixels."""
    return float(round(max(6.0, min(14.0 * themes.scale(), 0.56 * min(scale_x, scale_y)))))


def _mark_picture(mark: int, side: float, look: PaintContext) -> QImage:
    wide, tall = (round((side + margin) * look.ratio) for margin in (2, VERDICT_PX))
    picture = QImage(wide, tall, QImage.Format.Format_ARGB32_Premultiplied)
    picture.setDevicePixelRatio(look.ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    _paint_mark(painter, QRectF(0, 0, side, side), mark, look)
    painter.end()
    return picture


def _paint_mark(painter: QPainter, box: QRectF, mark: int, look: PaintContext) -> None:
    paint_mark(painter, box, MarkShape.UNCONFIRMED if mark & ElementFlag.UNCONFIRMED else MarkShape.MAPPED, look.theme)
    if mark & ElementFlag.MAY_REFUSE:
        paint_verdict(painter, box, TypeVerdict.MAY_REFUSE, look.theme)
    elif mark & ElementFlag.REINTERPRETED:
        paint_verdict(painter, box, TypeVerdict.REINTERPRETED, look.theme)
