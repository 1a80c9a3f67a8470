"""The block matrix as a view: a pyqtgraph ``GraphicsView`` with one painted pane each for plane, headers and map."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from metl_gui.core.blocks import Element
from metl_gui.core.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera, Frame, fitted, looking_at
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.gestures import Press
from metl_gui.ui.matrix.headers import LEFT_PX, TOP_PX
from metl_gui.ui.matrix.hits import Cell, Hits, node_of, position_of
from metl_gui.ui.matrix.overlay import Pointer
from metl_gui.ui.matrix.overview import centred
from metl_gui.ui.matrix.panes import Panes, Sight
from metl_gui.ui.matrix.tiles import TileCache
from metl_gui.ui.selection import Selected

_WHEEL_STEP = 1.18


class MatrixView(pg.GraphicsView):
    """Shows a ``Content`` and turns gestures into selections and wishes; it changes nothing itself.

    Signals:
        picked: a ``Selected``, by click or arrow key.
        toggle_wanted: a ``Cell`` that a click or Space wants set or cleared.
        pointed: a ``Selected`` under the pointer, or ``None``.
        opened: a ``BlockKey`` whose editor is asked for.
    """

    picked = Signal(object)
    toggle_wanted = Signal(object)
    pointed = Signal(object)
    opened = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        pg.GraphicsView.__init__(self, parent, background=None)
        self.sight = Sight()
        self.panes = Panes(self.scene(), self.sight)
        self._press: Press | None = None
        self._drags_map = False
        self._is_placed = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Matrix")
        self.setAccessibleDescription("Columns are extraction attributes, rows are CDM attributes.")
        self.setMinimumSize(360, 260)

    # what is shown

    @property
    def content(self) -> Content | None:
        """What is laid out."""
        return self.sight.content

    @property
    def camera(self) -> Camera:
        """Where it is looked at from."""
        return self.sight.camera

    @property
    def selected(self) -> Selected:
        """The selection that is shown."""
        return self.sight.selected

    @property
    def pointer(self) -> Pointer:
        """The attribute positions under the pointer."""
        return self.sight.pointer

    @property
    def tiles(self) -> TileCache:
        """The painted squares of the plane."""
        return self.panes.tiles

    @property
    def hits(self) -> Hits | None:
        """Answers about what lies where, ``None`` without content."""
        return Hits(self.sight.content, self.sight.snapped) if self.sight.content is not None else None

    @property
    def frame(self) -> Frame:
        """The plane's extent and the viewport's."""
        return self.panes.frame

    def show_content(self, content: Content) -> None:
        """Show another content at the same place; the first one is fitted."""
        self.sight.content = content
        self.sight.pointer = Pointer()
        self.tiles.show(content)
        if self._is_placed:
            self.look(self.camera.held(self.frame))
        else:
            self._first_look()

    def show_selected(self, selected: Selected, bring_into_sight: bool = False) -> None:
        """Show the selection and, when asked, move as little as needed to see it."""
        self.sight.selected = selected
        box = self.hits.box(selected) if self.hits is not None else None
        if bring_into_sight and box is not None and self._is_placed:
            self.look(self.camera.showing(self.frame, box))
        self.panes.repaint()

    def look(self, camera: Camera) -> None:
        """Look from another place."""
        self.sight.camera = camera
        self.panes.show_map_if_needed()
        self.panes.repaint()

    def fit(self) -> None:
        """Look at everything."""
        self.look(fitted(self.frame))

    def fit_selection(self) -> None:
        """Look at the selected block or node as closely as it fits."""
        box = self.hits.box(self.selected) if self.hits is not None else None
        if box is not None:
            self.look(looking_at(self.frame, box))

    def zoom(self, factor: float) -> None:
        """Zoom both axes about the middle."""
        frame = self.frame
        self.look(self.camera.zoomed(frame, factor, factor, (frame.width / 2, frame.height / 2)))

    def cell_at(self, x: float, y: float) -> Cell | None:
        """Return the cell under a point of the plane's viewport, when cells are drawn."""
        return self.hits.cell(x, y) if self.hits is not None else None

    def centre_of(self, element: Element) -> QPointF:
        """Return where the middle of a cell lies in this widget."""
        assert self.content is not None  # noqa: S101 - there are no elements without content
        columns, rows = self.content.columns, self.content.rows
        x, y = self.camera.on_screen(
            columns.begin(columns.position[element.p]) + 0.5, rows.begin(rows.position[element.q]) + 0.5
        )
        return self.panes.plane.pos() + QPointF(x, y)

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.resetCachedContent()
        self.viewport().update()

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Fill with the panel's colour."""
        painter.fillRect(rect, themes.current().panel)

    # events

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Lay the panes out again."""
        pg.GraphicsView.resizeEvent(self, event)
        if event is None or not hasattr(self, "panes"):
            return
        self.panes.lay_out(float(self.width()), float(self.height()))
        if self.content is not None and self._is_placed:
            self.sight.camera = self.camera.held(self.frame)
        elif self.content is not None:
            self._first_look()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit what is shown for the first time."""
        super().showEvent(event)
        if not self._is_placed:
            self._first_look()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer; a trackpad's scroll pans."""
        event.accept()
        keys = event.modifiers()
        control, shift = (
            bool(keys & m) for m in (Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier)
        )
        if not event.pixelDelta().isNull() and not control and not shift:
            delta = event.pixelDelta()
            self.look(self.camera.panned(self.frame, delta.x(), delta.y()))
            return
        turns = (event.angleDelta().y() or event.angleDelta().x()) / 120
        factor = _WHEEL_STEP**turns
        at = event.position() - self.panes.plane.pos()
        factor_x = 1.0 if shift and control else factor
        factor_y = 1.0 if shift and not control else factor
        self.look(self.camera.zoomed(self.frame, factor_x, factor_y, (at.x(), at.y())))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a gesture."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        at = event.position()
        if self.panes.is_on_map(at) and event.button() is Qt.MouseButton.LeftButton:
            self._drags_map = True
            self._move_by_map(at)
            return
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        pans_at_once = event.button() is Qt.MouseButton.MiddleButton
        pans = pans_at_once or not event.modifiers() & Qt.KeyboardModifier.AltModifier
        self._press = Press(at.x(), at.y(), pans_at_once, pans)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan, or show what is under the pointer."""
        at = event.position()
        if self._drags_map:
            self._move_by_map(at)
            return
        pan = self._press.move(at.x(), at.y()) if self._press is not None else None
        if pan is not None:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.look(self.camera.panned(self.frame, pan.dx, pan.dy))
        elif self._press is None:
            self._point(at)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a gesture; a click selects, and sets or clears a cell."""
        self.unsetCursor()
        self._drags_map = False
        press, self._press = self._press, None
        click = press.release() if press is not None else None
        if click is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        at = QPointF(click.x, click.y) - self.panes.plane.pos()
        selected = self._selected_at(at)
        if selected is None:
            return
        self.picked.emit(selected)
        cell = self.cell_at(at.x(), at.y()) if self._is_on_plane(at) else None
        if cell is not None and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.toggle_wanted.emit(cell)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Drill into a tile; ask for the editor of a block whose cells are drawn."""
        at = event.position() - self.panes.plane.pos()
        selected = self._selected_at(at)
        if selected is None or self.hits is None:
            return
        if self.hits.shows_cells:
            if selected.block is not None and not self._is_on_plane(at):
                self.opened.emit(selected.block)
            return
        self.picked.emit(selected)
        self.fit_selection()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the pointer."""
        pg.GraphicsView.leaveEvent(self, event)
        self.sight.pointer = Pointer()
        self.pointed.emit(None)
        self.panes.repaint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the cell cursor, set or clear, fit, zoom; Esc abandons a gesture."""
        steps = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, -1),
            Qt.Key.Key_Down: (0, 1),
        }
        commands = {
            Qt.Key.Key_F: self.fit,
            Qt.Key.Key_Z: self.fit_selection,
            Qt.Key.Key_Plus: lambda: self.zoom(_WHEEL_STEP),
            Qt.Key.Key_Minus: lambda: self.zoom(1 / _WHEEL_STEP),
            Qt.Key.Key_Space: self._toggle_selected,
            Qt.Key.Key_Return: self.fit_selection,
            Qt.Key.Key_Escape: self._escape,
        }
        key = Qt.Key(event.key())
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            event.ignore()
        elif key in steps:
            self._step(*steps[key])
        elif key in commands:
            commands[key]()
        else:
            event.ignore()

    # what gestures do

    def _first_look(self) -> None:
        if self.width() > LEFT_PX + 60 and self.height() > TOP_PX + 60 and self.content is not None:
            self._is_placed = self.isVisible()
            self.fit()

    def _is_on_plane(self, at: QPointF) -> bool:
        return at.x() >= 0 and at.y() >= 0 and self.panes.plane.boundingRect().contains(at)

    def _selected_at(self, at: QPointF) -> Selected | None:
        return self.hits.selected(at.x(), at.y(), self.selected) if self.hits is not None else None

    def _point(self, at: QPointF) -> None:
        inside = at - self.panes.plane.pos()
        column, row = self.hits.positions(inside.x(), inside.y()) if self.hits is not None else (None, None)
        if not self.panes.plane.box().contains(at) or self.panes.is_on_map(at):
            column = row = None
        pointer = Pointer(column, row) if column is not None and row is not None else Pointer()
        if pointer == self.pointer:
            return
        self.sight.pointer = pointer
        self.pointed.emit(self._selected_at(inside) if pointer.column is not None else None)
        self.panes.repaint_marks()

    def _move_by_map(self, at: QPointF) -> None:
        place, frame = self.panes.place_on_map(at), self.frame
        if place is not None:
            self.look(centred(self.camera, place, frame.width, frame.height).held(frame))

    def _step(self, dx: int, dy: int) -> None:
        if self.content is None:
            return
        ends = []
        for side, axis, by in (
            (Side.EXTRACTION, self.content.columns, dx),
            (Side.CDM, self.content.rows, dy),
        ):
            count = len(axis.spans(Level.ATTRIBUTE))
            if not count:
                return
            at = position_of(axis, self.selected.on(side)) if self.selected.element is not None else None
            ends.append(node_of(axis, Level.ATTRIBUTE, 0 if at is None else min(max(at + by, 0), count - 1)))
        self.picked.emit(Selected(*ends))
        box = self.hits.box(self.selected) if self.hits is not None else None
        self.look(self.camera.showing(self.frame, box or (0, 0, 1, 1)))

    def _toggle_selected(self) -> None:
        key, element = self.selected.block, self.selected.element
        if key is not None and element is not None:
            self.toggle_wanted.emit(Cell(key, element))

    def _escape(self) -> None:
        if self._press is not None:
            self._press.abandon()
            self.unsetCursor()
        else:
            self.picked.emit(Selected())
