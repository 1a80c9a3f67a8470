"""The block matrix as a view: a pyqtgraph ``GraphicsView`` with one painted pane each for plane, headers and map."""

from __future__ import annotations

from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from metl_gui.core.blocks import BlockKey, Element, Status
from metl_gui.ui import theme as themes
from metl_gui.ui.matrix.axis import Axis, Level
from metl_gui.ui.matrix.camera import Camera, Frame, fitted, level_at, looking_at
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.gestures import Press
from metl_gui.ui.matrix.headers import LEFT_PX, TOP_PX, Strip, paint_left, paint_top
from metl_gui.ui.matrix.legend import HEIGHT_PX, paint_legend
from metl_gui.ui.matrix.overlay import Pointer, paint_overlay, span_of
from metl_gui.ui.matrix.overview import HEIGHT_PX as MAP_HEIGHT
from metl_gui.ui.matrix.overview import WIDTH_PX as MAP_WIDTH
from metl_gui.ui.matrix.overview import Overview, centred
from metl_gui.ui.matrix.pane import Pane
from metl_gui.ui.matrix.tiles import TileCache
from metl_gui.ui.selection import Place, Selected

_WHEEL_STEP = 1.18


@dataclass(frozen=True)
class Cell:
    """A cell of the plane: the block and the element it stands for."""

    key: BlockKey
    element: Element


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
        self.camera = Camera()
        self.content: Content | None = None
        self.selected = Selected()
        self.pointer = Pointer()
        self.tiles = TileCache()
        self._overview = Overview()
        self._press: Press | None = None
        self._drags_map = False
        self._is_placed = False
        self._plane = Pane(self._paint_plane, 0)
        self._overlay = Pane(self._paint_overlay, 1)
        self._top = Pane(self._paint_top, 2)
        self._left = Pane(self._paint_left, 2)
        self._corner = Pane(self._paint_corner, 3)
        self._legend = Pane(lambda painter, size: paint_legend(painter, size, themes.current()), 3)
        self._map = Pane(self._paint_map, 4)
        for pane in (self._plane, self._overlay, self._top, self._left, self._corner, self._legend, self._map):
            self.scene().addItem(pane)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Matrix")
        self.setAccessibleDescription("Columns are extraction attributes, rows are CDM attributes.")
        self.setMinimumSize(360, 260)

    # what is shown

    def show_content(self, content: Content) -> None:
        """Show another content at the same place; the first one is fitted."""
        self.content = content
        self.tiles.show(content)
        self.pointer = Pointer()
        if self._is_placed:
            self.look(self.camera.held(self.frame))
        else:
            self._first_look()

    def show_selected(self, selected: Selected, bring_into_sight: bool = False) -> None:
        """Show the selection and, when asked, move as little as needed to see it."""
        self.selected = selected
        box = self._selected_box()
        if bring_into_sight and box is not None and self._is_placed:
            self.look(self.camera.showing(self.frame, box))
        self._repaint()

    @property
    def frame(self) -> Frame:
        """The plane's extent and the viewport's."""
        box = self._plane.box()
        columns, rows = (self.content.columns.length, self.content.rows.length) if self.content else (0.0, 0.0)
        return Frame(columns, rows, max(box.width(), 1.0), max(box.height(), 1.0))

    def look(self, camera: Camera) -> None:
        """Look from another place."""
        self.camera = camera
        self._map.setVisible(self._has_room_for_map())
        self._repaint()

    def fit(self) -> None:
        """Look at everything."""
        self.look(fitted(self.frame))

    def fit_selection(self) -> None:
        """Look at the selected block or node as closely as it fits."""
        box = self._selected_box()
        if box is not None:
            self.look(looking_at(self.frame, box))

    def zoom(self, factor: float) -> None:
        """Zoom both axes about the middle."""
        frame = self.frame
        self.look(self.camera.zoomed(frame, factor, factor, (frame.width / 2, frame.height / 2)))

    def cell_at(self, x: float, y: float) -> Cell | None:
        """Return the cell under a point of the plane's viewport, when cells are drawn."""
        column, row = self._positions_at(x, y)
        if self.content is None or column is None or row is None or not self._shows_cells():
            return None
        return self._cell(column, row)

    def centre_of(self, element: Element) -> QPointF:
        """Return where the middle of a cell lies in this widget."""
        assert self.content is not None  # noqa: S101 - there are no elements without content
        columns, rows = self.content.columns, self.content.rows
        x, y = self.camera.on_screen(
            columns.begin(columns.position[element.p]) + 0.5, rows.begin(rows.position[element.q]) + 0.5
        )
        return self._plane.pos() + QPointF(x, y)

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.resetCachedContent()
        self.viewport().update()

    # painting

    def _repaint(self) -> None:
        for pane in (self._plane, self._overlay, self._top, self._left, self._corner, self._map):
            pane.update()

    def _paint_plane(self, painter: QPainter, size: QRectF) -> None:
        ratio = self.devicePixelRatioF()
        self.tiles.draw(painter, self._snapped(), (size.width(), size.height()), ratio, themes.current())

    def _paint_overlay(self, painter: QPainter, size: QRectF) -> None:
        if self.content is not None:
            marked = (self.pointer, self.selected)
            paint_overlay(painter, self.content, self._snapped(), size, marked, themes.current())

    def _snapped(self) -> Camera:
        """Return the camera on whole pixels, so that tiles, overlay and headers agree."""
        c = self.camera
        left, top = round(c.left * c.scale_x) / c.scale_x, round(c.top * c.scale_y) / c.scale_y
        return Camera(left, top, c.scale_x, c.scale_y)

    def _paint_top(self, painter: QPainter, size: QRectF) -> None:
        if self.content is not None:
            camera = self._snapped()
            waiting = frozenset(x for (x, _), b in self.content.blocks.items() if b.status is Status.NEEDS_REVIEW)
            columns, hover = self.content.columns, self._shown_column()
            strip = Strip(columns, camera.left, camera.scale_x, size.width(), hover, waiting)
            paint_top(painter, strip, themes.current())

    def _paint_left(self, painter: QPainter, size: QRectF) -> None:
        if self.content is not None:
            camera = self._snapped()
            rows, hover = self.content.rows, self._shown_row()
            strip = Strip(rows, camera.top, camera.scale_y, size.height(), hover, frozenset())
            paint_left(painter, strip, themes.current())

    def _paint_corner(self, painter: QPainter, size: QRectF) -> None:
        if self.content is None:
            return
        theme, font = themes.current(), themes.small()
        columns = len(self.content.columns.spans(Level.ATTRIBUTE))
        rows = len(self.content.rows.spans(Level.ATTRIBUTE))
        painter.setFont(font)
        painter.setPen(theme.dim)
        line = QFontMetricsF(font).height() + 2
        for at, words in enumerate(("columns: extraction", "rows: canonical", f"{columns:,} x {rows:,} cells")):
            painter.drawText(QPointF(8, 6 + line * (at + 0.8)), words)

    def _paint_map(self, painter: QPainter, size: QRectF) -> None:
        if self.content is not None:
            frame, camera = self.frame, self.camera
            seen = QRectF(camera.left, camera.top, frame.width / camera.scale_x, frame.height / camera.scale_y)
            self._overview.paint(painter, size, self.content, seen, themes.current())

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Fill with the panel's colour."""
        painter.fillRect(rect, themes.current().panel)

    # events

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Lay the panes out again."""
        pg.GraphicsView.resizeEvent(self, event)
        if event is None or not hasattr(self, "_map"):
            return
        width, height = float(self.width()), float(self.height())
        below = height - HEIGHT_PX
        plane = QRectF(LEFT_PX, TOP_PX, width - LEFT_PX, below - TOP_PX)
        self._plane.place(plane)
        self._overlay.place(plane)
        self._top.place(QRectF(LEFT_PX, 0, width - LEFT_PX, TOP_PX))
        self._left.place(QRectF(0, TOP_PX, LEFT_PX, below - TOP_PX))
        self._corner.place(QRectF(0, 0, LEFT_PX, TOP_PX))
        self._legend.place(QRectF(0, below, width, HEIGHT_PX))
        self._map.place(QRectF(width - MAP_WIDTH - 12, below - MAP_HEIGHT - 8, MAP_WIDTH, MAP_HEIGHT))
        self._map.setVisible(self._has_room_for_map())
        if self.content is not None and self._is_placed:
            self.camera = self.camera.held(self.frame)
        elif self.content is not None:
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
        at = event.position() - self._plane.pos()
        factor_x = 1.0 if shift and control else factor
        factor_y = 1.0 if shift and not control else factor
        self.look(self.camera.zoomed(self.frame, factor_x, factor_y, (at.x(), at.y())))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a gesture."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        at = event.position()
        if self._map.isVisible() and self._map.box().contains(at) and event.button() is Qt.MouseButton.LeftButton:
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
        at = QPointF(click.x, click.y) - self._plane.pos()
        selected = self._selected_at(at)
        if selected is None:
            return
        self.picked.emit(selected)
        cell = self.cell_at(at.x(), at.y()) if self._is_on_plane(at) else None
        if cell is not None and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.toggle_wanted.emit(cell)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Drill into a tile; ask for the editor of a block whose cells are drawn."""
        at = event.position() - self._plane.pos()
        selected = self._selected_at(at)
        if selected is None:
            return
        if self._shows_cells():
            if selected.block is not None and not self._is_on_plane(at):
                self.opened.emit(selected.block)
            return
        self.picked.emit(selected)
        self.fit_selection()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the pointer."""
        pg.GraphicsView.leaveEvent(self, event)
        self.pointer = Pointer()
        self.pointed.emit(None)
        self._repaint()

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

    # what lies where

    def _first_look(self) -> None:
        if self.width() > LEFT_PX + 60 and self.height() > TOP_PX + 60 and self.content is not None:
            self._is_placed = self.isVisible()
            self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit what is shown for the first time."""
        super().showEvent(event)
        if not self._is_placed:
            self._first_look()

    def _has_room_for_map(self) -> bool:
        frame, camera = self.frame, self.camera
        is_all_in_sight = frame.columns * camera.scale_x <= frame.width and frame.rows * camera.scale_y <= frame.height
        return not is_all_in_sight and frame.width > 2.4 * MAP_WIDTH and frame.height > 2 * MAP_HEIGHT

    def _shows_cells(self) -> bool:
        if self.content is None:
            return False
        levels = level_at(self.content.columns, self.camera.scale_x), level_at(self.content.rows, self.camera.scale_y)
        return levels == (Level.ATTRIBUTE, Level.ATTRIBUTE)

    def _is_on_plane(self, at: QPointF) -> bool:
        return at.x() >= 0 and at.y() >= 0 and self._plane.boundingRect().contains(at)

    def _positions_at(self, x: float, y: float) -> tuple[int | None, int | None]:
        if self.content is None:
            return None, None
        place = self._snapped().on_plane(x, y)
        column = self.content.columns.spans(Level.ATTRIBUTE).at(place[0]) if x >= 0 else None
        row = self.content.rows.spans(Level.ATTRIBUTE).at(place[1]) if y >= 0 else None
        return column, row

    def _cell(self, column: int, row: int) -> Cell:
        assert self.content is not None  # noqa: S101 - positions come from the content
        p = int(self.content.columns.spans(Level.ATTRIBUTE).ids[column])
        q = int(self.content.rows.spans(Level.ATTRIBUTE).ids[row])
        return Cell(self.content.key_at(column, row), Element(q, p))

    def _selected_at(self, at: QPointF) -> Selected | None:
        """Return what a click at a point of the plane's viewport or of a header means."""
        if self.content is None or (at.x() < 0 and at.y() < 0):
            return None
        place = self._snapped().on_plane(at.x(), at.y())
        is_top, is_left = at.y() < 0, at.x() < 0
        source = None if is_left else _node_at(self.content.columns, self.camera.scale_x, place[0])
        target = None if is_top else _node_at(self.content.rows, self.camera.scale_y, place[1])
        if is_top or is_left:
            kept = self.selected
            chosen = Selected(source, kept.target) if is_top else Selected(kept.source, target)
            return chosen if (source or target) else None
        return Selected(source, target) if source and target else None

    def _point(self, at: QPointF) -> None:
        inside = at - self._plane.pos()
        column, row = self._positions_at(inside.x(), inside.y())
        if not self._plane.box().contains(at) or (self._map.isVisible() and self._map.box().contains(at)):
            column = row = None
        pointer = Pointer(column, row) if column is not None and row is not None else Pointer()
        if pointer == self.pointer:
            return
        self.pointer = pointer
        self.pointed.emit(self._selected_at(inside) if pointer.column is not None else None)
        for pane in (self._overlay, self._top, self._left):
            pane.update()

    def _shown_column(self) -> int | None:
        place = self.selected.source
        if self.pointer.column is not None or place is None or place.attribute is None or self.content is None:
            return self.pointer.column
        return self.content.columns.position.get(place.attribute)

    def _shown_row(self) -> int | None:
        place = self.selected.target
        if self.pointer.row is not None or place is None or place.attribute is None or self.content is None:
            return self.pointer.row
        return self.content.rows.position.get(place.attribute)

    def _selected_box(self) -> tuple[float, float, float, float] | None:
        if self.content is None:
            return None
        wide = span_of(self.content.columns, self.selected.source)
        tall = span_of(self.content.rows, self.selected.target)
        if wide is None and tall is None:
            return None
        sight_left, sight_top = self.camera.left, self.camera.top
        wide = wide or (sight_left, sight_left + 1)
        tall = tall or (sight_top, sight_top + 1)
        return wide[0], tall[0], wide[1], tall[1]

    def _move_by_map(self, at: QPointF) -> None:
        if self.content is not None:
            place = self._overview.place_at(self._map.boundingRect(), self.content, at - self._map.pos())
            frame = self.frame
            self.look(centred(self.camera, place, frame.width, frame.height).held(frame))

    def _step(self, dx: int, dy: int) -> None:
        if self.content is None:
            return
        columns, rows = self.content.columns, self.content.rows
        if not len(columns.spans(Level.ATTRIBUTE)) or not len(rows.spans(Level.ATTRIBUTE)):
            return
        element = self.selected.element
        at_x = columns.position.get(element.p) if element else None
        at_y = rows.position.get(element.q) if element else None
        column = 0 if at_x is None else min(max(at_x + dx, 0), len(columns.spans(Level.ATTRIBUTE)) - 1)
        row = 0 if at_y is None else min(max(at_y + dy, 0), len(rows.spans(Level.ATTRIBUTE)) - 1)
        cell = self._cell(column, row)
        source = Place(columns.versions[int(columns.version_of[column])].schema_id, cell.key[0], cell.element.p)
        target = Place(rows.versions[int(rows.version_of[row])].schema_id, cell.key[1], cell.element.q)
        self.picked.emit(Selected(source, target))
        self.look(self.camera.showing(self.frame, self._selected_box() or (0, 0, 1, 1)))

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


def _node_at(axis: Axis, scale: float, place: float) -> Place | None:
    """Return the node of the drawn level at a place of an axis."""
    level = level_at(axis, scale)
    if level is None or level is Level.GROUP:
        level = Level.SCHEMA
    at = axis.spans(level).at(place)
    if at is None:
        return None
    id_ = int(axis.spans(level).ids[at])
    if level is Level.SCHEMA:
        return Place(id_)
    version = axis.versions[int(axis.version_of[at]) if level is Level.ATTRIBUTE else at]
    return Place(version.schema_id, version.id, id_ if level is Level.ATTRIBUTE else None)
