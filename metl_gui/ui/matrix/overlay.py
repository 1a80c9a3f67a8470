"""Paints what lies above the tiles: the bands of row and column under the pointer, and the selection."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from metl_gui.ui.contrast import faded
from metl_gui.ui.matrix.axis import Axis, Level
from metl_gui.ui.matrix.camera import Camera, level_at
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.selection import Place, Selected
from metl_gui.ui.theme import Theme


@dataclass(frozen=True)
class Pointer:
    """The attribute positions under the pointer or the cursor."""

    column: int | None = None
    row: int | None = None


def span_of(axis: Axis, place: Place | None) -> tuple[float, float] | None:
    """Return the stretch of an axis that a selected node takes, ``None`` when it is not on the plane."""
    if place is None:
        return None
    if place.version is not None and place.attribute is not None:
        position = axis.position_of(place.version, place.attribute)
        if position is not None:
            return axis.begin(position), axis.begin(position) + 1.0
    if place.version is not None:
        return axis.span_of_version(place.version)
    return axis.span_of_schema(place.schema)


def paint_overlay(
    painter: QPainter,
    content: Content,
    camera: Camera,
    size: QRectF,
    marked: tuple[Pointer, Selected],
    theme: Theme,
) -> None:
    """Paint bands and selection over a viewport."""
    pointer, selected = marked
    columns, rows = content.columns, content.rows
    band = faded(theme.accent, 0.10)
    wide, tall = span_of(columns, selected.source), span_of(rows, selected.target)
    for stretch, is_column in (
        (_pointed(columns, camera.scale_x, pointer.column), True),
        (_pointed(rows, camera.scale_y, pointer.row), False),
        (wide, True),
        (tall, False),
    ):
        if stretch is not None:
            painter.fillRect(_band(camera, content, stretch, is_column, size), band)
    if wide is None or tall is None:
        return
    left, top = camera.on_screen(wide[0], tall[0])
    right, bottom = camera.on_screen(wide[1], tall[1])
    box = QRectF(left, top, right - left, bottom - top).adjusted(0, 0, 1, 1)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.accent, 2.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(_large_enough(box), 4, 4)


def _large_enough(box: QRectF) -> QRectF:
    """Grow the frame of something tiny, so that it is seen and does not hide what it frames."""
    wide, tall = max(8.0 - box.width(), 0.0) / 2, max(8.0 - box.height(), 0.0) / 2
    return box.adjusted(-wide, -tall, wide, tall)


def _pointed(axis: Axis, scale: float, position: int | None) -> tuple[float, float] | None:
    level = level_at(axis, scale)
    if position is None or level is None:
        return None
    spans = axis.spans(level)
    return spans.stretch(position if level is Level.ATTRIBUTE else spans.item_of(position))


def _band(camera: Camera, content: Content, stretch: tuple[float, float], is_column: bool, size: QRectF) -> QRectF:
    right, bottom = camera.on_screen(content.columns.length, content.rows.length)
    left, top = camera.on_screen(0.0, 0.0)
    if is_column:
        begin, end = camera.on_screen(stretch[0], 0)[0], camera.on_screen(stretch[1], 0)[0]
        return QRectF(begin, top, max(end - begin, 1.0), bottom - top).intersected(size)
    begin, end = camera.on_screen(0, stretch[0])[1], camera.on_screen(0, stretch[1])[1]
    return QRectF(left, begin, right - left, max(end - begin, 1.0)).intersected(size)
