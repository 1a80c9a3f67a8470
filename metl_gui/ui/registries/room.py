"""The ways to registries and databases: from the start page, the menus and the connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from metl_gui.errors import UserError
from metl_gui.ui.plain import plain_entry
from metl_gui.ui.registries.browser import RegistryBrowser, RemoteImport
from metl_gui.ui.registries.watching import RegistryWatch, Watched
from metl_gui.ui.showing import show_about
from metl_gui.workbench.profile_kinds import Kind
from metl_gui.workbench.profiles import SIGN, profiles

if TYPE_CHECKING:
    from metl_gui.ui.window import Window
    from metl_gui.workbench.session import Workbench


class RegistryRoom(QObject):
    """Browses, imports and watches for one window."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._wanted = ""
        self.watch = RegistryWatch(window)
        window.project.opened.connect(self._opened)

    def browse(self, source: str = "") -> None:
        """Show what a registry or a database has; without a project make one first.

        Args:
            source: what is shown first.
        """
        window = self._window
        if window.project.workbench is None:
            self._wanted = source or " "
            window.commands.new_project()
            return
        used = tuple(each for each in self.watch.sources if not each.startswith(SIGN))
        dialog = RegistryBrowser(window.jobs, source, used, window)
        dialog.chosen.connect(self._import)
        dialog.profiles_wanted.connect(self._show_profiles)
        show_about(window.project, dialog)

    def fill_watch_menu(self, menu: QMenu) -> None:
        """List the registries and databases there are, each with a mark where it is watched."""
        try:
            known = [f"{SIGN}{each.name}" for each in (*profiles(Kind.REGISTRY), *profiles(Kind.POSTGRESQL))]
        except UserError:
            known = []
        can_watch = self._window.project.can_edit
        for source in dict.fromkeys([*known, *self.watch.sources]):
            action = menu.addAction(plain_entry(source))
            action.setCheckable(True)
            action.setChecked(source in self.watch.sources)
            action.setEnabled(can_watch)
            action.setData(source)
        if menu.isEmpty():
            menu.addAction("No connection leads to a registry or a database").setEnabled(False)

    def choose_watched(self, action: QAction) -> None:
        """Begin or end watching, as an entry of the menu says."""
        if isinstance(action.data(), str):
            self.watch.toggle(action.data())

    def _opened(self, workbench: Workbench | None) -> None:
        wanted, self._wanted = self._wanted, ""
        if workbench is not None and wanted:
            self.browse(wanted.strip())

    def _import(self, wanted: RemoteImport) -> None:
        self._window.commands.import_schemas(wanted.side, [wanted.source], wanted.wanted)
        if wanted.is_watched:
            self.watch.begin(Watched(wanted.source, wanted.side, wanted.wanted))

    def _show_profiles(self) -> None:
        self._window.configuring.show_profiles(kind=Kind.REGISTRY)
