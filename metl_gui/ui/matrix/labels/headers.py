"""Painters of the sticky headers of the plane: bands for coarser levels, names for the level that is drawn.

The words of a band stand in the middle of the part of it that is in sight, so they are never scrolled away. Names are
painted only where an item has room for one; thinner items are told by the band above them. Above a raster, where no
item has room, some names are written, as far apart as words need. As on the axis of a chart, which ones these are does
not change while one pans, and those of a coarser zoom stay at a finer one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from metl_gui.core.trees.schema_names import group_of, name_in_group
from metl_gui.ui.matrix.labels.band_controls import BandControl, controls_of, paint_controls
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import level_at
from metl_gui.ui.matrix.layout.placement import GHOST
from metl_gui.ui.matrix.painting.axis_gaps import notch_pen, notches, reach_px
from metl_gui.ui.matrix.painting.shapes import BoxPainter
from metl_gui.ui.matrix.painting.text_layout import Fonts, TextAlignment, TextPainter
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.values import Value

_LEAST_BAND_PX = 48
"""Items that are this long as a rule, in pixels, get a band with their name along it."""


def sparse_level(axis: Axis, scale: float) -> Level:
    """Return the coarsest level of which the items are too short for bands, nothing finer than schemas."""
    levels = [level for level in reversed(axis.levels) if level >= Level.SCHEMA]
    thin = (level for level in levels if axis.length * scale < _LEAST_BAND_PX * len(axis.spans(level)))
    return next(thin, levels[-1])


def spaced_names(
    items: list[tuple[int, float, float]], count: int, pixels: float, room: float, first: int | None = None
) -> list[tuple[int, float, float]]:
    """Pick the items whose names are written.

    Args:
        items: (item, begin, end) of what is in sight.
        count: how many items there are on the whole axis.
        pixels: how long the whole axis is, in pixels.
        room: how far apart names stand at least, in pixels.
        first: an item that gets its name before all others.

    Returns:
        Those that have room themselves, and some of the others, in order.
    """
    every = 1 << max(0, int(np.ceil(np.log2(max(room * count / max(pixels, 1.0), 1.0)))))
    ranks = {item: 0 if item == first else 1 if end - begin >= room else 2 for item, begin, end in items}
    wished = [each for each in items if ranks[each[0]] < 2 or each[0] % every == 0]
    taken: dict[int, tuple[int, float, float]] = {}
    for each in sorted(wished, key=lambda each: (ranks[each[0]], each[0])):
        middle = (each[1] + each[2]) / 2
        at = int(middle // room)
        near = [taken[place] for place in (at - 1, at, at + 1) if place in taken]
        if all(abs(middle - (begin + end) / 2) >= room for _, begin, end in near):
            taken[at] = each
    return sorted(taken.values())


_TOP_PX = 138
_LEAST_TOP_PX, _MOST_TOP_PX = 84, 200
_SHORT_PX, _TALL_PX = 390, 600
"""Views lower than the one have a lower header, views higher than the other a higher one, with more of each name."""
_SHORT_SHARE, _MOST_SHARE, _TALL_SHARE = 0.354, 0.5, 0.25
_LEFT_PX, _LEAST_LEFT_PX = 164, 96
_LEFT_SHARE = 0.3
"""Of the width of a narrow view, for the names of its rows."""
_BAND_PX = 20
_THIN_PX = 18
_GAP = 3.0
_LEAST_BAND = 3.0
_LEAST_LINE = 0.8
"""Share of a line's height below which names would run into each other."""
_LEAST_GHOST = 0.7
"""The same between two ghosts, whose names are struck through and few."""
_STRIKE = 0.07
"""Share of a line's height from its middle to that of its small letters."""
_CORNER = 4.0
_LEAST_LETTERS = 5
_MOST_KEPT = 20_000


def top_px(height: float | None = None) -> float:
    """Height of the columns' header at the current scale.

    Args:
        height: of the view; without one it is the usual height.
    """
    if height is None:
        return float(themes.px(_TOP_PX))
    high = height / themes.scale()
    if high < _SHORT_PX:
        return float(themes.px(min(max(high * _SHORT_SHARE, _LEAST_TOP_PX), high * _MOST_SHARE)))
    return float(themes.px(min(_TOP_PX + max(high - _TALL_PX, 0.0) * _TALL_SHARE, _MOST_TOP_PX)))


