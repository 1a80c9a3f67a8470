"""Rows of two lines below headings: what the review list and the lists of candidates are made of."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from metl_gui.ui import theme as themes
from metl_gui.ui.two_lines import TwoLineDelegate

HEADING_ROLE = int(Qt.ItemDataRole.UserRole) + 8
_HEADING_PX = 30


@dataclass(frozen=True)
class Heading:
    """A row that only says what the rows below it have in common.

    Args:
        words: what they have in common.
        facts: a few words at the right.
    """

    words: str
    facts: str = ""


class HeadedDelegate(TwoLineDelegate):
    """Paints headings too."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """A heading is one line high, and cannot be chosen."""
        is_row = bool(index.flags() & Qt.ItemFlag.ItemIsSelectable)
        return super().sizeHint(option, index) if is_row else QSize(120, themes.px(_HEADING_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        heading = index.data(HEADING_ROLE)
        if not isinstance(heading, Heading):
            super().paint(painter, option, index)
            return
        theme, box = themes.current(), QRectF(option.rect)
        painter.save()
        painter.fillRect(box, theme.band)
        painter.setPen(theme.line)
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        box.adjust(14, 0, -14, 0)
        painter.setFont(themes.small(bold=True))
        painter.setPen(theme.dim)
        metrics = QFontMetricsF(painter.font())
        width = metrics.horizontalAdvance(heading.facts)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, heading.facts)
        box.setRight(box.right() - width - 12)
        words = metrics.elidedText(heading.words, Qt.TextElideMode.ElideMiddle, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        painter.restore()
