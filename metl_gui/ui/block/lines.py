"""The room between both lists of the block editor: lines, stubs of lines that leave it, the line being drawn.

The lines of a block run between rows of two lists that scroll apart; where, is arithmetic on row numbers only.

Units: pixels from the top of the visible part of the lists.
Cost: proportional to the links of the block; rows are not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.marks import paint_bubble
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.values import Value

ROW_PX = 26
"""Height of a row at scale 1."""


class VisibleRows(Value):
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


class RowLink(NamedTuple):
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


class RowLine(Value):
    """A link with both ends in sight, and their heights."""

    link: RowLink
    left: float
    right: float

    def height_at(self, share: float) -> float:
        """Height of the curve at a share (0 to 1) of the way from left to right.

        Source: a cubic Bezier whose inner points lie at the heights of the ends.
        """
        t = _parameter(share)
        return self.left + (self.right - self.left) * (3 * t * t - 2 * t * t * t)


class Stub(Value):
    """A link of which one end is in sight.

    Args:
        is_left: which end it is.
        y: its height.
        direction: -1 when the other end lies above, 1 below, 0 when a filter hides it.
    """

    link: RowLink
    is_left: bool
    y: float
    direction: int


BEND = 0.45
"""How far, as a share of the way, the inner points of a line's curve lie from its ends."""


def runs(
    links: Iterable[RowLink], left: VisibleRows, right: VisibleRows
) -> tuple[tuple[RowLine, ...], tuple[Stub, ...]]:
    """Sort links into lines and stubs; what has both ends out of sight is neither."""
    lines: list[RowLine] = []
    stubs: list[Stub] = []
    near_p, near_q = left.rows_in_sight(), right.rows_in_sight()
    for link in links:
        if left.place.get(link.element.p, -1) not in near_p and right.place.get(link.element.q, -1) not in near_q:
            continue
        a, b = left.y(link.element.p), right.y(link.element.q)
        sees_a, sees_b = left.has_in_sight(a), right.has_in_sight(b)
        if a is not None and b is not None and sees_a and sees_b:
            lines.append(RowLine(link, a, b))
        elif a is not None and sees_a:
            stubs.append(Stub(link, True, a, _direction(b)))
        elif b is not None and sees_b:
            stubs.append(Stub(link, False, b, _direction(a)))
    return tuple(lines), tuple(stubs)


def line_near(lines: Iterable[RowLine], share: float, y: float, reach: float = 6.0) -> RowLine | None:
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


_STUB_PX = 14.0
_LEAST_PX = 110


class RubberBand(Value):
    """The line that is being drawn.

    Args:
        side: where it starts.
        start: height of its start.
        end: where it ends, in the coordinates of the canvas.
        words: what is taken already, empty for nothing.
    """

    side: Side
    start: float
    end: QPointF
    words: str = ""


class Drawn(Value):
    """What stands between the lists.

    Args:
        links: what belongs together.
        paths: of every attribute, by side and id.
        current: the attributes the cursors are on, left and right.
        replaced: elements that the line being drawn would replace.
        rubber: the line being drawn.
    """

    links: tuple[RowLink, ...] = ()
    paths: dict[Side, dict[int, str]] = msgspec.field(default_factory=dict)
    current: tuple[int | None, int | None] = (None, None)
    replaced: frozenset[Element] = frozenset()
    rubber: RubberBand | None = None


