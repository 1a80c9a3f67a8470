"""The star diagram: boxes that a person chooses and arranges, with mouse or keyboard; wheel zooms, the ground pans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.workbench.warehouse.star import (
    BOX_HEIGHT,
    BOX_WIDTH,
    NO_STAR,
    BoxKind,
    Places,
    Star,
    StarBox,
    StarLine,
    arranged,
    nearest,
)
from metl_gui.workbench.warehouse.star_lines import ARROW, Area, LineCourse, box_area, line_courses, words_area

_MARGIN = 22.0
_LEAST_SCALE, _MOST_SCALE = 0.15, 2.5
_STEP = 1.2
_GRID = 12.0
_MOST_WORDS = 24
"""Where more lines have words, only those of the chosen box say them."""
_LEAST_LETTERS = 5.0
"""Pixels in height from which letters can be told apart: below, boxes are painted without their words."""
_EDGE = 6.0
"""How far edges and arrows are painted outside of what they belong to."""

_DIRECTIONS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


@dataclass
class _Drag:
    """What the mouse holds: a box, or with an empty key the ground."""

    key: str
    start: QPointF
    origin: tuple[float, float]
    is_moving: bool = False


class StarView(QWidget):
    """Paints a star and tells what is chosen in it.

    Signals:
        picked: the key of the box that was chosen.
        accepted: the key of a proposed table that was asked for.
        arranged: boxes were moved.
    """

    picked = Signal(object)
    accepted = Signal(object)
    arranged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.star, self.current = NO_STAR, ""
        self.moved: dict[str, tuple[float, float]] = {}
        self._places: dict[str, tuple[float, float]] = {}
        self._scale, self._offset = 1.0, QPointF(0, 0)
        self._is_fitted = True
        self._drag: _Drag | None = None
        self.setAccessibleName("Star diagram")
        self.setProperty("isMain", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(QSize(200, 120))

    # what is shown

    def show_star(self, star: Star, moved: Places) -> None:
        """Show another diagram; what was chosen stays chosen while it is there. The same one is not painted again."""
        if star == self.star and dict(moved) == self.moved:
            return
        self.star, self.moved = star, dict(moved)
        self._places = arranged(star, self.moved)
        if self.current not in star.boxes:
            self.current = ""
        self._describe()
        if self._is_fitted:
            self.fit()
        self.update()

    def choose(self, key: str) -> None:
        """Mark a box as chosen and bring it into view; nothing is told."""
        if key in self.star.boxes:
            self.current = key
            self._bring_into_view(key)
            self._describe()
            self.update()

    def fit(self) -> None:
        """Show the whole diagram, no larger than it is drawn."""
        self._is_fitted = True
        around = self._bounds()
        if around.isEmpty():
            return
        width, height = self.width() - 2 * _MARGIN, self.height() - 2 * _MARGIN
        scale = min(width / around.width(), height / around.height(), themes.scale() * 1.15)
        self._scale = min(max(scale, _LEAST_SCALE), _MOST_SCALE)
        self._offset = QPointF(self.rect().center()) - around.center() * self._scale
        self.update()

    def zoom(self, factor: float, about: QPointF | None = None) -> None:
        """Zoom about a point of the widget, its middle by default."""
        about = QPointF(self.rect().center()) if about is None else about
        scale = min(max(self._scale * factor, _LEAST_SCALE), _MOST_SCALE)
        self._offset = about - (about - self._offset) * (scale / self._scale)
        self._scale, self._is_fitted = scale, False
        self.update()

    def box_rect(self, key: str) -> QRectF:
        """Return where a box is painted, in the widget."""
        found = self._rect(key)
        return QRectF(found.topLeft() * self._scale + self._offset, found.size() * self._scale)

    # events

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit again, unless somebody looks closer."""
        super().resizeEvent(event)
        if self._is_fitted:
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        steps = event.angleDelta().y() / 120
        if steps:
            self.zoom(_STEP**steps, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a box, and hold it or the ground."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return super().mousePressEvent(event)
        key = self._at(event.position())
        origin = self._places[key] if key else (self._offset.x(), self._offset.y())
        self._drag = _Drag(key, event.position(), origin)
        if key:
            self._pick(key)
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what is held."""
        drag = self._drag
        if drag is None or not event.buttons() & Qt.MouseButton.LeftButton:
            key = self._at(event.position())
            self.setToolTip(plain_tip(self.star.boxes[key].spoken) if key else "")
            self.setCursor(Qt.CursorShape.PointingHandCursor if key else Qt.CursorShape.ArrowCursor)
            return
        by = event.position() - drag.start
        drag.is_moving = drag.is_moving or by.manhattanLength() >= QApplication.startDragDistance()
        if drag.is_moving and drag.key:
            self._put(drag.key, drag.origin[0] + by.x() / self._scale, drag.origin[1] + by.y() / self._scale)
        elif drag.is_moving:
            self._offset, self._is_fitted = QPointF(drag.origin[0] + by.x(), drag.origin[1] + by.y()), False
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        drag, self._drag = self._drag, None
        if drag is not None and drag.is_moving and drag.key:
            self.arranged.emit()
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Accept a proposed table."""
        self._accept(self._at(event.position()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from box to box, move one, zoom, accept; Esc puts a held box back."""
        key = Qt.Key(event.key())
        direction = _DIRECTIONS.get(key)
        if direction is not None and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._push(direction)
        elif direction is not None:
            self._pick(nearest(self._places, self.current, direction))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(_STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / _STEP)
        elif key == Qt.Key.Key_F:
            self.fit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._accept(self.current)
        elif key == Qt.Key.Key_Escape and self._drag is not None:
            self._put_back()
        else:
            super().keyPressEvent(event)

    # choosing and moving

    def _pick(self, key: str) -> None:
        if key not in self.star.boxes:
            return
        self.choose(key)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.star.boxes[key].spoken))
        self.picked.emit(key)

    def _accept(self, key: str) -> None:
        box = self.star.boxes.get(key)
        if box is not None and box.is_ghost:
            self.accepted.emit(key)

    def _push(self, direction: tuple[int, int]) -> None:
        if self.current in self._places:
            x, y = self._places[self.current]
            self._put(self.current, x + direction[0] * _GRID, y + direction[1] * _GRID)
            self._bring_into_view(self.current)
            self.arranged.emit()

    def _put(self, key: str, x: float, y: float) -> None:
        self.moved[key] = self._places[key] = (round(x / _GRID) * _GRID, round(y / _GRID) * _GRID)
        self.update()

    def _put_back(self) -> None:
        drag, self._drag = self._drag, None
        if drag is not None and drag.is_moving and drag.key:
            self._put(drag.key, *drag.origin)

    def _at(self, point: QPointF) -> str:
        place = (point - self._offset) / self._scale
        return next((key for key in reversed(self._places) if self._rect(key).contains(place)), "")

    def _rect(self, key: str) -> QRectF:
        x, y = self._places.get(key, (0.0, 0.0))
        return QRectF(x, y, BOX_WIDTH, BOX_HEIGHT)

    def _bounds(self) -> QRectF:
        around = QRectF()
        for key in self._places:
            around = around.united(self._rect(key))
        return around

    def _bring_into_view(self, key: str) -> None:
        box, room = self.box_rect(key), QRectF(self.rect()).adjusted(8, 8, -8, -8)
        if room.contains(box) or room.width() < box.width() or room.height() < box.height():
            return
        dx = max(room.left() - box.left(), 0) + min(room.right() - box.right(), 0)
        dy = max(room.top() - box.top(), 0) + min(room.bottom() - box.bottom(), 0)
        self._offset += QPointF(dx, dy)
        self._is_fitted = False

    def _describe(self) -> None:
        box = self.star.boxes.get(self.current)
        self.setAccessibleDescription(box.spoken if box is not None else f"{len(self.star.boxes)} boxes, none chosen")

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint lines, then boxes, then the words of the lines."""
        theme = themes.current()
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme.panel)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(self._offset)
        painter.scale(self._scale, self._scale)
        whole = QRectF(event.rect()).translated(-self._offset)
        shown = QRectF(whole.topLeft() / self._scale, whole.size() / self._scale)
        has_words, has_focus = self._scale * QFontMetricsF(_font(1.0)).height() >= _LEAST_LETTERS, self.hasFocus()
        curves = line_courses(self.star, self._places)
        for line, curve in curves.items():
            self._paint_line(painter, line, curve, theme, shown, is_small=not has_words)
        for key, box in self.star.boxes.items():
            rect = self._rect(key)
            if not rect.adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE).intersects(shown):
                continue
            paint_box(painter, rect, box, theme, is_chosen=key == self.current, has_focus=has_focus)
            if has_words:
                paint_box_words(painter, rect, box, theme)
        taken = [box_area(place) for place in self._places.values()]
        is_calm = sum(bool(line.words) for line in curves) <= _MOST_WORDS
        for line, curve in curves.items():
            if line.words and (is_calm or self.current in (line.start, line.end)):
                taken.append(self._paint_words(painter, line, curve, taken, theme))
        painter.end()

    def _paint_line(
        self, painter: QPainter, line: StarLine, curve: LineCourse, theme: Theme, shown: QRectF, *, is_small: bool
    ) -> None:
        path = QPainterPath(QPointF(*curve.first))
        path.cubicTo(QPointF(*curve.leaves), QPointF(*curve.arrives), QPointF(*curve.last))
        if not path.controlPointRect().adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE).intersects(shown):
            return
        is_near = self.current in (line.start, line.end)
        colour = theme.accent if is_near else theme.dim if line.words else theme.line
        pen = QPen(colour, 1.0 if is_small else 1.8 if is_near else 1.2)
        # A pen of one pixel of the screen is drawn, a wider one outlined first: that counts where lines are many.
        pen.setCosmetic(is_small)
        if line.is_ghost:
            pen.setDashPattern([3.0, 3.0])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if not is_small:
            _paint_arrow(painter, curve, colour)

    def _paint_words(
        self, painter: QPainter, line: StarLine, curve: LineCourse, taken: list[Area], theme: Theme
    ) -> Area:
        """Paint what a line says where no words stand yet, on a ground of their own; return where."""
        font = _font(0.8)
        metrics = QFontMetricsF(font)
        words = metrics.elidedText(line.words, Qt.TextElideMode.ElideMiddle, BOX_WIDTH)
        area = words_area(curve, (round(metrics.horizontalAdvance(words)) + 8, round(metrics.height()) + 2), taken)
        box = QRectF(*area)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(themes.faded(theme.panel, 0.92))
        painter.drawRoundedRect(box, 3, 3)
        painter.setFont(font)
        painter.setPen(theme.accent if self.current in (line.start, line.end) else theme.dim)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
        return area


