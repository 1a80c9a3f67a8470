"""One side of the block editor: a list of attributes that starts lines and takes them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QApplication, QFrame, QListView, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.block.attribute_rows import AttributeDelegate, ListModel
from metl_gui.ui.project.block_lists import ListRow
from metl_gui.ui.project.selection import from_mime
from metl_gui.ui.widgets.rows import Index


class AttributeList(QListView):
    """A list of attributes.

    Args:
        side: which side it shows.

    Signals:
        stood_on: (side, id of the attribute that became the current one by hand).
        pulled: (side, where the pointer is on the screen) while a line is drawn from the current row.
        let_go: where the line ends.
        key: (side, key) of ``enter``, ``space``, ``delete``, ``escape``, ``left`` or ``right``.
        dropped: (side, id of the row below, ``Dragged``) of fields dropped from a tree.
        menu_wanted: (side, where on the screen) a menu for the current row is asked for.
    """

    stood_on = Signal(object)
    pulled = Signal(object)
    let_go = Signal(object)
    key = Signal(object)
    dropped = Signal(object)
    menu_wanted = Signal(object)

    def __init__(self, side: Side, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.side = side
        self.rows = ListModel(side, self)
        self._pressed: QPoint | None = None
        self._pulls = False
        self._is_showing = False
        self.setModel(self.rows)
        self._delegate = AttributeDelegate(side)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName("Attributes of the schema" if side is Side.EXTRACTION else "Attributes of the entity")
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.setAcceptDrops(True)
        self.selectionModel().currentChanged.connect(self._stand)

    @property
    def current(self) -> ListRow | None:
        """The row the cursor is on."""
        return self.rows.row_at(self.currentIndex())

    def stand_on(self, attribute_id: int | None) -> None:
        """Move the cursor without telling anybody; an attribute that the list does not show takes it away."""
        index = self.rows.index_of(attribute_id)
        if index == self.currentIndex():
            return
        self._is_showing = True
        try:
            self.setCurrentIndex(index)
            if not index.isValid():
                self.clearSelection()
        finally:
            self._is_showing = False

    def row_under(self, at: QPoint) -> ListRow | None:
        """Return the row under a point of the screen."""
        inside = self.viewport().mapFromGlobal(at)
        return self.rows.row_at(self.indexAt(inside)) if self.viewport().rect().contains(inside) else None

    def dataChanged(self, _first: Index, _last: Index, _roles: Sequence[int] = ()) -> None:
        """Paint again: all rows are equally high, so that none moves, and Qt's own way lays every one of them out."""
        self.viewport().update()

    def dress(self) -> None:
        """Lay the rows out at the scale of now."""
        self.doItemsLayout()

    def abandon(self) -> bool:
        """Stop drawing a line; tell whether one was drawn."""
        pulled, self._pulls, self._pressed = self._pulls, False, None
        return pulled

    def _stand(self, current: QModelIndex, _before: QModelIndex) -> None:
        row = self.rows.row_at(current)
        if row is not None and not self._is_showing:
            self.stood_on.emit((self.side, row.id))

    # mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Stand on a row; a line may start there."""
        super().mousePressEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        at = event.position().toPoint()
        self._pressed = at if is_left and self.indexAt(at).isValid() else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Draw a line once the pointer is some way off."""
        at = event.position().toPoint()
        if self._pressed is None:
            super().mouseMoveEvent(event)
            return
        self._pulls = self._pulls or (at - self._pressed).manhattanLength() >= QApplication.startDragDistance()
        if self._pulls:
            self.pulled.emit((self.side, event.globalPosition().toPoint()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a line."""
        super().mouseReleaseEvent(event)
        if self.abandon():
            self.let_go.emit(event.globalPosition().toPoint())

    # keys

    def event(self, event: QEvent) -> bool:
        """Keep Delete for the row in sight: the window's own acts on what the matrix shows as chosen."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride and _is_delete(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Say what a key means; the others move the cursor."""
        meanings = {
            Qt.Key.Key_Return: "enter",
            Qt.Key.Key_Enter: "enter",
            Qt.Key.Key_Space: "space",
            Qt.Key.Key_Delete: "delete",
            Qt.Key.Key_Escape: "escape",
            Qt.Key.Key_Left: "left",
            Qt.Key.Key_Right: "right",
        }
        meaning = meanings.get(Qt.Key(event.key()))
        if meaning is None or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        else:
            self.key.emit((self.side, meaning))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of the current row, which is the one that was clicked."""
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            at = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
        else:
            at = event.globalPos()
        self.menu_wanted.emit((self.side, at))

    # fields from a tree

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take fields of the other tree."""
        self._judge(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Take them on a row only."""
        self._judge(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Show nothing any more."""
        self._point_at(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        """Say what was dropped on which row."""
        dragged = from_mime(event.mimeData())
        row = self.rows.row_at(self.indexAt(event.position().toPoint()))
        self._point_at(-1)
        if dragged is not None and row is not None and dragged.side is not self.side:
            event.acceptProposedAction()
            self.dropped.emit((self.side, row.id, dragged))

    def _judge(self, event: QDragMoveEvent) -> None:
        dragged = from_mime(event.mimeData())
        is_ours = dragged is not None and dragged.side is not self.side and bool(dragged.attributes)
        index = self.indexAt(event.position().toPoint())
        event.setAccepted(is_ours and index.isValid())
        self._point_at(index.row() if is_ours else -1)

    def _point_at(self, row: int) -> None:
        self._delegate.below = row
        self.viewport().update()


def _is_delete(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Delete and event.modifiers() == Qt.KeyboardModifier.NoModifier