def left_px(width: float | None = None) -> float:
    """Width of the rows' header at the current scale.

    Args:
        width: of the view; without one it is the usual width.
    """
    share = _LEFT_PX if width is None else width / themes.scale() * _LEFT_SHARE
    return float(themes.px(min(max(share, _LEAST_LEFT_PX), _LEFT_PX)))


def _band_px() -> float:
    return float(themes.px(_BAND_PX))


def _thin_px() -> float:
    return float(themes.px(_THIN_PX))


class Strip(Value, dict=True):
    """One header: its axis, the stretch in sight, its length in pixels and what is pointed at.

    Args:
        place: where the stretch begins, in units.
        scale: pixels a unit.
        pixels: length of the header.
        hover: attribute position under the pointer.
        waiting: versions in which a block waits.
        ratio: device pixels a pixel.
        is_vector: write words as words, for files that keep them.
        depth: height of a columns' header or width of a rows' one, 0 for the usual one.
        pinned: the nodes that are pinned; ``None`` where bands have no controls, as on paper.
    """

    axis: Axis
    place: float
    scale: float
    pixels: float
    hover: int | None
    waiting: frozenset[int]
    ratio: float = 1.0
    is_vector: bool = False
    depth: float = 0.0
    pinned: frozenset[NodeRef] | None = None

    def controls(self, level: Level, item: int, seen: QRectF) -> list[BandControl]:
        """Return the controls of a band of which a part is in sight."""
        return [] if self.pinned is None else controls_of(self.axis, level, item, seen, self.pinned)

    @cached_property
    def level(self) -> Level | None:
        """The level that is drawn."""
        return level_at(self.axis, self.scale)

    @cached_property
    def shown_level(self) -> Level:
        """The level whose names are shown: the one that is drawn, above a raster one that has room for some."""
        level = self.level
        return sparse_level(self.axis, self.scale) if level is None else level

    def coarser(self, level: Level) -> list[Level]:
        """Return the levels of this axis above one, coarsest first."""
        return [each for each in reversed(self.axis.levels) if each > level]

    def items(self, level: Level, least: float) -> list[tuple[int, float, float]]:
        """Return (item, begin, end) of what is in sight and at least so many pixels long."""
        spans = self.axis.spans(level)
        seen = spans.within(self.place, self.place + self.pixels / self.scale)
        begin, end = (spans.begins(seen) - self.place) * self.scale, (spans.ends(seen) - self.place) * self.scale
        kept = np.flatnonzero(end - begin >= least)
        return list(zip((kept + seen.start).tolist(), begin[kept].tolist(), end[kept].tolist(), strict=True))

    def named(self, level: Level, room: float) -> list[tuple[int, float, float]]:
        """Return (item, begin, end) of what gets a name: what has room for it; above a raster, some of the others."""
        if self.level is not None:
            return self.items(level, room)
        hovered = None if self.hover is None else self.axis.spans(level).item_of(self.hover)
        seen = [each for each in self.items(level, 0.0) if room < each[1] + each[2] < 2 * self.pixels - room]
        count = len(self.axis.spans(level))
        return spaced_names(seen, count, self.axis.length * self.scale, room / _LEAST_LINE, hovered)

    def is_hovered(self, level: Level, item: int) -> bool:
        """Whether the pointer is in the column or row of an item."""
        return item == self._hovered.get(level)

    @cached_property
    def _hovered(self) -> dict[Level, int]:
        if self.hover is None:
            return {}
        coarser = {each: self.axis.spans(each).item_of(self.hover) for each in Level if each is not Level.ATTRIBUTE}
        return {Level.ATTRIBUTE: self.hover} | coarser


def paint_top(painter: QPainter, strip: Strip, theme: Theme) -> list[BandControl]:
    """Paint the header of the columns into a box of ``pixels`` by its depth, and return the controls of its bands."""
    controls: list[BandControl] = []
    depth = strip.depth or top_px()
    bottom = depth - 4.0
    letters = TextPainter(painter, strip.ratio, is_vector=strip.is_vector)
    level = strip.shown_level
    top = 4.0
    for each, begin, height in top_bands(strip.axis, strip.shown_level, depth):
        controls += _bands(painter, letters, strip, each, QRectF(0, begin, strip.pixels, height), theme)
        top = begin + height + _GAP
    if level is not Level.VERSION:
        place = QRectF(0, top + 2, strip.pixels, bottom - top - 2)
        _upright_names(letters, strip, level, place, theme)
        for words, ghost in _ghost_names(strip, letters.plain, place.height() - 2):
            box = QRectF(ghost.left(), place.top(), ghost.width(), place.height() - 2)
            letters.write_upright(words, box, theme.review)
            x = box.center().x() + _STRIKE * letters.plain.height
            _strike(painter, QLineF(x, box.bottom(), x, box.bottom() - letters.plain.width(words)), theme)
    _paint_notches(painter, strip, depth - 1.0, theme, is_top=True)
    return controls


