"""How a block changed over the versions of its schema: one small matrix each, side by side.

Each version of the super-block has its label, what it is to the version before, and its small matrix.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollArea, QToolTip, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.search.lineage_search import BlockChangeKind
from metl_gui.core.search.super_block import ElementChangeKind, SuperBlock, SuperCell, SuperPart
from metl_gui.ui.block.sketch import scrolled
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.plain_text import plain_tip

HEAD_PX = 24
PAD_PX = 6.0
_SMALLEST_PX, _LARGEST_PX = 2.0, 18
_LEAST_WIDTH, _MOST_WIDTH = 104, 240
_PART_LEAST_HEIGHT = 60.0
_KINDS = {
    BlockChangeKind.LARGER: "good",
    BlockChangeKind.SMALLER: "review",
    BlockChangeKind.EMPTIED: "bad",
    BlockChangeKind.OTHER: "accent",
}


def pill_of(part: SuperPart) -> tuple[str, str]:
    """Return the verdict of a version and its colour; amber only where a person must decide."""
    if part.status is Status.RETIRED:
        return "retired", "plain"
    if part.step is None:
        return "not mapped", "plain"
    kind = _KINDS.get(part.step, "plain")
    if kind in ("review", "bad") and part.status is not Status.NEEDS_REVIEW:
        kind = "plain"
    return part.step.value, kind


def part_width(block: SuperBlock, height: float, room: float) -> float:
    """Return how wide every version is.

    Args:
        block: what is shown.
        height: of a matrix.
        room: width for all of them; matrices become smaller when all can be seen then.
    """
    least = max((themes.px(_LEAST_WIDTH), *(_head_width(part) for part in block.parts)))
    wish = block.columns * _cell_px(block, height, themes.px(_MOST_WIDTH)) + 2 * PAD_PX
    each = room / max(len(block.parts), 1)
    return min(max(min(wish, each) if each >= least else wish, least), themes.px(_MOST_WIDTH))


def part_height(block: SuperBlock, height: float, width: float) -> float:
    """Return how high a matrix of a width is, where there is room for some height."""
    return min(max(block.rows * _cell_px(block, height, width) + 2 * PAD_PX, _PART_LEAST_HEIGHT), height)


def _cell_px(block: SuperBlock, height: float, width: float) -> float:
    rows, columns = max(block.rows, 1), max(block.columns, 1)
    return min((height - 2 * PAD_PX) / rows, (width - 2 * PAD_PX) / columns, themes.px(_LARGEST_PX))


def paint_part(
    painter: QPainter, box: QRectF, block: SuperBlock, part: SuperPart, states: tuple[bool, bool, bool]
) -> None:
    """Paint one version.

    Args:
        painter: of the strip.
        box: room for head and matrix.
        block: for the number of rows and columns.
        part: the version.
        states: whether it is the block shown, whether the keyboard is on it, whether the pointer is.
    """
    theme = themes.current()
    is_current, has_focus, is_hovered = states
    head = themes.px(HEAD_PX)
    frame = QRectF(box.left(), box.top() + head, box.width(), box.height() - head)
    _paint_head(painter, QRectF(box.left(), box.top(), box.width(), head - 2), part, is_current)
    waits = part.status is Status.NEEDS_REVIEW
    outline, width = theme.review_outline if waits else (theme.line, 1.0)
    if is_current or is_hovered or has_focus:
        outline, width = theme.accent, 2.0 if is_current or has_focus else 1.0
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(outline, width))
    painter.setBrush(theme.reviewbg if waits else theme.accentbg if part.element_count else theme.band)
    painter.drawRoundedRect(frame.adjusted(1, 1, -1, -1), 4, 4)
    if waits and is_current:
        painter.setPen(QPen(theme.review_outline[0], 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame.adjusted(3.5, 3.5, -3.5, -3.5), 3, 3)
    size = _cell_px(block, frame.height(), frame.width())
    left = frame.left() + (frame.width() - block.columns * size) / 2
    top = frame.top() + (frame.height() - block.rows * size) / 2
    for cell in part.cells:
        _paint_cell(painter, QPointF(left + cell.column * size, top + cell.row * size), size, cell)


def _head_width(part: SuperPart) -> float:
    return themes.text_width(f"version {part.label}", themes.small(bold=True)) + pill_width(pill_of(part)[0]) + 14


def _paint_head(painter: QPainter, box: QRectF, part: SuperPart, is_current: bool) -> None:
    theme = themes.current()
    words, kind = pill_of(part)
    width = pill_width(words)
    paint_pill(painter, QRectF(box.right() - width, box.top(), width, box.height()), words, kind)
    painter.setFont(themes.small(bold=is_current))
    painter.setPen(theme.text if is_current else theme.dim)
    room, metrics = box.width() - width - 8, QFontMetricsF(painter.font())
    label = f"version {part.label}"
    if metrics.horizontalAdvance(label) > room:
        label = metrics.elidedText(part.label, Qt.TextElideMode.ElideMiddle, room)
    painter.drawText(
        QRectF(box.left(), box.top(), room, box.height()),
        Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
        label,
    )


def _paint_cell(painter: QPainter, at: QPointF, size: float, cell: SuperCell) -> None:
    theme = themes.current()
    inner = max(size * 0.68, _SMALLEST_PX)
    box = QRectF(at.x() + (size - inner) / 2, at.y() + (size - inner) / 2, inner, inner)
    painter.setPen(Qt.PenStyle.NoPen)
    if inner < 5.0:
        painter.fillRect(
            box,
            {
                ElementChangeKind.KEPT: theme.accent,
                ElementChangeKind.ADDED: theme.good,
                ElementChangeKind.LOST: theme.reviewmark,
            }[cell.fate],
        )
    elif cell.fate is ElementChangeKind.KEPT:
        painter.setBrush(theme.accent)
        painter.drawRoundedRect(box, inner * 0.22, inner * 0.22)
    elif cell.fate is ElementChangeKind.ADDED:
        painter.setBrush(theme.good)
        painter.drawPolygon(_notched(box))
    else:
        pen = QPen(theme.review_outline[0], 1.4, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([2.0, 1.6])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.7, 0.7, -0.7, -0.7), inner * 0.22, inner * 0.22)


def _notched(box: QRectF) -> QPolygonF:
    cut = box.width() * 0.45
    return QPolygonF(
        [
            box.topLeft(),
            QPointF(box.right() - cut, box.top()),
            QPointF(box.right(), box.top() + cut),
            box.bottomRight(),
            box.bottomLeft(),
        ]
    )


def paint_fate(painter: QPainter, box: QRectF, fate: ElementChangeKind) -> None:
    """Paint the mark of a fate, for the legend."""
    _paint_cell(painter, box.topLeft(), box.width() / 0.68 if box.width() else 1.0, SuperCell(0, 0, fate, ""))


_GAP = 12.0
_STRIP_LEAST_HEIGHT = 96
_LEGEND_PX = 22
_HIGHEST_PX = 300


class VersionStrip(QWidget):
    """The small multiples with their legend; scrolls sideways.

    Signals:
        chosen: the ``BlockKey`` of a version that was clicked, or that Enter was pressed on.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parts = _StripMatrices()
        self.area: QScrollArea = scrolled(self.parts)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.area, 1)
        layout.addWidget(_Legend())
        self.parts.chosen.connect(self.chosen)
        self.parts.stepped.connect(self._bring_into_sight)
        self.parts.turned.connect(self._scroll)

    def show_block(self, block: SuperBlock, current: BlockKey) -> None:
        """Show a super-block and which of its blocks is the one in the editor."""
        self.parts.show_block(block, current)
        self._bring_into_sight()

    def _scroll(self, pixels: int) -> None:
        bar = self.area.horizontalScrollBar()
        bar.setValue(bar.value() - pixels)

    def _bring_into_sight(self) -> None:
        box = self.parts.box(self.parts.at).toRect()
        self.area.ensureVisible(box.center().x(), box.center().y(), box.width() // 2 + 20, 0)


class _StripMatrices(QWidget):
    """The matrices, painted as far as they are in sight."""

    chosen = Signal(object)
    stepped = Signal()
    turned = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.block = SuperBlock(0, 0, ())
        self.current: BlockKey | None = None
        self.at = 0
        self._hovered: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumHeight(_STRIP_LEAST_HEIGHT)

    def show_block(self, block: SuperBlock, current: BlockKey) -> None:
        """Show another super-block."""
        self.block, self.current = block, current
        self.at = next((at for at, part in enumerate(block.parts) if part.key == current), 0)
        self._fit()

    def dress(self) -> None:
        """Take the sizes of the scale."""
        self._fit()

    def box(self, at: int) -> QRectF:
        """Return the room of one version."""
        width = self._part_width()
        height = part_height(self.block, self._height() - themes.px(HEAD_PX), width)
        return QRectF(4 + at * (width + _GAP), 0, width, height + themes.px(HEAD_PX))

    def sizeHint(self) -> QSize:
        """As wide as all versions."""
        return QSize(max(0, int(self.box(len(self.block.parts) - 1).right()) + 4), 180)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the matrices as high as there is room."""
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the versions in sight."""
        painter = QPainter(self)
        step = self._part_width() + _GAP
        first = max(0, int(event.rect().left() // step) - 1)
        last = min(len(self.block.parts), int(event.rect().right() // step) + 2)
        for at in range(first, last):
            part = self.block.parts[at]
            states = (part.key == self.current, at == self.at and self.hasFocus(), at == self._hovered)
            paint_part(painter, self.box(at), self.block, part, states)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to a version."""
        at = self._at(event.position())
        if at is not None:
            self._step_to(at)
            self.chosen.emit(self.block.parts[at].key)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show which version a click goes to."""
        self._hovered = self._at(event.position())
        self.setCursor(Qt.CursorShape.ArrowCursor if self._hovered is None else Qt.CursorShape.PointingHandCursor)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the pointer."""
        self._hovered = None
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll sideways, whichever way the wheel turns: there is no other way to go."""
        moved = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2
        self.turned.emit(moved.x() or moved.y())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move along the versions; Enter goes to the one the keyboard is on."""
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: len(self.block.parts) - 1}
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        key = Qt.Key(event.key())
        if event.modifiers():
            event.ignore()
        elif key in steps:
            self._step_to(self.at + steps[key])
        elif key in ends:
            self._step_to(ends[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.block.parts:
            self.chosen.emit(self.block.parts[self.at].key)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        self._announce()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show it no more."""
        self.update()

    def event(self, event: QEvent) -> bool:
        """Say what changed in the version under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            at = self._at(QPointF(event.pos()))
            QToolTip.showText(
                event.globalPos(), plain_tip(part_words(self.block.parts[at])) if at is not None else "", self
            )
            return True
        return super().event(event)

    def _step_to(self, at: int) -> None:
        if 0 <= at < len(self.block.parts):
            self.at = at
            self._announce()
            self.stepped.emit()
            self.update()

    def _announce(self) -> None:
        if self.block.parts:
            self.setAccessibleName(part_words(self.block.parts[self.at]).replace("\n", ", "))

    def _at(self, place: QPointF) -> int | None:
        return next((at for at in range(len(self.block.parts)) if self.box(at).contains(place)), None)

    def _height(self) -> float:
        return float(min(self.height(), themes.px(_HIGHEST_PX)))

    def _part_width(self) -> float:
        area = self.parentWidget()
        room = area.width() - 8 if area is not None else self.width()
        return part_width(self.block, self._height() - themes.px(HEAD_PX), room - (len(self.block.parts) - 1) * _GAP)

    def _fit(self) -> None:
        wide = self.sizeHint().width()
        if wide != self.minimumWidth():
            self.setMinimumWidth(wide)
        self.updateGeometry()
        self.update()


class _Legend(QWidget):
    """What the marks mean."""

    def __init__(self) -> None:
        super().__init__()
        self.dress()

    def dress(self) -> None:
        """Be as high as a line of words."""
        self.setFixedHeight(themes.px(_LEGEND_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint each mark with its words, as many as fit."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font, left, middle = themes.small(), 6.0, self.height() / 2
        for fate in ElementChangeKind:
            width = themes.text_width(fate.value, font)
            if left + width + 18 > self.width():
                break
            paint_fate(painter, QRectF(left - 2, middle - 7, 9.5, 9.5), fate)
            painter.setFont(font)
            painter.setPen(themes.current().dim)
            at = QRectF(left + 18, 0, width + 2, self.height())
            painter.drawText(at, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, fate.value)
            left = at.right() + 18
        painter.end()


def part_words(part: SuperPart) -> str:
    """Say what one version is to the one before."""
    count = "no elements" if not part.element_count else number_of(part.element_count, "element")
    lines = [f"Version {part.label}: {pill_of(part)[0]}, {count}"]
    for fate in (ElementChangeKind.ADDED, ElementChangeKind.LOST):
        words = [cell.words for cell in part.cells if cell.fate is fate]
        more = [f"and {len(words) - 8} more"] if len(words) > 8 else []
        lines += [f"{fate.value}: {text}" for text in words[:8]] + more
    return "\n".join(lines)
