"""The camera over the plane (zoom, pan, fit, level), and the places that one can come back to.

The camera is pure arithmetic. A place is where one looks from and what is selected there, kept by nodes so that it
outlives a new layout.

Units: ``left``, ``top`` and offsets in attribute units, scales in pixels a unit, times in seconds.
Source: docs/guide/mapping.md, "Look".
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.ui.theming import theme as themes
from metl_gui.values import Value

WIDEST_CELL = 27.0
TALLEST_CELL = 25.0
"""The largest cell at scale 1; it grows with the words that name it."""
LEAST_ITEM_PX = 14.0
MARGIN_PX = 10.0


def widest_cell() -> float:
    """Return the width of the largest cell at the scale of the window."""
    return WIDEST_CELL * themes.scale()


def tallest_cell() -> float:
    """Return the height of the largest cell at the scale of the window."""
    return TALLEST_CELL * themes.scale()


def least_item_px() -> float:
    """Return how long an item is at least that is drawn for itself, at the scale of the window."""
    return LEAST_ITEM_PX * themes.scale()


class Frame(Value):
    """What a camera moves in: the plane's extent in units and the viewport's in pixels."""

    columns: float
    rows: float
    width: float
    height: float

    @property
    def least_x(self) -> float:
        """The scale at which all columns fit, never above the widest cell."""
        return min(widest_cell(), max(self.width - 2 * MARGIN_PX, 1.0) / max(self.columns, 1.0))

    @property
    def least_y(self) -> float:
        """The scale at which all rows fit, never above the tallest cell."""
        return min(tallest_cell(), max(self.height - 2 * MARGIN_PX, 1.0) / max(self.rows, 1.0))


class Camera(Value):
    """The place at the top left of the viewport and the scale of both axes."""

    left: float = 0.0
    top: float = 0.0
    scale_x: float = WIDEST_CELL
    scale_y: float = TALLEST_CELL

    def zoomed(self, frame: Frame, factor_x: float, factor_y: float, at: tuple[float, float]) -> Camera:
        """Scale about a point of the viewport (pixels), which keeps its place; an axis at its end stops."""
        scale_x = min(max(self.scale_x * factor_x, frame.least_x), widest_cell())
        scale_y = min(max(self.scale_y * factor_y, frame.least_y), tallest_cell())
        left = self.left + at[0] / self.scale_x - at[0] / scale_x
        top = self.top + at[1] / self.scale_y - at[1] / scale_y
        return Camera(left, top, scale_x, scale_y).held(frame)

    def scaled(self, frame: Frame, factor: float) -> Camera:
        """Show the same with everything larger by a factor, at the same place."""
        scale_x = min(max(self.scale_x * factor, frame.least_x), widest_cell())
        scale_y = min(max(self.scale_y * factor, frame.least_y), tallest_cell())
        return Camera(self.left, self.top, scale_x, scale_y).held(frame)

    def panned(self, frame: Frame, dx: float, dy: float) -> Camera:
        """Move the plane under the viewport by pixels."""
        return replace(self, left=self.left - dx / self.scale_x, top=self.top - dy / self.scale_y).held(frame)

    def held(self, frame: Frame) -> Camera:
        """Keep the plane in sight: what is smaller than the viewport stays at its top left, with a margin."""
        return replace(
            self,
            left=_held(self.left, frame.columns, frame.width, self.scale_x),
            top=_held(self.top, frame.rows, frame.height, self.scale_y),
        )

    def showing(self, frame: Frame, box: tuple[float, float, float, float]) -> Camera:
        """Bring a box (left, top, right, bottom in units) into sight, into the middle when no part of it was."""
        left = _into_sight(self.left, frame.width / self.scale_x, box[0], box[2], 2 * MARGIN_PX / self.scale_x)
        top = _into_sight(self.top, frame.height / self.scale_y, box[1], box[3], 2 * MARGIN_PX / self.scale_y)
        return replace(self, left=left, top=top).held(frame)

    def on_screen(self, x: float, y: float) -> tuple[float, float]:
        """Turn a place on the plane into pixels of the viewport."""
        return (x - self.left) * self.scale_x, (y - self.top) * self.scale_y

    def on_plane(self, px: float, py: float) -> tuple[float, float]:
        """Turn pixels of the viewport into a place on the plane."""
        return self.left + px / self.scale_x, self.top + py / self.scale_y


def fitted(frame: Frame) -> Camera:
    """Look at everything."""
    return Camera(0.0, 0.0, frame.least_x, frame.least_y).held(frame)


def looking_at(frame: Frame, box: tuple[float, float, float, float]) -> Camera:
    """Look at a box (left, top, right, bottom in units) as closely as it fits."""
    wide, tall = max(box[2] - box[0], 1.0), max(box[3] - box[1], 1.0)
    scale_x = min(max((frame.width - 4 * MARGIN_PX) / wide, frame.least_x), widest_cell())
    scale_y = min(max((frame.height - 4 * MARGIN_PX) / tall, frame.least_y), tallest_cell())
    left = (box[0] + box[2]) / 2 - frame.width / scale_x / 2
    top = (box[1] + box[3]) / 2 - frame.height / scale_y / 2
    return Camera(left, top, scale_x, scale_y).held(frame)


def level_at(axis: Axis, scale: float) -> Level | None:
    """Return the finest level whose median item is large enough to draw, ``None`` when there is none."""
    least = least_item_px()
    return next((level for level, length in axis.median_lengths if length * scale >= least), None)


def _held(place: float, length: float, pixels: float, scale: float) -> float:
    margin = MARGIN_PX / scale
    sight = pixels / scale
    if length + 2 * margin <= sight:
        return -margin
    return min(max(place, -margin), length + margin - sight)


def _into_sight(place: float, sight: float, low: float, high: float, margin: float) -> float:
    if place <= low - margin and high + margin <= place + sight:
        return place
    if place < high and low < place + sight:
        return low - margin if low - margin < place else min(high + margin - sight, low - margin)
    return min((low + high - sight) / 2, low - margin)


_REST_S = 1.5
_MOST = 100
_FARTHEST = 1e9
_LARGEST = 1e3


class Anchor(Value):
    """A place of an axis: so far from the beginning of a version, or of the axis when there is none."""

    version: int | None
    offset: float


class Viewpoint(Value):
    """Where one looks from, and what is chosen.

    Args:
        x, y: the top left of the picture.
        scale_x, scale_y: the zoom.
        selected: the current nodes.
    """

    x: Anchor
    y: Anchor
    scale_x: float
    scale_y: float
    selected: Selected

    def as_json(self) -> dict[str, Any]:
        """Write it for the view settings."""
        ends = (self.selected.source, self.selected.target)
        return {
            "x": [self.x.version, self.x.offset],
            "y": [self.y.version, self.y.offset],
            "scale": [self.scale_x, self.scale_y],
            "selected": [None if p is None else [p.schema, p.version, p.attribute] for p in ends],
        }

    @classmethod
    def of_json(cls, found: Any) -> Viewpoint | None:
        """Read it from the view settings; ``None`` when that is no place."""
        try:
            source, target = (None if p is None else NodeRef(*p) for p in found["selected"])
            x, y, scale = found["x"], found["y"], found["scale"]
            left, top, wide, tall = float(x[1]), float(y[1]), float(scale[0]), float(scale[1])
            # No picture can be painted with other numbers, and a file can hold any.
            if not (abs(left) < _FARTHEST and abs(top) < _FARTHEST and 0 < wide < _LARGEST and 0 < tall < _LARGEST):
                return None
            return cls(Anchor(x[0], left), Anchor(y[0], top), wide, tall, Selected(source, target))
        except (TypeError, ValueError, KeyError, IndexError):
            return None


def place_of(content: PlaneContent, camera: Camera, selected: Selected) -> Viewpoint:
    """Note where one is."""
    return Viewpoint(
        _anchor(content.columns, camera.left),
        _anchor(content.rows, camera.top),
        camera.scale_x,
        camera.scale_y,
        Selected(selected.source, selected.target),
    )


def camera_of(content: PlaneContent, frame: Frame, place: Viewpoint) -> Camera:
    """Return the camera of a place as the plane is laid out now; what is gone counts as the beginning."""
    left, top = _from_anchor(content.columns, place.x), _from_anchor(content.rows, place.y)
    return Camera(left, top, place.scale_x, place.scale_y).zoomed(frame, 1.0, 1.0, (0.0, 0.0))


def _anchor(axis: Axis, place: float) -> Anchor:
    spans = axis.spans(Level.VERSION)
    item = min(spans.within(place, axis.length).start, len(spans) - 1)
    return Anchor(None, place) if item < 0 else Anchor(axis.version_id(item), place - spans.begin(item))


def _from_anchor(axis: Axis, anchor: Anchor) -> float:
    span = None if anchor.version is None else axis.span_of_version(anchor.version)
    return anchor.offset + (span[0] if span is not None else 0.0)


class Trail:
    """The way that one came over the plane; apart from undo.

    A jump leaves the place before it behind; panning and zooming leave one where they began, however long they last.
    """

    def __init__(self) -> None:
        self._behind: list[Viewpoint] = []
        self._ahead: list[Viewpoint] = []
        self._drifted_at = float("-inf")

    @property
    def can_go_back(self) -> bool:
        """Whether there is a place behind."""
        return bool(self._behind)

    @property
    def can_go_forward(self) -> bool:
        """Whether one came back from somewhere."""
        return bool(self._ahead)

    def leave(self, here: Viewpoint, is_jump: bool, now_s: float) -> None:
        """Note that one leaves a place, by a jump or by a step of panning and zooming."""
        goes_on = not is_jump and now_s - self._drifted_at < _REST_S
        self._drifted_at = float("-inf") if is_jump else now_s
        if goes_on or (self._behind and self._behind[-1] == here):
            return
        self._behind = [*self._behind, here][-_MOST:]
        self._ahead = []

    def back(self, here: Viewpoint) -> Viewpoint | None:
        """Return to the place before, ``None`` at the beginning."""
        return self._turn(here, self._behind, self._ahead)

    def forward(self, here: Viewpoint) -> Viewpoint | None:
        """Go to where one came back from, ``None`` at the end."""
        return self._turn(here, self._ahead, self._behind)

    def forget(self) -> None:
        """Begin anew, with another project."""
        self._behind, self._ahead = [], []
        self._drifted_at = float("-inf")

    def _turn(self, here: Viewpoint, from_: list[Viewpoint], to: list[Viewpoint]) -> Viewpoint | None:
        self._drifted_at = float("-inf")
        while from_:
            found = from_.pop()
            if found != here:
                to.append(here)
                return found
        return None