class Canvas(QWidget):
    """Paints the lines and tells which one was clicked.

    Args:
        sights: what both lists show now.

    Signals:
        picked: the ``RowLink`` of a clicked line.
        followed: a clicked ``Stub``.
    """

    picked = Signal(object)
    followed = Signal(object)

    def __init__(self, sights: Callable[[], tuple[VisibleRows, VisibleRows]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.drawn = Drawn()
        self._sights = sights
        self._hovered: RowLink | None = None
        self.setMouseTracking(True)
        self.setMinimumWidth(_LEAST_PX)
        self.setAccessibleName("Lines between the two lists")

    def show_drawn(self, drawn: Drawn) -> None:
        """Draw something else."""
        self.drawn = drawn
        self.update()

    def runs(self) -> tuple[tuple[RowLine, ...], tuple[Stub, ...]]:
        """Return what is drawn now."""
        return runs(self.drawn.links, *self._sights())

    def sizeHint(self) -> QSize:
        """As wide as a list."""
        return QSize(200, 120)

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint lines, then stubs over them, then the line being drawn."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lines, stubs = self.runs()
        for line in sorted(lines, key=lambda line: self._is_strong(line.link)):
            self._paint_line(painter, line)
        for stub in stubs:
            self._paint_stub(painter, stub)
        if self.drawn.rubber is not None:
            self._paint_rubber(painter, self.drawn.rubber)
        painter.end()

    def _is_strong(self, link: RowLink) -> bool:
        left, right = self.drawn.current
        return link.element.p == left or link.element.q == right or link.is_current or link is self._hovered

    def _pen(self, link: RowLink) -> QPen:
        theme = themes.current()
        width = 2.4 if self._is_strong(link) else 1.5
        if link.element in self.drawn.replaced:
            pen = QPen(theme.review_outline[0], width, Qt.PenStyle.CustomDashLine)
        elif link.words:
            pen = QPen(theme.good, width, Qt.PenStyle.CustomDashLine)
        else:
            return QPen(theme.accent, width)
        pen.setDashPattern([3.0, 2.2])
        return pen

    def _paint_line(self, painter: QPainter, line: RowLine) -> None:
        start, end = QPointF(0, line.left), QPointF(self.width(), line.right)
        path = _curve(start, end)
        painter.setPen(self._pen(line.link))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if line.link.said and not line.link.words:
            paint_bubble(painter, path.pointAtPercent(0.5) - QPointF(5.5, 6), themes.current())
        words = "would go" if line.link.element in self.drawn.replaced else line.link.words
        if words:
            kind = "review" if line.link.element in self.drawn.replaced else "good"
            _paint_label(painter, path.pointAtPercent(0.5), words, kind)

    def _paint_stub(self, painter: QPainter, stub: Stub) -> None:
        theme = themes.current()
        sign = 1 if stub.is_left else -1
        edge = 0.0 if stub.is_left else float(self.width())
        inner = edge + sign * _STUB_PX
        painter.setPen(self._pen(stub.link))
        painter.drawLine(QPointF(edge, stub.y), QPointF(inner, stub.y))
        font = themes.scaled(0.88)
        words = self._stub_words(stub)
        room = self.width() / 2 - _STUB_PX - 12
        words = QFontMetricsF(font).elidedText(words, Qt.TextElideMode.ElideMiddle, max(room, 20.0))
        width = themes.text_width(words, font) + 8
        left = inner + 2 if stub.is_left else inner - 2 - width
        high = themes.px(18)
        box = QRectF(left, stub.y - high / 2, width, high)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.panel)
        painter.drawRect(box)
        painter.setFont(font)
        painter.setPen(theme.accent if self._is_strong(stub.link) else theme.dim)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _stub_words(self, stub: Stub) -> str:
        other = Side.CDM if stub.is_left else Side.EXTRACTION
        id_ = stub.link.element.q if stub.is_left else stub.link.element.p
        arrow = {-1: "↑", 1: "↓", 0: "⋯"}[stub.direction]
        name = self.drawn.paths.get(other, {}).get(id_, "")
        return f"{name} {arrow}" if stub.is_left else f"{arrow} {name}"

    def _paint_rubber(self, painter: QPainter, rubber: RubberBand) -> None:
        theme = themes.current()
        edge = 0.0 if rubber.side is Side.EXTRACTION else float(self.width())
        path = _curve(QPointF(edge, rubber.start), rubber.end)
        painter.setPen(QPen(theme.review_outline[0] if rubber.words else theme.accent, 2.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        painter.setBrush(painter.pen().color())
        painter.drawEllipse(rubber.end, 3.5, 3.5)
        if rubber.words:
            _paint_label(painter, path.pointAtPercent(0.5), rubber.words, "review", self.width())

    # mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick a line, or follow a stub to where it leads."""
        at = event.position()
        stub = self._stub_at(at)
        link = self._link_at(at)
        if stub is not None:
            self.followed.emit(stub)
        elif link is not None:
            self.picked.emit(link)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show which line a click would pick."""
        stub = self._stub_at(event.position())
        link = stub.link if stub is not None else self._link_at(event.position())
        if link is not self._hovered:
            self._hovered = link
            self.setCursor(Qt.CursorShape.PointingHandCursor if link is not None else Qt.CursorShape.ArrowCursor)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the pointer."""
        self._hovered = None
        self.update()

    def event(self, event: QEvent) -> bool:
        """Show what a line joins."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            link = self._link_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(self.words_of(link)) if link is not None else "", self)
            return True
        return super().event(event)

    def words_of(self, link: RowLink) -> str:
        """Say what a line joins."""
        paths = self.drawn.paths
        source = paths.get(Side.EXTRACTION, {}).get(link.element.p, "")
        target = paths.get(Side.CDM, {}).get(link.element.q, "")
        lines = [f"{source} → {target}"]
        lines += [f"{link.words}, only suggested: Space maps it"] if link.words else []
        return "\n".join([*lines, link.said] if link.said else lines)

    def _link_at(self, at: QPointF) -> RowLink | None:
        line = line_near(self.runs()[0], at.x() / max(self.width(), 1), at.y())
        return line.link if line is not None else None

    def _stub_at(self, at: QPointF) -> Stub | None:
        is_left = at.x() < self.width() / 2
        near = [s for s in self.runs()[1] if s.is_left is is_left and abs(s.y - at.y()) <= 9]
        return near[0] if near else None


def _curve(start: QPointF, end: QPointF) -> QPainterPath:
    path = QPainterPath(start)
    bend = (end.x() - start.x()) * BEND
    path.cubicTo(QPointF(start.x() + bend, start.y()), QPointF(end.x() - bend, end.y()), end)
    return path


def _paint_label(painter: QPainter, at: QPointF, words: str, kind: str, most: float = 10_000.0) -> None:
    width = pill_width(words)
    if width > most:
        metrics = QFontMetricsF(themes.scaled(0.85, bold=True))
        words = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, most - 18)
        width = most
    paint_pill(painter, QRectF(at.x() - width / 2, at.y() - themes.px(10), width, themes.px(20)), words, kind)
