"""Paints the plane above cell level: tiles with their number of elements, their tint and what waits in them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.tile_counts import Tiles
from metl_gui.ui.matrix.painting import paint_context
from metl_gui.ui.matrix.painting.paint_context import PaintContext, Sign, zero_of
from metl_gui.ui.matrix.painting.raster import Bytes, Colours, PixelLine, palette, plates, table_of
from metl_gui.ui.matrix.painting.text_layout import TextPainter
from metl_gui.ui.matrix.painting.version_changes import paint_changes
from metl_gui.ui.theming.theme import Theme
from metl_gui.values import Value

_CORNER_PX = 3
_ROUNDED_FROM_PX = 9
_SIGN_FROM_PX = 10
_HAIRLINE_PX = 3
_LEAST_OF_ROOM = "1 of 1"
_AROUND_WORDS_PX = 8


class LaidTiles(Value, eq=False):
    """The tiles of a picture that hold or await something, with their places in pixels of the picture."""

    tiles: Tiles
    room: paint_context.Ints
    share: paint_context.Floats
    steps: paint_context.Ints
    left: paint_context.Floats
    top: paint_context.Floats
    width: paint_context.Floats
    height: paint_context.Floats

    def where(self, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Iterator[tuple[int, QRectF]]:
        """Yield the number and the box of the tiles that were chosen."""
        at = np.flatnonzero(chosen)
        boxes = (part[at].tolist() for part in (self.left, self.top, self.width, self.height))
        for number, *box in zip(at.tolist(), *boxes, strict=True):
            yield number, QRectF(*box)


def paint_tiles(painter: QPainter, look: PaintContext, levels: tuple[Level, Level]) -> frozenset[Sign]:
    """Paint the tiles of a pair of levels and return the signs that were used."""
    columns, rows = lines_of(look, levels)
    if not len(columns.items) or not len(rows.items):
        painter.fillRect(QRectF(0, 0, *look.size), look.theme.panel)
        return frozenset()
    laid = _laid(look, levels, columns, rows)
    colours = _colours.of(look)
    numbers = _numbers(laid, columns, rows, len(colours.tiles))
    if look.is_vector:
        painter.fillRect(QRectF(0, 0, *look.size), look.theme.panel)
        _paint_boxes(painter, columns, rows, numbers, colours.tiles, look.ratio)
    else:
        radius = round(_CORNER_PX * look.ratio)
        is_rounded = min(columns.median_length, rows.median_length) >= _ROUNDED_FROM_PX * look.ratio
        laid_out = plates(columns, rows, numbers, radius if is_rounded else 0)
        if look.pixels is not None:
            laid_out.paint(look.pixels, colours.table)
        elif look.ratio.is_integer():
            laid_out.draw(painter, colours.table, look.ratio)
        else:
            painter.drawImage(QPointF(0, 0), laid_out.image(colours.table, look.ratio))
    if not _is_one_element(levels):
        _paint_words(painter, look, laid, colours)
    _paint_waiting(painter, laid, look.theme)
    signs = _signs(look, laid)
    if levels[0] is Level.VERSION and levels[1] <= Level.SCHEMA and not look.is_comparing:
        signs |= paint_changes(painter, look, levels, (columns, rows))
    return signs


def _is_one_element(levels: tuple[Level, Level]) -> bool:
    """Whether a tile holds one element at most, whose number would say nothing."""
    return min(levels) is Level.ATTRIBUTE and max(levels) is Level.VERSION


def lines_of(look: PaintContext, levels: tuple[Level, Level]) -> tuple[PixelLine, PixelLine]:
    """Lay both axes on the pixels of a picture."""
    c, content = look.camera, look.content
    width, height = (round(side * look.ratio) for side in look.size)
    return (
        PixelLine.of(content.columns.spans(levels[0]), c.left, c.scale_x, look.ratio, width),
        PixelLine.of(content.rows.spans(levels[1]), c.top, c.scale_y, look.ratio, height),
    )


def _laid(look: PaintContext, levels: tuple[Level, Level], columns: PixelLine, rows: PixelLine) -> LaidTiles:
    """Find what lies in sight; of items that share a pixel the first stands for all."""
    content = look.content
    seen_x = content.columns.spans(levels[0]).within(look.box[0], look.box[2])
    seen_y = content.rows.spans(levels[1]).within(look.box[1], look.box[3])
    counts = content.counts(*levels)
    tiles = counts.within(seen_x, seen_y)
    room = counts.room(tiles.x, tiles.y)
    share = paint_context.share_of(tiles.elements, room)
    told = _told(look, levels, (seen_x, seen_y), tiles, share)
    steps = paint_context.steps_of(look.tinting, told, content.people)
    at_x, at_y = columns.rows_of(tiles.x), rows.rows_of(tiles.y)
    r = look.ratio
    left, top = columns.begin[at_x] / r, rows.begin[at_y] / r
    return LaidTiles(tiles, room, share, steps, left, top, columns.end[at_x] / r - left, rows.end[at_y] / r - top)


def _told(
    look: PaintContext,
    levels: tuple[Level, Level],
    seen: tuple[range, range],
    tiles: Tiles,
    share: paint_context.Floats,
) -> paint_context.TileStatistics:
    """Gather what the overlay asks about the tiles."""
    newest, who = np.zeros(len(tiles.x), np.int64), np.zeros(len(tiles.x), np.int64)
    if look.tinting.overlay in (paint_context.Overlay.AGE, paint_context.Overlay.REVIEWER):
        facts = look.content.facts(*levels).within(*seen)
        height = len(look.content.rows.spans(levels[1])) or 1
        known = facts.x.astype(np.int64) * height + facts.y
        wanted = tiles.x.astype(np.int64) * height + tiles.y
        at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        if len(known):
            found = known[at] == wanted
            newest, who = np.where(found, facts.newest_ms[at], 0), np.where(found, facts.who[at], 0)
    return paint_context.TileStatistics(tiles.elements, share, tiles.waiting, tiles.unconfirmed, newest, who)


def _numbers(laid: LaidTiles, columns: PixelLine, rows: PixelLine, colours: int) -> Bytes:
    """Give every tile in sight the number of its colour: 1 for zero, the scale, and what only waits."""
    numbers = np.ones((len(rows.items), len(columns.items)), np.uint8)
    is_empty = laid.tiles.elements == 0
    found = np.where(is_empty & (laid.tiles.waiting > 0), colours, np.where(is_empty, 1, laid.steps + 2))
    at_x, at_y = columns.rows_of(laid.tiles.x), rows.rows_of(laid.tiles.y)
    np.maximum.at(numbers, (at_y, at_x), found.astype(np.uint8))
    return numbers


def _paint_boxes(
    painter: QPainter,
    columns: PixelLine,
    rows: PixelLine,
    numbers: Bytes,
    colours: list[QColor],
    ratio: float,
) -> None:
    """Paint tiles as shapes."""
    painter.setPen(Qt.PenStyle.NoPen)
    for y, (top, bottom) in enumerate(zip(rows.begin / ratio, rows.end / ratio, strict=True)):
        for x, (left, right) in enumerate(zip(columns.begin / ratio, columns.end / ratio, strict=True)):
            painter.setBrush(colours[int(numbers[y, x]) - 1])
            painter.drawRoundedRect(QRectF(left, top, right - left, bottom - top), _CORNER_PX, _CORNER_PX)


def _paint_words(painter: QPainter, look: PaintContext, laid: LaidTiles, colours: _Colours) -> None:
    """Write on every tile with room for it what it holds, tiles that say the same together."""
    letters = TextPainter(painter, look.ratio, is_vector=look.is_vector)
    fonts = letters.plain
    left, top = np.maximum(laid.left, 0), np.maximum(laid.top, 0)
    wide = np.minimum(laid.left + laid.width, look.size[0]) - left
    tall = np.minimum(laid.top + laid.height, look.size[1]) - top
    x, y = left + wide / 2, top + tall / 2
    has_room = (tall >= fonts.height - 2) & (wide >= fonts.width("0") + 4) & (laid.tiles.elements > 0)
    says_room = wide >= fonts.width(_LEAST_OF_ROOM) + _AROUND_WORDS_PX
    for part in _alike(look, laid, np.flatnonzero(has_room), says_room):
        step, first = int(laid.steps[part[0]]), int(part[0])
        elements, share = int(laid.tiles.elements[first]), float(laid.share[first])
        words = paint_context.words_of(look.tinting, colours.scale[step], elements, share)
        is_long = np.zeros(len(part), np.bool_)
        if look.tinting.overlay is paint_context.Overlay.NONE and says_room[first]:
            longer = f"{words} of {int(laid.room[first]):,}"
            is_long = wide[part] >= fonts.width(longer) + _AROUND_WORDS_PX
            letters.write_often(longer, x[part[is_long]], y[part[is_long]], colours.inks[step])
        fits = part[~is_long & (wide[part] >= fonts.width(words) + 4)]
        letters.write_often(words, x[fits], y[fits], colours.inks[step])


def _alike(
    look: PaintContext, laid: LaidTiles, tiles: paint_context.Ints, says_room: paint_context.Bools
) -> list[paint_context.Ints]:
    """Sort tiles by what they say, and return those that say the same together."""
    if not len(tiles):
        return []
    said, room = np.zeros(len(tiles), np.int64), np.zeros(len(tiles), np.int64)
    if look.tinting.overlay is paint_context.Overlay.NONE:
        said = laid.tiles.elements[tiles].astype(np.int64)
        room = np.where(says_room[tiles], laid.room[tiles], 0)
    elif look.tinting.overlay is paint_context.Overlay.COVERAGE:
        said = np.rint(laid.share[tiles] * 100).astype(np.int64)
    key = np.stack([said * paint_context.STEPS + laid.steps[tiles], room])
    key = key[:, order := np.lexsort(key)]
    return np.split(tiles[order], np.flatnonzero((key[:, 1:] != key[:, :-1]).any(axis=0)) + 1)


def _paint_waiting(painter: QPainter, laid: LaidTiles, theme: Theme) -> None:
    """Outline tiles in which something waits, with a dot in the corner."""
    outline, width = theme.review_outline
    waits = laid.tiles.waiting > 0
    is_large = np.minimum(laid.width, laid.height) >= _SIGN_FROM_PX
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for _, box in laid.where(waits & is_large):
        painter.setPen(QPen(outline, width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(width / 2, width / 2, -width / 2, -width / 2), _CORNER_PX, _CORNER_PX)
        painter.setPen(QPen(outline, 1))
        painter.setBrush(theme.reviewmark)
        painter.drawEllipse(QPointF(box.right() - 4, box.top() + 4), 3.0, 3.0)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(outline)
    corners = [QRectF(box.right() - 3, box.top(), 3, 3) for _, box in laid.where(waits & ~is_large)]
    painter.drawRects(corners)


def _signs(look: PaintContext, laid: LaidTiles) -> frozenset[Sign]:
    tiles = laid.tiles
    found = {Sign.SHARE} if bool((tiles.elements > 0).any()) else set()
    found |= {Sign.REVIEW} if bool((tiles.waiting > 0).any()) else set()
    is_tiny = np.minimum(laid.width, laid.height) < _HAIRLINE_PX
    found |= {Sign.TINY} if bool((is_tiny & (tiles.elements > 0)).any()) else set()
    if look.tinting.overlay is not paint_context.Overlay.NONE:
        found.discard(Sign.SHARE)
    return frozenset(found)


class _Colours:
    """The scale of an overlay as colours of a picture and inks of words, worked out when it changes."""

    def __init__(self) -> None:
        self._of: tuple[Theme, paint_context.Tinting, tuple[str, ...]] | None = None
        self.scale: list[paint_context.ColourStep] = []
        self.tiles: list[QColor] = []
        self.table: Colours = table_of([])
        self.inks: list[QColor] = []

    def of(self, look: PaintContext) -> _Colours:
        """Return the colours of a look."""
        key = look.theme, look.tinting, look.content.people
        if self._of is None or self._of[0] is not key[0] or self._of[1:] != key[1:]:
            self.scale = paint_context.scale_of(look.tinting, look.theme, look.content.people)
            self.tiles = [zero_of(look.theme), *(step.colour for step in self.scale), look.theme.reviewbg]
            self.table = palette(look.theme.panel, self.tiles)
            self.inks = [look.theme.on_tint(step.colour) for step in self.scale]
            self._of = key
        return self


_colours = _Colours()
