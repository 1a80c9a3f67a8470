"""What a picture of the plane is made from, what it is tinted by, and the signs that can be met on it.

Tiles and blocks are tinted by nothing but what is mapped, or by an overlay of the View menu. The steps of every scale
are told apart by lightness, which all eyes see, and by words: in the legend, and on tiles with room.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor

from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera, level_at
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.layout.elements import NO_CELLS
from metl_gui.ui.matrix.painting.raster import Colours
from metl_gui.ui.theming.theme import Theme, mixed
from metl_gui.values import Value

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

STEPS = 24
_DAY_MS = 86_400_000
_AGES = ((1, "a day", "1 d"), (7, "a week", "7 d"), (31, "a month", "1 m"), (365, "a year", "1 y"))
_PEOPLE_HUES = ("#56B4E9", "#009E73", "#CC79A7", "#0072B2")
"""Source: Okabe and Ito, Color Universal Design (2008), without what amber and red say here."""


class Overlay(StrEnum):
    """What tiles and blocks can be tinted by, as the View menu calls it."""

    NONE = "No overlay"
    STATUS = "Status of blocks"
    AGE = "Age of confirmation"
    REVIEWER = "Reviewer"
    COVERAGE = "Coverage"


class Tinting(Value):
    """The chosen overlay.

    Args:
        overlay: which.
        now_ms: the moment that ages are counted to.
    """

    overlay: Overlay = Overlay.NONE
    now_ms: int = 0


NO_TINTING = Tinting()


class ColourStep(Value):
    """One colour of a scale.

    Args:
        colour: of the tile.
        words: what the legend says.
        short: what a tile says, empty for its number of elements.
    """

    colour: QColor
    words: str
    short: str = ""


class TileStatistics(Value, eq=False):
    """What is known of some tiles or blocks; all arrays have one entry each.

    Args:
        elements: number of elements.
        share: elements over what they could hold.
        waiting, unconfirmed: numbers of blocks.
        newest_ms: newest confirmation, 0 for none.
        who: number of the person who confirmed last.
    """

    elements: Ints
    share: Floats
    waiting: Ints
    unconfirmed: Ints
    newest_ms: Ints
    who: Ints


def share_of(elements: Ints, room: Ints) -> Floats:
    """Return how much is mapped of what tiles or blocks could hold, 0 to 1."""
    share: Floats = np.minimum(elements / np.maximum(room, 1), 1.0)
    return share


def scale_of(tinting: Tinting, theme: Theme, people: tuple[str, ...]) -> list[ColourStep]:
    """Return the colours of an overlay, in order."""
    overlay = tinting.overlay
    if overlay is Overlay.STATUS:
        return [
            ColourStep(theme.tint(0.75), "confirmed", "ok"),
            ColourStep(theme.tint(0.25), "not confirmed", "new"),
            ColourStep(theme.reviewbg, "needs review", "review"),
            ColourStep(theme.band, "retired", "retired"),
        ]
    if overlay is Overlay.AGE:
        steps = [(0, f"within {words}", f"<{short}") for _, words, short in _AGES]
        steps += [(0, "older", ">1 y"), (0, "never confirmed", "never")]
        shares = (0.0, 0.25, 0.5, 0.75, 1.0)
        colours = [*(theme.tint(share) for share in shares), theme.band]
        return [ColourStep(colour, words, short) for colour, (_, words, short) in zip(colours, steps, strict=True)]
    if overlay is Overlay.REVIEWER:
        return _people_scale(theme, people)
    if overlay is Overlay.COVERAGE:
        bounds = np.arange(5) * 20
        return [ColourStep(theme.tint(b / 80), f"{b} to {b + 20} %") for b in bounds.tolist()]
    return [ColourStep(theme.tint(step / (STEPS - 1)), "") for step in range(STEPS)]


def steps_of(tinting: Tinting, told: TileStatistics, people: tuple[str, ...]) -> Ints:
    """Return for every tile its place on the scale."""
    overlay = tinting.overlay
    if overlay is Overlay.STATUS:
        settled = np.where(told.unconfirmed > 0, 1, np.where(told.elements > 0, 0, 3))
        return np.where(told.waiting > 0, 2, settled)
    if overlay is Overlay.AGE:
        bounds = np.array([days * _DAY_MS for days, _, _ in _AGES], np.int64)
        age = np.maximum(tinting.now_ms - told.newest_ms, 0)
        return np.where(told.newest_ms > 0, np.searchsorted(bounds, age, side="left"), len(bounds) + 1)
    if overlay is Overlay.REVIEWER:
        named = min(len(people), len(_PEOPLE_HUES) + 1)
        return np.where(told.who <= 0, 0, np.minimum(told.who, named))
    steps = 5 if overlay is Overlay.COVERAGE else STEPS
    return np.minimum((told.share * steps).astype(np.int64), steps - 1)


def words_of(tinting: Tinting, step: ColourStep, elements: int, share: float) -> str:
    """Return what a tile says."""
    if tinting.overlay is Overlay.COVERAGE:
        return f"{share:.0%}"
    return step.short or (f"{elements:,}" if elements else "")


def _people_scale(theme: Theme, people: tuple[str, ...]) -> list[ColourStep]:
    """Give the first four people a colour of their own; initials tell those and all others apart."""
    steps = [ColourStep(theme.band, "nobody yet", "-")]
    weight = 0.45 if theme.dark else 0.5
    for name, hue in zip(people[1:], _PEOPLE_HUES, strict=False):
        steps.append(ColourStep(mixed(theme.panel, QColor(hue), weight), name, initials(name)))
    if len(people) - 1 > len(_PEOPLE_HUES):
        steps.append(ColourStep(theme.tint(0.5), f"{len(people) - 1 - len(_PEOPLE_HUES)} others", "…"))
    return steps


def initials(name: str) -> str:
    """Shorten a person's name to what fits on a tile."""
    parts = name.replace(".", " ").replace("_", " ").split()
    return "".join(part[0] for part in parts[:3]).upper() if len(parts) > 1 else name[:3]


class Sign(StrEnum):
    """A sign of the plane, by the words that explain it."""

    MAPPED = "mapped"
    UNCONFIRMED = "not confirmed"
    REVIEW = "needs review"
    LOST = "lost element"
    REMOVED = "removed attribute"
    CONFLICT = "conflict, an end is taken"
    MAY_REFUSE = "typed columns may refuse values"
    REINTERPRETED = "values read in another form"
    SUGGESTED = "suggested"
    SHARE = "elements, tint: share of what could be mapped"
    DENSITY = "density of elements"
    ADDED = "added in this version"
    GONE = "lost in this version"
    CAME = "added since"
    WENT = "removed since"
    IGNORED = "never to be mapped"
    TINY = "holds elements, too small to draw"
    HIDDEN = "hidden, nothing is deleted"


class PaintContext(Value, eq=False):
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
        refused: places of cells some of whose sampled values are refused (``places_of``).
    """

    content: PlaneContent
    camera: Camera
    size: tuple[float, float]
    ratio: float
    theme: Theme
    tinting: Tinting = NO_TINTING
    is_vector: bool = False
    is_comparing: bool = False
    pixels: Colours | None = None
    refused: Ints = msgspec.field(default_factory=lambda: NO_CELLS)

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
