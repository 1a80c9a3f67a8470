"""Folds the trees to narrow strips: by a button, and by itself where the window has no room for them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSignalMapper, Qt
from PySide6.QtWidgets import QMainWindow, QPushButton

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.trees.panel import TreePanel
from metl_gui.ui.widgets.dock import Dock

NARROW_PX = 1100
_LEAST_PX = 150
_MOST_PX = 4_000


class TreeCollapseController(QObject):
    """Keeps both trees of a page folded or not.

    Args:
        page: the page whose docks they are.
        trees: each dock with its panel, the left one first.
    """

    def __init__(self, page: QMainWindow, trees: Sequence[tuple[Dock, TreePanel]]) -> None:
        super().__init__(page)
        self._page = page
        self._trees = list(trees)
        self._widths = [panel.sizeHint().width() for _, panel in self._trees]
        self._by_itself = [False, False]
        self._was_narrow = False
        self.buttons: list[QPushButton] = []
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

    def toggle(self, at: int) -> None:
        """Fold or unfold one of the trees, 0 for the left one."""
        self._by_itself[at] = False
        self._fold(at, not self._trees[at][1].is_folded)

    def is_folded(self, at: int) -> bool:
        """Whether a tree is a strip now."""
        return self._trees[at][1].is_folded

    def kept(self) -> list[list[int]]:
        """Say for the next session of each tree whether a person folded it, and how wide it is unfolded."""
        return [
            [int(panel.is_folded and not by_itself), width if panel.is_folded else dock.width()]
            for (dock, panel), by_itself, width in zip(self._trees, self._by_itself, self._widths, strict=True)
        ]

    def restore(self, kept: Sequence[object]) -> None:
        """Fold what was folded at the end of another session; what is no answer of ``kept`` is passed over."""
        for at, each in enumerate(kept[: len(self._trees)]):
            if not isinstance(each, list) or [type(part) for part in each] != [int, int]:
                continue
            is_folded, width = each
            dock, panel = self._trees[at]
            if is_folded and not panel.is_folded:
                self._fold(at, True)
            self._widths[at] = min(max(width, _LEAST_PX), _MOST_PX)
            if not panel.is_folded:  # its dock may have been a strip for want of room
                self._page.resizeDocks([dock], [self._widths[at]], Qt.Orientation.Horizontal)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fold where the page becomes narrow, and unfold what was folded so when there is room again."""
        if event.type() is QEvent.Type.Resize and self._page.isVisible():
            is_narrow = self._page.width() < themes.px(NARROW_PX)
            if is_narrow != self._was_narrow:  # in between, what a person folds or unfolds stays so
                self._was_narrow = is_narrow
                self._follow_width(is_narrow)
        return False

    def _follow_width(self, is_narrow: bool) -> None:
        for at, (_, panel) in enumerate(self._trees):
            if is_narrow and not panel.is_folded:
                self._by_itself[at] = True
                self._fold(at, True)
            elif not is_narrow and self._by_itself[at]:
                self._by_itself[at] = False
                self._fold(at, False)

    def _fold(self, at: int, is_folded: bool) -> None:
        dock, panel = self._trees[at]
        if panel.is_folded == is_folded:
            return
        if is_folded:
            self._widths[at] = max(dock.width(), _LEAST_PX)
        panel.fold(is_folded)
        dock.show_line(not is_folded)
        if not is_folded:
            self._page.resizeDocks([dock], [self._widths[at]], Qt.Orientation.Horizontal)

    def _unfold(self, at: int) -> None:
        self.toggle(at)
        self._trees[at][1].view.setFocus(Qt.FocusReason.OtherFocusReason)
