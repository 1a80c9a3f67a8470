"""The hand on the matrix: mouse, wheel and trackpad turned into what the view does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QInputEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input import gesture_preview
from metl_gui.ui.matrix.input.cursor import drawn_level
from metl_gui.ui.matrix.input.gesture_preview import GesturePreview
from metl_gui.ui.matrix.input.gestures import Button, Click, Drag, DragSpan, Keys, Pan, Press, SpaceKey, wheel_factors
from metl_gui.ui.matrix.input.hit_test import Hits, cell_of, node_of
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.painting.overlay import Pointer
from metl_gui.ui.matrix.painting.plane import centred
from metl_gui.ui.project.selection import CellRange, Selected

if TYPE_CHECKING:
    from metl_gui.ui.matrix.view import MatrixView

_BUTTONS = {Qt.MouseButton.LeftButton: Button.LEFT, Qt.MouseButton.MiddleButton: Button.MIDDLE}


class MouseController:
    """Follows one pointer over one view."""

    def __init__(self, view: MatrixView) -> None:
        self._view = view
        self._press: Press | None = None
        self._button = Qt.MouseButton.NoButton
        self._drags_map = False
        self._sizes_map = False
        self._map_before: float | None = None
        self._was_on_control = False
        self._shape: Qt.CursorShape | None = None
        self._levels: tuple[Level | None, Level | None] | None = None
        self.space = SpaceKey()

    @property
    def is_busy(self) -> bool:
        """Whether a gesture goes on."""
        return self._press is not None or self._drags_map or self._sizes_map

    def press(self, event: QMouseEvent) -> None:
        """Begin a gesture."""
        at, button = event.position(), _BUTTONS.get(event.button())
        if self.is_busy and event.button() is not self._button:
            return
        self.abandon()  # the same button once more: its release went to somebody else
        self._button = event.button()
        self._was_on_control = False
        if button is Button.LEFT and self._view.panes.is_on_grip(at):
            self._sizes_map, self._map_before = True, self._view.panes.map_width
        elif button is Button.LEFT and self._view.panes.is_on_map(at):
            self._drags_map = True
            self._move_by_map(at)
        elif button is not None:
            keys = _keys(event, self.space.is_down)
            if keys.space:
                self.space.use()
            self._press = Press(at.x(), at.y(), button, keys, self._is_on_cell(at))

    def move(self, event: QMouseEvent) -> None:
        """Go on with the gesture, or show what is under the pointer."""
        at = event.position()
        if self._sizes_map:
            self._view.panes.draw_map_to(at)
            return
        if self._drags_map:
            self._move_by_map(at)
            return
        if self._press is None:
            self.point(at)
            return
        wish = self._press.move(at.x(), at.y())
        if isinstance(wish, Pan):
            self._view.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._view.drift(self._view.camera.panned(self._view.frame, wish.dx, wish.dy))
        elif wish is not None:
            self._view.show_trial(self._trial_of(wish))

    def release(self, event: QMouseEvent) -> None:
        """End the gesture: do what it means."""
        if event.button() is not self._button:
            return
        if self._sizes_map:
            self._view.map_sized.emit(self._view.panes.map_width)
        self._drags_map = self._sizes_map = False
        press, self._press = self._press, None
        self._view.unsetCursor()
        wish = press.release(event.position().x(), event.position().y()) if press is not None else None
        trial_now = self._trial_of(wish) if isinstance(wish, DragSpan) else None
        self._view.show_trial(None)
        if isinstance(wish, Click):
            self._click(wish)
        elif isinstance(wish, DragSpan) and trial_now is not None:
            self._end(wish, trial_now)

    def double_click(self, event: QMouseEvent) -> None:
        """Drill into a tile; ask for the editor of a block when its header or frame is hit."""
        view, hits = self._view, self._view.hits
        if event.button() is not Qt.MouseButton.LeftButton or hits is None or self._was_on_control:
            return
        if view.panes.is_on_grip(event.position()):
            view.dock_map()
            return
        if view.panes.is_on_map(event.position()):
            view.fit()
            return
        at = event.position() - view.panes.plane.pos()
        selected = view.selected_at(at) if view.loss_at(at) is None else None
        is_on_plane = view.is_on_plane(at)
        if selected is None or (hits.shows_cells and is_on_plane and selected.element is not None):
            return
        view.picked.emit(selected)
        if hits.shows_cells or not is_on_plane:
            view.opened.emit(view.selected)
        else:
            view.drill()

    def abandon(self) -> bool:
        """Let the gesture mean nothing; whether there was one."""
        if not self.is_busy:
            return False
        if self._press is not None:
            self._press.abandon()
        if self._sizes_map:
            self._view.panes.show_map_as(self._map_before)
        self._drags_map = self._sizes_map = False
        self._view.unsetCursor()
        self._view.show_trial(None)
        return True

    def wheel(self, event: QWheelEvent) -> None:
        """Zoom about the pointer; a trackpad's scroll pans."""
        event.accept()
        view, keys = self._view, _keys(event)
        if not event.pixelDelta().isNull() and not keys.control and not keys.shift:
            delta = event.pixelDelta()
            view.drift(view.camera.panned(view.frame, delta.x(), delta.y()))
            return
        turns = (event.angleDelta().y() or event.angleDelta().x()) / 120
        self._zoom(wheel_factors(turns, keys), event.position())

    def native_gesture(self, event: QNativeGestureEvent) -> bool:
        """Zoom by a pinch, pan by what the system calls panning; whether it was one of them."""
        if event.gestureType() is Qt.NativeGestureType.ZoomNativeGesture:
            factor = max(1.0 + event.value(), 0.1)
            self._zoom((factor, factor), event.position())
        elif event.gestureType() is Qt.NativeGestureType.PanNativeGesture:
            delta = event.delta()
            self._view.drift(self._view.camera.panned(self._view.frame, delta.x(), delta.y()))
        else:
            return False
        event.accept()
        return True

    def point(self, at: QPointF | None) -> None:
        """Show what is under the pointer, nothing for ``None``."""
        view, hits = self._view, self._view.hits
        view.panes.let_map_give_way(at)
        pointer, inside = Pointer(), QPointF()
        if at is not None and hits is not None:
            inside = at - view.panes.plane.pos()
            column, row = hits.positions(inside.x(), inside.y())
            is_there = view.panes.plane.box().contains(at) and not view.panes.is_on_map(at)
            if is_there and column is not None and row is not None:
                pointer = Pointer(column, row)
            is_ghost = view.loss_at(inside) is not None and not view.panes.is_on_map(at)
            opens = is_ghost or view.panes.sign_at(at) is not None or view.panes.control_at(at) is not None
            shape = Qt.CursorShape.PointingHandCursor if opens else None
            self._show_shape(Qt.CursorShape.SizeFDiagCursor if view.panes.is_on_grip(at) else shape)
        levels = (hits.level(Side.EXTRACTION), hits.level(Side.CDM)) if hits is not None else None
        if pointer == view.pointer and levels == self._levels:
            return
        view.sight.pointer, self._levels = pointer, levels
        view.show_trial(self._takers(hits, pointer))
        view.pointed.emit(view.selected_at(inside) if pointer.column is not None else None)
        view.panes.repaint_marks()

    def _show_shape(self, shape: Qt.CursorShape | None) -> None:
        """Show by the pointer what a press does there."""
        if shape != self._shape:
            self._shape = shape
            if shape is not None:
                self._view.setCursor(shape)
            else:
                self._view.unsetCursor()

    def _takers(self, hits: Hits | None, pointer: Pointer) -> GesturePreview | None:
        """Return what takes the row or the column of the cell under the pointer, where cells are drawn."""
        if hits is None or pointer.column is None or pointer.row is None or not hits.shows_cells:
            return None
        takers = gesture_preview.takers_of(hits.content, (pointer.column, pointer.row))
        return GesturePreview(takers=takers) if takers else None

    def _zoom(self, factors: tuple[float, float], at: QPointF) -> None:
        view, inside = self._view, at - self._view.panes.plane.pos()
        view.drift(view.camera.zoomed(view.frame, *factors, (inside.x(), inside.y())))
        self.point(at)

    def _move_by_map(self, at: QPointF) -> None:
        view, place, frame = self._view, self._view.panes.place_on_map(at), self._view.frame
        if place is not None:
            view.drift(centred(view.camera, place, frame.width, frame.height).held(frame))

    def _is_on_cell(self, at: QPointF) -> bool:
        inside = at - self._view.panes.plane.pos()
        return self._view.is_on_plane(inside) and self._view.cell_at(inside.x(), inside.y()) is not None

    def _click(self, click: Click) -> None:
        view = self._view
        sign = view.panes.sign_at(QPointF(click.x, click.y))
        if sign is not None:
            view.go_to_next(sign)
            return
        control = view.panes.control_at(QPointF(click.x, click.y))
        if control is not None:
            self._was_on_control = True
            wanted = view.pin_wanted if control[1].pins else view.fold_wanted
            wanted.emit((control[0], control[1].node))
            return
        at = QPointF(click.x, click.y) - view.panes.plane.pos()
        lost = view.loss_at(at)
        if lost is not None:
            view.loss_picked.emit(lost)
            return
        selected = view.selected_at(at)
        if selected is None:
            return
        cell = view.cell_at(at.x(), at.y()) if view.is_on_plane(at) else None
        if click.extends and cell is not None and view.selected.element is not None:
            view.stretch_to(selected)
            return
        view.picked.emit(selected)
        if cell is not None and click.edits:
            view.toggle_wanted.emit(cell)

    def _trial_of(self, stretch: DragSpan) -> GesturePreview | None:
        hits = self._view.hits
        if hits is None:
            return None
        (x0, y0), (x1, y1) = self._on_plane(hits, stretch.start), self._on_plane(hits, stretch.end)
        if stretch.drag is Drag.RECTANGLE:
            return gesture_preview.rectangle(
                hits.content, (x0, y0, x1, y1), (drawn_level(hits, Side.EXTRACTION), drawn_level(hits, Side.CDM))
            )
        start = _spot(hits, x0, y0)
        end = _nearest(hits, x1, y1)
        return None if start is None or end is None else gesture_preview.run(hits.content, start, end)

    def _on_plane(self, hits: Hits, at: tuple[float, float]) -> tuple[float, float]:
        origin = self._view.panes.plane.pos()
        return hits.camera.on_plane(at[0] - origin.x(), at[1] - origin.y())

    def _end(self, stretch: DragSpan, done: GesturePreview) -> None:
        hits = self._view.hits
        if hits is None:
            return
        if stretch.drag is Drag.RUN:
            cells = tuple(cell_of(hits.content, *spot) for spot in done.wanted)
            refused = tuple(cell_of(hits.content, *spot) for spot in done.refused)
            if cells or refused:
                self._view.run_wanted.emit((cells, refused))
        elif done.box is not None:
            self._view.picked.emit(selected_box(hits, done.box))


