"""Where the window and its docks stood when it was closed, and stand again in the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QTimer
from PySide6.QtWidgets import QMainWindow

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


class KeptLayout:
    """The layout of one window and its pages, kept in the settings."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._laid_out: list[QMainWindow] = []

    def restore(self) -> None:
        """Lay the window out as it was."""
        geometry = self._window.settings.layout("window")
        if geometry is not None:
            self._window.restoreGeometry(geometry)

    def restore_page(self) -> None:
        """Lay the page in front out as it was; before it has its size, its docks would shrink for good."""
        window = self._window
        page = window.stack.currentWidget()
        if not window.isVisible() or page in self._laid_out or not isinstance(page, QMainWindow):
            return
        self._laid_out.append(page)
        state = window.settings.layout(page.objectName())
        if state is not None:
            page.restoreState(state)
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
