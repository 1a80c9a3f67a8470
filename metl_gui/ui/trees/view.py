"""The view of a tree: several rows may be chosen, fields are dragged out of it and dropped on it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
)
from PySide6.QtWidgets import QAbstractItemView, QApplication, QToolTip, QTreeView, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.branch import paint_branch
from metl_gui.ui.dragging import Dragged, from_mime, to_mime
from metl_gui.ui.selection import Place
from metl_gui.ui.trees.chosen_rows import ChosenNodes, chosen_places, siblings_of
from metl_gui.ui.trees.delegate import RowDelegate
from metl_gui.ui.trees.drag_picture import drag_picture
from metl_gui.ui.trees.model import Index, TreeModel

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
        tip_wanted: (``Place``, position on the screen) of the row the pointer rests on.
    """

    dropped = Signal(object)
    menu_wanted = Signal(object)
    tip_wanted = Signal(object)

    def __init__(self, side: Side, name: str, model: TreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._side = side
        self._tree = model
        self._pressed: QPoint | None = None
        self._opening = QTimer(self)
        self._opening.setSingleShot(True)
        self._opening.setInterval(_OPEN_AFTER_MS)
        self._opening.timeout.connect(self._open_below)
        self.below: QPersistentModelIndex | None = None
        self.setModel(model)
        self._chosen = ChosenNodes(model, self.selectionModel())
        self.rows = RowDelegate(self)
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

    def chosen(self) -> tuple[Place, ...]:
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
            self._drag()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End what a press began."""
        self._pressed = None
        super().mouseReleaseEvent(event)

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
