"""What a chart can show of a run: which lines above, which below on their own scale, and in what words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from metl_gui.ui.run.amounts import amount, duration_ns, size
from metl_gui.ui.run.course import BACKLOG, BATCH_MS, LINES, Course, entity_line
from metl_gui.ui.theme import Theme

_ENTITIES = 6
_SOLID, _DASH, _DOT = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine
_WIDTHS = {"in": 2.6, "mapped": 1.6}
"""The line of what came in shows on both sides of that of what was mapped, which mostly covers it."""


@dataclass(frozen=True)
class ChartView:
    """One choice of lines.

    Args:
        id: its name in code.
        title: what people choose.
        upper, lower: names of lines, one plot each; no lower plot when empty.
        upper_words, lower_words: write a value of either plot.
        is_by_powers: the upper plot goes up by powers of ten from 1, as a few values are far above the others; what is
            less stands at its foot.
        fill: chooses the lines by what the run has, and by the one that a person chose; ``None`` where they are fixed.
    """

    id: str
    title: str
    upper: tuple[str, ...]
    lower: tuple[str, ...] = ()
    upper_words: Callable[[float], str] = amount
    lower_words: Callable[[float], str] = amount
    is_by_powers: bool = False
    fill: Callable[[Course, str], ChartView] | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines, the upper ones first."""
        return self.upper + self.lower

    def words(self, name: str, value: float) -> str:
        """Write a value of a line."""
        return (self.upper_words if name in self.upper else self.lower_words)(value)


def milliseconds(value: float) -> str:
    """Write so many milliseconds."""
    return duration_ns(value * 1e6) if value else "0"


def entities_of(course: Course, chosen: str = "") -> ChartView:
    """Return the view of the largest entities, with the one that a person chose among them."""
    names = list(course.entities[:_ENTITIES])
    if chosen in course.entities and chosen not in names:
        names = [*names[: _ENTITIES - 1], chosen]
    return replace(ENTITIES, upper=tuple(entity_line(name) for name in names))


def backlog_of(course: Course, _chosen: str) -> ChartView:
    """Return the view of batches with the backlog in what the source is measured in."""
    return replace(BATCHES, lower_words=size if course.unit == "bytes" else amount)


RECORDS = ChartView("records", "Records per second", LINES[:2], LINES[2:])
BATCHES = ChartView("batches", "Batch time, backlog", (BATCH_MS,), (BACKLOG,), milliseconds, size, fill=backlog_of)
ENTITIES = ChartView("entities", "Messages by entity", (), fill=entities_of)
VIEWS = (RECORDS, BATCHES, ENTITIES)


def pen_of(theme: Theme, view: ChartView, name: str) -> tuple[QColor, float, Qt.PenStyle]:
    """Return colour, width and style of a line: no two lines of a plot differ in colour alone."""
    if name in theme.chart:
        return theme.chart[name], _WIDTHS.get(name, 2.0), _DASH if name == "filtered" else _SOLID
    at = view.lines.index(name)
    colours = theme.accent, theme.good, theme.dim
    return colours[at % len(colours)], 2.0, (_SOLID, _DASH, _DOT)[(at + at // len(colours)) % 3]
