"""Where one looks on the plane: pure arithmetic of zoom, pan, fit and level.

Source: ux.md §2 (one plane). Units: ``left`` and ``top`` in attribute units, scales in pixels a unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from metl_gui.ui.matrix.axis import Axis, Level

WIDEST_CELL = 27.0
TALLEST_CELL = 25.0
LEAST_ITEM_PX = 14.0
MARGIN_PX = 10.0


@dataclass(frozen=True)
class Frame:
    """What a camera moves in: the plane's extent in units and the viewport's in pixels."""

    columns: float
    rows: float
    width: float
    height: float

    @property
    def least_x(self) -> float:
        """The scale at which all columns fit, never above the widest cell."""
        return min(WIDEST_CELL, max(self.width - 2 * MARGIN_PX, 1.0) / max(self.columns, 1.0))

    @property
    def least_y(self) -> float:
        """The scale at which all rows fit, never above the tallest cell."""
        return min(TALLEST_CELL, max(self.height - 2 * MARGIN_PX, 1.0) / max(self.rows, 1.0))


@dataclass(frozen=True)
class Camera:
    """The place at the top left of the viewport and the scale of both axes."""

    left: float = 0.0
    top: float = 0.0
    scale_x: float = WIDEST_CELL
    scale_y: float = TALLEST_CELL

    def zoomed(self, frame: Frame, factor_x: float, factor_y: float, at: tuple[float, float]) -> Camera:
        """Scale about a point of the viewport (pixels), which keeps its place; an axis at its end stops."""
        scale_x = min(max(self.scale_x * factor_x, frame.least_x), WIDEST_CELL)
        scale_y = min(max(self.scale_y * factor_y, frame.least_y), TALLEST_CELL)
        left = self.left + at[0] / self.scale_x - at[0] / scale_x
        top = self.top + at[1] / self.scale_y - at[1] / scale_y
        return Camera(left, top, scale_x, scale_y).held(frame)

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
    scale_x = min(max((frame.width - 4 * MARGIN_PX) / wide, frame.least_x), WIDEST_CELL)
    scale_y = min(max((frame.height - 4 * MARGIN_PX) / tall, frame.least_y), TALLEST_CELL)
    left = (box[0] + box[2]) / 2 - frame.width / scale_x / 2
    top = (box[1] + box[3]) / 2 - frame.height / scale_y / 2
    return Camera(left, top, scale_x, scale_y).held(frame)


def level_at(axis: Axis, scale: float) -> Level | None:
    """Return the finest level whose median item is large enough to draw, ``None`` when there is none."""
    return next((level for level in axis.levels if axis.spans(level).median_length * scale >= LEAST_ITEM_PX), None)


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
