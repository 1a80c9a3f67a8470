"""Folds the trees to narrow strips: by a button, and by itself where the window has no room for them.

Where a tree beside the matrix would leave that too little, its strip opens it as a drawer over the matrix, which goes
when the focus does. A tree above or below other panels stays: they keep its column as wide, so that a strip would stand
beside an empty place.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, QSignalMapper, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QVBoxLayout, QWidget

from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.trees.panel import TreePanel
from metl_gui.ui.widgets.dock import Dock
from metl_gui.ui.widgets.panel_page import PanelPage

NARROW_PX = 1100
"""Pages narrower than this have their trees folded."""
DRAWER_PX = 900
"""In pages narrower than this a strip opens its tree over the matrix, not beside it."""
_LEAST_PX = 150
_MOST_PX = 4_000


class TreeDrawer(QFrame):
    """Shows a folded tree over what lies beside its strip.

    Args:
        page: which it lies in.
        dock, panel: the tree; its strip stays in the dock.
        is_left: whether its strip is at the left edge.
    """

    def __init__(self, page: PanelPage, dock: Dock, panel: TreePanel, is_left: bool) -> None:
        super().__init__(page)
        self._page, self._dock, self._panel, self._is_left = page, dock, panel, is_left
        self.setProperty("surface", "sheet")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 6, 1, 1)
        self.hide()
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow_focus)

    def open(self, width: int) -> None:
        """Show the tree, with the keyboard on it."""
        layout = self.layout()
        if layout is not None:
            layout.addWidget(self._panel.lend_body())
        self._wish = width
        self.place()
        self.show()
        self.raise_()
        self._panel.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_drawer(self) -> None:
        """Give the tree back to its panel, which is a strip."""
        if self.isHidden():
            return
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self.isAncestorOf(focus)
        self.hide()
        self._panel.take_body_back()
        if had_focus:
            self._panel.strip.setFocus(Qt.FocusReason.OtherFocusReason)

    def place(self) -> None:
        """Lie beside the strip, as high as that; a part of the matrix stays in sight for what is dragged onto it."""
        strip = QRect(self._dock.geometry())
        room = self._page.width() - 2 * strip.width()
        width = min(max(self._wish, themes.px(_LEAST_PX)), max(room * 3 // 5, 0))
        left = strip.right() + 1 if self._is_left else strip.left() - width
        self.setGeometry(left, strip.top(), width, strip.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_drawer()
        else:
            super().keyPressEvent(event)

    def _follow_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self.isVisible() and now is not None and now is not self._panel.strip and not self.isAncestorOf(now):
            self.close_drawer()


class TreeCollapseController(QObject):
    """Keeps both trees of a page folded or not.

    Args:
        page: the page whose docks they are.
        trees: each dock with its panel, the left one first.
    """

    def __init__(self, page: PanelPage, trees: Sequence[tuple[Dock, TreePanel]]) -> None:
        super().__init__(page)
        self._page = page
        self._trees = list(trees)
        self._widths = [panel.sizeHint().width() for _, panel in self._trees]
        self._measuring = pause(self, 0, self._measure)
        self._again = pause(self, 0, self._give_widths)
        self._is_set = [False, False]
        self._before = [0, 0]
        """How wide each tree was before the page made it wider, 0 where it did not."""
        self._follows_page = [False, False]
        """Whether a tree folds and unfolds by itself in a narrow page: a person did neither since it became so."""
        self._was_narrow = False
        self._following = pause(self, 0, self._follow_columns)
        self.buttons: list[QPushButton] = []
        self.drawers = [TreeDrawer(page, dock, panel, at == 0) for at, (dock, panel) in enumerate(self._trees)]
        presses, strips = QSignalMapper(self), QSignalMapper(self)
        presses.mappedInt.connect(self.toggle)
        strips.mappedInt.connect(self._unfold)
        for at, (dock, panel) in enumerate(self._trees):
            button = QPushButton(
                "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}"
                if at == 0
                else "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}"
            )
            button.setProperty("kind", "quiet")
            button.setToolTip("Fold this tree to a strip")
            button.setAccessibleName(f"Fold the {panel.view.accessibleName().lower()}")
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            presses.setMapping(button, at)
            button.clicked.connect(presses.map)
            strips.setMapping(panel, at)
            panel.unfold_wanted.connect(strips.map)
            dock.add_tools(button)
            self.buttons.append(button)
        page.installEventFilter(self)
        page.docks_changed.connect(self._following.start)
        page.tabs.currentChanged.connect(self._close_drawers)

    def toggle(self, at: int) -> None:
        """Fold or unfold one of the trees, 0 for the left one."""
        panel, drawer = self._trees[at][1], self.drawers[at]
        if drawer.isVisible():
            drawer.close_drawer()
        elif panel.is_folded and self._page.width() < themes.px(DRAWER_PX):
            drawer.open(self._widths[at])
        else:
            self._follows_page[at] = False
            self._fold(at, not panel.is_folded)

    def reveal(self, panel: TreePanel) -> None:
        """Show a tree that is folded."""
        at = next(at for at, (_, each) in enumerate(self._trees) if each is panel)
        if self.is_folded(at):
            self.toggle(at)

    def is_folded(self, at: int) -> bool:
        """Whether a tree is a strip now."""
        return self._trees[at][1].is_folded and self.drawers[at].isHidden()

    def kept(self) -> list[list[int]]:
        """Say for the next session of each tree whether a person folded it, and how wide it is unfolded."""
        return [
            [int(panel.is_folded and not follows), width]
            for (_, panel), follows, width in zip(self._trees, self._follows_page, self._widths, strict=True)
        ]

    def restore(self, kept: Sequence[object]) -> None:
        """Fold what was folded at the end of another session; what is no answer of ``kept`` is passed over."""
        for at, each in enumerate(kept[: len(self._trees)]):
            if not isinstance(each, list) or [type(part) for part in each] != [int, int]:
                continue
            is_folded, width = each
            dock, panel = self._trees[at]
            if is_folded:
                self._follows_page[at] = False
                self._fold(at, True)
            self._widths[at], self._is_set[at] = min(max(width, _LEAST_PX), _MOST_PX), True
            if not panel.is_folded:  # its dock may have been a strip for want of room
                self._page.resizeDocks([dock], [self._widths[at]], Qt.Orientation.Horizontal)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fold where the page becomes narrow, and unfold what was folded so when there is room again."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self._page.isVisible():
            self._follow_page()
        elif event.type() is QEvent.Type.MouseButtonRelease:  # on the page itself, which has its borders of docks alone
            self._measuring.start()
        return super().eventFilter(watched, event)

    def _measure(self) -> None:
        """Remember how wide a person made the trees, not what was left of them in a page that shrank."""
        for at, (dock, panel) in enumerate(self._trees):
            if not panel.is_folded and not dock.isHidden() and not dock.isFloating():
                self._is_set[at] = self._is_set[at] or dock.width() != self._widths[at]
                self._widths[at] = max(dock.width(), _LEAST_PX)
                self._before[at] = 0

    def _follow_page(self) -> None:
        width = self._page.width()
        is_narrow = width < themes.px(NARROW_PX)
        if is_narrow != self._was_narrow:  # in between, what a person folds or unfolds stays so
            self._was_narrow = is_narrow
            self._follow_width(is_narrow)
            self._following.start()  # columns are laid out by then
        if not is_narrow and self._give_widths():
            self._again.start()  # what else is laid out now may take them away
        for drawer in self.drawers:
            if drawer.isVisible():
                drawer.place() if width < themes.px(DRAWER_PX) else drawer.close_drawer()

    def _give_widths(self) -> bool:
        """Make the trees as wide as they are to be, both at once; return whether one was not."""
        wanted: dict[Dock, int] = {}
        for at, (dock, panel) in enumerate(self._trees):
            if not panel.is_folded:
                self._widths[at] = self._widths[at] if self._is_set[at] else panel.sizeHint().width()
                width = self._granted(at, self._widths[at])
                if width != dock.width() and not dock.isFloating():
                    wanted[dock] = width
        if wanted:
            self._page.resizeDocks([*wanted], [*wanted.values()], Qt.Orientation.Horizontal)
        return bool(wanted)

    def _granted(self, at: int, wish: int) -> int:
        """Return how wide a tree is to be: as it should be at least, and as it was again when less is enough."""
        width = self._trees[at][0].width()
        if width < wish:
            self._before[at] = self._before[at] or width
        return max(wish, self._before[at]) if self._before[at] else width

    def _follow_width(self, is_narrow: bool) -> None:
        for at, (_, panel) in enumerate(self._trees):
            if not is_narrow and self._follows_page[at]:
                self._fold(at, False)
            self._follows_page[at] = is_narrow and not panel.is_folded
        self._follow_columns()

    def _follow_columns(self) -> None:
        """Fold in a narrow page the trees that give their width away by it, and unfold those that do not any more."""
        for at, (dock, _) in enumerate(self._trees):
            if self._follows_page[at] and not dock.isFloating():
                self._fold(at, not self._is_held(at), widens=False)

    def _is_held(self, at: int) -> bool:
        """Whether other panels keep the column of a tree as wide: above or below it, or behind one another's tabs."""
        tree, page = self._trees[at][0], self._page
        span, tabbed = tree.geometry(), page.tabifiedDockWidgets(tree)
        area = page.dockWidgetArea(tree)
        beside = [
            dock
            for dock in page.findChildren(Dock)
            if dock is not tree and dock.isVisible() and not dock.isFloating() and page.dockWidgetArea(dock) is area
        ]
        return not page.is_compact and any(
            dock in tabbed or (dock.geometry().left() <= span.right() and dock.geometry().right() >= span.left())
            for dock in beside
        )

    def _fold(self, at: int, is_folded: bool, *, widens: bool = True) -> None:
        dock, panel = self._trees[at]
        if panel.is_folded == is_folded:
            return
        self.drawers[at].close_drawer()
        panel.fold(is_folded)
        dock.show_line(not is_folded)
        if not is_folded and widens:
            self._page.resizeDocks([dock], [self._widths[at]], Qt.Orientation.Horizontal)

    def _unfold(self, at: int) -> None:
        self.toggle(at)
        if not self.is_folded(at):
            self._trees[at][1].view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close_drawers(self, _tab: int) -> None:
        for drawer in self.drawers:
            drawer.close_drawer()