def top_bands(axis: Axis, level: Level, depth: float) -> list[tuple[Level, float, float]]:
    """Return the bands above the names of a level, coarsest first: level, where it begins, how high it is."""
    coarser = [each for each in reversed(axis.levels) if each > level]
    bands = [each for each in coarser if not _says_nothing(each, level)][-3:]
    if level is Level.VERSION:
        bands.append(Level.VERSION)
    heights = [_thin_px() if each is Level.VERSION else _band_px() for each in bands]
    top = depth - 4.0 - sum(heights) - _GAP * len(bands) if level is Level.VERSION else 4.0
    return [
        (each, top + sum(heights[:at]) + _GAP * at, height)
        for at, (each, height) in enumerate(zip(bands, heights, strict=True))
    ]


def level_in_top(axis: Axis, drawn: Level | None, y: float, depth: float) -> Level | None:
    """Return the level of the band at a height of the columns' header, what is drawn below the bands."""
    bands = [] if drawn is None else top_bands(axis, drawn, depth)
    return next((level for level, top, height in bands if y < top + height + _GAP), drawn)


def level_in_left(drawn: Level | None, x: float) -> Level | None:
    """Return the level of the band at a place of the rows' header, what is drawn beside it."""
    return Level.VERSION if drawn is Level.ATTRIBUTE and x < 6 + _band_px() + _GAP else drawn


def paint_left(painter: QPainter, strip: Strip, theme: Theme) -> list[BandControl]:
    """Paint the header of the rows into a box of its depth by ``pixels``, and return the controls of its bands."""
    controls: list[BandControl] = []
    depth = strip.depth or left_px()
    letters = TextPainter(painter, strip.ratio, is_vector=strip.is_vector)
    level = strip.shown_level
    coarser = Level.VERSION if level is Level.ATTRIBUTE else next(iter(strip.coarser(level)[-1:]), None)
    if level < Level.SCHEMA and coarser is Level.SCHEMA:
        coarser = next(iter(each for each in strip.coarser(level) if each > Level.SCHEMA), None)
    if coarser is not None:
        for item, begin, end in strip.items(coarser, 12.0):
            box = QRectF(6, begin, _band_px(), end - begin)
            controls += _upright_band(painter, letters, box, strip, (coarser, item), theme)
    room = depth - _band_px() - 20.0 if coarser is not None else depth - 16.0
    before: int | None = None
    names, short, wide = _kept_names(strip.axis, level, coarser), _kept_names(strip.axis), 2 * _band_px()
    for item, begin, end in strip.named(level, _LEAST_LINE * letters.plain.height):
        hovered = strip.is_hovered(level, item)
        box = QRectF(depth - 10 - room, begin, room, end - begin)
        if end - begin > wide:
            box = box.intersected(QRectF(box.left(), 0, room, strip.pixels))
        fonts = letters.bold if hovered else letters.plain
        if level is Level.ATTRIBUTE and not hovered:
            name = _short_name(strip.axis, item, before, short)
        else:
            name = names.get(item) or names.setdefault(item, _row_name(strip.axis, level, item, coarser))
        before, words = item, fonts.elided(name, room)
        letters.write(words, box, theme.accent if hovered else theme.dim, TextAlignment.RIGHT, bold=hovered)
    for words, ghost in _ghost_names(strip, letters.plain, room):
        box = QRectF(depth - 10 - room, ghost.left(), room, ghost.width())
        letters.write(words, box, theme.review, TextAlignment.RIGHT)
        y = box.center().y() + _STRIKE * letters.plain.height
        _strike(painter, QLineF(box.right() - letters.plain.width(words), y, box.right(), y), theme)
    _paint_notches(painter, strip, depth - 1.0, theme, is_top=False)
    return controls


