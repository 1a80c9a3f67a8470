"""The matrix as a picture file: what is on the screen, or all of it at a level, with headers and legend.

PNG files are painted at twice the size of the screen, SVG files keep shapes and words. Nothing here needs a widget, so
a job can paint beside the window.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter

from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError
from metl_gui.ui.matrix.labels.headers import Strip, left_px, paint_left, paint_top, top_px
from metl_gui.ui.matrix.labels.legend import legend_px, paint_legend
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import MARGIN_PX, Camera, level_at, tallest_cell, widest_cell
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.layout.elements import NO_CELLS
from metl_gui.ui.matrix.layout.tree_columns import Ints
from metl_gui.ui.matrix.painting.paint_context import NO_TINTING, PaintContext, Tinting
from metl_gui.ui.matrix.painting.plane import paint_plane
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.values import Value

MOST_PX = 16_000
"""The longest side of a picture; most programs show none that is larger."""
MOST_SHAPES = 40_000
"""Tiles of an SVG file; browsers become slow beyond."""
_RATIO = 2.0
_SCREEN_DPI = 96
_TILE_PX = (26.0, 20.0)


class PictureSpec(Value, eq=False):
    """What a picture shows.

    Args:
        content: what lies on the plane.
        camera: from where.
        size: width and height of the plane's part of the picture.
        theme: the colours.
        tinting: the overlay.
        refused: places of cells some of whose sampled values are refused.
    """

    content: PlaneContent
    camera: Camera
    size: tuple[float, float]
    theme: Theme
    tinting: Tinting = NO_TINTING
    refused: Ints = msgspec.field(default_factory=lambda: NO_CELLS)

    @property
    def width(self) -> int:
        """Width of the whole picture in pixels of the screen."""
        return round(self.size[0] + left_px())

    @property
    def height(self) -> int:
        """Height of the whole picture in pixels of the screen."""
        return round(self.size[1] + top_px() + legend_px())


def whole(content: PlaneContent, level: Level, theme: Theme, tinting: Tinting = NO_TINTING) -> PictureSpec:
    """Show the whole matrix at a level: every item of it as small as it can be read."""
    scale_x = _scale(content.columns, level, 0)
    scale_y = _scale(content.rows, level, 1)
    camera = Camera(-MARGIN_PX / scale_x, -MARGIN_PX / scale_y, scale_x, scale_y)
    width = content.columns.length * scale_x + 2 * MARGIN_PX
    height = content.rows.length * scale_y + 2 * MARGIN_PX
    return PictureSpec(content, camera, (round(width), round(height)), theme, tinting)


def save(sheet: PictureSpec, path: Path) -> Path:
    """Write a picture in the format of the file's suffix, PNG by default.

    Returns:
        The file.

    Raises:
        ProjectError: the picture would be too large, or the file cannot be written.
    """
    is_vector = path.suffix.lower() == ".svg"
    refuse_if_too_large(sheet, is_vector=is_vector)
    target = path if path.suffix.lower() in (".svg", ".png") else path.with_name(f"{path.name}.png")
    if not (_save_vector(sheet, target) if is_vector else _save_pixels(sheet, target)):
        raise ProjectError(f"The picture {target} cannot be written.", hint="Choose another folder.")
    return target


def refuse_if_too_large(sheet: PictureSpec, *, is_vector: bool) -> None:
    """Say what is too large about a picture.

    Raises:
        ProjectError: with the sizes, and what to choose instead.
    """
    hint = "Choose a coarser level, or what is on the screen."
    if is_vector:
        tiles = _tiles(sheet)
        if tiles > MOST_SHAPES:
            raise ProjectError(
                f"The drawing would have {tiles:,} tiles.", f"An SVG file may have {MOST_SHAPES:,}.", f"{hint} Or PNG."
            )
    elif max(sheet.width, sheet.height) > MOST_PX:
        raise ProjectError(
            f"The picture would be {sheet.width:,} x {sheet.height:,} pixels.",
            f"A side may have {MOST_PX:,}.",
            hint,
        )


def ratio_of(sheet: PictureSpec) -> float:
    """Return how many pixels of the file stand for one of the screen: two, or one where two would be too many."""
    return _RATIO if max(sheet.width, sheet.height) * _RATIO <= MOST_PX else 1.0


def paint(painter: QPainter, sheet: PictureSpec, ratio: float, *, is_vector: bool = False) -> None:
    """Paint plane, headers and legend."""
    width, height = sheet.size
    painter.fillRect(QRectF(0, 0, sheet.width, sheet.height), sheet.theme.panel)
    content, camera = sheet.content, sheet.camera
    look = PaintContext(
        content, camera, sheet.size, ratio, sheet.theme, sheet.tinting, is_vector, refused=sheet.refused
    )
    painter.save()
    painter.translate(left_px(), top_px())
    painter.setClipRect(QRectF(0, 0, width, height))
    signs = paint_plane(painter, look)
    painter.restore()
    seen = content.columns.spans(Level.VERSION).within(look.box[0], look.box[2])
    is_fine = look.levels[0] in (Level.ATTRIBUTE, Level.VERSION)
    waiting = content.waits_in(Side.EXTRACTION, seen) if is_fine else frozenset()
    top = Strip(content.columns, camera.left, camera.scale_x, width, None, waiting, ratio, is_vector)
    left = Strip(content.rows, camera.top, camera.scale_y, height, None, frozenset(), ratio, is_vector)
    for box, part in ((QRectF(left_px(), 0, width, top_px()), top), (QRectF(0, top_px(), left_px(), height), left)):
        painter.save()
        painter.translate(box.topLeft())
        painter.setClipRect(QRectF(0, 0, box.width(), box.height()))
        (paint_top if part is top else paint_left)(painter, part, sheet.theme)
        painter.restore()
    foot = QRectF(0, top_px() + height, sheet.width, legend_px())
    paint_legend(painter, foot, sheet.theme, signs, sheet.tinting, content.people, is_vector=is_vector)


def _save_pixels(sheet: PictureSpec, path: Path) -> bool:
    ratio = ratio_of(sheet)
    image = QImage(round(sheet.width * ratio), round(sheet.height * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    painter = QPainter(image)
    try:
        paint(painter, sheet, ratio)
    finally:
        painter.end()
    return image.save(str(path))


def _save_vector(sheet: PictureSpec, path: Path) -> bool:
    from PySide6.QtSvg import QSvgGenerator

    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setResolution(_SCREEN_DPI)
    generator.setSize(QSize(sheet.width, sheet.height))
    generator.setViewBox(QRectF(0, 0, sheet.width, sheet.height))
    generator.setTitle("Matrix")
    painter = QPainter()
    if not painter.begin(generator):
        return False
    try:
        paint(painter, sheet, 1.0, is_vector=True)
    finally:
        painter.end()
    return path.exists()


def _tiles(sheet: PictureSpec) -> int:
    """Count the shapes of the plane; at cell level blocks with their lines."""
    look = PaintContext(sheet.content, sheet.camera, sheet.size, 1.0, sheet.theme)
    counts = []
    for axis, level, low, high in zip(
        (sheet.content.columns, sheet.content.rows), look.levels, look.box[:2], look.box[2:], strict=True
    ):
        counts.append(len(axis.spans(level or Level.VERSION).within(low, high)))
    return counts[0] * counts[1]


def _scale(axis: Axis, level: Level, at: int) -> float:
    """Return the scale at which an axis shows a level, or the level next to it that it has."""
    largest = (widest_cell(), tallest_cell())[at]
    if level is Level.ATTRIBUTE:
        return largest
    wanted = min((each for each in axis.levels if each >= level), default=axis.levels[-1])
    median = axis.spans(wanted).median_length
    scale = min(themes.scale() * _TILE_PX[at] / max(median, 1e-9), largest)
    return scale if level_at(axis, scale) is not None else largest
