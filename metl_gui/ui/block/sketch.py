"""A block as two lists with lines, for what was and what is, side by side.

Where it is allowed a line can be drawn. What stands in the lists is worked out apart from painting.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QToolTip, QWidget

from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED
from metl_gui.core.review.rename_proposals import Refused, best_proposals
from metl_gui.core.suggest.renames import Values
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.marks import paint_verdict
from metl_gui.ui.theming.theme import mixed
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.values import Value


class PictureEntry(Value):
    """A line of one of the lists.

    Args:
        id: the attribute, 0 for what is gone.
        words: what is read.
        is_lost: it lost its element, or is gone itself.
        is_new: no earlier version had it.
        tip: more words.
    """

    id: int
    words: str
    is_lost: bool = False
    is_new: bool = False
    tip: str = ""


class PictureLink(Value):
    """A line between entries of both lists, by position.

    Args:
        left, right: positions.
        words: of a proposed line, empty for one that is.
        verdict: what typed sinks make of values of the one as the other.
    """

    left: int
    right: int
    words: str = ""
    verdict: TypeVerdict = TypeVerdict.LOSSLESS


class BlockPicture(Value):
    """Both lists and the lines between them."""

    left: tuple[PictureEntry, ...]
    right: tuple[PictureEntry, ...]
    links: tuple[PictureLink, ...]


def picture_of(
    document: Document, key: BlockKey, refused: Refused = NO_RENAMES_REFUSED, values: Values | None = None
) -> BlockPicture:
    """Draw a block of a document; a block of zeros has lists without lines.

    Arguments as of ``core.review.rename_proposals.proposals``.
    """
    version, entity_version = document.extraction.find_version(key[0]), document.cdm.find_version(key[1])
    if version is None or entity_version is None:
        return BlockPicture((), (), ())
    block = document.matrix.block(*key) or Block(*key)
    losses = {end.id: loss for loss in block.open_losses if (end := entity_version.of_lineage(loss.q_lineage))}
    left = [_entry(a, None) for a in version.attributes]
    right = [_entry(a, losses.get(a.id)) for a in entity_version.attributes]
    left_at = {entry.id: at for at, entry in enumerate(left)}
    right_at = {entry.id: at for at, entry in enumerate(right)}
    links = [
        PictureLink(left_at[p.id], right_at[q.id], verdict=type_verdict(p, q))
        for element in block.elements
        if (p := version.attribute(element.p)) is not None and (q := entity_version.attribute(element.q)) is not None
    ]
    for loss, proposal in best_proposals(document, block, refused, values).items():
        source = version.at_path(proposal.candidate)
        target = entity_version.of_lineage(loss.q_lineage)
        if source is not None and target is not None:
            links.append(PictureLink(left_at[source.id], right_at[target.id], f"rename? {proposal.score:.2f}"))
    return BlockPicture(tuple(left), tuple(right), tuple(links))


def _entry(attribute: Attribute, loss: Loss | None) -> PictureEntry:
    tip = f"{attribute.path}\n{attribute.type_text}"
    if loss is None:
        return PictureEntry(attribute.id, attribute.path, tip=tip)
    return PictureEntry(attribute.id, attribute.path, is_lost=True, tip=f"{tip}\n{loss.reason}")


_ROW_PX = 26
_BOX_PX = 22
_WIDEST_PX = 300
_MARK_PX = 14
_PILL_ROOM_PX = 16
"""So much of a line stays to be seen beside the words on it."""


class BlockLines(QWidget):
    """Two lists with lines.

    Args:
        is_dim: drawn paler, for what was before.
        can_join: a line can be dragged from an attribute without one to another one.

    Signals:
        picked: (side is left, attribute id) of a clicked entry.
        joined: the ``Element`` whose line was drawn.
    """

    picked = Signal(object)
    joined = Signal(object)

    def __init__(self, is_dim: bool = False, parent: QWidget | None = None, *, can_join: bool = False) -> None:
        super().__init__(parent)
        self.picture = BlockPicture((), (), ())
        self._is_dim = is_dim
        self._can_join = can_join
        self._pulled: tuple[int, QPointF] | None = None
        self._chosen: tuple[int | None, int | None] = (None, None)
        self.setMinimumWidth(190)
        self.setAccessibleName("Block as two lists")

    def show_picture(self, picture: BlockPicture) -> None:
        """Show another block."""
        self.picture = picture
        self.setMinimumHeight(self.sizeHint().height())
        self.updateGeometry()
        self.update()

    def let_join(self, is_allowed: bool) -> None:
        """Let lines be drawn, or not."""
        self._can_join = is_allowed

    def choose(self, left: int | None, right: int | None) -> None:
        """Show which attributes are selected."""
        self._chosen = (left, right)
        self.update()

    def place_of(self, row: int) -> int:
        """Return how far down a row stands."""
        return round(6 + row * themes.px(_ROW_PX))

    def sizeHint(self) -> QSize:
        """As high as the longer list."""
        rows = max(len(self.picture.left), len(self.picture.right), 1)
        return QSize(420, round(rows * themes.px(_ROW_PX) + 12))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint lists and lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for link in self.picture.links:
            self._paint_link(painter, link)
        first, last = max(0, self._row_at(event.rect().top())), self._row_at(event.rect().bottom()) + 1
        sides = ((self.picture.left, True), (self.picture.right, False))
        for entries, is_left in sides:
            for at, entry in enumerate(entries[first:last], first):
                chosen = self._chosen[0] if is_left else self._chosen[1]
                self._paint_entry(painter, self._box(at, is_left), entry, entry.id == chosen)
        if self._pulled is not None:
            self._paint_pulled(painter, *self._pulled)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick an entry; of a free one on the left a line may follow the pointer from here."""
        found = self._entry_at(event.position())
        if found is None or not found[1].id:
            return
        is_left, entry = found
        at = (self.picture.left if is_left else self.picture.right).index(entry)
        if is_left and self._can_join and self._is_free(at, is_left):
            self._pulled = at, event.position()
        self.picked.emit((is_left, entry.id))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Let the line follow."""
        if self._pulled is not None:
            self._pulled = self._pulled[0], event.position()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tell which two are joined, when the line ends on a free one."""
        pulled, self._pulled = self._pulled, None
        self.update()
        found = self._entry_at(event.position())
        if pulled is None or found is None or found[0]:
            return
        source, target = self.picture.left[pulled[0]], found[1]
        if target.id and self._is_free(self.picture.right.index(target), is_left=False):
            self.joined.emit(Element(target.id, source.id))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc lets the line go."""
        if event.key() == Qt.Key.Key_Escape and self._pulled is not None:
            self._pulled = None
            self.update()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Show the tooltip of the entry under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            found = self._entry_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(found[1].tip) if found else "", self)
            return True
        return super().event(event)

    @staticmethod
    def _row_at(y: float) -> int:
        return int((y - 6) // themes.px(_ROW_PX))

    def _width(self) -> float:
        return min(themes.px(_WIDEST_PX), (self.width() - 24) * 0.36)

    def _box(self, at: int, is_left: bool) -> QRectF:
        left = 8.0 if is_left else self.width() - 8.0 - self._width()
        return QRectF(left, 6 + at * themes.px(_ROW_PX), self._width(), themes.px(_BOX_PX))

    def _entry_at(self, place: QPointF) -> tuple[bool, PictureEntry] | None:
        at = self._row_at(place.y())
        for is_left, entries in ((True, self.picture.left), (False, self.picture.right)):
            if 0 <= at < len(entries) and self._box(at, is_left).contains(place):
                return is_left, entries[at]
        return None

    def _is_free(self, at: int, is_left: bool) -> bool:
        """Whether an entry has no line but a proposed one."""
        return not any((link.left if is_left else link.right) == at and not link.words for link in self.picture.links)

    def _paint_pulled(self, painter: QPainter, at: int, end: QPointF) -> None:
        theme, box = themes.current(), self._box(at, is_left=True)
        painter.setPen(QPen(theme.good, 1.8))
        painter.drawLine(QPointF(box.right(), box.center().y()), end)

    def _paint_entry(self, painter: QPainter, box: QRectF, entry: PictureEntry, is_chosen: bool) -> None:
        theme = themes.current()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.sel if is_chosen else theme.band)
        colour = theme.text
        if entry.is_lost:
            pen = QPen(theme.review_outline[0], 1.3, Qt.PenStyle.CustomDashLine)
            pen.setDashPattern([2.6, 2.0])
            painter.setPen(pen)
            painter.setBrush(theme.reviewbg)
            colour = theme.review
        elif self._is_dim:
            colour = theme.dim
        painter.drawRoundedRect(box, 4, 4)
        painter.setFont(themes.scaled(1.0))
        painter.setPen(colour)
        inner = box.adjusted(10, 0, -8, 0)
        words = f"{entry.words} · source removed" if entry.is_lost else entry.words
        metrics = QFontMetricsF(painter.font())
        if entry.is_lost and metrics.horizontalAdvance(words) > inner.width():
            words = entry.words
        words = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)

    def _paint_link(self, painter: QPainter, link: PictureLink) -> None:
        theme = themes.current()
        start, end = self._box(link.left, is_left=True), self._box(link.right, is_left=False)
        a, b = QPointF(start.right(), start.center().y()), QPointF(end.left(), end.center().y())
        path = QPainterPath(a)
        bend = (b.x() - a.x()) * 0.45
        path.cubicTo(QPointF(a.x() + bend, a.y()), QPointF(b.x() - bend, b.y()), b)
        colour = mixed(theme.panel, theme.accent, 0.7) if self._is_dim else theme.accent
        pen = QPen(colour, 1.6)
        if link.words:
            pen = QPen(theme.good, 1.6, Qt.PenStyle.CustomDashLine)
            pen.setDashPattern([3.0, 2.2])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if link.verdict is not TypeVerdict.LOSSLESS:
            self._paint_verdict(painter, path.pointAtPercent(0.5), link.verdict, colour)
        if link.words:
            middle = path.pointAtPercent(0.5)
            has_room = pill_width(link.words) <= b.x() - a.x() - _PILL_ROOM_PX
            words = link.words if has_room else link.words.rpartition(" ")[2]
            width = pill_width(words)
            paint_pill(painter, QRectF(middle.x() - width / 2, middle.y() - 10, width, 20), words, "good")

    @staticmethod
    def _paint_verdict(painter: QPainter, middle: QPointF, verdict: TypeVerdict, colour: QColor) -> None:
        """Draw the mark of an element as the matrix has it, with what becomes of its values."""
        side = themes.px(_MARK_PX)
        box = QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(box, 3, 3)
        paint_verdict(painter, box, verdict, themes.current())


def scrolled(panel: QWidget) -> QScrollArea:
    """Put a panel into a quiet scroll area."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(panel)
    area.viewport().setAutoFillBackground(False)  # setWidget fills grounds, which hides the surface below
    panel.setAutoFillBackground(False)
    return area
