"""Words on the matrix: each is painted once and kept as a small picture, since the same names come back every frame.

A picture is drawn in about a microsecond, words in five, rotated words in thirty. Vector pictures (SVG) get words.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from enum import Enum, auto
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from metl_gui.ui.theming import theme as themes

Floats: TypeAlias = npt.NDArray[np.float64]

_KEPT = 3_000
"""Pictures of words: about ten megabytes, four times that on a fine screen."""

_Key: TypeAlias = tuple[str, str, int, bool, float]


class TextAlignment(Enum):
    """Where words stand in their box; upright words are read from below."""

    LEFT = auto()
    MIDDLE = auto()
    RIGHT = auto()


class Fonts:
    """Fonts of secondary text with their measures, made once for each font of the application."""

    _made: ClassVar[dict[tuple[str, float, bool], Fonts]] = {}

    def __init__(self, factor: float, bold: bool) -> None:
        self.font: QFont = themes.scaled(factor, bold)
        self.key = self.font.key()
        self.metrics = QFontMetricsF(self.font)
        self.height = self.metrics.height()
        self.ascent = self.metrics.ascent()
        self._widths: OrderedDict[str, float] = OrderedDict()
        self._elided: OrderedDict[tuple[str, int], str] = OrderedDict()

    @classmethod
    def of(cls, factor: float, bold: bool) -> Fonts:
        """Return the font of a size and weight."""
        key = QApplication.font().key(), factor, bold
        found = cls._made.get(key)
        if found is None:
            found = cls._made[key] = cls(factor, bold)
        return found

    def width(self, words: str) -> float:
        """Measure words in pixels."""
        found = self._widths.get(words)
        if found is None:
            found = self._widths[words] = self.metrics.horizontalAdvance(words)
            _forget(self._widths)
        return found

    def elided(self, words: str, room: float) -> str:
        """Shorten words in front until they fit: their end, the leaf of a path, tells most."""
        if self.width(words) <= room:
            return words
        key = words, int(room)
        found = self._elided.get(key)
        if found is None:
            found = self._elided[key] = self.metrics.elidedText(words, Qt.TextElideMode.ElideLeft, int(room))
            _forget(self._elided)
        return found


class TextPainter:
    """Writes with one painter.

    Args:
        painter: its transform may move but not scale.
        ratio: device pixels a pixel.
        is_vector: write words as words, for files that keep them.
        factor: size as a share of the application's font.
    """

    _pictures: ClassVar[OrderedDict[_Key, QImage]] = OrderedDict()

    def __init__(
        self, painter: QPainter, ratio: float, *, is_vector: bool = False, factor: float = themes.SMALL
    ) -> None:
        self._painter = painter
        self._ratio = ratio
        self._is_vector = is_vector
        self.plain = Fonts.of(factor, bold=False)
        self.bold = Fonts.of(factor, bold=True)

    def write(
        self,
        words: str,
        box: QRectF,
        colour: QColor,
        stand: TextAlignment = TextAlignment.MIDDLE,
        *,
        bold: bool = False,
    ) -> None:
        """Write words into a box, in the middle of its height."""
        fonts = self.bold if bold else self.plain
        width = fonts.width(words)
        if stand is TextAlignment.LEFT:
            x = box.left()
        else:
            x = box.right() - width if stand is TextAlignment.RIGHT else box.left() + box.width() / 2 - width / 2
        self._put(words, x, box.top() + box.height() / 2 - fonts.height / 2, colour, fonts, is_upright=False)

    def write_often(self, words: str, x: Floats, y: Floats, colour: QColor) -> None:
        """Write the same words about many places."""
        fonts = self.plain
        left, top = x - fonts.width(words) / 2, y - fonts.height / 2
        if self._is_vector:
            for place in zip(left.tolist(), top.tolist(), strict=True):
                self._put_words(words, QPointF(*place), colour, fonts, is_upright=False)
            return
        picture, draw, r = self._kept(words, colour, fonts, is_upright=False), self._painter.drawImage, self._ratio
        for across, down in zip((np.rint(left * r) / r).tolist(), (np.rint(top * r) / r).tolist(), strict=True):
            draw(QPointF(across, down), picture)

    def write_upright(
        self, words: str, box: QRectF, colour: QColor, stand: TextAlignment = TextAlignment.LEFT, *, bold: bool = False
    ) -> None:
        """Write words upwards into a box, in the middle of its width; left means that they stand on its foot."""
        fonts = self.bold if bold else self.plain
        width = fonts.width(words)
        if stand is TextAlignment.LEFT:
            y = box.bottom() - width
        else:
            y = box.top() if stand is TextAlignment.RIGHT else box.top() + box.height() / 2 - width / 2
        x = box.left() + box.width() / 2 - fonts.height / 2
        self._put(words, x, y, colour, fonts, is_upright=True)

    def _put(self, words: str, x: float, y: float, colour: QColor, fonts: Fonts, *, is_upright: bool) -> None:
        if self._is_vector:
            self._put_words(words, QPointF(x, y), colour, fonts, is_upright=is_upright)
            return
        r = self._ratio
        picture = self._kept(words, colour, fonts, is_upright=is_upright)
        self._painter.drawImage(QPointF(round(x * r) / r, round(y * r) / r), picture)

    def _kept(self, words: str, colour: QColor, fonts: Fonts, *, is_upright: bool) -> QImage:
        key = words, fonts.key, colour.rgba(), is_upright, self._ratio
        picture = self._pictures.get(key)
        if picture is None:
            picture = self._pictures[key] = self._picture(words, colour, fonts, is_upright)
            _forget(self._pictures)
        return picture

    def _picture(self, words: str, colour: QColor, fonts: Fonts, is_upright: bool) -> QImage:
        width, height = fonts.width(words) + 2, fonts.height
        long, thick = math.ceil(width * self._ratio), math.ceil(height * self._ratio)
        across, down = (thick, long) if is_upright else (long, thick)
        picture = QImage(across, down, QImage.Format.Format_ARGB32_Premultiplied)
        picture.setDevicePixelRatio(self._ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setFont(fonts.font)
        painter.setPen(colour)
        if is_upright:
            painter.translate(0, width)
            painter.rotate(-90)
        painter.drawText(QPointF(0, fonts.ascent), words)
        painter.end()
        return picture

    def _put_words(self, words: str, at: QPointF, colour: QColor, fonts: Fonts, *, is_upright: bool) -> None:
        painter = self._painter
        painter.save()
        painter.setFont(fonts.font)
        painter.setPen(colour)
        painter.translate(at)
        if is_upright:
            painter.translate(0, fonts.width(words))
            painter.rotate(-90)
        painter.drawText(QPointF(0, fonts.ascent), words)
        painter.restore()


def _forget(kept: OrderedDict[_Key, QImage] | OrderedDict[str, float] | OrderedDict[tuple[str, int], str]) -> None:
    """Let the oldest entry go when there are too many."""
    if len(kept) > _KEPT:
        kept.popitem(last=False)
