"""Where the lines of a block run: between rows of two lists that scroll apart, by arithmetic on row numbers only.

Units: pixels from the top of the visible part of the lists.
Cost: proportional to the links of the block; rows are not touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from metl_gui.core.matrix.blocks import Element

ROW_PX = 26
"""Height of a row at scale 1."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What is in sight of one list.

    Args:
        place: row of each attribute that the list shows, by id.
        top: how far it is scrolled.
        height: of its visible part.
        row: height of a row.
    """

    place: Mapping[int, int]
    top: float
    height: float
    row: float = ROW_PX

    def y(self, attribute_id: int) -> float | None:
        """Middle of an attribute's row, wherever that is; ``None`` when a filter hides it."""
        row = self.place.get(attribute_id)
        return None if row is None else (row + 0.5) * self.row - self.top

    def rows_in_sight(self) -> range:
        """Return the rows of which anything can be seen, and one more at either end."""
        return range(max(int(self.top // self.row) - 1, 0), int((self.top + self.height) // self.row) + 2)

    def has_in_sight(self, y: float | None) -> bool:
        """Whether the middle of a row at this height can be seen."""
        return y is not None and 0 <= y <= self.height


@dataclass(frozen=True, slots=True)
class Link:
    """What belongs together.

    Args:
        element: both ends.
        words: of an element that is only suggested, empty for one that is.
        is_current: the suggestion that is shown stronger than others.
        said: comments on an element, or the reason of a suggestion.
    """

    element: Element
    words: str = ""
    is_current: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A link with both ends in sight, and their heights."""

    link: Link
    left: float
    right: float

    def height_at(self, share: float) -> float:
        """Height of the curve at a share (0 to 1) of the way from left to right.

        Source: a cubic Bezier whose inner points lie at the heights of the ends.
        """
        t = _parameter(share)
        return self.left + (self.right - self.left) * (3 * t * t - 2 * t * t * t)


@dataclass(frozen=True, slots=True)
class Stub:
    """A link of which one end is in sight.

    Args:
        is_left: which end it is.
        y: its height.
        direction: -1 when the other end lies above, 1 below, 0 when a filter hides it.
    """

    link: Link
    is_left: bool
    y: float
    direction: int


BEND = 0.45
"""How far, as a share of the way, the inner points of a line's curve lie from its ends."""


def runs(links: Iterable[Link], left: Sight, right: Sight) -> tuple[tuple[Line, ...], tuple[Stub, ...]]:
    """Sort links into lines and stubs; what has both ends out of sight is neither."""
    lines: list[Line] = []
    stubs: list[Stub] = []
    near_p, near_q = left.rows_in_sight(), right.rows_in_sight()
    for link in links:
        if left.place.get(link.element.p, -1) not in near_p and right.place.get(link.element.q, -1) not in near_q:
            continue
        a, b = left.y(link.element.p), right.y(link.element.q)
        sees_a, sees_b = left.has_in_sight(a), right.has_in_sight(b)
        if a is not None and b is not None and sees_a and sees_b:
            lines.append(Line(link, a, b))
        elif a is not None and sees_a:
            stubs.append(Stub(link, True, a, _direction(b)))
        elif b is not None and sees_b:
            stubs.append(Stub(link, False, b, _direction(a)))
    return tuple(lines), tuple(stubs)


def line_near(lines: Iterable[Line], share: float, y: float, reach: float = 6.0) -> Line | None:
    """Return the line nearest to a point, if it is within reach.

    Args:
        lines: what is drawn.
        share: place of the point between the lists, 0 to 1.
        y: its height.
        reach: how near is near enough.
    """
    found = min(lines, key=lambda line: abs(line.height_at(share) - y), default=None)
    return found if found is not None and abs(found.height_at(share) - y) <= reach else None


def _direction(y: float | None) -> int:
    if y is None:
        return 0
    return -1 if y < 0 else 1


def _parameter(share: float) -> float:
    """Solve the curve's x(t) = share by bisection; x grows with t."""
    low, high = 0.0, 1.0
    for _ in range(24):
        t = (low + high) / 2
        x = 3 * (1 - t) * (1 - t) * t * BEND + 3 * (1 - t) * t * t * (1 - BEND) + t * t * t
        low, high = (t, high) if x < share else (low, t)
    return (low + high) / 2
