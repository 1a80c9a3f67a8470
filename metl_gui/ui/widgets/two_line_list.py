"""Lists of rows of two lines, a bold and a dim one, with a pill at the right.

``LineModel`` holds rows that each stand for something; ``HeadedDelegate`` paints rows below headings, as in the review
list and the lists of candidates.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyleOptionViewItem

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import fitted
from metl_gui.ui.widgets.pill import pill_width
from metl_gui.ui.widgets.rows import (
    LEFT,
    RIGHT,
    ROW_ROLE,
    Heading,
    Index,
    RowDelegate,
    RowRoles,
    RowsModel,
    paint_right_pill,
    paint_words,
    quiet_ink,
)
from metl_gui.values import Value

WORDS_ROLE = ROW_ROLE + 7
ROW_PX = 54


class TwoLines(Value):
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


class TwoLineDelegate(RowDelegate[TwoLines]):
    """Paints rows from their ``TwoLines``."""

    kind, role, height_px, is_ruled = TwoLines, WORDS_ROLE, ROW_PX, True

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: TwoLines, is_selected: bool) -> None:
        """Paint the two lines and the pill."""
        px = themes.px
        width = pill_width(row.pill) if row.pill else -8.0
        bold = themes.scaled(1.0, bold=True)
        painter.setFont(bold)
        whole, beside = box.width() - 28, box.width() - 36 - width
        title = _title(row, painter.fontMetrics(), beside)
        is_below = bool(row.pill) and title is None  # the title comes first: it gets the line for itself
        room = QRectF(box.left() + 14, box.top() + px(6), whole if is_below else beside, px(22))
        title = title or fitted(row.short or row.title, painter.fontMetrics(), room.width())
        paint_words(painter, room, title, bold, themes.current().text)
        facts = QRectF(box.left() + 14, box.top() + px(27), beside if is_below else whole, px(20))
        paint_words(painter, facts, row.facts, themes.small(), quiet_ink(is_selected))
        if row.pill:
            line = QRectF(box.left(), box.top() + px(29 if is_below else 8), box.width() - 14, px(18))
            paint_right_pill(painter, line, row.pill, row.kind)


def _title(words: TwoLines, metrics: QFontMetrics, room: float) -> str | None:
    """Return the title, or the short one, that there is room for."""
    told = (each for each in (words.title, words.short) if each)
    return next((each for each in told if metrics.horizontalAdvance(each) <= room), None)


T = TypeVar("T")


class LineModel(RowsModel[tuple[TwoLines, T]], Generic[T]):
    """Rows with what each stands for."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(RowRoles(_spoken, _tip, {WORDS_ROLE: _words}), parent)

    def at(self, index: Index) -> T | None:
        """Return what a row stands for."""
        row = self.row_at(index)
        return row[1] if row is not None else None


def _words(row: tuple[TwoLines, Any]) -> TwoLines:
    return row[0]


def _spoken(row: tuple[TwoLines, Any]) -> str:
    words = row[0]
    return ", ".join(part.rstrip(".") for part in (words.title, words.pill, words.facts) if part)


def _tip(row: tuple[TwoLines, Any]) -> str:
    return f"{row[0].title}\n{row[0].facts}"


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


_HEADING_PX = 30


class HeadedDelegate(TwoLineDelegate):
    """Paints headings too."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A heading is one line high, and cannot be chosen."""
        is_row = bool(index.flags() & Qt.ItemFlag.ItemIsSelectable)
        return super().sizeHint(option, index) if is_row else QSize(120, themes.px(_HEADING_PX))

    def paint_heading(self, painter: QPainter, box: QRectF, heading: Heading) -> None:
        """Paint a heading on a ground of its own."""
        theme, small = themes.current(), themes.small(bold=True)
        painter.fillRect(box, theme.band)
        painter.setPen(theme.line)
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        box.adjust(14, 0, -14, 0)
        painter.setFont(small)
        painter.setPen(theme.dim)
        painter.drawText(box, RIGHT, heading.facts)
        box.setRight(box.right() - QFontMetricsF(painter.font()).horizontalAdvance(heading.facts) - 12)
        paint_words(painter, box, heading.words, small, theme.dim, LEFT, Qt.TextElideMode.ElideMiddle)
