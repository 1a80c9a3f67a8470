"""Paints what a gesture would do, and what is chosen beside the current node: rectangles and further nodes.

A cell that would be set is a pale square; one whose row or column is taken is crossed out; what takes it is outlined.
So no state is told by colour alone.
"""

from __future__ import annotations

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.contrast import faded
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera
from metl_gui.ui.matrix.chosen import Box
from metl_gui.ui.matrix.content import Content, axis_of
from metl_gui.ui.matrix.overlay import span_of
from metl_gui.ui.matrix.trial import Trial
from metl_gui.ui.selection import Selected
from metl_gui.ui.theme import Theme

_INSET = 0.2
_MOST_BANDS = 100
"""What is chosen by the thousand is told by its number elsewhere."""

_HATCH = Qt.BrushStyle.BDiagPattern


def paint_trial(painter: QPainter, content: Content, camera: Camera, trial: Trial, size: QRectF, theme: Theme) -> None:
    """Paint a gesture that goes on over a viewport."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if trial.over is not None:
        side, position = trial.over
        for taken in trial.taken:
            painter.fillRect(_in_block(content, camera, trial, taken), QBrush(faded(theme.dim, 0.5), _HATCH))
        spans = axis_of(content, side).spans(Level.ATTRIBUTE)
        painter.fillRect(_band(content, camera, side, spans.stretch(position), size), faded(theme.accent, 0.18))
    if trial.box is not None:
        _outline(painter, _box(content, camera, trial.box), theme, is_live=True)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for spot in trial.takers:
        painter.setPen(QPen(theme.text, 2.0))
        painter.drawRoundedRect(_cell(content, camera, spot).adjusted(1.5, 1.5, -1.5, -1.5), 3, 3)
    for spot in trial.refused:
        cell = _inner(_cell(content, camera, spot))
        painter.setPen(QPen(theme.dim, 1.8))
        painter.drawLines([QLineF(cell.topLeft(), cell.bottomRight()), QLineF(cell.topRight(), cell.bottomLeft())])
    for spot in trial.wanted:
        cell = _inner(_cell(content, camera, spot))
        painter.setPen(QPen(theme.accent, 2.0))
        painter.setBrush(faded(theme.accent, 0.35))
        painter.drawRoundedRect(cell, 3, 3)


def paint_chosen(
    painter: QPainter, content: Content, camera: Camera, selected: Selected, box: Box | None, size: QRectF, theme: Theme
) -> None:
    """Paint the chosen rectangle as far as it is shown, and bands of nodes chosen beside the current ones."""
    for side, current in ((Side.EXTRACTION, selected.source), (Side.CDM, selected.target)):
        axis = axis_of(content, side)
        others = [place for place in selected.all_on(side) if place != current]
        for place in others[:_MOST_BANDS]:
            span = span_of(axis, place)
            if span is not None:
                painter.fillRect(_band(content, camera, side, span, size), faded(theme.accent, 0.10))
    if box is not None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _outline(painter, _box(content, camera, box), theme, is_live=False)


def _outline(painter: QPainter, box: QRectF, theme: Theme, is_live: bool) -> None:
    painter.setPen(QPen(theme.accent, 1.6, Qt.PenStyle.DashLine if is_live else Qt.PenStyle.SolidLine))
    painter.setBrush(faded(theme.accent, 0.14))
    painter.drawRoundedRect(box, 3, 3)


def _in_block(content: Content, camera: Camera, trial: Trial, position: int) -> QRectF:
    """Return the part of a row or column that lies in the block of the dragged field."""
    if trial.over is None or not trial.across:
        return QRectF()
    ends = [(at, position) for at in (trial.across[0], trial.across[-1])]
    if trial.over[0] is Side.EXTRACTION:
        ends = [(position, at) for at, _ in ends]
    return _cell(content, camera, ends[0]).united(_cell(content, camera, ends[1]))


def _band(content: Content, camera: Camera, side: Side, span: tuple[float, float], size: QRectF) -> QRectF:
    right, bottom = camera.on_screen(content.columns.length, content.rows.length)
    left, top = camera.on_screen(0.0, 0.0)
    if side is Side.EXTRACTION:
        left, right = camera.on_screen(span[0], 0.0)[0], camera.on_screen(span[1], 0.0)[0]
    else:
        top, bottom = camera.on_screen(0.0, span[0])[1], camera.on_screen(0.0, span[1])[1]
    return QRectF(left, top, right - left, bottom - top).intersected(size)


def _box(content: Content, camera: Camera, box: tuple[int, int, int, int]) -> QRectF:
    first, last = _cell(content, camera, (box[0], box[1])), _cell(content, camera, (box[2], box[3]))
    return first.united(last)


def _cell(content: Content, camera: Camera, spot: tuple[int, int]) -> QRectF:
    wide = content.columns.spans(Level.ATTRIBUTE).stretch(spot[0])
    tall = content.rows.spans(Level.ATTRIBUTE).stretch(spot[1])
    left, top = camera.on_screen(wide[0], tall[0])
    right, bottom = camera.on_screen(wide[1], tall[1])
    return QRectF(left, top, right - left, bottom - top)


def _inner(cell: QRectF) -> QRectF:
    wide, tall = cell.width() * _INSET, cell.height() * _INSET
    return cell.adjusted(wide, tall, -wide, -tall)
