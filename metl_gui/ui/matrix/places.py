"""Places on the plane: where one looks from and what is chosen there, kept by nodes so that they outlive a new layout.

Units: offsets in attribute units, scales in pixels a unit, times in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from metl_gui.ui.matrix.axis import Axis, Level
from metl_gui.ui.matrix.camera import Camera, Frame
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.selection import Place, Selected

_REST_S = 1.5
_MOST = 100
_FARTHEST = 1e9
_LARGEST = 1e3


@dataclass(frozen=True)
class Anchor:
    """A place of an axis: so far from the beginning of a version, or of the axis when there is none."""

    version: int | None
    offset: float


@dataclass(frozen=True)
class PlanePlace:
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
    def of_json(cls, found: Any) -> PlanePlace | None:
        """Read it from the view settings; ``None`` when that is no place."""
        try:
            source, target = (None if p is None else Place(*p) for p in found["selected"])
            x, y, scale = found["x"], found["y"], found["scale"]
            left, top, wide, tall = float(x[1]), float(y[1]), float(scale[0]), float(scale[1])
            # No picture can be painted with other numbers, and a file can hold any.
            if not (abs(left) < _FARTHEST and abs(top) < _FARTHEST and 0 < wide < _LARGEST and 0 < tall < _LARGEST):
                return None
            return cls(Anchor(x[0], left), Anchor(y[0], top), wide, tall, Selected(source, target))
        except (TypeError, ValueError, KeyError, IndexError):
            return None


def place_of(content: Content, camera: Camera, selected: Selected) -> PlanePlace:
    """Note where one is."""
    return PlanePlace(
        _anchor(content.columns, camera.left),
        _anchor(content.rows, camera.top),
        camera.scale_x,
        camera.scale_y,
        Selected(selected.source, selected.target),
    )


def camera_of(content: Content, frame: Frame, place: PlanePlace) -> Camera:
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
        self._behind: list[PlanePlace] = []
        self._ahead: list[PlanePlace] = []
        self._drifted_at = float("-inf")

    @property
    def can_go_back(self) -> bool:
        """Whether there is a place behind."""
        return bool(self._behind)

    @property
    def can_go_forward(self) -> bool:
        """Whether one came back from somewhere."""
        return bool(self._ahead)

    def leave(self, here: PlanePlace, is_jump: bool, now_s: float) -> None:
        """Note that one leaves a place, by a jump or by a step of panning and zooming."""
        goes_on = not is_jump and now_s - self._drifted_at < _REST_S
        self._drifted_at = float("-inf") if is_jump else now_s
        if goes_on or (self._behind and self._behind[-1] == here):
            return
        self._behind = [*self._behind, here][-_MOST:]
        self._ahead = []

    def back(self, here: PlanePlace) -> PlanePlace | None:
        """Return to the place before, ``None`` at the beginning."""
        return self._turn(here, self._behind, self._ahead)

    def forward(self, here: PlanePlace) -> PlanePlace | None:
        """Go to where one came back from, ``None`` at the end."""
        return self._turn(here, self._ahead, self._behind)

    def forget(self) -> None:
        """Begin anew, with another project."""
        self._behind, self._ahead = [], []
        self._drifted_at = float("-inf")

    def _turn(self, here: PlanePlace, from_: list[PlanePlace], to: list[PlanePlace]) -> PlanePlace | None:
        self._drifted_at = float("-inf")
        while from_:
            found = from_.pop()
            if found != here:
                to.append(here)
                return found
        return None
