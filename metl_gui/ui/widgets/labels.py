"""Labels that elide what does not fit; the whole text is their tooltip.

``Elided`` ends in an ellipsis. ``PlaceLabel`` has both full paths in one line: names are elided in the middle, what is
bold last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QFontMetrics,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextDocument,
    QTextDocumentFragment,
)
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from metl_gui.ui.widgets.plain_text import left_to_right, plain_tip

_LEAST_PX = 40


class Elided(QLabel):
    """One line of plain text that never insists on room.

    Args:
        words: the text.
        kind: of the style sheet.
        is_snug: be as wide as the words where there is room; without it take what is left over.
    """

    def __init__(
        self, words: str = "", kind: str = "", parent: QWidget | None = None, *, is_snug: bool = False
    ) -> None:
        super().__init__(words, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        wide = QSizePolicy.Policy.Maximum if is_snug else QSizePolicy.Policy.Ignored
        self.setSizePolicy(wide, QSizePolicy.Policy.Preferred)
        self._elides = Qt.TextElideMode.ElideMiddle if is_snug else Qt.TextElideMode.ElideRight
        if kind:
            self.setProperty("kind", kind)

    def minimumSizeHint(self) -> QSize:
        """Give way to everything else."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), _LEAST_PX), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what there is room for."""
        painter = QPainter(self)
        whole = left_to_right(self.text())
        words = self.fontMetrics().elidedText(whole, self._elides, self.contentsRect().width())
        self.setToolTip(plain_tip(self.text()) if words != whole else "")
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        painter.end()


_LENGTHS = (48, 40, 32, 26, 20, 16, 12)
_NAMES = re.compile(r"(<b>[^<]*</b>|<[^>]*>)|([^<>\s]+)")
_BEFORE_BOLD = re.compile(r"(^|→ )[^<→]+(?=<b>)")
_EDGE_PX = 2
_BOLD_TOO = re.compile(r"(<[^>]*>)|([^<>\s]+)")


class PlaceLabel(QLabel):
    """One line of rich text, the last part of each path in bold, which goes last; the whole text is its tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = ""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setIndent(0)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def say(self, words: str) -> None:
        """Show other words."""
        if words != self.words:
            self.words = words
            self.setToolTip(words)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.contentsRect().width() - _EDGE_PX
        shown = next((form for form in self._forms() if self._width_of(form) <= room), None)
        if shown is None:  # in front, so that the field at the end can be read
            plain = QTextDocumentFragment.fromHtml(self.words).toPlainText()
            shown = escape(self.fontMetrics().elidedText(plain, Qt.TextElideMode.ElideLeft, room))
        shown = left_to_right(shown)
        if shown != self.text():
            self.setText(shown)

    def _forms(self) -> Iterator[str]:
        """Yield the words, then less and less of them: names are shortened, left out before the fields, shortened."""
        yield self.words
        for length in _LENGTHS:
            yield shortened(self.words, length)
        fields = _BEFORE_BOLD.sub(r"\1…", self.words)
        yield fields
        for length in _LENGTHS:
            yield shortened(fields, length, bold_too=True)

    def _width_of(self, words: str) -> float:
        document = QTextDocument()
        document.setDefaultFont(self.font())
        document.setDocumentMargin(0)
        document.setHtml(words)
        return document.idealWidth()


def shortened(words: str, length: int, *, bold_too: bool = False) -> str:
    """Elide names in the middle so that none is longer than some letters; escaped ones stay whole, bold ones if told.

    Args:
        words: rich text.
        length: of the longest name that stays whole.
        bold_too: elide what is bold as well.
    """

    def short(found: re.Match[str]) -> str:
        name = found[2]
        if name is None or len(name) <= length or "&" in name:
            return found[0]
        tail = length // 2
        return f"{name[: length - tail - 1]}…{name[-tail:]}"

    return (_BOLD_TOO if bold_too else _NAMES).sub(short, words)


def fitted(words: str, metrics: QFontMetrics | QFontMetricsF, room: float) -> str:
    """Shorten long names of a plain line until it fits, so that the versions and arrows between them stay."""
    tried = (words, *(shortened(words, length, bold_too=True) for length in _LENGTHS))
    *longer, shortest = tried
    return next((each for each in longer if metrics.horizontalAdvance(each) <= room), shortest)