def paint_box(
    painter: QPainter, box: QRectF, content: StarBox, theme: Theme, *, is_chosen: bool, has_focus: bool
) -> None:
    """Paint an entity or a table; kinds differ in shape and edge before they do in colour."""
    ground, edge = _surface(content, theme)
    pen = QPen(theme.good if content.is_ghost else theme.accent if is_chosen else edge, 1.4)
    if is_chosen:
        pen.setWidthF(2.4 if has_focus else 1.8)
    if content.is_ghost:
        pen.setDashPattern([3.0, 2.4])
    painter.setPen(pen)
    painter.setBrush(
        Qt.BrushStyle.NoBrush if content.is_ghost and not is_chosen else theme.sel if is_chosen else ground
    )
    if content.kind is BoxKind.PERIODIC:
        painter.drawRoundedRect(box.translated(4, -4), 5, 5)
        painter.setBrush(theme.sel if is_chosen else theme.panel if content.is_ghost else ground)
    painter.drawRoundedRect(box, *_corners(content.kind))
    if content.kind is BoxKind.FACT and not content.is_ghost:
        painter.fillRect(QRectF(box.left() + 1, box.top() + 4, 4, box.height() - 8), theme.accent)


def _font(factor: float, bold: bool = False) -> QFont:
    """Return a font at scale 1, as boxes are measured: the scale is that of the whole diagram."""
    return themes.scaled(factor / themes.scale(), bold)


