"""The block matrix as a view: the plane with the gestures of mouse, keyboard and drops."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.drop_controller import FieldDropController
from metl_gui.ui.matrix.input.gesture_preview import GesturePreview
from metl_gui.ui.matrix.input.selected_content import loss_tip
from metl_gui.ui.matrix.keyboard_controller import KeyboardController
from metl_gui.ui.matrix.layout.camera import looking_at
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.layout.ghost_lines import LostHere
from metl_gui.ui.matrix.mouse_controller import MouseController
from metl_gui.ui.matrix.painting.difference import ElementDifference
from metl_gui.ui.matrix.painting.ignored_lines import IgnoredPlaces
from metl_gui.ui.matrix.painting.overlay import Commented, Focus, Ghost
from metl_gui.ui.matrix.painting.paint_context import Sign
from metl_gui.ui.matrix.plane_view import PlaneView
from metl_gui.ui.matrix.scene import next_thing, says_nothing
from metl_gui.ui.project.selection import CellRange, NodeRef, Selected, selected_block
from metl_gui.values import Value


class MenuRequest(Value):
    """A menu that is asked for: of what is selected, unless something else is named.

    Args:
        at: where on the screen.
        lost: what was lost with the ghost there.
        is_on_map: whether it is that of the overview map.
        header: the side in whose header it is asked for.
    """

    at: QPoint
    lost: LostHere | None = None
    is_on_map: bool = False
    header: Side | None = None


class MatrixView(PlaneView):
    """Shows a ``Content`` and turns gestures into selections and wishes; it changes nothing itself.

    Signals:
        picked: a ``Selected``, by click, key or rectangle.
        toggle_wanted: a ``Cell`` that a click or Space wants set or cleared.
        run_wanted: (cells to set, cells left out because an end is taken) of a run.
        dropped: a ``Landing`` of fields dragged from a tree.
        pointed: a ``Selected`` under the pointer, or ``None``.
        opened: the ``Selected`` whose block's editor is asked for.
        loss_picked: a block's key and the ``Loss`` of the ghost that was clicked.
        ghost_accepted: a ``Ghost`` that Enter takes.
        ghosts_dismissed: Esc, while suggestions are shown.
        menu_wanted: a ``MenuRequest``.
        map_sized: how wide the overview map was drawn, in pixels at scale 1, ``None`` when it was docked.
        fold_wanted, pin_wanted: (side, ``NodeRef``) of the band whose triangle or pin was clicked.
        marked: suggestions, comments, differences or what is never to be mapped are marked in another way.
    """

    toggle_wanted = Signal(object)
    run_wanted = Signal(object)
    dropped = Signal(object)
    pointed = Signal(object)
    opened = Signal(object)
    loss_picked = Signal(object)
    ghost_accepted = Signal(object)
    ghosts_dismissed = Signal()
    menu_wanted = Signal(object)
    map_sized = Signal(object)
    marked = Signal()
    fold_wanted = Signal(object)
    pin_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.viewport().setMouseTracking(True)
        self.hand = MouseController(self)
        self.keyboard = KeyboardController(self)
        self.drops = FieldDropController(self)
        self.tip: Callable[[Selected], str] = says_nothing
        self.close_notice: Callable[[], bool] = bool
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.setAccessibleName("Matrix")
        self.setAccessibleDescription("Columns are extraction attributes, rows are CDM attributes.")

    # what is shown

    def show_content(self, content: PlaneContent, whole: PlaneContent | None = None) -> None:
        """Show another content at the same place; the first one is fitted.

        Args:
            content: what is shown.
            whole: the same with nothing hidden, where anything is.
        """
        before = self.sight.content
        if before is None or before.columns is not content.columns or before.rows is not content.rows:
            self.hand.abandon()  # what it began with may lie elsewhere now, or nowhere
        if not self.hand.is_busy:
            self.sight.trial = None
        was = self.describe(self.selected) if self.hasFocus() else ""
        super().show_content(content, whole)
        if was and was != self.describe(self.selected):
            self.announce(self.selected)  # what one has done where one stands, as who sees it sees it

    def show_ghosts(self, ghosts: tuple[Ghost, ...]) -> None:
        """Show suggestions, none to show no longer."""
        self.sight.ghosts = ghosts
        self.panes.repaint_marks()
        self.marked.emit()

    def show_comments(self, commented: tuple[Commented, ...]) -> None:
        """Mark what was commented on."""
        if commented != self.sight.commented:
            self.sight.commented = commented
            self.panes.repaint_marks()
            self.marked.emit()

    def show_ignored(self, columns: IgnoredPlaces, rows: IgnoredPlaces) -> None:
        """Mark the columns and rows that are never to be mapped."""
        self.sight.ignored = columns, rows
        self.panes.repaint()
        self.marked.emit()

    def show_pinned(self, columns: frozenset[NodeRef], rows: frozenset[NodeRef]) -> None:
        """Let bands of headers be folded and pinned, and mark those that are pinned."""
        self.sight.pinned = columns, rows
        self.panes.repaint_marks()

    def show_trial(self, trial: GesturePreview | None) -> None:
        """Show what a gesture would do."""
        if trial != self.sight.trial:
            self.sight.trial = trial
            self.panes.repaint_marks()

    def show_difference(self, marks: tuple[ElementDifference, ...] | None) -> None:
        """Mark what differs from another state, on every level and in the legend; ``None`` to compare no longer."""
        self.sight.difference = marks
        self.tiles.is_comparing = marks is not None
        self.panes.repaint()
        self.marked.emit()

    def take_marks(self, other: MatrixView) -> None:
        """Mark what another view of the same plane marks, and tint as it does."""
        sight, tinting = other.sight, other.tiles.tinting
        self.sight.ghosts, self.sight.commented, self.sight.ignored = sight.ghosts, sight.commented, sight.ignored
        self.show_difference(sight.difference)
        self.show_refused(sight.refused)
        if self.tiles.tinting != tinting:
            self.panes.tint_by(tinting)

    def show_focus(self, focus: Focus | None) -> None:
        """Dim everything but a block, ``None`` for nothing."""
        if focus != self.sight.focus:
            self.sight.focus = focus
            self.panes.repaint_marks()

    # what gestures do

    def dock_map(self) -> None:
        """Put the overview map back into the corner."""
        self.panes.show_map_as(None)
        self.map_sized.emit(None)

    def go_to_next(self, *signs: Sign) -> None:
        """Choose the next thing on the plane that has one of some signs, and look at it."""
        found = next_thing(self.sight, *signs)
        box = self.hits.box(found) if found is not None and self.hits is not None else None
        if found is not None and box is not None:
            self.picked.emit(found)
            self.jump(looking_at(self.frame, box))
            self.announce(found)

    def stretch_to(self, far: Selected) -> None:
        """Choose the rectangle of cells from the current cell to another one."""
        near = self.selected
        if near.source and near.target and far.source and far.target:
            first = near.cells or CellRange(near.source, near.source, near.target, near.target)
            cells = CellRange(first.first_source, far.source, first.first_target, far.target)
            self.picked.emit(Selected(first.first_source, first.first_target, cells=cells))

    def accept_ghost(self) -> bool:
        """Take the suggestion that stands at the cursor, or the current one; whether there is one."""
        ghosts = self.sight.ghosts
        here = (self.selected.block, self.selected.element)
        found = next((ghost for ghost in ghosts if (ghost.key, ghost.element) == here), None)
        found = found or next((ghost for ghost in ghosts if ghost.is_current), None)
        if found is not None:
            self.ghost_accepted.emit(found)
        return found is not None

    def escape(self) -> None:
        """Abandon the gesture, then the notice, then the suggestions, then the selection."""
        if self.hand.abandon() or self.close_notice():
            return
        if self.sight.ghosts:
            self.ghosts_dismissed.emit()
        else:
            self.picked.emit(Selected())

    # events

    def viewportEvent(self, event: QEvent) -> bool:
        """Take pinches of a trackpad, and say what lies under a resting pointer."""
        if isinstance(event, QNativeGestureEvent) and self.hand.native_gesture(event):
            return True
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            self._show_tip(QPointF(event.pos()), event.globalPos())
            return True
        return bool(super().viewportEvent(event))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom or pan."""
        self.hand.wheel(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a gesture."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.hand.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on with a gesture."""
        self.hand.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a gesture."""
        self.hand.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Drill in, or open a block's editor."""
        self.hand.double_click(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Select what is under the pointer and ask for its menu; by the keyboard for that of what is selected."""
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            if self.selected != Selected():
                self.menu_wanted.emit(MenuRequest(self.viewport().mapToGlobal(self.viewport().rect().center())))
            return
        at = QPointF(event.pos())
        if self.hand.is_busy:
            return
        if self.panes.is_on_map(at):
            self.menu_wanted.emit(MenuRequest(event.globalPos(), is_on_map=True))
            return
        inside = at - self.panes.plane.pos()
        lost = self.loss_at(inside)
        selected = self.selected_at(inside) if lost is None and self.content is not None else None
        if lost is not None and self.content is not None:
            selected = selected_block(self.content.document, lost[0])
        if selected is not None:
            self.picked.emit(selected)
            header = Side.EXTRACTION if inside.y() < 0 else Side.CDM if inside.x() < 0 else None
            self.menu_wanted.emit(MenuRequest(event.globalPos(), lost, header=header))

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the pointer."""
        super().leaveEvent(event)
        if not self.hand.is_busy:
            self.hand.point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do what a key means."""
        event.setAccepted(self.keyboard.press(event))

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Do what letting a key go means."""
        event.setAccepted(self.keyboard.release(event))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Forget keys that are held down."""
        super().focusOutEvent(event)
        self.hand.space.forget()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take fields dragged from a tree."""
        self.drops.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show where they would land."""
        self.drops.move(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Forget them."""
        self.drops.leave()

    def dropEvent(self, event: QDropEvent) -> None:
        """Ask for what the drop means."""
        self.drops.drop(event)

    # inside

    def _show_tip(self, at: QPointF, on_screen: QPoint) -> None:
        inside = at - self.panes.plane.pos()
        is_on_map = self.panes.is_on_map(at)
        lost = self.loss_at(inside) if not is_on_map else None
        selected = self.selected_at(inside) if not is_on_map and lost is None else None
        words = self.tip(selected) if selected is not None else loss_tip(lost)
        words = words or ("Go to the next one" if self.panes.sign_at(at) is not None else "")
        control = self.panes.control_at(at)
        words = control[1].words if control is not None else words
        if words:
            QToolTip.showText(on_screen, words, self)
        else:
            QToolTip.hideText()
