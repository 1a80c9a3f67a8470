"""The picture of the plane that is on the screen, and the overview map in its corner.

The picture is painted when something changed, else drawn again. Below 14 px an item it is a raster: how dense elements
lie, and what waits for review. The overview map shows the whole plane, what waits, and what is in sight.

Cost: a picture follows its pixels and what is on the screen, never the size of the matrix.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPen

from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.layout.density import Density
from metl_gui.ui.matrix.layout.elements import NO_CELLS
from metl_gui.ui.matrix.layout.tree_columns import Ints
from metl_gui.ui.matrix.painting.axis_gaps import paint_ghost_lines, paint_hidden
from metl_gui.ui.matrix.painting.cells import paint_cells
from metl_gui.ui.matrix.painting.count_tiles import paint_tiles
from metl_gui.ui.matrix.painting.paint_context import NO_TINTING, PaintContext, Sign, Tinting, zero_of
from metl_gui.ui.matrix.painting.raster import Colours, coloured, table_of
from metl_gui.ui.matrix.painting.shapes import fill_around, paint_plainly
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme, mixed
from metl_gui.values import Value

_RASTER_PX = 2.8
"""The most that a bin takes; bins are powers of two of a unit, so they take half of it at least."""
_RAMP = 16
"""So many colours tell densities apart."""
_DECADES = 4
"""Powers of ten between the faintest density and the strongest."""


def paint_raster(painter: QPainter, look: PaintContext) -> frozenset[Sign]:
    """Paint the density of elements below 14 px an item, and what waits above it."""
    content, c = look.content, look.camera
    left, top, right, bottom = look.box
    right, bottom = min(right, content.columns.length), min(bottom, content.rows.length)
    box = max(left, 0.0), max(top, 0.0), right, bottom
    sight = QRectF(0, 0, *look.size)
    if box[0] >= right or box[1] >= bottom:
        painter.fillRect(sight, look.theme.panel)
        return frozenset()
    place = QRectF(*c.on_screen(box[0], box[1]), (right - box[0]) * c.scale_x, (bottom - box[1]) * c.scale_y)
    fill_around(painter, sight, place.adjusted(1, 1, -1, -1), look.theme.panel)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    image, waits = density(content, box, (c.scale_x, c.scale_y), look.theme)
    painter.save()
    painter.setClipRect(place)
    spread = QRectF(*c.on_screen(image.left, image.top), 0, 0)
    spread.setBottomRight(QPointF(*c.on_screen(image.right, image.bottom)))
    painter.drawImage(spread, image.picture)
    painter.restore()
    return frozenset({Sign.DENSITY, Sign.REVIEW} if waits else {Sign.DENSITY})


class Binned(Value, eq=False):
    """A picture of densities and the box of the plane that it covers, in units."""

    picture: QImage
    left: float
    top: float
    right: float
    bottom: float


def density(
    content: PlaneContent, box: tuple[float, float, float, float], scales: tuple[float, float], theme: Theme
) -> tuple[Binned, bool]:
    """Colour the densities of a box of the plane: what holds nothing is zero, what waits is amber.

    Returns:
        The picture, and whether anything waits in it.
    """
    found = content.density(box, (_RASTER_PX / scales[0], _RASTER_PX / scales[1]))
    elements = found.elements.reshape(-1)
    # Of numbers, and not of whether they are zero, ``flatnonzero`` would take some five times as long.
    held, waits = np.flatnonzero(elements != 0), np.flatnonzero(found.waits != 0)
    steps = np.zeros(len(elements), np.uint8)
    strength = 1 + np.log10(elements[held] / _capacity(content, found)) / _DECADES
    steps[held] = 1 + np.clip(strength * _RAMP, 0, _RAMP - 1).astype(np.uint8)
    steps[waits] = _RAMP + 1
    image = coloured(steps.reshape(found.elements.shape), _ramp(theme))
    return Binned(image, found.left, found.top, found.right, found.bottom), len(waits) > 0


def _capacity(content: PlaneContent, found: Density) -> float:
    """Return how many elements a bin would hold if blocks of the usual size, fully mapped, covered all of it."""
    rows, columns = found.elements.shape
    area = (found.right - found.left) * (found.bottom - found.top) / (columns * rows)
    sides = (axis.spans(Level.VERSION).median_length for axis in (content.columns, content.rows))
    return max(float(area) / max(*sides, 1.0), 1.0)


def _ramp(theme: Theme) -> Colours:
    """Return the colours of densities: zero, the ramp, and what waits."""
    ramp = [mixed(theme.panel, theme.accent, 0.35 + 0.65 * at / (_RAMP - 1)) for at in range(_RAMP)]
    return table_of([zero_of(theme), *ramp, theme.reviewmark])


_Key: TypeAlias = tuple[Camera, tuple[float, float], float, Theme, Tinting, bool, float]


class TileCache:
    """The painted plane of one content."""

    def __init__(self) -> None:
        self._content: PlaneContent | None = None
        self._picture: QImage | None = None
        self._pixels: Colours = np.empty((0, 0), np.uint32)
        self._key: _Key | None = None
        self._is_kept = False
        self.tinting = NO_TINTING
        self.is_comparing = False
        self.refused = NO_CELLS
        self.signs: frozenset[Sign] = frozenset()
        self.painted = 0

    def show(self, content: PlaneContent | None) -> None:
        """Take another content; the picture of the one before is dropped."""
        if content is not self._content:
            self._key = None
            self._content = content

    def show_refused(self, refused: Ints) -> None:
        """Take other places at which values are refused (``places_of``)."""
        if not np.array_equal(refused, self.refused):
            self._key = None
            self.refused = refused

    def draw(self, painter: QPainter, camera: Camera, size: tuple[float, float], ratio: float, theme: Theme) -> None:
        """Draw a viewport of pixels at a device pixel ratio."""
        if self._content is None:
            return
        key = camera, size, ratio, theme, self.tinting, self.is_comparing, themes.scale()
        is_new = key != self._key
        look = PaintContext(
            self._content,
            camera,
            size,
            ratio,
            theme,
            self.tinting,
            is_comparing=self.is_comparing,
            refused=self.refused,
        )
        has_tiles = None not in look.levels and look.levels != (Level.ATTRIBUTE, Level.ATTRIBUTE)
        if is_new and (ratio.is_integer() or not has_tiles):
            # A plane that is being moved is not seen twice: a picture of it would be painted and copied for nothing.
            # Tiles are copied line by line, which takes whole pixels.
            self._key, self._is_kept = None, False
            self.signs = paint_plainly(painter, lambda inner: paint_plane(inner, look))
            self._key = key
            self.painted += 1
            return
        if is_new or self._picture is None or not self._is_kept:
            self._key, self._is_kept = None, False
            self._picture, pixels = self._blank(size, ratio)
            inner = QPainter(self._picture)
            try:
                self.signs = paint_plane(inner, replace(look, pixels=pixels))
            finally:
                inner.end()
            self._key, self._is_kept = key, True
            self.painted += 1
        painter.drawImage(QPointF(0, 0), self._picture)

    def _blank(self, size: tuple[float, float], ratio: float) -> tuple[QImage, Colours]:
        """Return a picture over memory of our own, both as they were before when they have the size."""
        width, height = (round(side * ratio) for side in size)
        picture = self._picture
        if picture is None or self._pixels.shape != (height, width):
            self._pixels = np.empty((height, width), np.uint32)
            picture = QImage(self._pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)
        picture.setDevicePixelRatio(ratio)
        return picture, self._pixels


def paint_plane(painter: QPainter, look: PaintContext) -> frozenset[Sign]:
    """Paint the plane at the levels that the scales allow, and return the signs that were used.

    What stood in the picture before is painted over everywhere.
    """
    level_x, level_y = look.levels
    if level_x is None or level_y is None:
        signs = paint_raster(painter, look)
    elif level_x is Level.ATTRIBUTE and level_y is Level.ATTRIBUTE:
        signs = paint_cells(painter, look)
    else:
        signs = paint_tiles(painter, look, (level_x, level_y)) | paint_ghost_lines(painter, look)
    return signs | paint_hidden(painter, look)


WIDTH_PX, HEIGHT_PX = 184.0, 112.0
_INSET = 8.0
_MOST_DOTS = 200


class Overview:
    """A small picture of everything, painted once for each content and theme."""

    def __init__(self) -> None:
        self._image: QImage | None = None
        self._of: tuple[PlaneContent, Theme, QRectF, float] | None = None

    def paint(self, painter: QPainter, size: QRectF, content: PlaneContent, seen: QRectF, theme: Theme) -> None:
        """Paint the map; ``seen`` is what is in sight, in units of the plane."""
        ratio = painter.device().devicePixelRatioF()
        key = content, theme, size, ratio
        if self._image is None or self._of is None or self._of[0] is not content or self._of[1:] != key[1:]:
            self._image = _picture(size, content, theme, ratio)
            self._of = key
        painter.drawImage(size.topLeft(), self._image)
        inner = _inner(size)
        scales = _scales(inner, content)
        frame = QRectF(seen.left() * scales[0], seen.top() * scales[1], 0, 0)
        frame.setBottomRight(QPointF(seen.right() * scales[0], seen.bottom() * scales[1]))
        frame = _grown(frame.translated(inner.topLeft()).intersected(inner.adjusted(-2, -2, 2, 2)))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.text, 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, 2, 2)

    @staticmethod
    def place_at(size: QRectF, content: PlaneContent, at: QPointF) -> tuple[float, float]:
        """Return the place of the plane under a point of the map."""
        inner = _inner(size)
        scales = _scales(inner, content)
        return (at.x() - inner.left()) / scales[0], (at.y() - inner.top()) / scales[1]


def centred(camera: Camera, place: tuple[float, float], width: float, height: float) -> Camera:
    """Return the camera that has a place of the plane in its middle."""
    left = place[0] - width / camera.scale_x / 2
    return Camera(left, place[1] - height / camera.scale_y / 2, camera.scale_x, camera.scale_y)


def _inner(size: QRectF) -> QRectF:
    return size.adjusted(_INSET, _INSET, -_INSET, -_INSET)


def _scales(inner: QRectF, content: PlaneContent) -> tuple[float, float]:
    return inner.width() / max(content.columns.length, 1.0), inner.height() / max(content.rows.length, 1.0)


def _grown(frame: QRectF) -> QRectF:
    """Keep the frame large enough to be seen."""
    wide, tall = max(6.0 - frame.width(), 0.0) / 2, max(6.0 - frame.height(), 0.0) / 2
    return frame.adjusted(-wide, -tall, wide, tall)


def _picture(size: QRectF, content: PlaneContent, theme: Theme, ratio: float) -> QImage:
    """Paint everything but the frame."""
    picture = QImage(
        round(size.width() * ratio), round(size.height() * ratio), QImage.Format.Format_ARGB32_Premultiplied
    )
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.translate(-size.topLeft())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.line, 1))
    painter.setBrush(theme.panel)
    painter.drawRoundedRect(size.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    inner = _inner(size)
    scales = _scales(inner, content)
    if content.columns.length and content.rows.length:
        everything = (0.0, 0.0, content.columns.length, content.rows.length)
        binned, _ = density(content, everything, scales, theme)
        place = QRectF(inner.left() + binned.left * scales[0], inner.top() + binned.top * scales[1], 0, 0)
        place.setBottomRight(QPointF(inner.left() + binned.right * scales[0], inner.top() + binned.bottom * scales[1]))
        painter.setClipRect(inner)
        painter.drawImage(place, binned.picture)
        painter.setClipping(False)
        _paint_waiting(painter, content, inner, scales, theme)
    painter.end()
    return picture


def _paint_waiting(
    painter: QPainter, content: PlaneContent, inner: QRectF, scales: tuple[float, float], theme: Theme
) -> None:
    """Mark the blocks that wait, large enough to be seen; very many are told by the density alone."""
    if not content.document.matrix.waiting_count:
        return
    wide, tall = content.columns.spans(Level.VERSION), content.rows.spans(Level.VERSION)
    xs, ys = content.waiting_within(range(len(wide)), range(len(tall)))
    if len(xs) > _MOST_DOTS:
        return
    painter.setPen(QPen(theme.review_outline[0], 0.8))
    painter.setBrush(theme.reviewmark)
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        middle = (wide.begin(x) + wide.end(x)) / 2 * scales[0], (tall.begin(y) + tall.end(y)) / 2 * scales[1]
        painter.drawRect(QRectF(middle[0] - 2, middle[1] - 2, 4, 4).translated(inner.topLeft()))
