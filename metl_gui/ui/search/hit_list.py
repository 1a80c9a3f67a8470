"""The lines of search everywhere as a list: headings, names with the words found bold, where they lie at the right."""

from __future__ import annotations

from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.ui import theme as themes
from metl_gui.ui.plain import plain_tip
from metl_gui.ui.row_background import paint_row_background
from metl_gui.ui.search.hits import Hit

HIT_ROLE = int(Qt.ItemDataRole.UserRole)
ROW_PX = 26
_PAD_PX = 12
Index: TypeAlias = QModelIndex | QPersistentModelIndex


class HitModel(QAbstractListModel):
    """Lines under headings; a heading is a text, a line a ``Hit``."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[Hit | str] = []

    def show_hits(self, hits: list[Hit]) -> None:
        """Show other lines."""
        lines: list[Hit | str] = []
        for hit in hits:
            before = lines[-1] if lines else None
            if not isinstance(before, Hit) or before.group != hit.group:
                lines.append(hit.group)
            lines.append(hit)
        self.beginResetModel()
        self._lines = lines
        self.endResetModel()

    def hit(self, index: Index) -> Hit | None:
        """Return the line of a row, ``None`` for a heading."""
        line = self._lines[index.row()] if index.isValid() and index.row() < len(self._lines) else None
        return line if isinstance(line, Hit) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count lines and headings."""
        return 0 if parent.isValid() else len(self._lines)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A heading cannot be chosen."""
        if self.hit(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a line, or what is read aloud of it."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == HIT_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return line if isinstance(line, str) else ", ".join(part for part in (line.words, line.where) if part)
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(line, Hit):
            return plain_tip(f"{line.words}\n{line.where}" if line.where else line.words)
        return None


class HitDelegate(QStyledItemDelegate):
    """Paints headings and lines."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.words: tuple[str, ...] = ()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line high."""
        return QSize(200, themes.px(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one line."""
        theme, line = themes.current(), index.data(HIT_ROLE)
        painter.save()
        pad = themes.px(_PAD_PX)
        box = QRectF(option.rect).adjusted(pad, 0, -pad, 0)
        if isinstance(line, str):
            painter.setFont(themes.small(bold=True))
            painter.setPen(theme.dim)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, line)
        elif isinstance(line, Hit):
            is_selected = paint_row_background(painter, option)
            room = self._paint_where(painter, box, line, is_selected)
            colour = theme.accent if line.filters is not None and not is_selected else theme.text
            painter.setPen(colour)
            self._paint_words(painter, box.adjusted(pad / 2, 0, -room, 0), line.words)
        painter.restore()

    def _paint_where(self, painter: QPainter, box: QRectF, hit: Hit, is_selected: bool) -> float:
        font = themes.scaled(0.92)
        metrics = QFontMetricsF(font)
        words = metrics.elidedText(hit.where, Qt.TextElideMode.ElideMiddle, box.width() * 0.6)
        painter.setFont(font)
        painter.setPen(themes.current().text if is_selected else themes.current().dim)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
        return metrics.horizontalAdvance(words) + 12 if words else 0.0

    def _paint_words(self, painter: QPainter, box: QRectF, text: str) -> None:
        """Write a name, the letters that were found bold."""
        plain, bold = themes.scaled(1.0), themes.scaled(1.0, bold=True)
        text = QFontMetricsF(bold).elidedText(text, Qt.TextElideMode.ElideMiddle, box.width())
        left = box.left()
        for part, is_found in _parts(text, self.words):
            font = bold if is_found else plain
            painter.setFont(font)
            here = QRectF(left, box.top(), box.right() - left + 1, box.height())
            painter.drawText(here, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, part)
            left += QFontMetricsF(font).horizontalAdvance(part)


def _parts(text: str, words: tuple[str, ...]) -> list[tuple[str, bool]]:
    """Cut a text into what was searched for and what was not."""
    marks = [False] * len(text)
    for word in words:
        at = text.lower().find(word)
        marks[max(at, 0) : max(at, 0) + len(word) * (at >= 0)] = [True] * (len(word) * (at >= 0))
    parts: list[tuple[str, bool]] = []
    for letter, mark in zip(text, marks, strict=False):
        if parts and parts[-1][1] == mark:
            parts[-1] = (parts[-1][0] + letter, mark)
        else:
            parts.append((letter, mark))
    return parts
