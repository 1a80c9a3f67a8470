"""What the window says of its project around the pages: title, name, what waits, undo, counts, state, the place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.project import text
from metl_gui.ui.project.document import DocumentChange
from metl_gui.ui.project.selection import Selected, still_there
from metl_gui.ui.run.start import live_words
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window

NO_PAGE = len(PAGES)
"""From this number on, what the stack shows is no page of a project."""

_LOOKS_BACK = "An earlier state is shown: go back to now first"


class ProjectFacts(QObject):
    """Follows the project of one window, as the last that hears of a change.

    Args:
        window: its head bar, status bar, menu bar and title say what is so.
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self.titles: tuple[str | None, str | None] = (None, None)
        """What undo takes back, and what redo brings again."""
        self.waiting = 0
        """How many decisions wait."""
        self._stood: int | None = None
        self._name = plain_label()
        self._name.setObjectName("projectName")
        window.menuBar().setCornerWidget(self._name, Qt.Corner.TopLeftCorner)

    def follow(self) -> None:
        """Listen; whoever listened before has followed by then."""
        window = self._window
        window.project.opened.connect(self._opened)
        window.project.changed.connect(self._changed)
        window.selection.changed.connect(self._selected)
        window.selection.turned.connect(window.actions_table.refresh)
        window.map.matrix.pointed.connect(self._show_pointed)
        window.second.changed.connect(self._show_second)
        window.dressing.dressed.connect(self._give_room)
        window.history.live.counted.connect(self._show_live)
        window.history.live.changed.connect(window.actions_table.refresh)
        for told in (window.run_page.production.changed, window.run_page.production.ticked):
            told.connect(self._show_production)

    def refresh(self) -> None:
        """Show what the project says of itself: what waits, what undo takes back, counts, state."""
        self._show_facts()
        self._window.actions_table.refresh()

    def _show_facts(self) -> None:
        window, project = self._window, self._window.project
        if project.workbench is None:
            return
        self.waiting = len(project.review_items())
        can_edit = project.can_edit
        self.titles = (project.undo_title, project.redo_title) if can_edit else (None, None)
        window.head.show_waiting(self.waiting)
        window.head.show_undo(self.titles[0], _LOOKS_BACK if project.looks_back is not None else "")
        window.status.show_document(project.value, self.waiting, not can_edit)

    def show_none(self) -> None:
        """Say that no project is open."""
        window = self._window
        self.titles, self.waiting = (None, None), 0
        window.actions_table.refresh()
        window.head.setEnabled(False)
        window.head.show_undo(None)
        window.head.show_waiting(0)
        window.status.show_project("", "")
        window.status.show_document(None, 0, False)
        window.status.show_production("", "")
        window.status.show_place("")
        window.start.show_recent(window.settings.recent)
        if window.opening.job is None:
            window.stack.setCurrentIndex(NO_PAGE)
        self._show_name("")
        window.setWindowTitle("METL Workbench")

    def _opened(self, workbench: Workbench | None) -> None:
        if workbench is None:
            self.show_none()
            return
        window = self._window
        window.head.setEnabled(True)
        self._show_name(workbench.path.name)
        window.status.show_project(workbench.path.stem, str(workbench.path))
        window.setWindowTitle(f"{workbench.path.name} · METL Workbench")
        if window.stack.currentIndex() >= NO_PAGE:
            window.show_page(0)
        self._show_production()
        self.refresh()

    def _changed(self, changed: DocumentChange) -> None:
        selection = self._window.selection
        selection.choose(still_there(changed.after, selection.current))
        stands = self._window.project.looks_back
        if changed.same_trees and stands is None and self._stood is None:
            self._show_facts()
            self._window.actions_table.refresh_after_edit()
        else:
            self._show_place(selection.current)
            self.refresh()
        self._stood = stands

    def _show_name(self, name: str) -> None:
        self._name.setText(name)
        self._name.setVisible(bool(name))
        self._give_room()

    def _give_room(self) -> None:
        """Give the name as much room as it takes now; the bar makes room for it only when it is given to it."""
        self._window.menuBar().setCornerWidget(self._name, Qt.Corner.TopLeftCorner)

    def _show_live(self) -> None:
        live = self._window.history.live
        self._window.head.show_live(live.words, live.short_words, live.tip)
        self._window.status.show_live(live.number, live.tip)

    def _show_production(self) -> None:
        words, tip = live_words(self._window.run_page.production.live)
        self._window.status.show_production(words, tip)

    def _show_second(self) -> None:
        self._window.status.show_second(self._window.second.count)
        self._window.map.block.read_again()
        self._window.actions_table.refresh()

    def _selected(self, selected: Selected) -> None:
        self._show_place(selected)
        self._window.status.show_selected(selected)
        self._window.actions_table.refresh()

    def _show_place(self, selected: Selected) -> None:
        self._window.status.show_place(text.selected_words(self._window.project.value, selected))

    def _show_pointed(self, selected: Selected | None) -> None:
        window = self._window
        self._show_place(selected if selected is not None else window.selection.current)
        counts = window.map.counts_of(selected) if selected is not None else ""
        if counts:
            window.status.show_place(f"{window.status.place.words} · {counts}")
