"""Paints a row of a list of the block editor: mark, name, what is new, and the type dim at the right."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.core.block_lists import ListRow
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.block.geometry import ROW_PX
from metl_gui.ui.block.model import ROW_ROLE, ListModel
from metl_gui.ui.block.words import detail_words
from metl_gui.ui.marks import MarkShape, paint_bubble, paint_cross, paint_mark
from metl_gui.ui.pill import paint_pill, pill_width

_GAP = 2.0


class RowDelegate(QStyledItemDelegate):
    """Paints rows from their ``ListRow``.

    ``below`` is the row on which dragged fields would be dropped, -1 for none.

    Args:
        side: which list it paints.
    """

    def __init__(self, side: Side, parent: QStyledItemDelegate | None = None) -> None:
        super().__init__(parent)
        self._side = side
        self.below = -1

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Every row is as high as the lines reckon with."""
        return QSize(120, themes.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        row = index.data(ROW_ROLE)
        model = index.model()
        if not isinstance(row, ListRow) or not isinstance(model, ListModel):
            return
        painter.save()
        box = QRectF(option.rect).adjusted(0.5, _GAP, -0.5, -_GAP)
        _paint_ground(painter, box, row, option, index.row() == self.below)
        size = themes.px(9)
        mark = QRectF(box.left() + size, box.center().y() - size / 2, size, size)
        paint_mark(painter, mark, mark_of(row, model.status), themes.current())
        if row.type_differs:
            paint_cross(painter, mark, themes.current())
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        detail = detail_words(row, self._side, model.values.get(row.id, ""))
        _paint_words(painter, box.adjusted(3 * size, 0, -8, 0), row, detail, is_selected)
        painter.restore()


def mark_of(row: ListRow, status: Status | None) -> MarkShape:
    """Return the mark of an attribute in a block of some status."""
    if row.lost:
        return MarkShape.LOST
    if row.partner is None:
        return MarkShape.HOLLOW
    if status is Status.UNCONFIRMED:
        return MarkShape.UNCONFIRMED
    return MarkShape.NEW if row.is_new else MarkShape.MAPPED


def _paint_ground(painter: QPainter, box: QRectF, row: ListRow, option: QStyleOptionViewItem, is_below: bool) -> None:
    theme = themes.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.band)
    if row.lost:
        pen = QPen(theme.review_outline[0], 1.3, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([2.6, 2.0])
        painter.setPen(pen)
        painter.setBrush(theme.reviewbg)
    if is_below:
        painter.setPen(QPen(theme.accent, 2))
    elif option.state & QStyle.StateFlag.State_Selected:
        painter.setBrush(theme.sel)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.accent, 2))
            box = box.adjusted(0.5, 0.5, -0.5, -0.5)
    elif option.state & QStyle.StateFlag.State_MouseOver and not row.lost:
        painter.setPen(QPen(theme.accent, 1))
    painter.drawRoundedRect(box, 4, 4)


def _paint_words(painter: QPainter, box: QRectF, row: ListRow, told: str, is_selected: bool) -> None:
    theme = themes.current()
    name_font, detail_font = themes.scaled(1.0), themes.scaled(0.88)
    metrics, small = QFontMetricsF(name_font), QFontMetricsF(detail_font)
    shows_new = row.is_new and row.partner is None and not row.lost
    pill = pill_width("new") + 6 if shows_new else 0.0
    bubble = 16.0 if row.note.comment else 0.0
    path = row.attribute.path
    wish = metrics.horizontalAdvance(path)
    room = max(0.0, box.width() - min(wish, box.width() * 0.66) - pill - bubble - 10)
    detail = small.elidedText(told, Qt.TextElideMode.ElideRight, room) if room >= 24 else ""
    taken = small.horizontalAdvance(detail) + 8 if detail else 0.0
    name = metrics.elidedText(path, Qt.TextElideMode.ElideMiddle, box.width() - taken - pill - bubble)
    painter.setFont(name_font)
    painter.setPen(theme.text if is_selected or not row.lost else theme.review)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
    at = box.left() + metrics.horizontalAdvance(name) + 7
    if shows_new:
        paint_pill(painter, QRectF(at, box.top() + 2, pill - 6, box.height() - 4), "new", "good")
        at += pill
    if row.note.comment:
        paint_bubble(painter, QPointF(at, box.center().y()), theme)
    painter.setFont(detail_font)
    painter.setPen(theme.text if is_selected or row.lost else theme.dim)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, detail)
