"""The painted panes of the matrix and where they stand: plane, overlay, headers, corner, legend and map.

An entry of the legend leads to the next thing on the plane that has its sign. Cost: where blocks are asked for by what
they are, a pass over the blocks of the plane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QApplication, QGraphicsScene

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.gesture_preview import GesturePreview, paint_chosen, paint_preview
from metl_gui.ui.matrix.input.hit_test import Hits, item_of, node_of, position_of
from metl_gui.ui.matrix.input.selected_content import PositionBox, box_shown
from metl_gui.ui.matrix.labels.band_controls import BandControl
from metl_gui.ui.matrix.labels.headers import Strip, left_px, paint_left, paint_top, top_px
from metl_gui.ui.matrix.labels.legend import legend_px, paint_legend
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.block_index import UNCONFIRMED
from metl_gui.ui.matrix.layout.camera import Camera, Frame, level_at
from metl_gui.ui.matrix.layout.content import PlaneContent, axis_of
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE
from metl_gui.ui.matrix.painting.difference import (
    ElementDifference,
    PlacedMarks,
    difference_words,
    paint_difference,
    placed_marks,
)
from metl_gui.ui.matrix.painting.ignored_lines import IgnoredPlaces, lines_in, paint_ignored
from metl_gui.ui.matrix.painting.overlay import (
    Commented,
    Focus,
    Ghost,
    Pointer,
    are_drawn,
    paint_beside,
    paint_comments,
    paint_focus,
    paint_ghosts,
    paint_overlay,
)
from metl_gui.ui.matrix.painting.paint_context import Sign, Tinting
from metl_gui.ui.matrix.painting.plane import HEIGHT_PX as MAP_HEIGHT
from metl_gui.ui.matrix.painting.plane import WIDTH_PX as MAP_WIDTH
from metl_gui.ui.matrix.painting.plane import Overview, TileCache
from metl_gui.ui.matrix.painting.shapes import KeptPicture, Pane, fill_around
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.ui.theming import theme as themes

LEADING = frozenset(
    {
        Sign.REVIEW,
        Sign.LOST,
        Sign.REMOVED,
        Sign.CONFLICT,
        Sign.UNCONFIRMED,
        Sign.MAY_REFUSE,
        Sign.SUGGESTED,
        Sign.CAME,
        Sign.WENT,
    }
)
"""The signs of what is rare enough to be looked for one by one."""

_Spots = npt.NDArray[np.int64]
_NO_SPOTS = np.zeros((2, 0), np.int64)


def next_thing(sight: SceneState, *signs: Sign) -> Selected | None:
    """Return the next thing behind the selection, by columns, then by rows; behind the last the first.

    Args:
        sight: what is shown.
        signs: any of them will do; all stand on items of one level.
    """
    content = sight.content
    if content is None:
        return None
    found_by_sign = [_spots(sight, content, sign) for sign in signs]
    level, spots = found_by_sign[0][0], np.concatenate([spots for _, spots in found_by_sign], axis=1)
    if not spots.shape[1]:
        return None
    spots = spots[:, np.lexsort((spots[1], spots[0]))]
    here = [item_of(axis_of(content, side), level, sight.selected.on(side)) for side in (Side.EXTRACTION, Side.CDM)]
    x, y = (-1 if at is None else at for at in here)
    behind = np.flatnonzero((spots[0] > x) | ((spots[0] == x) & (spots[1] > y)))
    found = spots[:, behind[0] if len(behind) else 0].tolist()
    return Selected(node_of(content.columns, level, found[0]), node_of(content.rows, level, found[1]))


def _spots(sight: SceneState, content: PlaneContent, sign: Sign) -> tuple[Level, _Spots]:
    """Return what has a sign, as pairs of items of a level.

    Shape: (2, things).
    """
    marks = sight.marks
    if sign in (Sign.CAME, Sign.WENT) and marks is not None:
        chosen = marks.is_added == (sign is Sign.CAME)
        return Level.ATTRIBUTE, np.stack([marks.column[chosen], marks.row[chosen]]).astype(np.int64)
    if sign is Sign.SUGGESTED:
        pairs = (
            (content.columns.position_of(g.key[0], g.element.p), content.rows.position_of(g.key[1], g.element.q))
            for g in sight.ghosts
        )
        return Level.ATTRIBUTE, _pairs([(x, y) for x, y in pairs if x is not None and y is not None])
    if sign in (Sign.LOST, Sign.REMOVED, Sign.CONFLICT):
        keys = content.lost if sign is not Sign.CONFLICT else _in_conflict(content)
        return Level.VERSION, _items(content, keys)
    whole = range(len(content.columns.version_spans)), range(len(content.rows.version_spans))
    if sign is Sign.REVIEW:
        return Level.VERSION, np.stack(content.waiting_within(*whole)).astype(np.int64)
    if sign in (Sign.UNCONFIRMED, Sign.MAY_REFUSE):
        blocks = content.blocks_within(*whole)
        is_meant = (
            (blocks.status == UNCONFIRMED) & (blocks.elements > 0) if sign is Sign.UNCONFIRMED else blocks.flagged > 0
        )
        found = np.stack([blocks.x[is_meant], blocks.y[is_meant]]).astype(np.int64)
        if sign is Sign.MAY_REFUSE and sight.refused:
            found = np.concatenate([found, _items(content, {key for key, _ in sight.refused})], axis=1)
        return Level.VERSION, found
    return Level.VERSION, _NO_SPOTS


def _items(content: PlaneContent, keys: Iterable[BlockKey]) -> _Spots:
    """Return the items of the versions of some blocks, of those that are on the plane."""
    ids = np.array(list(keys), np.int64).reshape(-1, 2)
    at = np.stack([content.columns.version_items(ids[:, 0]), content.rows.version_items(ids[:, 1])])
    return at[:, (at != NOWHERE).all(axis=0)].astype(np.int64)


def _in_conflict(content: PlaneContent) -> list[BlockKey]:
    return [key for key in content.lost if any(cell.rivals for cell in content.lost_cells(key))]


def _pairs(found: list[tuple[int, int]]) -> _Spots:
    return np.array(found, np.int64).reshape(-1, 2).T


def says_nothing(_selected: Selected) -> str:
    """Return no words, where nobody has any for what is selected."""
    return ""


@dataclass
class SceneState:
    """What the panes paint; the view changes it and asks for paint.

    ``beside`` gives the words that stand beside the cell under the pointer, or the current one.
    """

    content: PlaneContent | None = None
    whole: PlaneContent | None = None
    camera: Camera = field(default_factory=Camera)
    selected: Selected = field(default_factory=Selected)
    pointer: Pointer = field(default_factory=Pointer)
    ghosts: tuple[Ghost, ...] = ()
    commented: tuple[Commented, ...] = ()
    ignored: tuple[IgnoredPlaces, IgnoredPlaces] | None = None
    refused: frozenset[tuple[BlockKey, Element]] = frozenset()
    trial: GesturePreview | None = None
    difference: tuple[ElementDifference, ...] | None = None
    focus: Focus | None = None
    pinned: tuple[frozenset[NodeRef], frozenset[NodeRef]] | None = None
    """The nodes of columns and rows that are pinned; ``None`` where headers have no controls."""
    beside: Callable[[Selected], str] = says_nothing
    _known_marks: tuple[object, object, PlacedMarks | None] = (None, None, None)
    _known_box: tuple[object, object, object, PositionBox | None] = (None, None, None, None)

    @property
    def chosen_box(self) -> PositionBox | None:
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

    @property
    def cell(self) -> Selected | None:
        """The cell under the pointer, else the current one; ``None`` where no single cells are drawn."""
        content = self.content
        if content is None or not Hits(content, self.snapped).shows_cells:
            return None
        if self.pointer.column is None or self.pointer.row is None:
            return self.selected if self.selected.element is not None else None
        source = node_of(content.columns, Level.ATTRIBUTE, self.pointer.column)
        return Selected(source, node_of(content.rows, Level.ATTRIBUTE, self.pointer.row))

    def hovered(self, side: Side) -> int | None:
        """The attribute position whose name stands out: under the pointer, else the selected one."""
        pointed = self.pointer.column if side is Side.EXTRACTION else self.pointer.row
        if pointed is not None or self.content is None:
            return pointed
        return position_of(axis_of(self.content, side), self.selected.on(side))


class Panes:
    """All panes of one matrix."""

    def __init__(self, scene: QGraphicsScene, sight: SceneState) -> None:
        self.sight = sight
        self.tiles = TileCache()
        self.overview = Overview()
        self.has_map = True
        self.map_width: float | None = None
        """How wide the map was drawn, in pixels at scale 1; ``None`` while it is docked in the corner."""
        self._map_gives_way = self._is_map_held = False
        self.legend_entries: list[tuple[QRectF, Sign]] = []
        self._controls: dict[Side, list[BandControl]] = {Side.EXTRACTION: [], Side.CDM: []}
        self._top_picture, self._left_picture = KeptPicture(), KeptPicture()
        self._corner_picture, self._legend_picture = KeptPicture(), KeptPicture()
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
        top, left = top_px(height), left_px(width)
        foot = legend_px() if height >= _LEGEND_FROM * legend_px() else 0.0
        below = height - foot
        plane = QRectF(left, top, width - left, below - top)
        self.plane.place(plane)
        self.overlay.place(plane)
        self.top.place(QRectF(left, 0, width - left, top))
        self.left.place(QRectF(0, top, left, below - top))
        self.corner.place(QRectF(0, 0, left, top))
        self.legend.place(QRectF(0, below, width, foot))
        self._place_map()

    def _place_map(self) -> None:
        """Put the map where it is to be: in its corner while a large one gives way."""
        box = self._docked_map() if self._map_gives_way else self._drawn_map()
        if box != self.map.box():
            self.map.place(box)
        self.show_map_if_needed()

    def _drawn_map(self) -> QRectF:
        """Return the place of the map: the corner or, as large as it was drawn, over headers and cells."""
        docked = self._docked_map()
        if self.map_width is None:
            return docked
        begin, limit = docked.topLeft(), self.legend.box().topRight() - QPointF(8, 8)
        width = min(float(themes.px(self.map_width)), (limit.x() - begin.x()) * _MOST_MAP)
        height = min(width * MAP_HEIGHT / MAP_WIDTH, limit.y() - begin.y())
        is_larger = width > docked.width() and height > docked.height()
        return QRectF(begin.x(), begin.y(), width, height) if is_larger else docked

    def _docked_map(self) -> QRectF:
        """Return the place of the docked map: the corner above the row names, below what that says."""
        left, top = self.corner.box().width(), self.corner.box().height()
        begin = 10 + _CORNER_LINES * _corner_line()
        height = min(top - 4 - begin, (left - 14) * MAP_HEIGHT / MAP_WIDTH)
        return QRectF(6, top - 4 - height, left - 14, height)

    def draw_map_to(self, corner: QPointF) -> None:
        """Draw the map as large as to a point of the widget; near where it is docked it is docked again."""
        docked = self._docked_map()
        wide = max(corner.x() - docked.left(), (corner.y() - docked.top()) * MAP_WIDTH / MAP_HEIGHT)
        self.show_map_as(wide / themes.scale() if wide > docked.width() + _LEAST_GROWTH_PX else None)

    def show_map_as(self, width: float | None) -> None:
        """Show the map so wide, in pixels at scale 1, or ``None`` in its corner."""
        self.map_width = width
        self._place_map()
        self.repaint()

    def let_map_give_way(self, at: QPointF | None) -> None:
        """Dock a large map while the pointer is near the cells under it, unless it came there over the corner.

        Args:
            at: the pointer in the widget, ``None`` while it is elsewhere.
        """
        if self.map_width is None:
            return
        was_away, self._map_gives_way = self._map_gives_way, False
        box = self._drawn_map()
        if at is None or not box.adjusted(-_NEAR_PX, -_NEAR_PX, _NEAR_PX, _NEAR_PX).contains(at):
            self._is_map_held = False
        elif self.corner.box().contains(at):
            self._is_map_held = True
        else:
            self._is_map_held = self._is_map_held and box.contains(at)
            self._map_gives_way = not self._is_map_held
        if self._map_gives_way != was_away:
            self._place_map()
            self.repaint()

    def show_map_if_needed(self) -> None:
        """Show the map only while something is out of sight and there is room for it."""
        frame, camera = self.frame, self.sight.camera
        is_all_in_sight = frame.columns * camera.scale_x <= frame.width and frame.rows * camera.scale_y <= frame.height
        has_room = self.has_map and self.map.box().height() >= _LEAST_MAP_PX
        self.map.setVisible(not is_all_in_sight and has_room)

    def paint_ground(self, painter: QPainter, area: QRectF) -> None:
        """Fill everything but the plane, whose picture covers all of its pane; nothing where all panes cover theirs."""
        if self.sight.content is not None and painter.device().devicePixelRatioF().is_integer():
            return  # else a line of pixels may lie between two panes
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

    def control_at(self, at: QPointF) -> tuple[Side, BandControl] | None:
        """Return the control of a header at a point of the widget, with the side of the header."""
        for side, pane in ((Side.EXTRACTION, self.top), (Side.CDM, self.left)):
            inside = at - pane.pos()
            found = next((each for each in self._controls[side] if each.box.contains(inside)), None)
            if found is not None and pane.box().contains(at) and not self.is_on_map(at):
                return side, found
        return None

    def is_on_map(self, at: QPointF) -> bool:
        """Whether a point of the widget lies on the map."""
        return self.map.isVisible() and self.map.box().contains(at)

    def is_on_grip(self, at: QPointF) -> bool:
        """Whether a point of the widget lies on the corner of the map by which it is drawn larger."""
        corner = self.map.box().bottomRight()
        return self.is_on_map(at) and QRectF(corner - QPointF(_GRIP_PX, _GRIP_PX), corner).contains(at)

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
                paint_focus(painter, sight.content, sight.snapped, sight.focus, size, themes.current())
            if sight.marks is not None:
                paint_difference(painter, sight.content, sight.snapped, sight.marks, size, themes.current())
            paint_ignored(painter, self._ignored_lines(), themes.current())
            paint_overlay(painter, sight.content, sight.snapped, size, marked, themes.current())
            paint_ghosts(painter, sight.content, sight.snapped, sight.ghosts, size, themes.current())
            paint_comments(painter, sight.content, sight.snapped, sight.commented, size, themes.current())
            paint_chosen(
                painter, sight.content, sight.snapped, sight.selected, sight.chosen_box, size, themes.current()
            )
            if sight.trial is not None:
                paint_preview(painter, sight.content, sight.snapped, sight.trial, size, themes.current())
            cell = sight.cell
            words = sight.beside(cell) if cell is not None else ""
            if cell is not None and words:
                paint_beside(painter, sight.content, sight.snapped, cell, words, size)

    def _ignored_lines(self) -> list[QLineF]:
        sight = self.sight
        if sight.content is None or sight.ignored is None:
            return []
        return lines_in(sight.content, sight.snapped, sight.ignored, self.overlay.boundingRect())

    def _paint_top(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        if content is not None:
            camera = self.sight.snapped
            waiting = _waiting(content, camera, size.width())
            hover = self.sight.hovered(Side.EXTRACTION)
            ratio = painter.device().devicePixelRatioF()
            strip = Strip(
                content.columns,
                camera.left,
                camera.scale_x,
                size.width(),
                hover,
                waiting,
                ratio,
                depth=size.height(),
                pinned=self.sight.pinned[0] if self.sight.pinned is not None else None,
            )
            theme = themes.current()

            def paint_into(inner: QPainter) -> None:
                self._controls[Side.EXTRACTION] = paint_top(inner, strip, theme)

            self._top_picture.draw(painter, size, theme.panel, (strip, theme, themes.scale()), paint_into)

    def _paint_left(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        if content is not None:
            camera, hover = self.sight.snapped, self.sight.hovered(Side.CDM)
            ratio = painter.device().devicePixelRatioF()
            stretch = camera.top, camera.scale_y, size.height()
            pinned = self.sight.pinned[1] if self.sight.pinned is not None else None
            strip = Strip(content.rows, *stretch, hover, frozenset(), ratio, depth=size.width(), pinned=pinned)
            theme = themes.current()

            def paint_into(inner: QPainter) -> None:
                self._controls[Side.CDM] = paint_left(inner, strip, theme)

            self._left_picture.draw(painter, size, theme.panel, (strip, theme, themes.scale()), paint_into)

    def _paint_legend(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        people = content.people if content is not None else ("",)
        has_rings = content is not None and self.sight.ghosts and are_drawn(content, self.sight.snapped)
        signs = self.tiles.signs | ({Sign.SUGGESTED} if has_rings else set())
        signs |= {Sign.IGNORED} if self._ignored_lines() else set()
        words = difference_words(self.sight.marks) if self.sight.marks is not None else {}
        signs, tinting, theme = signs | words.keys(), self.tiles.tinting, themes.current()

        def paint_into(inner: QPainter) -> None:
            self.legend_entries = paint_legend(inner, size, theme, signs, tinting, people, words=words)

        shown = signs, tinting, people, tuple(words.items()), theme, themes.scale()
        self._legend_picture.draw(painter, size, theme.panel, shown, paint_into)

    def _paint_corner(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        if content is None:
            return
        theme = themes.current()
        columns, rows = len(content.columns.spans(Level.ATTRIBUTE)), len(content.rows.spans(Level.ATTRIBUTE))

        def paint_into(inner: QPainter) -> None:
            font, line = themes.small(), _corner_line()
            inner.setFont(font)
            inner.setPen(theme.dim)
            metrics = QFontMetricsF(font)
            for at, words in enumerate(("columns: extraction", "rows: canonical", f"{columns:,} x {rows:,} cells")):
                shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, size.width() - 12)
                inner.drawText(QPointF(8, 6 + line * (at + 0.8)), shown)

        shown = columns, rows, theme, themes.scale(), QApplication.font().key()
        self._corner_picture.draw(painter, size, theme.panel, shown, paint_into)

    def _paint_map(self, painter: QPainter, size: QRectF) -> None:
        content = self.sight.content
        if content is not None:
            frame, camera = self.frame, self.sight.camera
            seen = QRectF(camera.left, camera.top, frame.width / camera.scale_x, frame.height / camera.scale_y)
            self.overview.paint(painter, size, content, seen, themes.current())
            painter.setPen(QPen(themes.current().dim, 1.2))
            corner = size.bottomRight() - QPointF(3.5, 3.5)
            for reach in (4.0, 8.0):
                painter.drawLine(corner - QPointF(reach, 0), corner - QPointF(0, reach))


_CORNER_LINES = 3
_LEGEND_FROM = 7
"""Views lower than so many times the legend have none: their cells need the room more."""
_LEAST_MAP_PX = 36
_MOST_MAP = 0.6
"""The largest map, as a share of the width beside its left edge."""
_LEAST_GROWTH_PX = 8.0
_NEAR_PX = 24.0
"""How near to a large map the pointer is when the map leaves the cells to it."""
_GRIP_PX = 14.0


def _corner_line() -> float:
    """Return how high a line of the corner is."""
    return QFontMetricsF(themes.small()).height() + 2


def _waiting(content: PlaneContent, camera: Camera, width: float) -> frozenset[int]:
    """Return the versions in sight in which a block waits, where versions have a band of their own."""
    level = level_at(content.columns, camera.scale_x)
    if level is None or level > Level.VERSION:
        return frozenset()
    seen = content.columns.spans(Level.VERSION).within(camera.left, camera.left + width / camera.scale_x)
    return content.waits_in(Side.EXTRACTION, seen)
