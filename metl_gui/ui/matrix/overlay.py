"""Paints what lies above the tiles: the bands of row and column under the pointer, and the selection."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from metl_gui.ui.contrast import faded
from metl_gui.ui.matrix.axis import Axis, Level, Spans
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
    if place.attribute is not None and place.attribute in axis.position:
        begin = axis.begin(axis.position[place.attribute])
        return begin, begin + 1
    if place.version is not None:
        at = axis.version_position.get(place.version)
        return None if at is None else _stretch(axis.spans(Level.VERSION), at)
    ids = axis.spans(Level.SCHEMA).ids.tolist()
    return _stretch(axis.spans(Level.SCHEMA), ids.index(place.schema)) if place.schema in ids else None


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
    for stretch, is_column in (
        (_pointed(columns, camera.scale_x, pointer.column), True),
        (_pointed(rows, camera.scale_y, pointer.row), False),
        (span_of(columns, selected.source), True),
        (span_of(rows, selected.target), False),
    ):
        if stretch is not None:
            painter.fillRect(_band(camera, content, stretch, is_column, size), band)
    wide, tall = span_of(columns, selected.source), span_of(rows, selected.target)
    if wide is None or tall is None:
        return
    left, top = camera.on_screen(wide[0], tall[0])
    right, bottom = camera.on_screen(wide[1], tall[1])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.accent, 2.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(left, top, right - left, bottom - top).adjusted(0, 0, 1, 1), 4, 4)


def _pointed(axis: Axis, scale: float, position: int | None) -> tuple[float, float] | None:
    level = level_at(axis, scale)
    if position is None or level is None:
        return None
    spans = axis.spans(level)
    at = spans.at(axis.begin(position) + 0.5)
    return None if at is None else _stretch(spans, at)


def _stretch(spans: Spans, item: int) -> tuple[float, float]:
    return float(spans.begin[item]), float(spans.end[item])


def _band(camera: Camera, content: Content, stretch: tuple[float, float], is_column: bool, size: QRectF) -> QRectF:
    right, bottom = camera.on_screen(content.columns.length, content.rows.length)
    left, top = camera.on_screen(0.0, 0.0)
    if is_column:
        begin, end = camera.on_screen(stretch[0], 0)[0], camera.on_screen(stretch[1], 0)[0]
        return QRectF(begin, top, end - begin, bottom - top).intersected(size)
    begin, end = camera.on_screen(0, stretch[0])[1], camera.on_screen(0, stretch[1])[1]
    return QRectF(left, begin, right - left, end - begin).intersected(size)
