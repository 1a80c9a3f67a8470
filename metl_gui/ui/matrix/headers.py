"""Paints the sticky headers of the plane: bands of what is coarser, names of what is drawn.

A band's words stand in the middle of the part of it that is in sight, so they are never scrolled away.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from metl_gui.ui import theme as themes
from metl_gui.ui.matrix.axis import Axis, Level, Spans, group_of
from metl_gui.ui.matrix.camera import level_at
from metl_gui.ui.theme import Theme

TOP_PX = 138
LEFT_PX = 164
_BAND = 20.0
_THIN = 18.0
_GAP = 3.0


@dataclass(frozen=True)
class Strip:
    """One header: its axis, the stretch in sight, its length in pixels and what is pointed at.

    Args:
        place: where the stretch begins, in units.
        scale: pixels a unit.
        pixels: length of the header.
        hover: attribute position under the pointer.
        waiting: positions of versions in which a block waits.
    """

    axis: Axis
    place: float
    scale: float
    pixels: float
    hover: int | None
    waiting: frozenset[int]

    @property
    def level(self) -> Level | None:
        """The level that is drawn."""
        return level_at(self.axis, self.scale)

    def seen(self, level: Level) -> range:
        """Items of a level in sight."""
        return self.axis.spans(level).within(self.place, self.place + self.pixels / self.scale)

    def stretch(self, spans: Spans, item: int) -> tuple[float, float]:
        """Where an item begins and ends on the screen."""
        return (float(spans.begin[item]) - self.place) * self.scale, (float(spans.end[item]) - self.place) * self.scale


def paint_top(painter: QPainter, strip: Strip, theme: Theme) -> None:
    """Paint the header of the columns into a box of ``pixels`` by ``TOP_PX``."""
    bottom = TOP_PX - 4.0
    level = strip.level
    if level is Level.ATTRIBUTE:
        _bands(painter, strip, Level.SCHEMA, QRectF(0, 4, strip.pixels, _BAND), theme, bold=True)
        _bands(painter, strip, Level.VERSION, QRectF(0, 4 + _BAND + _GAP, strip.pixels, _THIN), theme)
        _upright_names(painter, strip, level, bottom, bottom - (4 + _BAND + 2 * _GAP + _THIN), theme)
    elif level is Level.VERSION:
        top = bottom - _THIN - 2 * (_BAND + _GAP)
        _bands(painter, strip, Level.GROUP, QRectF(0, top, strip.pixels, _BAND), theme, bold=True)
        _bands(painter, strip, Level.SCHEMA, QRectF(0, top + _BAND + _GAP, strip.pixels, _BAND), theme, is_short=True)
        _bands(painter, strip, Level.VERSION, QRectF(0, bottom - _THIN, strip.pixels, _THIN), theme)
    elif level is Level.SCHEMA:
        _bands(painter, strip, Level.GROUP, QRectF(0, 4, strip.pixels, _BAND), theme, bold=True)
        _upright_names(painter, strip, level, bottom, bottom - _BAND - 10, theme)
    elif level is Level.GROUP:
        _upright_names(painter, strip, level, bottom, bottom - 8, theme)
    else:
        _bands(painter, strip, Level.SCHEMA, QRectF(0, bottom - _BAND, strip.pixels, _BAND), theme)


def paint_left(painter: QPainter, strip: Strip, theme: Theme) -> None:
    """Paint the header of the rows into a box of ``LEFT_PX`` by ``pixels``."""
    level = strip.level
    if level is Level.ATTRIBUTE:
        spans = strip.axis.spans(Level.VERSION)
        for item in strip.seen(Level.VERSION):
            begin, end = strip.stretch(spans, item)
            _upright_band(painter, QRectF(6, begin, _BAND, end - begin), version_name(strip.axis, item), strip, theme)
    spans = strip.axis.spans(level if level is not None else Level.SCHEMA)
    font, bold = themes.small(), themes.small(bold=True)
    for item in strip.seen(level if level is not None else Level.SCHEMA):
        begin, end = strip.stretch(spans, item)
        hovered = level is Level.ATTRIBUTE and item == strip.hover
        used = bold if hovered else font
        box = QRectF(30, begin, LEFT_PX - 40, end - begin)
        if box.height() < QFontMetricsF(used).height() - 4:
            continue
        if box.height() > strip.pixels:
            box = box.intersected(QRectF(30, 0, LEFT_PX - 40, strip.pixels))
        painter.setFont(used)
        painter.setPen(theme.accent if hovered else theme.dim)
        words = _name(strip.axis, level, item)
        words = QFontMetricsF(used).elidedText(words, Qt.TextElideMode.ElideMiddle, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)


def version_name(axis: Axis, position: int) -> str:
    """Name a version with its schema or entity."""
    spans = axis.spans(Level.VERSION)
    schema = int(axis.spans(Level.SCHEMA).parent_of(spans)[position])
    return f"{axis.schemas[schema].name} {spans.names[position]}"


def _name(axis: Axis, level: Level | None, item: int) -> str:
    if level is Level.VERSION:
        return version_name(axis, item)
    name = axis.spans(level if level is not None else Level.SCHEMA).names[item]
    if level is Level.SCHEMA:
        return name.removeprefix(f"{group_of(name)}.")
    return name or "all"


def _bands(
    painter: QPainter,
    strip: Strip,
    level: Level,
    place: QRectF,
    theme: Theme,
    *,
    bold: bool = False,
    is_short: bool = False,
) -> None:
    spans = strip.axis.spans(level)
    font = themes.small(bold)
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    for item in strip.seen(level):
        begin, end = strip.stretch(spans, item)
        waits = level is Level.VERSION and item in strip.waiting
        words = _name(strip.axis, level, item) if is_short else spans.names[item] or "all"
        if level is Level.VERSION:
            words = _version_words(words, end - begin, metrics, waits)
        box = QRectF(begin, place.top(), end - begin, place.height())
        _band(
            painter, box, QRectF(0, place.top(), strip.pixels, place.height()), theme.reviewbg if waits else theme.band
        )
        seen = box.intersected(QRectF(0, place.top(), strip.pixels, place.height())).adjusted(4, 0, -4, 0)
        painter.setPen(theme.review if waits else theme.text if bold else theme.dim)
        words = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, seen.width())
        if len(words) > 1 or words.isalnum():
            painter.drawText(seen, Qt.AlignmentFlag.AlignCenter, words)


def _version_words(label: str, width: float, metrics: QFontMetricsF, waits: bool) -> str:
    options = [f"version {label} · review"] if waits else []
    options += [f"version {label}", label]
    return next((words for words in options if metrics.horizontalAdvance(words) <= width - 8), label)


def _band(painter: QPainter, box: QRectF, clip: QRectF, colour: QColor) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(box.intersected(clip.adjusted(-6, 0, 6, 0)), 4, 4)


def _upright_band(painter: QPainter, box: QRectF, words: str, strip: Strip, theme: Theme) -> None:
    seen = box.intersected(QRectF(box.left(), 0, box.width(), strip.pixels))
    if seen.height() < 4:
        return
    _band(painter, box.intersected(QRectF(box.left(), -6, box.width(), strip.pixels + 12)), box, theme.band)
    font = themes.small(bold=True)
    metrics = QFontMetricsF(font)
    painter.save()
    painter.setFont(font)
    painter.setPen(theme.text)
    painter.translate(seen.center())
    painter.rotate(-90)
    words = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, seen.height() - 6)
    painter.drawText(
        QRectF(-seen.height() / 2, -seen.width() / 2, seen.height(), seen.width()),
        Qt.AlignmentFlag.AlignCenter,
        words,
    )
    painter.restore()


def _upright_names(painter: QPainter, strip: Strip, level: Level, bottom: float, room: float, theme: Theme) -> None:
    spans = strip.axis.spans(level)
    for item in strip.seen(level):
        begin, end = strip.stretch(spans, item)
        hovered = level is Level.ATTRIBUTE and item == strip.hover
        font = themes.small(bold=hovered)
        words = _name(strip.axis, level, item)
        _upright(painter, QPointF((begin + end) / 2, bottom), words, room, font, theme.accent if hovered else theme.dim)


def _upright(painter: QPainter, foot: QPointF, words: str, room: float, font: QFont, colour: QColor) -> None:
    metrics = QFontMetricsF(font)
    painter.save()
    painter.setFont(font)
    painter.setPen(colour)
    painter.translate(foot)
    painter.rotate(-90)
    words = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, room)
    painter.drawText(QPointF(2, metrics.ascent() / 2 - metrics.descent() / 4), words)
    painter.restore()
