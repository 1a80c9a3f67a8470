"""One line for each state: its number, what was done, its pills, who and when at the right."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.ui import theme as themes
from metl_gui.ui.history.state_model import STATE_ROLE, StateModel, marks_of
from metl_gui.ui.moments import ago
from metl_gui.ui.pill import paint_pill, pill_width
from metl_gui.ui.row_background import paint_row_background
from metl_gui.workbench.timeline import PastState

ROW_PX = 26
_PAD = 12.0
_GAP = 8.0
_LONGEST_NAME_PX = 150
_LEAST_TITLE_PX = 130


class StateDelegate(QStyledItemDelegate):
    """Paints the rows of a ``StateModel``; a triangle stands before the state that the window shows."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """One line high."""
        return QSize(120, themes.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        state, model = index.data(STATE_ROLE), index.model()
        if not isinstance(state, PastState) or not isinstance(model, StateModel):
            return
        theme, box = themes.current(), QRectF(option.rect)
        painter.save()
        is_selected = paint_row_background(painter, option)
        quiet = theme.text if is_selected else theme.dim
        is_shown = state.state == model.shown
        if is_shown:
            _point(painter, QPointF(box.left() + _PAD, box.center().y()))
        number = f"{state.state:,}"
        widest = f"{max(model.states[0].state, state.state):,}"
        left = box.left() + _PAD + 8 + themes.text_width("0" * len(widest), themes.small())
        painter.setFont(themes.small(bold=is_shown))
        painter.setPen(theme.accent if is_shown else quiet)
        painter.drawText(QRectF(box.left(), box.top(), left - box.left(), box.height()), _RIGHT, number)
        left += _GAP + 2
        right = self._paint_marks(painter, box, left, state, model)
        right = _paint_person(painter, box, left, right, state, is_selected)
        painter.setFont(themes.scaled(1.0, bold=is_shown or bool(state.name)))
        painter.setPen(theme.text)
        _line(painter, QRectF(left, box.top(), max(right - left, 0.0), box.height()), state.title, _LEFT)
        painter.restore()

    def _paint_marks(self, painter: QPainter, box: QRectF, left: float, state: PastState, model: StateModel) -> float:
        """Paint the pills from the right as far as the title keeps its room, and return where they begin."""
        right = box.right() - _PAD
        for whole, kind in marks_of(state, model.live):
            words = _shortened(whole)
            width = pill_width(words)
            if right - width - left < themes.px(_LEAST_TITLE_PX):
                break
            paint_pill(painter, QRectF(right - width, box.top(), width, box.height()), words, kind)
            right -= width + 6
        return right


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def _paint_person(
    painter: QPainter, box: QRectF, left: float, right: float, state: PastState, is_selected: bool
) -> float:
    """Paint who and when, where there is room; return where the title ends."""
    theme = themes.current()
    for words in (f"{state.who} · {ago(state.when_ms)}", ago(state.when_ms)):
        width = themes.text_width(words, themes.small())
        if right - width - left >= themes.px(_LEAST_TITLE_PX):
            painter.setFont(themes.small())
            painter.setPen(theme.text if is_selected else theme.dim)
            painter.drawText(QRectF(right - width - 2, box.top(), width + 2, box.height()), _RIGHT, words)
            return right - width - _GAP - 4
    return right - _GAP


def _point(painter: QPainter, at: QPointF) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(themes.current().accent)
    painter.drawPolygon([at + QPointF(-4, -4), at + QPointF(-4, 4), at + QPointF(2, 0)])


def _shortened(words: str) -> str:
    font = QFont(themes.scaled(0.85, bold=True))
    return QFontMetricsF(font).elidedText(words, Qt.TextElideMode.ElideRight, themes.px(_LONGEST_NAME_PX))


def _line(painter: QPainter, box: QRectF, words: str, alignment: Qt.AlignmentFlag) -> None:
    words = QFontMetricsF(painter.font()).elidedText(words, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, alignment, words)
