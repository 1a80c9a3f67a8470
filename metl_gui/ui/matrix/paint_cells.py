"""Paints the plane at cell level: block frames, grid, marks and losses of a rectangle of pixels."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from metl_gui.core.blocks import Block, Loss, Status
from metl_gui.ui import theme as themes
from metl_gui.ui.contrast import faded, mixed
from metl_gui.ui.marks import MarkShape, paint_cross, paint_mark
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.content import Content, Mark
from metl_gui.ui.theme import Theme

CORNER = 4.0


def paint_cells(painter: QPainter, content: Content, scales: tuple[float, float], area: QRectF, theme: Theme) -> None:
    """Paint what lies in an area, given in pixels from the plane's own top left."""
    sx, sy = scales
    wide, tall = content.columns.spans(Level.VERSION), content.rows.spans(Level.VERSION)
    for y in tall.within(area.top() / sy, area.bottom() / sy):
        top, bottom = tall.begin[y] * sy, tall.end[y] * sy
        for x in wide.within(area.left() / sx, area.right() / sx):
            box = QRectF(wide.begin[x] * sx, top, (wide.end[x] - wide.begin[x]) * sx, bottom - top)
            block = content.blocks.get((x, y))
            _paint_frame(painter, box, block, theme)
            if block is not None:
                cells = int(wide.last[x] - wide.first[x]), int(tall.last[y] - tall.first[y])
                _paint_grid(painter, box, cells, theme)
                _paint_losses(painter, content, block, box, scales, theme)
    _paint_elements(painter, content, scales, area, theme)


def cell_box(content: Content, column: int, row: int, scales: tuple[float, float]) -> QRectF:
    """Return the pixels of a cell, from the plane's own top left."""
    sx, sy = scales
    return QRectF(content.columns.begin(column) * sx, content.rows.begin(row) * sy, sx, sy)


def _paint_frame(painter: QPainter, box: QRectF, block: Block | None, theme: Theme) -> None:
    pen, brush = QPen(theme.line, 1.0), mixed(theme.bg, theme.panel, 0.5 if theme.dark else 0.0)
    if block is not None and block.status is Status.NEEDS_REVIEW:
        colour, width = theme.review_outline
        pen, brush = QPen(colour, width), theme.reviewbg
    elif block is not None and block.elements:
        brush = faded(theme.accentbg, 0.55)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen)
    painter.setBrush(brush)
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)


def _paint_grid(painter: QPainter, box: QRectF, cells: tuple[int, int], theme: Theme) -> None:
    columns, rows = cells
    if not columns or not rows:
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setPen(QPen(faded(theme.line, 0.55), 1.0))
    step_x, step_y = box.width() / columns, box.height() / rows
    lines = [
        QLineF(round(box.left() + at * step_x), box.top() + 2, round(box.left() + at * step_x), box.bottom() - 2)
        for at in range(1, columns)
    ]
    lines += [
        QLineF(box.left() + 2, round(box.top() + at * step_y), box.right() - 2, round(box.top() + at * step_y))
        for at in range(1, rows)
    ]
    painter.drawLines(lines)


def _paint_elements(
    painter: QPainter, content: Content, scales: tuple[float, float], area: QRectF, theme: Theme
) -> None:
    columns = content.columns.spans(Level.ATTRIBUTE).within(area.left() / scales[0], area.right() / scales[0])
    rows = content.rows.spans(Level.ATTRIBUTE).within(area.top() / scales[1], area.bottom() / scales[1])
    side = max(6.0, min(14.0, 0.56 * min(scales)))
    for column, row, mark in content.elements_within(columns, rows):
        centre = cell_box(content, column, row, scales).center()
        box = QRectF(centre.x() - side / 2, centre.y() - side / 2, side, side)
        shape = MarkShape.UNCONFIRMED if mark & Mark.UNCONFIRMED else MarkShape.MAPPED
        paint_mark(painter, box, shape, theme)
        if mark & Mark.TYPE_DIFFERS:
            paint_cross(painter, box, theme)


def _paint_losses(
    painter: QPainter, content: Content, block: Block, box: QRectF, scales: tuple[float, float], theme: Theme
) -> None:
    """Draw every open loss on the row of its CDM attribute: a dashed line and, where there is room, the reason."""
    for loss in block.open_losses:
        row = _row_of(content, block, loss)
        if row is None:
            continue
        top = content.rows.begin(row) * scales[1]
        line = QRectF(box.left() + 3, top, box.width() - 6, scales[1])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(theme.review_outline[0], 1.4, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([3.0, 2.4])
        painter.setPen(pen)
        font = themes.scaled(0.82)
        metrics = QFontMetricsF(font)
        words = metrics.elidedText(f"lost: {loss.from_path}", Qt.TextElideMode.ElideRight, line.width() - 8)
        has_room = scales[1] >= metrics.height() and len(words) > len("lost: ") + 3
        y = line.center().y()
        if not has_room:
            painter.drawLine(QPointF(line.left(), y), QPointF(line.right(), y))
            continue
        width = metrics.horizontalAdvance(words) + 8
        painter.drawLine(QPointF(line.left(), y), QPointF(line.right(), y))
        label = QRectF(line.right() - width, line.top() + 1, width, line.height() - 2)
        painter.fillRect(label, theme.reviewbg)
        painter.setPen(theme.review)
        painter.setFont(font)
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, words)


def _row_of(content: Content, block: Block, loss: Loss) -> int | None:
    """Find the row of a lost element: its own, or the one of its lineage in this entity version."""
    position = content.rows.version_position.get(block.entity_version)
    if position is None:
        return None
    attribute = content.rows.versions[position].of_lineage(loss.q_lineage)
    return None if attribute is None else content.rows.position.get(attribute.id)
