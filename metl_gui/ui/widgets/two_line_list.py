"""Lists of rows of two lines, a bold and a dim one, with a pill at the right.

``LineModel`` holds rows that each stand for something; ``HeadedDelegate`` paints rows below headings, as in the review
list and the lists of candidates. ``paint_row_background`` paints the tint of selection and hover behind a row of any
tree or list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import fitted
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.plain_text import plain_tip


def paint_row_background(painter: QPainter, option: QStyleOptionViewItem) -> bool:
    """Paint the tint of one row and return whether the row is selected."""
    theme, box = themes.current(), QRectF(option.rect)
    is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
    if is_selected:
        painter.fillRect(box, theme.sel)
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(box, theme.band)
    return is_selected


WORDS_ROLE = int(Qt.ItemDataRole.UserRole) + 7
ROW_PX = 54


@dataclass(frozen=True)
class TwoLines:
    """What a row says.

    Args:
        title: the bold line.
        facts: the dim one.
        pill, kind: at the right.
        short: what the bold line says where there is no room for the title; empty to cut the title.
    """

    title: str
    facts: str
    pill: str = ""
    kind: str = "plain"
    short: str = ""


class TwoLineDelegate(QStyledItemDelegate):
    """Paints rows from their ``TwoLines``."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Two lines high."""
        return QSize(120, themes.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        words = index.data(WORDS_ROLE)
        if not isinstance(words, TwoLines):
            return
        theme = themes.current()
        box = QRectF(option.rect)
        painter.save()
        is_selected = paint_row_background(painter, option)
        painter.setPen(theme.line)
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        px = themes.px
        width = pill_width(words.pill) if words.pill else -8.0
        painter.setFont(themes.scaled(1.0, bold=True))
        painter.setPen(theme.text)
        whole, beside = box.width() - 28, box.width() - 36 - width
        title = _title(words, painter.fontMetrics(), beside)
        is_below = bool(words.pill) and title is None  # the title comes first: it gets the line for itself
        room = QRectF(box.left() + 14, box.top() + px(6), whole if is_below else beside, px(22))
        _line(painter, room, title or fitted(words.short or words.title, painter.fontMetrics(), room.width()))
        painter.setFont(themes.small())
        painter.setPen(theme.text if is_selected else theme.dim)
        facts = QRectF(box.left() + 14, box.top() + px(27), beside if is_below else whole, px(20))
        _line(painter, facts, words.facts)
        if words.pill:
            pill = QRectF(box.right() - width - 14, box.top() + px(29 if is_below else 8), width, px(18))
            paint_pill(painter, pill, words.pill, words.kind)
        painter.restore()


def _title(words: TwoLines, metrics: QFontMetrics, room: float) -> str | None:
    """Return the title, or the short one, that there is room for."""
    told = (each for each in (words.title, words.short) if each)
    return next((each for each in told if metrics.horizontalAdvance(each) <= room), None)


def _line(painter: QPainter, box: QRectF, words: str) -> None:
    words = QFontMetricsF(painter.font()).elidedText(words, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)


Index: TypeAlias = QModelIndex | QPersistentModelIndex
T = TypeVar("T")


class LineModel(QAbstractListModel, Generic[T]):
    """Rows with what each stands for; shown anew as a whole."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[tuple[TwoLines, T], ...] = ()

    def show_rows(self, rows: Sequence[tuple[TwoLines, T]]) -> None:
        """Show other rows; the same ones stay as they are, with what is selected of them."""
        if tuple(rows) != self.rows:
            self.beginResetModel()
            self.rows = tuple(rows)
            self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return the words of a row, as one text for screen readers and as two lines to paint."""
        if not index.isValid():
            return None
        words = self.rows[index.row()][0]
        if role == WORDS_ROLE:
            return words
        if role == Qt.ItemDataRole.DisplayRole:
            return ", ".join(part.rstrip(".") for part in (words.title, words.pill, words.facts) if part)
        return plain_tip(f"{words.title}\n{words.facts}") if role == Qt.ItemDataRole.ToolTipRole else None

    def at(self, index: Index) -> T | None:
        """Return what a row stands for."""
        return self.rows[index.row()][1] if index.isValid() else None


def line_view(model: LineModel[Any], name: str) -> QListView:
    """Make the view of such a list."""
    view = QListView()
    view.setAccessibleName(name)
    view.setModel(model)
    view.setItemDelegate(TwoLineDelegate(view))
    view.setUniformItemSizes(True)
    view.setMouseTracking(True)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    return view


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
