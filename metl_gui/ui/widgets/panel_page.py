"""A page with docks that works at any size: where there is no room for all panels, each is a tab and one is in front.

``PanelPage`` hides what is behind, so that the panel in front has the whole page. Which docks a person has open, and
how large, is kept from when there was room, and comes back with it: what a smaller page leaves of a dock is nobody's
wish.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QSizePolicy, QTabBar, QWidget

from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dock import Dock

_LEAST_PX = (240, 160)
"""What a page asks a window for: below that not even one panel is of use."""

_SHOWN_OR_HIDDEN = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent)
_SETTLES_MS = 50
"""So long after docks were shown or moved they have their sizes."""


class PanelPage(QMainWindow):
    """One of the pages of the window.

    Args:
        name: under which its layout is kept.
        middle: what the tab of its central widget says.
        least: width and height at scale 1 below which one panel is in front at a time.
    """

    docks_changed = Signal()
    """Docks were shown, hidden or moved, by a person or for want of room."""

    def __init__(self, name: str, middle: str, least: tuple[int, int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setObjectName(name)
        self._least = least
        self._roomy: QByteArray | None = None
        self._settled = QSize()
        self._wishes: dict[QDockWidget, QSize] = {}
        self._raised: list[QDockWidget] = []
        self._were: list[QDockWidget] = []
        self._open: list[QDockWidget | None] = [None]
        self._front: QDockWidget | None = None
        self._is_turning = False
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(f"Panels of the page {middle}")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(True)
        self.tabs.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._middle = middle
        self.tabs.hide()
        self.tabs.currentChanged.connect(self._turned)
        self.setMenuWidget(self.tabs)
        self._capturing = pause(self, _SETTLES_MS, self._capture)
        self._growing = pause(self, 0, self._grant_wishes)
        self.installEventFilter(self)

    @property
    def is_compact(self) -> bool:
        """Whether one panel is in front at a time."""
        return not self.tabs.isHidden()

    @property
    def front(self) -> QDockWidget | None:
        """The dock in front of all others where there is no room beside it; ``None`` for the middle."""
        return self._front

    @property
    def is_small(self) -> bool:
        """Whether there is no room for all panels."""
        return self.width() < themes.px(self._least[0]) or self.height() < themes.px(self._least[1])

    def stays_beside(self, dock: QDockWidget) -> bool:
        """Whether a dock is so narrow that it stays where another panel is in front."""
        del dock
        return False

    def fit_middle(self, is_compact: bool) -> None:
        """Let the central widget be small where it is alone, and keep its room where docks are beside it."""

    def show_middle(self) -> None:
        """Bring the central widget to the front, if something else is."""
        if self.is_compact:
            self._turn_to(None)

    def layout_to_keep(self) -> QByteArray:
        """Return the layout as it is where there is room."""
        return self._roomy if self.is_compact and self._roomy is not None else self.saveState()

    def lay_out_as(self, layout: QByteArray) -> None:
        """Lay the docks out as they were in another session."""
        was_compact = self.is_compact
        if was_compact:
            self._leave()
        self.restoreState(layout)
        if was_compact:
            self._roomy = layout
            self._enter()

    def minimumSizeHint(self) -> QSize:
        """Ask for little: panels give way."""
        return QSize(*_LEAST_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show panels beside each other, or one at a time."""
        super().resizeEvent(event)
        has_grown = self.width() > self._settled.width() or self.height() > self._settled.height()
        self._settled = self.size()
        self._follow_size()
        if has_grown and self.isVisible() and not self.is_compact:
            self._growing.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the docks."""
        super().showEvent(event)
        for dock in self._docks():
            dock.removeEventFilter(self)
            dock.installEventFilter(self)
            dock.topLevelChanged.connect(self._floated, Qt.ConnectionType.UniqueConnection)
        self._settled = self.size()
        self._follow_size()
        if not self._wishes:
            self._capturing.start()

    def dress(self) -> None:
        """Follow the scale."""
        self._follow_size()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what a person or a command does with the docks; sizes that came with the page's are not theirs."""
        kind = event.type()
        if kind is QEvent.Type.MouseButtonRelease and not self.is_compact:  # a border between panels was dragged
            self._capturing.start()
        if kind in _SHOWN_OR_HIDDEN and isinstance(watched, QDockWidget) and not self._is_turning:
            self._follow_dock(watched, is_shown=kind is QEvent.Type.ShowToParent)
        return super().eventFilter(watched, event)

    def _floated(self, is_floating: bool) -> None:
        """Close the gap that a dock left which floats now, or show the one that was put back."""
        dock = self.sender()
        if not self.is_compact or self._is_turning or not isinstance(dock, QDockWidget) or self.stays_beside(dock):
            return
        if not is_floating:
            self._turn_to(dock)
        elif dock in self._open:
            self._open.remove(dock)
            self._turn_to(None if dock is self._front else self._front)

    def _follow_dock(self, dock: QDockWidget, *, is_shown: bool) -> None:
        if not self.is_compact:
            self._capturing.start()
        elif self.stays_beside(dock):
            return
        elif is_shown and not dock.isFloating():
            self._turn_to(dock)
        elif not is_shown and dock in self._open:
            self._open.remove(dock)
            self._turn_to(None if dock is self._front else self._front)

    # inside

    @property
    def _middle_widget(self) -> QWidget:
        middle = self.centralWidget()
        assert middle is not None  # noqa: S101 - every page has one
        return middle

    def _docks(self) -> list[QDockWidget]:
        return self.findChildren(QDockWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def _capture(self) -> None:
        if self.isVisible() and not self.is_compact:
            docked = [dock for dock in self._docks() if not dock.isHidden() and not dock.isFloating()]
            self._wishes = {dock: dock.size() for dock in docked if not self.stays_beside(dock)}
            self._raised = [dock for dock in docked if not dock.visibleRegion().isEmpty()]
            self._roomy = self.saveState()
            self.docks_changed.emit()

    def _grant_wishes(self) -> None:
        """Give the docks the sizes that were theirs, as far as there is room."""
        if self.is_compact:
            return
        docked = [dock for dock in self._wishes if not dock.isHidden() and not dock.isFloating()]
        for side, measure in ((Qt.Orientation.Horizontal, QSize.width), (Qt.Orientation.Vertical, QSize.height)):
            self.resizeDocks(docked, [measure(self._wishes[dock]) for dock in docked], side)
        self.docks_changed.emit()

    def _follow_size(self) -> None:
        if not self.isVisible() or self.is_small == self.is_compact:
            return
        if self.is_small:
            self._enter()
        else:
            self._leave()

    def _enter(self) -> None:
        if self._roomy is None:
            self._roomy = self.saveState()
        managed = [dock for dock in self._docks() if not self.stays_beside(dock)]
        self._were = [dock for dock in managed if not dock.isHidden() and not dock.isFloating()]
        self._open = [None, *self._were]
        self._give_way(True)
        self.tabs.show()
        self._turn_to(None)

    def _leave(self) -> None:
        closed = [dock for dock in self._were if dock not in self._open]
        front = self._front
        self._is_turning = True
        try:
            self.tabs.hide()
            self._give_way(False)
            self._middle_widget.show()
            for dock in self._docks():
                if self.stays_beside(dock) or dock in self._open:
                    dock.show()
            raised = [*self._raised, *([] if front is None else [front])]
            for each in raised:
                if each not in closed:
                    each.raise_()
        finally:
            self._front = None
            self._is_turning = False
        self._growing.start()

    def _turn_to(self, front: QDockWidget | None) -> None:
        """Show one panel, and the tabs of all that are open."""
        if front not in self._open:
            self._open.append(front)
        self._front = front
        self._is_turning = True
        try:
            beside = None if front is None else self.dockWidgetArea(front)
            for dock in self._docks():
                if self.stays_beside(dock):
                    dock.setVisible(beside is None or self.dockWidgetArea(dock) is not beside)
                elif not dock.isFloating():
                    dock.setVisible(dock is front)
            self._middle_widget.setVisible(front is None)
            if front is not None:
                self._give_room(front)
            self._show_tabs()
        finally:
            self._is_turning = False
        self.docks_changed.emit()

    def _give_room(self, front: QDockWidget) -> None:
        """Let the panel in front have all that strips beside it do not need, whatever was in front before."""
        strips = [dock for dock in self._docks() if self.stays_beside(dock) and not dock.isHidden()]
        widths = [dock.minimumSizeHint().width() for dock in strips]
        self.resizeDocks([*strips, front], [*widths, self.width() - sum(widths)], Qt.Orientation.Horizontal)

    def _show_tabs(self) -> None:
        names = [self._middle if dock is None else dock.windowTitle() for dock in self._open]
        while self.tabs.count() > len(names):
            self.tabs.removeTab(self.tabs.count() - 1)
        for at, name in enumerate(names):
            if at < self.tabs.count():
                self.tabs.setTabText(at, name)
            else:
                self.tabs.addTab(name)
        self.tabs.setCurrentIndex(self._open.index(self._front))

    def _turned(self, at: int) -> None:
        if self.is_compact and not self._is_turning and 0 <= at < len(self._open):
            self._turn_to(self._open[at])

    def _give_way(self, does: bool) -> None:
        self.fit_middle(does)
        for dock in self._docks():
            if isinstance(dock, Dock):
                dock.give_way(does)
