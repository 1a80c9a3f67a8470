"""Paints one version of a super-block: its label, what it is to the version before, and its small matrix."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen, QPolygonF

from metl_gui.core.matrix.blocks import Status
from metl_gui.core.search.lineage_search import Step
from metl_gui.core.search.super_block import Fate, SuperBlock, SuperCell, SuperPart
from metl_gui.ui import theme as themes
from metl_gui.ui.pill import paint_pill, pill_width

HEAD_PX = 24
PAD_PX = 6.0
_SMALLEST_PX, _LARGEST_PX = 2.0, 18
_LEAST_WIDTH, _MOST_WIDTH = 104, 240
_LEAST_HEIGHT = 60.0
_KINDS = {Step.LARGER: "good", Step.SMALLER: "review", Step.EMPTIED: "bad", Step.OTHER: "accent"}


def pill_of(part: SuperPart) -> tuple[str, str]:
    """Return the verdict of a version and its colour; amber only where a person must decide."""
    if part.status is Status.RETIRED:
        return "retired", "plain"
    if part.step is None:
        return "not mapped", "plain"
    kind = _KINDS.get(part.step, "plain")
    if kind in ("review", "bad") and part.status is not Status.NEEDS_REVIEW:
        kind = "plain"
    return part.step.value, kind


def part_width(block: SuperBlock, height: float, room: float) -> float:
    """Return how wide every version is.

    Args:
        block: what is shown.
        height: of a matrix.
        room: width for all of them; matrices become smaller when all can be seen then.
    """
    least = max((themes.px(_LEAST_WIDTH), *(_head_width(part) for part in block.parts)))
    wish = block.columns * _cell_px(block, height, themes.px(_MOST_WIDTH)) + 2 * PAD_PX
    each = room / max(len(block.parts), 1)
    return min(max(min(wish, each) if each >= least else wish, least), themes.px(_MOST_WIDTH))


def part_height(block: SuperBlock, height: float, width: float) -> float:
    """Return how high a matrix of a width is, where there is room for some height."""
    return min(max(block.rows * _cell_px(block, height, width) + 2 * PAD_PX, _LEAST_HEIGHT), height)


def _cell_px(block: SuperBlock, height: float, width: float) -> float:
    rows, columns = max(block.rows, 1), max(block.columns, 1)
    return min((height - 2 * PAD_PX) / rows, (width - 2 * PAD_PX) / columns, themes.px(_LARGEST_PX))


def paint_part(
    painter: QPainter, box: QRectF, block: SuperBlock, part: SuperPart, states: tuple[bool, bool, bool]
) -> None:
    """Paint one version.

    Args:
        painter: of the strip.
        box: room for head and matrix.
        block: for the number of rows and columns.
        part: the version.
        states: whether it is the block shown, whether the keyboard is on it, whether the pointer is.
    """
    theme = themes.current()
    is_current, has_focus, is_hovered = states
    head = themes.px(HEAD_PX)
    frame = QRectF(box.left(), box.top() + head, box.width(), box.height() - head)
    _paint_head(painter, QRectF(box.left(), box.top(), box.width(), head - 2), part, is_current)
    waits = part.status is Status.NEEDS_REVIEW
    outline, width = theme.review_outline if waits else (theme.line, 1.0)
    if is_current or is_hovered or has_focus:
        outline, width = theme.accent, 2.0 if is_current or has_focus else 1.0
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(outline, width))
    painter.setBrush(theme.reviewbg if waits else theme.accentbg if part.elements else theme.band)
    painter.drawRoundedRect(frame.adjusted(1, 1, -1, -1), 4, 4)
    if waits and is_current:
        painter.setPen(QPen(theme.review_outline[0], 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame.adjusted(3.5, 3.5, -3.5, -3.5), 3, 3)
    size = _cell_px(block, frame.height(), frame.width())
    left = frame.left() + (frame.width() - block.columns * size) / 2
    top = frame.top() + (frame.height() - block.rows * size) / 2
    for cell in part.cells:
        _paint_cell(painter, QPointF(left + cell.column * size, top + cell.row * size), size, cell)


def _head_width(part: SuperPart) -> float:
    return themes.text_width(f"version {part.label}", themes.small(bold=True)) + pill_width(pill_of(part)[0]) + 14


def _paint_head(painter: QPainter, box: QRectF, part: SuperPart, is_current: bool) -> None:
    theme = themes.current()
    words, kind = pill_of(part)
    width = pill_width(words)
    paint_pill(painter, QRectF(box.right() - width, box.top(), width, box.height()), words, kind)
    painter.setFont(themes.small(bold=is_current))
    painter.setPen(theme.text if is_current else theme.dim)
    room, metrics = box.width() - width - 8, QFontMetricsF(painter.font())
    label = f"version {part.label}"
    if metrics.horizontalAdvance(label) > room:
        label = metrics.elidedText(part.label, Qt.TextElideMode.ElideMiddle, room)
    painter.drawText(
        QRectF(box.left(), box.top(), room, box.height()),
        Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
        label,
    )


def _paint_cell(painter: QPainter, at: QPointF, size: float, cell: SuperCell) -> None:
    theme = themes.current()
    inner = max(size * 0.68, _SMALLEST_PX)
    box = QRectF(at.x() + (size - inner) / 2, at.y() + (size - inner) / 2, inner, inner)
    painter.setPen(Qt.PenStyle.NoPen)
    if inner < 5.0:
        painter.fillRect(box, {Fate.KEPT: theme.accent, Fate.ADDED: theme.good, Fate.LOST: theme.reviewmark}[cell.fate])
    elif cell.fate is Fate.KEPT:
        painter.setBrush(theme.accent)
        painter.drawRoundedRect(box, inner * 0.22, inner * 0.22)
    elif cell.fate is Fate.ADDED:
        painter.setBrush(theme.good)
        painter.drawPolygon(_notched(box))
    else:
        pen = QPen(theme.review_outline[0], 1.4, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([2.0, 1.6])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.7, 0.7, -0.7, -0.7), inner * 0.22, inner * 0.22)


def _notched(box: QRectF) -> QPolygonF:
    cut = box.width() * 0.45
    return QPolygonF(
        [
            box.topLeft(),
            QPointF(box.right() - cut, box.top()),
            QPointF(box.right(), box.top() + cut),
            box.bottomRight(),
            box.bottomLeft(),
        ]
    )


def paint_fate(painter: QPainter, box: QRectF, fate: Fate) -> None:
    """Paint the mark of a fate, for the legend."""
    _paint_cell(painter, box.topLeft(), box.width() / 0.68 if box.width() else 1.0, SuperCell(0, 0, fate, ""))
