"""Previews of gestures: what a run, a rectangle or a dragged field would do, worked out and painted meanwhile.

A cell that would be set is a pale square; one whose row or column is taken is crossed out; the element that takes it is
outlined. So no state is shown by colour alone. What is selected beside the current node is painted here too: the chosen
rectangle, and further nodes.

Units: all positions are attribute positions along the axes. Cost: the elements of one block.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.hit_test import block_ranges
from metl_gui.ui.matrix.input.selected_content import PositionBox
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.layout.content import PlaneContent, axis_of
from metl_gui.ui.matrix.painting.overlay import span_of
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.theming.theme import Theme, faded
from metl_gui.values import Value

Spot = tuple[int, int]
"""(column position, row position)."""


class GesturePreview(Value):
    """What is shown of a gesture that goes on.

    Args:
        wanted: cells that would be set.
        refused: cells of the gesture whose column or row is taken.
        takers: the elements that take them.
        box: a rectangle being selected: first column, first row, last column, last row, ends included.
        over: the row or column that a dragged field is above: its side and position.
        taken: the rows or columns of that side that are taken in the field's block.
        across: how far that block reaches on the field's own side.
    """

    wanted: tuple[Spot, ...] = ()
    refused: tuple[Spot, ...] = ()
    takers: tuple[Spot, ...] = ()
    box: tuple[int, int, int, int] | None = None
    over: tuple[Side, int] | None = None
    taken: tuple[int, ...] = ()
    across: range = range(0)


def run(content: PlaneContent, start: Spot, end: Spot) -> GesturePreview:
    """Work out a run: from a cell, one cell a step on both axes, within its block.

    Cells that are 1 already are passed over; those whose column or row another element takes are refused.
    """
    columns, rows = block_ranges(content, *start)
    step_x, step_y = (1 if end[0] >= start[0] else -1), (1 if end[1] >= start[1] else -1)
    length = max(abs(end[0] - start[0]), abs(end[1] - start[1])) + 1
    room_x = columns.stop - start[0] if step_x > 0 else start[0] - columns.start + 1
    room_y = rows.stop - start[1] if step_y > 0 else start[1] - rows.start + 1
    cells = [(start[0] + i * step_x, start[1] + i * step_y) for i in range(min(length, room_x, room_y))]
    return proposal(cells, _elements(content, columns, rows))


def proposal(cells: Iterable[Spot], elements: Iterable[Spot]) -> GesturePreview:
    """Sort cells of one block into those that can be set and those whose column or row is taken."""
    by_column: dict[int, Spot] = {}
    by_row: dict[int, Spot] = {}
    for spot in elements:
        by_column[spot[0]] = spot
        by_row[spot[1]] = spot
    wanted: list[Spot] = []
    refused: list[Spot] = []
    takers: dict[Spot, bool] = {}
    for spot in cells:
        taken = [found for found in (by_column.get(spot[0]), by_row.get(spot[1])) if found is not None]
        if spot in taken:
            continue
        if taken:
            refused.append(spot)
            takers.update(dict.fromkeys(taken, True))
        else:
            wanted.append(spot)
            by_column[spot[0]] = by_row[spot[1]] = spot
    return GesturePreview(tuple(wanted), tuple(refused), tuple(takers))


def takers_of(content: PlaneContent, spot: Spot) -> tuple[Spot, ...]:
    """Return the elements of a cell's block that take its column or its row; none when the cell itself is 1."""
    columns, rows = block_ranges(content, *spot)
    elements = [
        *_elements(content, range(spot[0], spot[0] + 1), rows),
        *_elements(content, columns, range(spot[1], spot[1] + 1)),
    ]
    return () if spot in elements else tuple(elements)


def rectangle(
    content: PlaneContent, box: tuple[float, float, float, float], levels: tuple[Level, Level]
) -> GesturePreview | None:
    """Work out a rectangle: every item of the drawn levels that a box of the plane (in units) touches."""
    found = []
    for side, low, high, level in (
        (Side.EXTRACTION, box[0], box[2], levels[0]),
        (Side.CDM, box[1], box[3], levels[1]),
    ):
        spans = axis_of(content, side).spans(level)
        items = spans.within(min(low, high), max(low, high))
        if not items:
            return None
        found.append((spans.first(items[0]), spans.last(items[-1]) - 1))
    (left, right), (top, bottom) = found
    return GesturePreview(box=(left, top, right, bottom))


def _elements(content: PlaneContent, columns: range, rows: range) -> list[Spot]:
    return [(column, row) for column, row, _ in content.elements_within(columns, rows)]


_INSET = 0.2
_MOST_BANDS = 100
"""What is chosen by the thousand is told by its number elsewhere."""

_HATCH = Qt.BrushStyle.BDiagPattern


def paint_preview(
    painter: QPainter, content: PlaneContent, camera: Camera, trial: GesturePreview, size: QRectF, theme: Theme
) -> None:
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
    painter: QPainter,
    content: PlaneContent,
    camera: Camera,
    selected: Selected,
    box: PositionBox | None,
    size: QRectF,
    theme: Theme,
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


def _in_block(content: PlaneContent, camera: Camera, trial: GesturePreview, position: int) -> QRectF:
    """Return the part of a row or column that lies in the block of the dragged field."""
    if trial.over is None or not trial.across:
        return QRectF()
    ends = [(at, position) for at in (trial.across[0], trial.across[-1])]
    if trial.over[0] is Side.EXTRACTION:
        ends = [(position, at) for at, _ in ends]
    return _cell(content, camera, ends[0]).united(_cell(content, camera, ends[1]))


def _band(content: PlaneContent, camera: Camera, side: Side, span: tuple[float, float], size: QRectF) -> QRectF:
    right, bottom = camera.on_screen(content.columns.length, content.rows.length)
    left, top = camera.on_screen(0.0, 0.0)
    if side is Side.EXTRACTION:
        left, right = camera.on_screen(span[0], 0.0)[0], camera.on_screen(span[1], 0.0)[0]
    else:
        top, bottom = camera.on_screen(0.0, span[0])[1], camera.on_screen(0.0, span[1])[1]
    return QRectF(left, top, right - left, bottom - top).intersected(size)


def _box(content: PlaneContent, camera: Camera, box: tuple[int, int, int, int]) -> QRectF:
    first, last = _cell(content, camera, (box[0], box[1])), _cell(content, camera, (box[2], box[3]))
    return first.united(last)


def _cell(content: PlaneContent, camera: Camera, spot: tuple[int, int]) -> QRectF:
    wide = content.columns.spans(Level.ATTRIBUTE).stretch(spot[0])
    tall = content.rows.spans(Level.ATTRIBUTE).stretch(spot[1])
    left, top = camera.on_screen(wide[0], tall[0])
    right, bottom = camera.on_screen(wide[1], tall[1])
    return QRectF(left, top, right - left, bottom - top)


def _inner(cell: QRectF) -> QRectF:
    wide, tall = cell.width() * _INSET, cell.height() * _INSET
    return cell.adjusted(wide, tall, -wide, -tall)