def without_parent(axis: Axis, item: int, before: int | None) -> str:
    """Return the path of an attribute, behind one of the same parent without that.

    Args:
        axis: it lies on.
        item: its position.
        before: the position whose name is written before it.
    """
    path = name_of(axis, Level.ATTRIBUTE, item)
    parent = path.rpartition(".")[0]
    versions = axis.spans(Level.VERSION)
    if not parent or before is None or before != item - 1 or versions.item_of(before) != versions.item_of(item):
        return path
    is_repeated = name_of(axis, Level.ATTRIBUTE, before).rpartition(".")[0] == parent
    return path[len(parent) :] if is_repeated else path


def _short_name(axis: Axis, item: int, before: int | None, kept: dict[int, str]) -> str:
    """Return the path of an attribute as it is written behind another one, kept where that is its neighbour."""
    if before != item - 1:
        return without_parent(axis, item, before)
    return kept.get(item) or kept.setdefault(item, without_parent(axis, item, before))


def _row_name(axis: Axis, level: Level, item: int, coarser: Level | None) -> str:
    """Name a row; the group that stands beside it upright is not said again."""
    words = name_of(axis, level, item)
    if level is Level.VERSION and coarser is not None:
        return words.removeprefix(group_of(axis.name(Level.SCHEMA, axis.schema_at(item)))).lstrip("./")
    return words


def version_name(axis: Axis, position: int) -> str:
    """Name a version with its schema or entity."""
    return f"{axis.name(Level.SCHEMA, axis.schema_at(position))} {axis.name(Level.VERSION, position)}"


_names: WeakKeyDictionary[Axis, dict[tuple[Level, int], str]] = WeakKeyDictionary()
_written: WeakKeyDictionary[Axis, dict[tuple[Level, Level | None], dict[int, str]]] = WeakKeyDictionary()


def _kept_names(axis: Axis, level: Level = Level.ATTRIBUTE, beside: Level | None = None) -> dict[int, str]:
    """Return the words of items that were written before: of rows beside a band, or of attributes behind another."""
    kept = _written.setdefault(axis, {}).setdefault((level, beside), {})
    if len(kept) > _MOST_KEPT:
        kept.clear()
    return kept


def name_of(axis: Axis, level: Level, item: int, *, is_full: bool = False) -> str:
    """Return what a header writes: versions with their schema, schemas without their group unless all is asked for."""
    known = _names.setdefault(axis, {})
    words = known.get((level, item))
    if words is None:
        if len(known) > _MOST_KEPT:
            known.clear()
        words = version_name(axis, item) if level is Level.VERSION else axis.name(level, item) or "all"
        known[level, item] = words
    if is_full or level not in (Level.SCHEMA, Level.GROUP):
        return words
    return name_in_group(words) if level is Level.SCHEMA else _group_name(axis, words)


def _group_name(axis: Axis, words: str) -> str:
    """Leave out the part that all groups share."""
    if len(axis.spans(Level.OUTER_GROUP)) > 1:
        return words
    return words.removeprefix(axis.name(Level.OUTER_GROUP, 0)).lstrip("./") or words


def _says_something(words: str) -> bool:
    """Whether enough of a name is left when it was shortened."""
    return len(words) >= _LEAST_LETTERS or "…" not in words


def _says_nothing(band: Level, level: Level) -> bool:
    """Whether a band would repeat what the one below it says: full schema names hold their groups."""
    return level is Level.ATTRIBUTE and band >= Level.GROUP


def _bands(
    painter: QPainter, letters: TextPainter, strip: Strip, level: Level, place: QRectF, theme: Theme
) -> list[BandControl]:
    controls: list[BandControl] = []
    is_bold = level > Level.VERSION
    is_full = strip.shown_level is Level.ATTRIBUTE
    fonts = letters.bold if is_bold else letters.plain
    boxes = BoxPainter(painter, strip.ratio, _CORNER, is_vector=strip.is_vector)
    shown = strip.items(level, _LEAST_BAND)
    head, depth, wide = place.top(), place.height(), 2 * _band_px()
    waiting: frozenset[int] = strip.waiting if level is Level.VERSION else frozenset()
    for item, begin, end in shown:
        left = max(begin, -6.0)
        box = QRectF(left, head, min(end, strip.pixels + 6.0) - left, depth)
        boxes.draw(box, theme.reviewbg if item in waiting else theme.band)
    for item, begin, end in shown:
        margin = 4 if end - begin > wide else 1
        left, right = max(begin, 0.0) + margin, min(end, strip.pixels) - margin
        if right - left < 6:
            continue
        own = strip.controls(level, item, QRectF(left, head, right - left, depth)) if strip.pinned is not None else []
        if own:
            left, right = own[0].box.right(), own[-1].box.left()
            controls += own
        waits = item in waiting
        if level is Level.VERSION:
            words = _version_words(strip.axis.name(level, item), right - left, fonts.width, waits)
        else:
            words = name_of(strip.axis, level, item, is_full=is_full)
        words = fonts.elided(words, right - left)
        if _says_something(words):
            colour = _band_ink(strip, level, item, theme, waits)
            letters.write(words, QRectF(left, head, right - left, depth), colour, bold=is_bold)
    paint_controls(painter, controls, theme)
    return controls


