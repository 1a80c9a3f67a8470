"""A small chart of bars: one is pointed at by mouse or arrows, and taken by a click or Enter."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from metl_gui.ui import theme as themes

_LEFT_PX, _BELOW_PX, _ABOVE_PX = 56, 22, 22
_WIDEST_PX, _GAP = 34, 0.2
_LINES = 4
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


@dataclass(frozen=True)
class Bar:
    """One bar.

    Args:
        label: below it.
        value: its height.
        words: all of it in words.
        mark: a second value, drawn as a line above or across the bar; ``None`` for none.
        key: what it stands for.
        is_current: drawn in the accent, the others dimmer.
    """

    label: str
    value: float
    words: str
    mark: float | None = None
    key: str = ""
    is_current: bool = False


class BarChart(QWidget):
    """Bars over one scale that begins at 0.

    Args:
        name: what it shows.
        words: writes a value.
        nothing: what stands there without bars.

    Signals:
        taken: the ``key`` of a bar that has one.
    """

    taken = Signal(object)

    def __init__(self, name: str, words: Callable[[float], str], nothing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._nothing, self._name = words, nothing, name
        self.bars: tuple[Bar, ...] = ()
        self.pointed: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Show other bars."""
        self.bars = tuple(bars)
        if self.pointed is not None and self.pointed >= len(self.bars):
            self.pointed = None
        self._say()

    def sizeHint(self) -> QSize:
        """Room for a few lines of the scale."""
        return QSize(themes.px(260), themes.px(150))

    def minimumSizeHint(self) -> QSize:
        """What can still be read."""
        return QSize(themes.px(160), themes.px(90))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at a bar."""
        self._point(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)
        self._point(None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Take the bar that is clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._take(self._at(event.position()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from bar to bar by arrows, take one by Enter."""
        key = Qt.Key(event.key())
        if key in _STEPS and self.bars:
            last = len(self.bars) - 1
            self._point(last if self.pointed is None else min(max(self.pointed + _STEPS[key], 0), last))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._take(self.pointed)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint scale, bars, and words of the bar that is pointed at."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = themes.current()
        painter.setFont(themes.scaled(0.85))
        if not self.bars:
            painter.setPen(theme.dim)
            box = QRectF(self.rect()).adjusted(16, 0, -16, 0)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), self._nothing)
        else:
            self._paint_scale(painter)
            for at in range(len(self.bars)):
                self._paint_bar(painter, at)
            self._paint_words(painter)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)
        painter.end()

    @property
    def _frame(self) -> QRectF:
        px = themes.px
        return QRectF(self.rect()).adjusted(px(_LEFT_PX), px(_ABOVE_PX), -px(6), -px(_BELOW_PX))

    @property
    def _top(self) -> float:
        highest = max((max(bar.value, bar.mark or 0.0) for bar in self.bars), default=0.0) or 1.0
        return _LINES * _round_step(highest * 1.05 / _LINES)

    def _box(self, at: int) -> QRectF:
        """Return the column of a bar, from top to bottom."""
        frame = self._frame
        wide = min(frame.width() / max(len(self.bars), 1), themes.px(_WIDEST_PX) / (1 - _GAP))
        return QRectF(frame.left() + at * wide, frame.top(), wide, frame.height())

    def _at(self, spot: QPointF) -> int | None:
        return next(
            (at for at in range(len(self.bars)) if self._box(at).left() <= spot.x() < self._box(at).right()), None
        )

    def _paint_scale(self, painter: QPainter) -> None:
        theme, frame, top = themes.current(), self._frame, self._top
        for line in range(_LINES + 1):
            y = frame.bottom() - frame.height() * line / _LINES
            painter.setPen(theme.grid if line else theme.line)
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            painter.setPen(theme.dim)
            box = QRectF(0, y - 9, frame.left() - 8, 18)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, right, self._words(top * line / _LINES) if line else "0")

    def _paint_bar(self, painter: QPainter, at: int) -> None:
        theme, bar, box = themes.current(), self.bars[at], self._box(at)
        frame, scale = self._frame, self._frame.height() / self._top
        high = max(bar.value * scale, 1.0)
        wide = box.width() * (1 - _GAP)
        body = QRectF(box.center().x() - wide / 2, frame.bottom() - high, wide, high)
        is_bright = bar.is_current or at == self.pointed
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.accent if is_bright else theme.tint(0.75))
        painter.drawRoundedRect(body, min(2.0, wide / 3), min(2.0, wide / 3))
        if bar.mark is not None:
            y = frame.bottom() - bar.mark * scale
            painter.setPen(QPen(theme.dim, 1.6))
            painter.drawLine(QPointF(body.left(), y), QPointF(body.right(), y))
            painter.drawLine(QPointF(body.center().x(), y), QPointF(body.center().x(), body.top()))
        label_wide = themes.text_width(bar.label, painter.font()) + 8
        every = max(1, -(-round(label_wide) // max(round(box.width()), 1)))
        if bar.label and (at % every == 0):
            painter.setPen(theme.dim)
            below = QRectF(box.center().x() - label_wide / 2, frame.bottom() + 3, label_wide, themes.px(18))
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, bar.label)

    def _paint_words(self, painter: QPainter) -> None:
        if self.pointed is None:
            return
        painter.setPen(themes.current().text)
        box = QRectF(themes.px(8), 1, self.width() - themes.px(12), themes.px(_ABOVE_PX - 3))
        words = painter.fontMetrics().elidedText(
            self.bars[self.pointed].words, Qt.TextElideMode.ElideRight, round(box.width())
        )
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)

    def _point(self, at: int | None) -> None:
        if at != self.pointed:
            self.pointed = at
            has_key = at is not None and bool(self.bars[at].key)
            self.setCursor(Qt.CursorShape.PointingHandCursor if has_key else Qt.CursorShape.ArrowCursor)
            self._say()

    def _take(self, at: int | None) -> None:
        if at is not None and self.bars[at].key:
            self.taken.emit(self.bars[at].key)

    def _say(self) -> None:
        told = self.bars[self.pointed].words if self.pointed is not None else "Left and Right go from bar to bar."
        self.setAccessibleDescription(told if self.bars else self._nothing)
        self.update()


def _round_step(least: float) -> float:
    """Return the next round number: 1, 2, 5 and some between them times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= least * 0.9999)
