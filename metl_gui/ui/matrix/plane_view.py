"""A view of the plane: a scene with one painted pane each for plane, headers and map, and from where one looks."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView, QWidget

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.ui.matrix.input.cursor import drilled, raised
from metl_gui.ui.matrix.input.hit_test import Cell, Hits
from metl_gui.ui.matrix.labels.headers import left_px, top_px
from metl_gui.ui.matrix.layout.camera import Camera, Frame, Trail, Viewpoint, camera_of, fitted, looking_at, place_of
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.layout.elements import places_of
from metl_gui.ui.matrix.layout.ghost_lines import LostHere
from metl_gui.ui.matrix.painting.overlay import Pointer
from metl_gui.ui.matrix.painting.plane import TileCache
from metl_gui.ui.matrix.scene import Panes, SceneState, says_nothing
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.theming import theme as themes


class PlaneView(QGraphicsView):
    """Shows a ``Content`` and a selection from a place that one can move; it takes no gestures.

    Signals:
        picked: a ``Selected`` that one came to by going to a place or up a level.
        announced: what a screen reader is told of the cursor.
        moved: one looks from another place.
    """

    picked = Signal(object)
    announced = Signal(str)
    moved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stage = QGraphicsScene(self)
        self._stage.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)  # half a dozen items that move together
        self.setScene(self._stage)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # the panes cover all of it
        self.sight = SceneState()
        self.panes = Panes(self._stage, self.sight)
        self.trail = Trail()
        self.describe: Callable[[Selected], str] = says_nothing
        self._wished: Viewpoint | None = None
        self._is_placed = False
        self._scale = themes.scale()
        self._fitted_at: Camera | None = None
        self.setMinimumSize(200, 140)

    # what is shown

    @property
    def content(self) -> PlaneContent | None:
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
        content = self.sight.content
        at = self.panes.plane.pos()
        return Hits(content, self.sight.snapped, at.y(), at.x()) if content is not None else None

    @property
    def frame(self) -> Frame:
        """The plane's extent and the viewport's."""
        return self.panes.frame

    def show_content(self, content: PlaneContent, whole: PlaneContent | None = None) -> None:
        """Show another content at the same place; the first one is fitted.

        Args:
            content: what is shown.
            whole: the same with nothing hidden, where anything is.
        """
        here = self.place()
        self.sight.content, self.sight.whole = content, whole
        self.sight.pointer = Pointer()
        self.tiles.show(content)
        self.tiles.show_refused(places_of(content, self.sight.refused))
        if self._is_placed and here is not None:
            self.look(camera_of(content, self.frame, here))
        else:
            self._first_look()

    def show_refused(self, cells: frozenset[tuple[BlockKey, Element]]) -> None:
        """Put a cross on cells some of whose sampled values typed columns refuse."""
        if cells != self.sight.refused:
            self.sight.refused = cells
            if self.sight.content is not None:
                self.tiles.show_refused(places_of(self.sight.content, cells))
                self.panes.repaint()

    def forget_places(self) -> None:
        """Begin anew with another project: the next content is fitted."""
        self.trail.forget()
        self._wished = None
        self._is_placed = False
        self.sight.content = self.sight.whole = None

    def show_selected(self, selected: Selected, bring_into_sight: bool = False) -> None:
        """Show the selection and, when asked, move as little as needed to see it."""
        self.sight.selected = selected
        if bring_into_sight:
            self.bring_into_sight(selected)
        self.panes.repaint()

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.resetCachedContent()
        shows_all = self._is_placed and self.camera == self._fitted_at
        factor, self._scale = themes.scale() / self._scale, themes.scale()
        self.panes.lay_out(float(self.width()), float(self.height()))
        if self._is_placed and factor != 1.0:
            self.look(fitted(self.frame) if shows_all else self.camera.scaled(self.frame, factor))
        self.viewport().update()

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Fill what the plane's picture leaves with the panel's colour."""
        self.panes.paint_ground(painter, QRectF(rect))

    # where one looks

    def look(self, camera: Camera) -> None:
        """Look from another place."""
        self.sight.camera = camera
        self._fitted_at = fitted(self.frame)
        self.panes.show_map_if_needed()
        self.panes.repaint()
        self.moved.emit()

    def drift(self, camera: Camera) -> None:
        """Look from a place near by; a while of drifting is one step of the way back."""
        self._leave(is_jump=False)
        self.look(camera)

    def jump(self, camera: Camera) -> None:
        """Look from somewhere else; Alt+Left comes back."""
        self._leave(is_jump=True)
        self.look(camera)

    def fit(self) -> None:
        """Look at everything."""
        self.jump(fitted(self.frame))

    def fit_selection(self) -> None:
        """Look at what is selected as closely as it fits."""
        box = self.hits.box(self.selected) if self.hits is not None else None
        if box is not None:
            self.jump(looking_at(self.frame, box))

    def look_closely(self) -> None:
        """Look at what is selected where cells can be read, unless they can be already."""
        hits = self.hits
        box = hits.box(self.selected) if hits is not None and not hits.shows_cells else None
        if box is not None:
            self.look(looking_at(self.frame, box))

    def drill(self) -> None:
        """Look closer at what is selected."""
        camera = drilled(self.hits, self.frame, self.selected) if self.hits is not None else None
        if camera is not None:
            self.jump(camera)

    def go_up(self) -> None:
        """Look at what holds the selection, a level coarser."""
        if self.hits is not None:
            camera, lifted = raised(self.hits, self.frame, self.selected)
            self.picked.emit(lifted)
            self.jump(camera)
            self.announce(lifted)

    def zoom(self, factor: float) -> None:
        """Zoom both axes about the middle."""
        frame = self.frame
        self.drift(self.camera.zoomed(frame, factor, factor, (frame.width / 2, frame.height / 2)))

    def bring_into_sight(self, selected: Selected) -> None:
        """Move as little as needed to see what is selected."""
        box = self.hits.box(selected) if self.hits is not None else None
        if box is not None and self._is_placed:
            camera = self.camera.showing(self.frame, box)
            if camera != self.camera:
                self.drift(camera)

    def place(self) -> Viewpoint | None:
        """Return where one is, to come back to."""
        content = self.content
        return None if content is None or not self._is_placed else place_of(content, self.camera, self.selected)

    def go_to_place(self, place: Viewpoint) -> None:
        """Go to a place kept earlier; before the first paint it is where one looks first."""
        if self.content is None or not self._is_placed:
            self._wished = place
            return
        self._leave(is_jump=True)
        self._arrive(place)

    def note_jump(self) -> None:
        """Leave the place where one is behind, because the selection is about to lead elsewhere."""
        self._leave(is_jump=True)

    def go_back(self) -> None:
        """Return to the place before."""
        self._walk(self.trail.back)

    def go_forward(self) -> None:
        """Go again to where one came back from."""
        self._walk(self.trail.forward)

    # what lies where

    def cell_at(self, x: float, y: float) -> Cell | None:
        """Return the cell under a point of the plane's viewport, when cells are drawn."""
        return self.hits.cell(x, y) if self.hits is not None else None

    def is_on_plane(self, at: QPointF) -> bool:
        """Whether a point, counted from the plane's top left, lies on the plane and not on a header."""
        return at.x() >= 0 and at.y() >= 0 and self.panes.plane.boundingRect().contains(at)

    def selected_at(self, at: QPointF) -> Selected | None:
        """Return what a click means at a point counted from the plane's top left."""
        box = self.panes.plane.boundingRect()
        if self.hits is None or at.x() > box.right() or at.y() > box.bottom():
            return None
        return self.hits.selected(at.x(), at.y(), self.selected)

    def loss_at(self, at: QPointF) -> LostHere | None:
        """Return what was lost with the ghost at a point counted from the plane's top left, ``None`` beside ghosts."""
        box = self.panes.plane.boundingRect()
        if self.hits is None or at.x() > box.right() or at.y() > box.bottom():
            return None
        return self.hits.loss_at(at.x(), at.y())

    def centre_of(self, element: Element) -> QPointF:
        """Return where the middle of a cell lies in this widget."""
        assert self.content is not None  # noqa: S101 - there are no elements without content
        spans = (
            self.content.columns.span_of_attribute(element.p),
            self.content.rows.span_of_attribute(element.q),
        )
        assert spans[0] is not None  # noqa: S101 - elements that are asked for are on the plane
        assert spans[1] is not None  # noqa: S101
        x, y = self.camera.on_screen(spans[0][0] + 0.5, spans[1][0] + 0.5)
        return self.panes.plane.pos() + QPointF(x, y)

    def cell_box(self, key: BlockKey, element: Element) -> QRect | None:
        """Return where a cell lies in this widget, ``None`` when it is out of sight or hidden."""
        if self.content is None:
            return None
        column = self.content.columns.position_of(key[0], element.p)
        row = self.content.rows.position_of(key[1], element.q)
        if column is None or row is None:
            return None
        left, top = self.camera.on_screen(self.content.columns.begin(column), self.content.rows.begin(row))
        size = QSizeF(self.camera.scale_x, self.camera.scale_y)
        box = QRectF(self.panes.plane.pos() + QPointF(left, top), size)
        return box.toAlignedRect() if self.panes.plane.box().intersects(box) else None

    def announce(self, selected: Selected, passed: str = "") -> None:
        """Tell screen readers where the cursor is, and what it passed on its way that is no cell."""
        words = ", ".join(part for part in (self.describe(selected), passed) if part)
        if words:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
            self.announced.emit(words)

    # events

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the panes out again; who looks at everything goes on doing so."""
        super().resizeEvent(event)
        self._stage.setSceneRect(0, 0, self.width(), self.height())
        shows_all = self._is_placed and self.camera == fitted(self.frame)
        self.panes.lay_out(float(self.width()), float(self.height()))
        if self.content is not None and self._is_placed:
            self.look(fitted(self.frame) if shows_all else self.camera.held(self.frame))
        elif self.content is not None:
            self._first_look()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit what is shown for the first time."""
        super().showEvent(event)
        if not self._is_placed:
            self._first_look()

    # inside

    def _first_look(self) -> None:
        if (
            self.width() > left_px(float(self.width())) + 60
            and self.height() > top_px(float(self.height())) + 60
            and self.content is not None
        ):
            self._is_placed = self.isVisible()
            self.look(fitted(self.frame))
            wished, self._wished = self._wished, None if self._is_placed else self._wished
            if wished is not None and self._is_placed:
                self._arrive(wished)

    def _arrive(self, place: Viewpoint) -> None:
        if self.content is not None:
            self.look(camera_of(self.content, self.frame, place))
            self.picked.emit(place.selected)

    def _walk(self, turn: Callable[[Viewpoint], Viewpoint | None]) -> None:
        here = self.place()
        found = turn(here) if here is not None else None
        if found is not None:
            self._arrive(found)

    def _leave(self, is_jump: bool) -> None:
        here = self.place()
        if here is not None:
            self.trail.leave(here, is_jump, time.monotonic())