def _band_ink(strip: Strip, level: Level, item: int, theme: Theme, waits: bool) -> QColor:
    if waits:
        return theme.review
    if strip.is_hovered(level, item):
        return theme.accent
    return theme.text if level > Level.VERSION else theme.dim


def _version_words(label: str, room: float, width: Callable[[str], float], waits: bool) -> str:
    long = f"version {label}"
    if waits and width(f"{long} · review") <= room:
        return f"{long} · review"
    return long if width(long) <= room else label


def _upright_band(
    painter: QPainter, letters: TextPainter, box: QRectF, strip: Strip, band: tuple[Level, int], theme: Theme
) -> list[BandControl]:
    seen = box.intersected(QRectF(box.left(), 0, box.width(), strip.pixels))
    if seen.height() < 4:
        return []
    boxes = BoxPainter(painter, strip.ratio, _CORNER, is_vector=strip.is_vector)
    boxes.draw(box.intersected(QRectF(box.left(), -6, box.width(), strip.pixels + 12)), theme.band)
    controls = strip.controls(*band, seen)
    if controls:
        seen = QRectF(seen.left(), controls[0].box.bottom(), seen.width(), 0)
        seen.setBottom(controls[-1].box.top())
    words = letters.bold.elided(name_of(strip.axis, *band, is_full=True), seen.height() - 6)
    if _says_something(words):
        letters.write_upright(words, seen, theme.text, TextAlignment.MIDDLE, bold=True)
    paint_controls(painter, controls, theme)
    return controls


def _upright_names(letters: TextPainter, strip: Strip, level: Level, place: QRectF, theme: Theme) -> None:
    """Write names upwards, each above the middle of the part of its item that is in sight."""
    before: int | None = None
    short, wide, top, height = _kept_names(strip.axis), 2 * _band_px(), place.top(), place.height()
    for item, begin, end in strip.named(level, _LEAST_LINE * letters.plain.height):
        hovered = strip.is_hovered(level, item)
        fonts = letters.bold if hovered else letters.plain
        if level is Level.ATTRIBUTE and not hovered:
            name = _short_name(strip.axis, item, before, short)
        else:
            name = name_of(strip.axis, level, item)
        before, words = item, fonts.elided(name, height)
        left, right = (max(begin, 0.0), min(end, strip.pixels)) if end - begin > wide else (begin, end)
        box = QRectF(left, top, right - left, height - 2)
        letters.write_upright(words, box, theme.accent if hovered else theme.dim, bold=hovered)


def _ghost_names(strip: Strip, fonts: Fonts, room: float) -> list[tuple[str, QRectF]]:
    """Return the names of ghosts in sight, and where along the header each stands; of two too near only the first."""
    ghost_px = GHOST * strip.scale
    if strip.level is not Level.ATTRIBUTE or ghost_px + strip.scale < 2 * _LEAST_LINE * fonts.height:
        return []
    found: list[tuple[str, QRectF]] = []
    for line, begin in strip.axis.ghosts.within(strip.place, strip.place + strip.pixels / strip.scale):
        at = (begin - strip.place) * strip.scale
        if not found or at - found[-1][1].left() >= _LEAST_GHOST * fonts.height:
            found.append((fonts.elided(line.path, room), QRectF(at, 0, ghost_px, 0)))
    return found


def _strike(painter: QPainter, line: QLineF, theme: Theme) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setPen(QPen(theme.review, 1.0))
    painter.drawLine(line)


def _paint_notches(painter: QPainter, strip: Strip, high: float, theme: Theme, *, is_top: bool) -> None:
    """Carry the marks of what is hidden into the header."""
    places = notches(strip.axis, strip.place, strip.scale, strip.pixels)
    if places:
        low = high - reach_px(strip.scale)
        painter.setPen(notch_pen(theme))
        painter.drawLines([QLineF(at, low, at, high) if is_top else QLineF(low, at, high, at) for at in places])
