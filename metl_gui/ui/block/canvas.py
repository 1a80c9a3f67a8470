"""The room between both lists of the block editor: lines, stubs of lines that leave it, and the line being drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.block.geometry import BEND, Line, Link, Sight, Stub, line_near, runs
from metl_gui.ui.marks import paint_bubble
from metl_gui.ui.pill import paint_pill, pill_width
from metl_gui.ui.plain import plain_tip

_STUB_PX = 14.0
_LEAST_PX = 110


@dataclass(frozen=True)
class Rubber:
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


@dataclass(frozen=True)
class Drawn:
    """What stands between the lists.

    Args:
        links: what belongs together.
        paths: of every attribute, by side and id.
        current: the attributes the cursors are on, left and right.
        replaced: elements that the line being drawn would replace.
        rubber: the line being drawn.
    """

    links: tuple[Link, ...] = ()
    paths: dict[Side, dict[int, str]] = field(default_factory=dict)
    current: tuple[int | None, int | None] = (None, None)
    replaced: frozenset[Element] = frozenset()
    rubber: Rubber | None = None


class Canvas(QWidget):
    """Paints the lines and tells which one was clicked.

    Args:
        sights: what both lists show now.

    Signals:
        picked: the ``Link`` of a clicked line.
        followed: a clicked ``Stub``.
    """

    picked = Signal(object)
    followed = Signal(object)

    def __init__(self, sights: Callable[[], tuple[Sight, Sight]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.drawn = Drawn()
        self._sights = sights
        self._hovered: Link | None = None
        self.setMouseTracking(True)
        self.setMinimumWidth(_LEAST_PX)
        self.setAccessibleName("Lines between the two lists")

    def show_drawn(self, drawn: Drawn) -> None:
        """Draw something else."""
        self.drawn = drawn
        self.update()

    def runs(self) -> tuple[tuple[Line, ...], tuple[Stub, ...]]:
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

    def _is_strong(self, link: Link) -> bool:
        left, right = self.drawn.current
        return link.element.p == left or link.element.q == right or link.is_current or link is self._hovered

    def _pen(self, link: Link) -> QPen:
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

    def _paint_line(self, painter: QPainter, line: Line) -> None:
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

    def _paint_rubber(self, painter: QPainter, rubber: Rubber) -> None:
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

    def words_of(self, link: Link) -> str:
        """Say what a line joins."""
        paths = self.drawn.paths
        source = paths.get(Side.EXTRACTION, {}).get(link.element.p, "")
        target = paths.get(Side.CDM, {}).get(link.element.q, "")
        lines = [f"{source} → {target}"]
        lines += [f"{link.words}, only suggested: Space maps it"] if link.words else []
        return "\n".join([*lines, link.said] if link.said else lines)

    def _link_at(self, at: QPointF) -> Link | None:
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
