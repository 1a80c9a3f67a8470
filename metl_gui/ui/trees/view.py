"""The view of a tree: several rows may be chosen, fields are dragged out of it and dropped on it.

A row has a mark, a name, a pill, and the type dim at the right. ``drag_picture`` paints what follows the pointer while
fields are dragged: the first one's name, and how many more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLineEdit,
    QStyle,
    QStyleOptionViewItem,
    QToolTip,
    QTreeView,
    QWidget,
)

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.block_lists import Note
from metl_gui.ui.project.notes import NOTHING
from metl_gui.ui.project.selection import Dragged, NodeRef, from_mime, to_mime
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.marks import MarkShape, paint_bubble, paint_mark
from metl_gui.ui.trees.chosen_rows import ChosenNodes, chosen_places, siblings_of
from metl_gui.ui.trees.model import FACTS_ROLE, Index, TreeModel
from metl_gui.ui.trees.node import RowFacts
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.rows import LEFT, RIGHT, RowDelegate, quiet_ink
from metl_gui.ui.widgets.tree import paint_branch

ROW_PX = 24
_BUBBLE_PX = 16.0
_NAME, _NAME_BESIDE_MASKED = 0.9, 0.6
"""Share of a row that a name may take from the words beside it; that values are masked must be seen."""
_BETWEEN = "  ·  "
_LEAST_LETTERS = 4
"""Fewer letters of a type say nothing."""


def _is_nothing(_index: Index) -> bool:
    return False


def _no_note(_index: Index) -> Note:
    return NOTHING


def _no_value(_index: Index) -> str:
    return ""


class NodeDelegate(RowDelegate[RowFacts]):
    """Paints rows from their ``RowFacts``.

    ``is_implied`` tells which rows chosen cells imply; their tint is lighter than that of chosen rows. ``below`` is the
    row on which dragged fields would be dropped. ``note_of`` tells what people said of a row, ``value_of`` a sample
    value of it, which is shown where there is room for it beside the name and the type.
    """

    kind, role, height_px = RowFacts, FACTS_ROLE, ROW_PX

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_implied: Callable[[Index], bool] = _is_nothing
        self.below: QPersistentModelIndex | None = None
        self.note_of: Callable[[Index], Note] = _no_note
        self.value_of: Callable[[Index], str] = _no_value
        self.sought: tuple[str, ...] = ()

    def paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: RowFacts) -> None:
        """Paint the tint of a row, and the frame of one that fields would be dropped on."""
        super().paint_ground(painter, option, index, row)
        is_selected = option.state & QStyle.StateFlag.State_Selected
        if not is_selected and self.is_implied(index):
            painter.fillRect(QRectF(option.rect), themes.current().accentbg)
        if self.below is not None and self.below == index:
            painter.setPen(QPen(themes.current().accent, 2))
            painter.drawRect(QRectF(option.rect).adjusted(1, 1, -1, -1))

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Make the line in which an entity or an attribute is renamed."""
        line = QLineEdit(parent)
        line.setProperty("kind", "cell")
        line.setAccessibleName(f"New name of {index.data()}")
        return line

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Put the line behind the mark, over the words of its row."""
        editor.setGeometry(option.rect.adjusted(themes.px(20), 0, 0, 0))

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: RowFacts, is_selected: bool) -> None:
        """Paint the mark and the words."""
        left = box.left() + 4
        if row.mark is not None:
            size = 8.5 * themes.scale()
            mark = QRectF(left + 2, box.center().y() - size / 2, size, size)
            paint_mark(painter, mark, row.mark, themes.current())
            left += themes.px(18)
        words = QRectF(left, box.top(), box.right() - left - 10, box.height())
        value = self.value_of(index) if row.mark is not None else ""
        _paint_words(painter, words, row, self.note_of(index), is_selected, value, self.sought)


def _paint_words(
    painter: QPainter,
    box: QRectF,
    facts: RowFacts,
    note: Note,
    is_selected: bool,
    value: str = "",
    sought: tuple[str, ...] = (),
) -> None:
    theme = themes.current()
    detail_font = themes.scaled(0.88)
    name_font = themes.scaled(1.0, bold=facts.is_strong)
    bubble = _BUBBLE_PX if note.comment else 0.0
    told = f"masked · {facts.detail}" if note.is_masked else facts.detail
    name_metrics, detail_metrics = QFontMetricsF(name_font), QFontMetricsF(detail_font)
    name_width = name_metrics.horizontalAdvance(facts.name)
    words, kind = facts.pill
    if words and name_width + pill_width(words) + bubble + 14 > box.width():
        words = ""  # its name is what a row is known by
    pill = bubble + (pill_width(words) + 6 if words else 0.0)
    share = _NAME_BESIDE_MASKED if note.is_masked else _NAME
    detail_room = max(0.0, box.width() - min(name_width, box.width() * share) - pill - 10)
    with_value = f"{value}{_BETWEEN}{told}" if value and not note.is_masked else ""
    if with_value and detail_metrics.horizontalAdvance(with_value) <= detail_room:
        told = with_value
    detail = detail_metrics.elidedText(told, Qt.TextElideMode.ElideRight, detail_room)
    if detail != told and len(detail) < _LEAST_LETTERS:
        detail = ""
    detail_width = detail_metrics.horizontalAdvance(detail)
    room = box.width() - detail_width - pill - (8 if detail else 0)
    name = name_metrics.elidedText(facts.name, Qt.TextElideMode.ElideMiddle, room)
    ink = quiet_ink(is_selected) if facts.mark is MarkShape.IGNORED else theme.text
    at = _paint_name(painter, box, name, (name_font, ink), sought) + 8
    if note.comment:
        paint_bubble(painter, QPointF(at, box.center().y()), theme)
        at += _BUBBLE_PX
    if words:
        paint_pill(painter, QRectF(at, box.top(), pill_width(words), box.height()), words, kind)
    painter.setFont(detail_font)
    painter.setPen(quiet_ink(is_selected))
    painter.drawText(box, RIGHT, detail)


def found_parts(name: str, sought: tuple[str, ...]) -> list[tuple[str, bool]]:
    """Part a name into what a filter asked for, in any case of letters, and what lies between.

    Args:
        name: as it is shown.
        sought: words in lower case.
    """
    if not sought:
        return [(name, False)]
    small = name.lower()
    marked = [False] * len(name)
    if len(small) == len(name):  # a few letters have several small ones
        for word in filter(None, sought):
            at = small.find(word)
            while at >= 0:
                marked[at : at + len(word)] = [True] * len(word)
                at = small.find(word, at + 1)
    runs = groupby(zip(name, marked, strict=True), key=lambda each: each[1])
    return [("".join(letter for letter, _ in run), is_found) for is_found, run in runs]


def _paint_name(
    painter: QPainter, box: QRectF, name: str, plain: tuple[QFont, QColor], sought: tuple[str, ...]
) -> float:
    """Paint a name, bold and in the accent what was asked for, and return where it ends."""
    font, ink = plain
    bold = themes.scaled(1.0, bold=True) if sought else font
    left = box.left()
    for text, is_found in found_parts(name, sought):
        painter.setFont(bold if is_found else font)
        painter.setPen(themes.current().accent if is_found else ink)
        painter.drawText(QRectF(left, box.top(), box.right() - left, box.height()), LEFT, text)
        left += QFontMetricsF(painter.font()).horizontalAdvance(text)
    return left


_WIDEST, _HEIGHT = 260.0, 26


def drag_words(document: Document, dragged: Dragged) -> tuple[str, str]:
    """Return the name of the first field and, for several, their number."""
    first = dragged.attributes[0]
    version = document.tree(dragged.side).find_version(first.version or 0)
    attribute = version.attribute(first.attribute or 0) if version is not None else None
    count = len(dragged.attributes)
    return attribute.path if attribute is not None else "", f"{count:,} fields" if count > 1 else ""


def drag_picture(document: Document, dragged: Dragged, ratio: float) -> QPixmap:
    """Paint the picture for a screen of some pixel ratio."""
    theme, font = themes.current(), themes.scaled(1.0)
    name, count = drag_words(document, dragged)
    more = pill_width(count) + 8 if count else 0.0
    name = QFontMetricsF(font).elidedText(name, Qt.TextElideMode.ElideMiddle, _WIDEST - 40 - more)
    width = themes.text_width(name, font) + 36 + more
    picture = QPixmap(round(width * ratio), round(_HEIGHT * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.accent, 1.2))
    painter.setBrush(theme.panel)
    painter.drawRoundedRect(QRectF(0.6, 0.6, width - 1.2, _HEIGHT - 1.2), 5, 5)
    paint_mark(painter, QRectF(10, _HEIGHT / 2 - 4.5, 9, 9), MarkShape.MAPPED, theme)
    painter.setFont(font)
    painter.setPen(theme.text)
    box = QRectF(26, 0, width - 26, _HEIGHT)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
    if count:
        at = QRectF(width - pill_width(count) - 8, 0, pill_width(count), _HEIGHT)
        paint_pill(painter, at, count, "accent")
    painter.end()
    return picture


_OPEN_AFTER_MS = 600
_INDENT_PX = 14
_EDGE_PX = 22
_MOST_OPENED = 50


class TreeView(QTreeView):
    """Shows a ``TreeModel``; of what is done with its rows it only tells.

    Args:
        side: which tree.
        name: for screen readers.
        model: what is shown.

    Signals:
        dropped: (``Dragged``, ``Place``) of fields of the other tree and the node they were dropped on.
        menu_wanted: where on the screen a menu for the chosen rows is asked for.
        let_go: the button that was pressed on a row was released there; nothing was dragged.
        tip_wanted: (``Place``, position on the screen) of the row the pointer rests on.
    """

    dropped = Signal(object)
    menu_wanted = Signal(object)
    let_go = Signal()
    tip_wanted = Signal(object)

    def __init__(self, side: Side, name: str, model: TreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._side = side
        self._tree = model
        self._pressed: QPoint | None = None
        self.is_held = False
        """Whether a button is down that was pressed here, and may begin a drag."""
        self._opening = QTimer(self)
        self._opening.setSingleShot(True)
        self._opening.setInterval(_OPEN_AFTER_MS)
        self._opening.timeout.connect(self._open_below)
        self.below: QPersistentModelIndex | None = None
        self.setModel(model)
        self._chosen = ChosenNodes(model, self.selectionModel())
        self.rows = NodeDelegate(self)
        self.setItemDelegate(self.rows)
        self.setAccessibleName(name)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(themes.px(_INDENT_PX))
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setAcceptDrops(True)

    def dataChanged(self, _first: Index, _last: Index, _roles: Sequence[int] = ()) -> None:
        """Paint again: all rows are equally high, so that none moves, and Qt's own way asks for every one of them."""
        self.viewport().update()

    def dress(self) -> None:
        """Take the sizes of the scale."""
        self.setIndentation(themes.px(_INDENT_PX))
        self.doItemsLayout()

    def chosen(self) -> tuple[NodeRef, ...]:
        """Return the chosen nodes, from top to bottom."""
        return chosen_places(self._tree, self.selectionModel())

    def selectAll(self) -> None:
        """Choose what lies beside the current row and is of its kind: Qt's own way asks for every row of the tree."""
        index = self.currentIndex()
        if index.isValid():
            both = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.selectionModel().select(siblings_of(self._tree, index), both)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open one level at a time with the asterisk: Qt's own way opens and lays out everything below."""
        if event.key() == Qt.Key.Key_Asterisk:
            index = self.currentIndex()
            self.expand(index)
            for row in range(min(self._tree.rowCount(index), _MOST_OPENED)):
                self.expand(self._tree.index(row, 0, index))
        else:
            super().keyPressEvent(event)

    # painting

    def drawBranches(self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw a triangle beside what can be opened, on the row's own ground."""
        theme = themes.current()
        if index.internalId() in self._chosen:
            painter.fillRect(rect, theme.sel)
        elif self.rows.is_implied(index):
            painter.fillRect(rect, theme.accentbg)
        if self.model().hasChildren(index):
            paint_branch(painter, rect, self.isExpanded(index))

    # dragging out

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a row; a drag may start there."""
        self.is_held = event.button() is Qt.MouseButton.LeftButton
        super().mousePressEvent(event)
        at = event.position().toPoint()
        place = self._tree.place(self.indexAt(at))
        is_field = place is not None and place.attribute is not None
        self._pressed = at if event.button() is Qt.MouseButton.LeftButton and is_field else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the chosen fields once the pointer is some way off; without a field below, hover."""
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
            return
        away = (event.position().toPoint() - self._pressed).manhattanLength()
        if away >= QApplication.startDragDistance():
            self._pressed = None
            try:
                self._drag()
            finally:
                self.is_held = False

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End what a press began."""
        self._pressed = None
        super().mouseReleaseEvent(event)
        if self.is_held:
            self.is_held = False
            self.let_go.emit()

    def _drag(self) -> None:
        dragged = Dragged(self._side, tuple(place for place in self.chosen() if place.attribute is not None))
        if not dragged.places:
            return
        drag = QDrag(self)
        drag.setMimeData(to_mime(dragged))
        picture = drag_picture(self._tree.document, dragged, self.devicePixelRatioF())
        drag.setPixmap(picture)
        drag.setHotSpot(QPoint(-14, -6))
        drag.exec(Qt.DropAction.CopyAction)

    # dropping

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take fields of the other tree."""
        event.setAccepted(self._is_ours(event))

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show the row they would be dropped on, open what they rest on, and scroll at the edges."""
        at = event.position().toPoint()
        index = self.indexAt(at)
        can_take = self._is_ours(event) and self._tree.place(index) is not None
        event.setAccepted(can_take)
        self._point_at(index if can_take else None)
        bar = self.verticalScrollBar()
        if at.y() < _EDGE_PX:
            bar.setValue(bar.value() - 8)
        elif at.y() > self.viewport().height() - _EDGE_PX:
            bar.setValue(bar.value() + 8)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Show nothing any more."""
        self._point_at(None)

    def dropEvent(self, event: QDropEvent) -> None:
        """Tell what was dropped where."""
        dragged = from_mime(event.mimeData())
        place = self._tree.place(self.indexAt(event.position().toPoint()))
        self._point_at(None)
        if dragged is not None and place is not None and self._is_ours(event):
            event.acceptProposedAction()
            self.dropped.emit((dragged, place))

    def _is_ours(self, event: QDropEvent) -> bool:
        dragged = from_mime(event.mimeData())
        return dragged is not None and dragged.side is not self._side and bool(dragged.attributes)

    def _point_at(self, index: QModelIndex | None) -> None:
        below = QPersistentModelIndex(index) if index is not None else None
        if below == self.below:
            return
        self.below = self.rows.below = below
        self.viewport().update()
        if below is None:
            self._opening.stop()
        else:
            self._opening.start()

    def _open_below(self) -> None:
        if self.below is not None and self.below.isValid():
            self.expand(self._tree.index(self.below.row(), 0, self.below.parent()))

    # menu and tooltip

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of the chosen rows, at the pointer or at the current row."""
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            box = self.visualRect(self.currentIndex())
            self.menu_wanted.emit(self.viewport().mapToGlobal(box.bottomLeft() + QPoint(24, 0)))
        elif self.indexAt(self.viewport().mapFromGlobal(event.globalPos())).isValid():
            self.menu_wanted.emit(event.globalPos())

    def viewportEvent(self, event: QEvent) -> bool:
        """Ask for the tooltip of the row under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            place = self._tree.place(self.indexAt(event.pos()))
            if place is not None:
                self.tip_wanted.emit((place, event.globalPos()))
                return True
            QToolTip.hideText()
        return super().viewportEvent(event)
