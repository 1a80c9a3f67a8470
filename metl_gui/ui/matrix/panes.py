"""The painted panes of the matrix: plane, overlay, headers, corner, legend and map, and where they stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsScene

from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera, Frame, level_at
from metl_gui.ui.matrix.chosen import Box, box_shown
from metl_gui.ui.matrix.content import Content, axis_of
from metl_gui.ui.matrix.ghosts import Ghost
from metl_gui.ui.matrix.headers import Strip, left_px, paint_left, paint_top, top_px
from metl_gui.ui.matrix.hits import position_of
from metl_gui.ui.matrix.legend import legend_px, paint_legend
from metl_gui.ui.matrix.look import Sign
from metl_gui.ui.matrix.marks_of_difference import ElementMark, PlacedMarks, difference_words, placed_marks
from metl_gui.ui.matrix.next_things import LEADING
from metl_gui.ui.matrix.overlay import Pointer, paint_overlay
from metl_gui.ui.matrix.overview import HEIGHT_PX as MAP_HEIGHT
from metl_gui.ui.matrix.overview import WIDTH_PX as MAP_WIDTH
from metl_gui.ui.matrix.overview import Overview
from metl_gui.ui.matrix.paint_comments import Commented, paint_comments
from metl_gui.ui.matrix.paint_difference import paint_difference
from metl_gui.ui.matrix.paint_ghosts import are_drawn, paint_ghosts
from metl_gui.ui.matrix.paint_trial import paint_chosen, paint_trial
from metl_gui.ui.matrix.pane import Pane, fill_around
from metl_gui.ui.matrix.tiles import TileCache
from metl_gui.ui.matrix.tinting import Tinting
from metl_gui.ui.matrix.trial import Trial
from metl_gui.ui.matrix.veil import Focus, paint_veil
from metl_gui.ui.selection import Selected


@dataclass
class Sight:
    """What the panes paint; the view changes it and asks for paint."""

    content: Content | None = None
    whole: Content | None = None
    camera: Camera = field(default_factory=Camera)
    selected: Selected = field(default_factory=Selected)
    pointer: Pointer = field(default_factory=Pointer)
    ghosts: tuple[Ghost, ...] = ()
    commented: tuple[Commented, ...] = ()
    trial: Trial | None = None
    difference: tuple[ElementMark, ...] | None = None
    focus: Focus | None = None
    _known_marks: tuple[object, object, PlacedMarks | None] = (None, None, None)
    _known_box: tuple[object, object, object, Box | None] = (None, None, None, None)

    @property
    def chosen_box(self) -> Box | None:
        """The chosen rectangle as far as it is shown; looked for once, while nothing of it changes."""
        content, whole, cells = self.content, self.whole, self.selected.cells
        known = self._known_box
        if known[0] is not content or known[1] is not whole or known[2] is not cells:
            box = box_shown(content, whole, cells) if content is not None and cells is not None else None
            self._known_box = known = content, whole, cells, box
        return known[3]

    @property
    def marks(self) -> PlacedMarks | None:
        """What differs, where it lies; looked for once, while neither the difference nor the plane changes."""
        content, difference = self.content, self.difference
        known = self._known_marks
        if known[0] is not content or known[1] is not difference:
            placed = placed_marks(content, difference) if content is not None and difference is not None else None
            self._known_marks = known = content, difference, placed
        return known[2]

    @property
    def snapped(self) -> Camera:
        """The camera on whole pixels, so that tiles, overlay, headers and hit tests agree."""
        c = self.camera
        left, top = round(c.left * c.scale_x) / c.scale_x, round(c.top * c.scale_y) / c.scale_y
        return Camera(left, top, c.scale_x, c.scale_y)

    def hovered(self, side: Side) -> int | None:
        """The attribute position whose name stands out: under the pointer, else the selected one."""
        pointed = self.pointer.column if side is Side.EXTRACTION else self.pointer.row
        if pointed is not None or self.content is None:
            return pointed
        return position_of(axis_of(self.content, side), self.selected.on(side))


class Panes:
    """All panes of one matrix."""

    def __init__(self, scene: QGraphicsScene, sight: Sight) -> None:
        self.sight = sight
        self.tiles = TileCache()
        self.overview = Overview()
        self.has_map = True
        self.legend_entries: list[tuple[QRectF, Sign]] = []
        self.plane = Pane(self._paint_plane, 0)
        self.overlay = Pane(self._paint_overlay, 1)
        self.top = Pane(self._paint_top, 2)
        self.left = Pane(self._paint_left, 2)
        self.corner = Pane(self._paint_corner, 3)
        self.legend = Pane(self._paint_legend, 3)
        self.map = Pane(self._paint_map, 4)
        for pane in (self.plane, self.overlay, self.top, self.left, self.corner, self.legend, self.map):
            scene.addItem(pane)

    @property
    def frame(self) -> Frame:
        """The plane's extent and the viewport's."""
        box, content = self.plane.box(), self.sight.content
        columns, rows = (content.columns.length, content.rows.length) if content else (0.0, 0.0)
        return Frame(columns, rows, max(box.width(), 1.0), max(box.height(), 1.0))

    def tint_by(self, tinting: Tinting) -> None:
        """Tint tiles and blocks by an overlay."""
        self.tiles.tinting = tinting
        self.repaint()

    def lay_out(self, width: float, height: float) -> None:
        """Place the panes in a widget of a size."""
        top, left, foot = top_px(), left_px(), legend_px()
        below = height - foot
        plane = QRectF(left, top, width - left, below - top)
        self.plane.place(plane)
        self.overlay.place(plane)
        self.top.place(QRectF(left, 0, width - left, top))
        self.left.place(QRectF(0, top, left, below - top))
        self.corner.place(QRectF(0, 0, left, top))
        self.legend.place(QRectF(0, below, width, foot))
        self.map.place(QRectF(width - MAP_WIDTH - 12, below - MAP_HEIGHT - 8, MAP_WIDTH, MAP_HEIGHT))
        self.show_map_if_needed()

    def show_map_if_needed(self) -> None:
        """Show the map only while something is out of sight and there is room for it."""
        frame, camera = self.frame, self.sight.camera
        is_all_in_sight = frame.columns * camera.scale_x <= frame.width and frame.rows * camera.scale_y <= frame.height
        has_room = self.has_map and frame.width > 2.4 * MAP_WIDTH and frame.height > 2 * MAP_HEIGHT
        self.map.setVisible(not is_all_in_sight and has_room)

    def paint_ground(self, painter: QPainter, area: QRectF) -> None:
        """Fill everything but the plane, whose picture covers all of its pane."""
        plane = self.plane.box() if self.sight.content is not None else QRectF()
        fill_around(painter, area, plane, themes.current().panel)

    def repaint(self) -> None:
        """Ask for paint of everything that depends on the sight."""
        for pane in (self.plane, self.overlay, self.top, self.left, self.corner, self.legend, self.map):
            pane.update()

    def repaint_marks(self) -> None:
        """Ask for paint of what follows pointer and gestures."""
        for pane in (self.overlay, self.top, self.left):
            pane.update()

    def sign_at(self, at: QPointF) -> Sign | None:
        """Return the sign whose entry in the legend lies at a point of the widget and leads somewhere."""
        inside = at - self.legend.pos()
        found = next((sign for box, sign in self.legend_entries if box.contains(inside)), None)
        return found if found in LEADING else None

    def is_on_map(self, at: QPointF) -> bool:
        """Whether a point of the widget lies on the map."""
        return self.map.isVisible() and self.map.box().contains(at)

    def place_on_map(self, at: QPointF) -> tuple[float, float] | None:
        """Return the place of the plane under a point of the widget on the map."""
        content = self.sight.content
        return (
            None if content is None else self.overview.place_at(self.map.boundingRect(), content, at - self.map.pos())
        )

    def _paint_plane(self, painter: QPainter, size: QRectF) -> None:
        ratio = painter.device().devicePixelRatioF()
        self.tiles.draw(painter, self.sight.snapped, (size.width(), size.height()), ratio, themes.current())

    def _paint_overlay(self, painter: QPainter, size: QRectF) -> None:
        sight = self.sight
        if sight.content is not None:
            marked = (sight.pointer, sight.selected)
            if sight.focus is not None:
                paint_veil(painter, sight.content, sight.snapped, sight.focus, size, themes.current())
            if sight.marks is not None:
                paint_difference(painter, sight.content, sight.snapped, sight.marks, size, themes.current())
            paint_overlay(painter, sight.content, sight.snapped, size, marked, themes.current())
            paint_ghosts(painter, sight.content, sight.snapped, sight.ghosts, size, themes.current())
            paint_comments(painter, sight.content, sight.snapped, sight.commented, size, themes.current())
            paint_chosen(
                painter, sight.content, sight.snapped, sight.selected, sight.chosen_box, size, themes.current()
            )
            if sight.trial is not None:
                paint_trial(painter, sight.content, sight.snapped, sight.trial, size, themes.current())

    def _paint_top(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        if content is not None:
            camera = self.sight.snapped
            waiting = _waiting(content, camera, size.width())
            hover = self.sight.hovered(Side.EXTRACTION)
            ratio = painter.device().devicePixelRatioF()
            strip = Strip(content.columns, camera.left, camera.scale_x, size.width(), hover, waiting, ratio)
            paint_top(painter, strip, themes.current())

    def _paint_left(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        if content is not None:
            camera, hover = self.sight.snapped, self.sight.hovered(Side.CDM)
            ratio = painter.device().devicePixelRatioF()
            strip = Strip(content.rows, camera.top, camera.scale_y, size.height(), hover, frozenset(), ratio)
            paint_left(painter, strip, themes.current())

    def _paint_legend(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        people = content.people if content is not None else ("",)
        has_rings = content is not None and self.sight.ghosts and are_drawn(content, self.sight.snapped)
        signs = self.tiles.signs | ({Sign.SUGGESTED} if has_rings else set())
        words = difference_words(self.sight.marks) if self.sight.marks is not None else {}
        self.legend_entries = paint_legend(
            painter, size, themes.current(), signs | words.keys(), self.tiles.tinting, people, words=words
        )

    def _paint_corner(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        if content is None:
            return
        theme, font = themes.current(), themes.small()
        columns, rows = len(content.columns.spans(Level.ATTRIBUTE)), len(content.rows.spans(Level.ATTRIBUTE))
        painter.setFont(font)
        painter.setPen(theme.dim)
        line = QFontMetricsF(font).height() + 2
        for at, words in enumerate(("columns: extraction", "rows: canonical", f"{columns:,} x {rows:,} cells")):
            painter.drawText(QPointF(8, 6 + line * (at + 0.8)), words)

    def _paint_map(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        if content is not None:
            frame, camera = self.frame, self.sight.camera
            seen = QRectF(camera.left, camera.top, frame.width / camera.scale_x, frame.height / camera.scale_y)
            self.overview.paint(painter, size, content, seen, themes.current())


def _waiting(content: Content, camera: Camera, width: float) -> frozenset[int]:
    """Return the versions in sight in which a block waits, where versions have a band of their own."""
    level = level_at(content.columns, camera.scale_x)
    if level is None or level > Level.VERSION:
        return frozenset()
    seen = content.columns.spans(Level.VERSION).within(camera.left, camera.left + width / camera.scale_x)
    return content.waits_in(Side.EXTRACTION, seen)