def _corners(kind: BoxKind) -> tuple[float, float]:
    radius = {BoxKind.ENTITY: 0.0, BoxKind.DATE: BOX_HEIGHT / 2}.get(kind, 5.0)
    return radius, radius


def _surface(content: StarBox, theme: Theme) -> tuple[QColor, QColor]:
    match content.kind:
        case BoxKind.ENTITY:
            return theme.band, theme.line
        case BoxKind.FACT:
            return theme.accentbg, theme.accent
        case BoxKind.DIMENSION:
            return theme.panel, theme.accent
        case _:
            return theme.panel, theme.dim


def paint_box_words(painter: QPainter, box: QRectF, content: StarBox, theme: Theme) -> None:
    """Paint what a box is called, what it is, and that something is wrong with it."""
    pad = 18.0 if content.kind is BoxKind.DATE else 12.0
    inner = box.adjusted(pad, 6, -pad, -6)
    name_font, facts_font = _font(1.0, bold=content.is_table), _font(0.85)
    room = inner.width() - (16 if content.problem else 0)
    name = QFontMetricsF(name_font).elidedText(content.name, Qt.TextElideMode.ElideMiddle, room)
    facts = "proposed · Enter accepts" if content.is_ghost else content.facts
    facts = QFontMetricsF(facts_font).elidedText(facts, Qt.TextElideMode.ElideRight, inner.width())
    painter.setFont(name_font)
    painter.setPen(theme.good if content.is_ghost else theme.text)
    painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, name)
    painter.setFont(facts_font)
    painter.setPen(theme.dim)
    painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, facts)
    if content.problem:
        _paint_problem(painter, QRectF(inner.right() - 13, inner.top() + 1, 13, 13), content.problem, theme)


def _paint_problem(painter: QPainter, box: QRectF, severity: str, theme: Theme) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.bad if severity == "error" else theme.review)
    painter.drawEllipse(box)
    painter.setPen(theme.panel)
    painter.setFont(_font(0.8, bold=True))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "!")


def _paint_arrow(painter: QPainter, curve: LineCourse, colour: QColor) -> None:
    tip, back = QPointF(*curve.last), curve.comes_from * ARROW * 1.5
    head = QPainterPath(tip)
    head.lineTo(tip.x() - back, tip.y() - ARROW)
    head.lineTo(tip.x() - back, tip.y() + ARROW)
    head.closeSubpath()
    painter.fillPath(head, colour)


def places_json(places: Mapping[str, tuple[float, float]]) -> dict[str, list[float]]:
    """Return places as they are kept."""
    return {key: [x, y] for key, (x, y) in places.items()}
