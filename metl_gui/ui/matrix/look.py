"""What a picture of the plane is made from, and the signs that can be met on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtGui import QColor

from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.camera import Camera, level_at
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.matrix.pixels import Colours
from metl_gui.ui.matrix.tinting import NO_TINTING, Tinting
from metl_gui.ui.theme import Theme


class Sign(StrEnum):
    """A sign of the plane, by the words that explain it."""

    MAPPED = "mapped"
    UNCONFIRMED = "not confirmed"
    REVIEW = "needs review"
    LOST = "lost element"
    REMOVED = "removed attribute"
    CONFLICT = "conflict, an end is taken"
    DIFFERS = "type differs"
    SUGGESTED = "suggested"
    SHARE = "number of elements, tint: share mapped"
    DENSITY = "density of elements"
    ADDED = "added in this version"
    GONE = "lost in this version"
    CAME = "added since"
    WENT = "removed since"
    TINY = "holds elements, too small to draw"
    HIDDEN = "hidden, nothing is deleted"


@dataclass(frozen=True, eq=False)
class Look:
    """One picture of the plane.

    Args:
        content: what lies on it.
        camera: from where; ``left`` and ``top`` on whole pixels.
        size: width and height of the picture.
        ratio: device pixels a pixel.
        theme: the colours.
        tinting: what tiles and blocks are tinted by.
        is_vector: paint shapes and words, for files that keep them.
        is_comparing: two states are compared, so that what changed from version to version is not told too.
        pixels: the memory that the painter paints into, for what is written there at once; ``None`` where it is not at
            hand. What stands in it is older than anything painted.
    """

    content: Content
    camera: Camera
    size: tuple[float, float]
    ratio: float
    theme: Theme
    tinting: Tinting = NO_TINTING
    is_vector: bool = False
    is_comparing: bool = False
    pixels: Colours | None = None

    @property
    def levels(self) -> tuple[Level | None, Level | None]:
        """The levels that are drawn of columns and rows, ``None`` below 14 px."""
        return (
            level_at(self.content.columns, self.camera.scale_x),
            level_at(self.content.rows, self.camera.scale_y),
        )

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of what is in sight, in units."""
        c = self.camera
        return c.left, c.top, c.left + self.size[0] / c.scale_x, c.top + self.size[1] / c.scale_y


def zero_of(theme: Theme) -> QColor:
    """Return the colour of what holds nothing: there, but quieter than the least tint."""
    return theme.band if theme.dark else theme.bg
