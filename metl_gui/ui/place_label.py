"""Both full paths in one line: without room for them, names are elided in the middle and what is bold stays whole."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QTextDocument
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

_LENGTHS = (48, 40, 32, 26, 20, 16, 12)
_NAMES = re.compile(r"(<b>[^<]*</b>|<[^>]*>)|([^<>\s]+)")


class PlaceLabel(QLabel):
    """One line of rich text, the last part of each path in bold; the whole text is its tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = ""
        self.setTextFormat(Qt.TextFormat.RichText)
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
        shown = self.words
        for length in _LENGTHS:
            if self._width_of(shown) <= self.width():
                break
            shown = shortened(self.words, length)
        if shown != self.text():
            self.setText(shown)

    def _width_of(self, words: str) -> float:
        document = QTextDocument()
        document.setDefaultFont(self.font())
        document.setDocumentMargin(0)
        document.setHtml(words)
        return document.idealWidth()


def shortened(words: str, length: int) -> str:
    """Elide names in the middle so that none is longer than some letters; bold ones and escaped ones stay whole."""

    def short(found: re.Match[str]) -> str:
        name = found[2]
        if name is None or len(name) <= length or "&" in name:
            return found[0]
        tail = length // 2
        return f"{name[: length - tail - 1]}…{name[-tail:]}"

    return _NAMES.sub(short, words)
