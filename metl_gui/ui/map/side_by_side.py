"""Two views of the matrix beside each other: one plane and one selection, each looked at from a place of its own."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QSplitter

from metl_gui.ui.matrix.painting.paint_context import Tinting
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.widgets.dock import FocusRing


class SideBySide(QObject):
    """Shows a second view beside the first, which is made when it is first asked for and told whatever that is.

    Args:
        first: the view that everybody knows; what is done in the second one comes from its signals.
        prepare: does for a new view what was done for the first.

    Signals:
        switched: the second view came or went.
    """

    switched = Signal()

    def __init__(self, first: MatrixView, prepare: Callable[[MatrixView], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.first = first
        self.second: MatrixView | None = None
        self._prepare = prepare
        self._worked_in = first
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(first)
        first.installEventFilter(self)
        first.marked.connect(self._mark)

    @property
    def is_shown(self) -> bool:
        """Whether there are two views."""
        return self.second is not None and not self.second.isHidden()

    @property
    def views(self) -> tuple[MatrixView, ...]:
        """The views that are shown."""
        return (self.first, self.second) if self.second is not None and self.is_shown else (self.first,)

    @property
    def worked_in(self) -> MatrixView:
        """The view that had the keyboard last."""
        return self._worked_in if self._worked_in in self.views else self.first

    def show(self, is_shown: bool) -> None:
        """Show a second view, which begins where the first one looks, or the first one alone."""
        if is_shown != self.is_shown:
            self._begin() if is_shown else self._end()
            self.switched.emit()

    def _begin(self) -> None:
        if self.second is None:
            self.second = self._make()
            self.splitter.addWidget(self.second)
        self.second.show()
        half = self.splitter.width() // 2
        self.splitter.setSizes([half, half])
        self.show_content()
        self._mark()
        place = self.first.place()
        if place is not None:
            self.second.go_to_place(place)
            self.second.bring_into_sight(self.first.selected)

    def _end(self) -> None:
        if self.second is not None:
            had_keyboard = self.second.hasFocus()
            self.second.hide()
            if had_keyboard:
                self.first.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_content(self) -> None:
        """Show in the second view what the first one shows."""
        content, second = self.first.content, self.second
        if content is not None and second is not None and self.is_shown:
            second.show_content(content, self.first.sight.whole)
            second.show_selected(self.first.selected)
            second.show_pinned(*(self.first.sight.pinned or (frozenset(), frozenset())))

    def tint_by(self, tinting: Tinting) -> None:
        """Tint tiles and blocks of both by an overlay."""
        for view in self.views:
            view.panes.tint_by(tinting)

    def forget_places(self) -> None:
        """Begin anew with another project, in one view."""
        self.show(False)
        for view in filter(None, (self.first, self.second)):
            view.forget_places()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Note which view has the keyboard."""
        if event.type() is QEvent.Type.FocusIn and isinstance(watched, MatrixView):
            self._worked_in = watched
        return super().eventFilter(watched, event)

    def _make(self) -> MatrixView:
        first, view = self.first, MatrixView()
        view.setAccessibleName("Second view of the matrix")
        view.panes.map_width = first.panes.map_width
        view.close_notice = first.close_notice
        self._prepare(view)
        FocusRing(view)
        view.addActions(first.actions())
        view.installEventFilter(self)
        for own, known in (
            (view.picked, first.picked),
            (view.announced, first.announced),
            (view.toggle_wanted, first.toggle_wanted),
            (view.run_wanted, first.run_wanted),
            (view.dropped, first.dropped),
            (view.pointed, first.pointed),
            (view.opened, first.opened),
            (view.fold_wanted, first.fold_wanted),
            (view.pin_wanted, first.pin_wanted),
            (view.loss_picked, first.loss_picked),
            (view.ghost_accepted, first.ghost_accepted),
            (view.ghosts_dismissed, first.ghosts_dismissed),
        ):
            own.connect(known)
        return view

    def _mark(self) -> None:
        """Mark in the second view what is marked in the first."""
        if self.second is not None and self.is_shown:
            self.second.take_marks(self.first)