def selected_box(hits: Hits, box: tuple[int, int, int, int]) -> Selected:
    """Return the selection of a rectangle of attribute positions; its first corner is the current cell."""
    columns, rows = hits.content.columns, hits.content.rows
    sources = node_of(columns, Level.ATTRIBUTE, box[0]), node_of(columns, Level.ATTRIBUTE, box[2])
    targets = node_of(rows, Level.ATTRIBUTE, box[1]), node_of(rows, Level.ATTRIBUTE, box[3])
    return Selected(sources[0], targets[0], cells=CellRange(*sources, *targets))


def _spot(hits: Hits, x: float, y: float) -> tuple[int, int] | None:
    column = hits.content.columns.spans(Level.ATTRIBUTE).at(x)
    row = hits.content.rows.spans(Level.ATTRIBUTE).at(y)
    return None if column is None or row is None else (column, row)


def _nearest(hits: Hits, x: float, y: float) -> tuple[int, int] | None:
    """Return the cell at a place of the plane, the one before a gap where there is none."""
    found = []
    for axis, place in ((hits.content.columns, x), (hits.content.rows, y)):
        spans = axis.spans(Level.ATTRIBUTE)
        if not len(spans):
            return None
        found.append(min(max(spans.within(place, axis.length).start, 0), len(spans) - 1))
    return found[0], found[1]


def _keys(event: QInputEvent, is_space_down: bool = False) -> Keys:
    held = event.modifiers()
    return Keys(
        control=bool(held & Qt.KeyboardModifier.ControlModifier),
        shift=bool(held & Qt.KeyboardModifier.ShiftModifier),
        alt=bool(held & Qt.KeyboardModifier.AltModifier),
        space=is_space_down,
    )
