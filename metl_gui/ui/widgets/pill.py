"""A pill: one or two words on a tint, and buttons that carry a key or a count."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from metl_gui.ui.theming import theme as themes

VERDICT_KINDS = {"smaller": "review", "emptied": "bad", "same": "plain", "first": "plain", "confirmed": "plain"}
PILL_PX = 18.0
"""How high a pill is at the scale 1."""
_PAD = 8.0
_BUTTON_PAD = 28
_TIGHT_PAD = 14
_TIGHT = ("number", "link", "switch")


def pill_width(words: str) -> float:
    """Measure a pill."""
    return themes.text_width(words, themes.scaled(0.85, bold=True)) + 2 * _PAD


def paint_pill(painter: QPainter, box: QRectF, words: str, kind: str) -> None:
    """Paint a pill into a box, not higher than ``PILL_PX``."""
    surface, text = themes.current().pill(kind)
    height = min(PILL_PX * themes.scale(), box.height())
    box = QRectF(box.left(), box.center().y() - height / 2, box.width(), height)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(surface)
    painter.drawRoundedRect(box, height / 2, height / 2)
    painter.setFont(themes.scaled(0.85, bold=True))
    painter.setPen(text)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


class Pill(QLabel):
    """A pill as a widget."""

    def __init__(self, words: str = "", kind: str = "plain", parent: QWidget | None = None) -> None:
        super().__init__(words, parent)
        self.kind = kind
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def say(self, words: str, kind: str) -> None:
        """Show other words; none hide the pill."""
        self.kind = kind
        self.setText(words)
        self.setVisible(bool(words))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """As wide as its words."""
        return QSize(round(pill_width(self.text())), themes.px(20))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it."""
        if self.text():
            painter = QPainter(self)
            paint_pill(painter, QRectF(self.rect()), self.text(), self.kind)
            painter.end()


class KeyButton(QPushButton):
    """A button that shows its key in a box, or a count in a pill, behind its words.

    Screen readers toggle what can be checked, which is no click to Qt: here it is one.

    Args:
        words: what pressing it does.
        key: its key.
        kind: ``""``, ``primary``, ``link``, ``number``, ``switch`` or ``segment`` (see the style sheet).
    """

    def __init__(self, words: str, key: str = "", kind: str = "", parent: QWidget | None = None) -> None:
        super().__init__(words, parent)
        self.key = key
        self.count = ""
        self._longest_count = ""
        self.setProperty("kind", kind)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._height = 28
        self._is_told = self._hears_toggles = False
        self.setFixedHeight(themes.px(self._height))

    def setCheckable(self, is_checkable: bool) -> None:
        """Be one that can be checked; few are, and to hear of it took a third of the time of making a button."""
        if is_checkable and not self._hears_toggles:
            self._hears_toggles = True
            self.toggled.connect(self._tell_toggle)
        super().setCheckable(is_checkable)

    def setChecked(self, is_checked: bool) -> None:
        """Check it for the program, which is no click."""
        was, self._is_told = self._is_told, True
        super().setChecked(is_checked)
        self._is_told = was

    def nextCheckState(self) -> None:
        """Be toggled by a click, which is told anyway."""
        was, self._is_told = self._is_told, True
        super().nextCheckState()
        self._is_told = was

    def set_height(self, pixels: int) -> None:
        """Be as high as this at scale 1."""
        self._height = pixels
        self.setFixedHeight(themes.px(pixels))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the scale."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_height"):
            self.setFixedHeight(themes.px(self._height))
            self.updateGeometry()

    def show_count(self, count: str) -> None:
        """Show a count in an amber pill; none hides it."""
        self.count = count
        self.updateGeometry()
        self.update()

    def reserve_count(self, longest: str) -> None:
        """Keep room for a count of this length, so that no count moves what stands beside."""
        self._longest_count = longest
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """As wide as words and badge."""
        return QSize(self.width_with(self.key), themes.px(self._height))

    def width_with(self, key: str) -> int:
        """Return how wide it is with a key, or without one, in pixels."""
        pad = _TIGHT_PAD if self.property("kind") in _TIGHT else _BUTTON_PAD
        font = QApplication.font()
        counts = (self.count, self._longest_count)
        return round(max(_width(self.text(), key, count, font) for count in counts)) + themes.px(pad)

    def minimumSizeHint(self) -> QSize:
        """Never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the style's frame, then words and badge."""
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = themes.scaled(1.0, bold=self._is_bold())
        words_width = themes.text_width(self.text(), font)
        left = (self.width() - words_width - _badge_width(self.key, self.count)) / 2
        colour = self._colour()
        painter.setFont(font)
        painter.setPen(colour)
        text_box = QRectF(left, 0, words_width + 2, self.height())
        painter.drawText(text_box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
        if self.count:
            box = QRectF(text_box.right() + 6, 0, pill_width(self.count), self.height())
            paint_pill(painter, box, self.count, "review")
        elif self.key:
            self._paint_key(painter, text_box.right() + 8, colour)
        painter.end()

    def _paint_key(self, painter: QPainter, left: float, colour: QColor) -> None:
        font = themes.mono()
        metrics, high = QFontMetricsF(font), themes.px(16)
        box = QRectF(left, (self.height() - high) / 2, metrics.horizontalAdvance(self.key) + 8, high)
        painter.setFont(font)
        faint = QColor(colour)
        faint.setAlphaF(0.75)
        painter.setPen(QPen(faint, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(colour)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.key)

    def _tell_toggle(self, is_checked: bool) -> None:
        """Emit a click for a toggle that is neither the program's nor of a click."""
        group: QButtonGroup | None = self.group()
        is_one_of_many = group is not None and group.exclusive()
        if self._is_told or (is_one_of_many and not is_checked):
            return
        if is_one_of_many:
            self.click()  # it stays checked, and the group tells it too
        else:
            self.clicked[bool].emit(is_checked)  # type: ignore[index]  # the stubs do not know overloads

    def _colour(self) -> QColor:
        theme = themes.current()
        if not self.isEnabled():
            return theme.dim if self.property("kind") == "primary" else theme.faint
        if self.property("kind") == "primary":
            return theme.panel
        if self.property("kind") == "number":
            return theme.dim
        if self.property("kind") == "link":
            return theme.accent
        if self.property("kind") == "switch" and not self.isChecked():
            return theme.dim
        return theme.accent if self.isChecked() else theme.text

    def _is_bold(self) -> bool:
        return self.property("kind") == "primary" or self.isChecked()


@lru_cache(maxsize=4096)
def _width(words: str, key: str, count: str, _font: QFont) -> float:
    """Measure words and badge of a button, once in each font of the application: layouts ask again and again."""
    return themes.text_width(words, themes.scaled(1.0, bold=True)) + _badge_width(key, count)


def _badge_width(key: str, count: str) -> float:
    if count:
        return 8 + pill_width(count)
    return 16 + themes.text_width(key, themes.mono()) if key else 0.0


class ValueButton(KeyButton):
    """A button that stands for a value, as one of several whose presses end in one place.

    Args:
        value: what it stands for.

    Signals:
        chosen: the value, at each press.
    """

    chosen = Signal(object)

    def __init__(self, value: object, words: str, key: str = "", kind: str = "") -> None:
        super().__init__(words, key, kind)
        self._value = value
        self.clicked.connect(self._choose)

    def _choose(self) -> None:
        self.chosen.emit(self._value)
