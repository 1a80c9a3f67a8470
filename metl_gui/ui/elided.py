"""A label that ends in an ellipsis where there is no room; the whole text is its tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from metl_gui.ui.plain import plain_tip

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
        words = self.fontMetrics().elidedText(self.text(), self._elides, self.contentsRect().width())
        self.setToolTip(plain_tip(self.text()) if words != self.text() else "")
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        painter.end()
