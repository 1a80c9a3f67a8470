"""The layout of the window: the panels of the page in front, and what is kept of it for the next window.

F6 goes round the panels, the View menu shows and hides them, floating ones hide with their page. ``WindowLayout`` keeps
where the window and its docks stood when it was closed, and restores it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QMenu, QStackedWidget, QWidget

from metl_gui.ui.frame.focus_return import first_focus
from metl_gui.ui.widgets.panel_page import PanelPage
from metl_gui.ui.widgets.plain_text import plain_entry, plain_tip

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


class FloatingDocks(QObject):
    """Hides the floating docks of a page while another one is in front.

    Args:
        stack: of the pages.
    """

    def __init__(self, stack: QStackedWidget) -> None:
        super().__init__(stack)
        self._stack = stack
        self._front: QWidget | None = stack.currentWidget()
        self._hidden: dict[PanelPage, list[QDockWidget]] = {}
        self._states: dict[PanelPage, QByteArray] = {}
        stack.currentChanged.connect(self._turn)

    def state_of(self, page: PanelPage) -> QByteArray:
        """Return the layout of a page, with the floating docks that are hidden only because of the page."""
        return self._states.get(page) or page.layout_to_keep()

    def _turn(self, _number: int) -> None:
        before, self._front = self._front, self._stack.currentWidget()
        if isinstance(before, PanelPage) and before is not self._front:
            self._states[before] = before.layout_to_keep()
            floating = [dock for dock in docks_of(before) if dock.isFloating() and not dock.isHidden()]
            self._hidden[before] = floating
            for dock in floating:
                dock.hide()
        if isinstance(self._front, PanelPage):
            self._states.pop(self._front, None)
            for dock in self._hidden.pop(self._front, []):
                dock.show()


def docks_of(page: QWidget | None) -> list[QDockWidget]:
    """Return the docks of a page, none for a page without."""
    if not isinstance(page, QMainWindow):
        return []
    return page.findChildren(QDockWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)


def fill_panels(window: Window, menu: QMenu) -> None:
    """List the docks of the page in front, each with its mark, and below them what is done with panels."""
    for dock in docks_of(window.stack.currentWidget()):
        menu.addAction(dock.toggleViewAction())
    if menu.isEmpty():
        menu.addAction("This page has no panels").setEnabled(False)
    menu.addSeparator()
    for id_ in ("fold_sources", "fold_targets", "next_panel", "previous_panel"):
        menu.addAction(window.actions_table[id_])


def fill_recent(window: Window, menu: QMenu) -> None:
    """List recent projects; those that are not there any more say so."""
    for path in window.settings.recent:
        action = menu.addAction(plain_entry(path.stem if path.is_file() else f"{path.stem} (not there any more)"))
        action.setToolTip(plain_tip(str(path)))
        action.setStatusTip(str(path))
        action.setEnabled(path.is_file())
        action.setData(path)
    if menu.isEmpty():
        menu.addAction("No project was open yet").setEnabled(False)


def stops(window: Window) -> list[QWidget]:
    """Return where F6 goes, in the order of reading: head bar, panels from left to right, notice, status bar."""
    page = window.stack.currentWidget()
    inside: list[QWidget] = [dock for dock in docks_of(page) if dock.isVisible() and not dock.visibleRegion().isEmpty()]
    central = page.centralWidget() if isinstance(page, QMainWindow) else page
    if central is not None:
        inside.append(central)
    inside.sort(key=_where)
    found = [window.head, *inside, window.notice, window.status]
    stops = [panel for panel in found if panel.isVisible() and first_focus(panel) is not None]
    last = first_focus(window.status)  # which holds the notice
    return stops[:-1] if last is not None and window.notice.isAncestorOf(last) else stops


def cycle_focus(window: Window, direction: int) -> None:
    """Put the focus into the next panel (1) or the one before (-1)."""
    found = stops(window)
    if not found:
        return
    focus = QApplication.focusWidget()
    here = next((at for at, panel in enumerate(found) if focus is not None and _holds(panel, focus)), None)
    at = (0 if direction > 0 else -1) if here is None else (here + direction) % len(found)
    target = first_focus(found[at])
    if target is not None:
        target.setFocus(Qt.FocusReason.TabFocusReason)


def _holds(panel: QWidget, widget: QWidget) -> bool:
    return panel is widget or panel.isAncestorOf(widget)


def _where(panel: QWidget) -> tuple[int, int]:
    at = panel.mapToGlobal(QPoint(0, 0))
    return at.x() // 200, at.y()


class WindowLayout:
    """The layout of one window and its pages, kept in the settings."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._laid_out: list[PanelPage] = []

    def restore(self) -> None:
        """Lay the window out as it was."""
        geometry = self._window.settings.layout("window")
        if geometry is not None:
            self._window.restoreGeometry(geometry)

    def restore_page(self) -> None:
        """Lay the page in front out as it was; before it has its size, its docks would shrink for good."""
        window = self._window
        page = window.stack.currentWidget()
        if not window.isVisible() or page in self._laid_out or not isinstance(page, PanelPage):
            return
        self._laid_out.append(page)
        state = window.settings.layout(page.objectName())
        if state is not None:
            page.lay_out_as(state)
        if page is window.map and (state is None or not _knows(state, window.preview.dock.objectName())):
            window.preview.lay_out()
            QTimer.singleShot(0, window.preview, window.preview.lay_out)  # again when the page has its size
        if page is window.map:
            window.map.folding.restore(window.settings.folded)

    def keep(self) -> None:
        """Keep how the window and the pages that were seen are laid out."""
        window = self._window
        window.settings.save_layout("window", window.saveGeometry())
        for page in self._laid_out:
            window.settings.save_layout(page.objectName(), window.floating.state_of(page))
        if window.map in self._laid_out:
            window.settings.folded = window.map.folding.kept()


def _knows(state: QByteArray, name: str) -> bool:
    """Whether a layout was kept when there was a dock of this name; names stand in it as Qt writes texts, in UTF-16."""
    return name.encode("utf-16-be") in state.data()
