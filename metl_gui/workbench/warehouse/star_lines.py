"""The course of the lines of a star diagram, and where their words stand; the window and pages draw the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from metl_gui.values import Value
from metl_gui.workbench.warehouse.star import BOX_HEIGHT, BOX_WIDTH, Places, Star, StarLine

Point: TypeAlias = tuple[float, float]
Area: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height."""

ARROW = 5.0
"""Half the width of the head of a line."""

_PORT_GAP = 11.0
_LEAST_REACH = 36.0
_SHARES = (0.5, 0.38, 0.62, 0.28, 0.72, 0.18, 0.82)
"""Where on a line its words may stand, the best first."""

_SHIFTS = (0.0, -0.8, 0.8)
"""How far above or below it, in their height."""


class LineCourse(Value):
    """The cubic curve of a line.

    Args:
        first, last: where it begins and ends.
        leaves, arrives: its control points.
    """

    first: Point
    leaves: Point
    arrives: Point
    last: Point

    def at(self, share: float) -> Point:
        """Return a point of the curve, of 0 to 1."""
        rest = 1 - share
        weights = (rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3)
        points = (self.first, self.leaves, self.arrives, self.last)
        x, y = (sum(weight * point[axis] for weight, point in zip(weights, points, strict=True)) for axis in (0, 1))
        return x, y

    @property
    def comes_from(self) -> int:
        """From which side it comes to its end: 1 from the left, -1 from the right."""
        return 1 if self.arrives[0] < self.last[0] else -1


def line_courses(star: Star, places: Places) -> dict[StarLine, LineCourse]:
    """Return the course of each line; lines that meet at one side of a box end beside each other."""
    sides = {line: _sides(places[line.start], places[line.end]) for line in star.lines}
    ports: dict[tuple[str, int], list[StarLine]] = {}
    for line, (start, end) in sides.items():
        ports.setdefault((line.start, start), []).append(line)
        ports.setdefault((line.end, end), []).append(line)
    at: dict[tuple[StarLine, str], Point] = {}
    for (key, side), lines in ports.items():
        ordered = sorted(lines, key=lambda line: places[line.end if line.start == key else line.start][1])
        for number, line in enumerate(ordered):
            at[line, key] = _port(places[key], side, number, len(ordered))
    return {line: _curve(at[line, line.start], at[line, line.end], *found) for line, found in sides.items()}


def words_area(course: LineCourse, size: Point, blocked: Iterable[Area]) -> Area:
    """Return where words of a size stand on a line: clear of what is there already, or else as far as can be."""
    others = tuple(blocked)
    middles = [course.at(share) for share in _SHARES]
    found = [_around((x, y + shift * size[1]), size) for shift in _SHIFTS for x, y in middles]
    return min(found, key=lambda area: sum(_shared(area, other) for other in others))


def box_area(place: Point) -> Area:
    """Return the area of a box."""
    return *place, BOX_WIDTH, BOX_HEIGHT


def _sides(start: Point, end: Point) -> tuple[int, int]:
    """Return at which sides a line leaves and ends: -1 left, 1 right; boxes above each other by their right."""
    if start[0] + BOX_WIDTH < end[0]:
        return 1, -1
    return (-1, 1) if end[0] + BOX_WIDTH < start[0] else (1, 1)


def _port(place: Point, side: int, number: int, count: int) -> Point:
    gap = min(_PORT_GAP, (BOX_HEIGHT - 10) / max(count, 1))
    y = place[1] + BOX_HEIGHT / 2 + (number - (count - 1) / 2) * gap
    return place[0] + (BOX_WIDTH if side > 0 else 0), y


def _curve(first: Point, last: Point, start: int, end: int) -> LineCourse:
    reach = max(_LEAST_REACH, abs(last[0] - first[0]) * 0.45)
    return LineCourse(first, (first[0] + start * reach, first[1]), (last[0] + end * reach, last[1]), last)


def _around(middle: Point, size: Point) -> Area:
    return middle[0] - size[0] / 2, middle[1] - size[1] / 2, *size


def _shared(one: Area, other: Area) -> float:
    """Return how much of two areas is in both."""
    wide, high = (min(one[a] + one[a + 2], other[a] + other[a + 2]) - max(one[a], other[a]) for a in (0, 1))
    return max(wide, 0) * max(high, 0)
