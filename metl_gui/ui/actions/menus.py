"""The rows of an action table as Qt's actions and menus of one window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Generic

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from metl_gui.errors import UserError
from metl_gui.ui.actions.keymap import Keymap
from metl_gui.ui.actions.table import MENUS, ActionRow, W
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.plain_text import plain_entry

SUB_MENU = "> "
_ARROW = " > "


class Actions(Generic[W]):
    """The actions of a window.

    Args:
        window: what the actions act on; gets those whose keys hold everywhere.
        rows: the table.
        settings: where a person's own keys are kept.
    """

    def __init__(self, window: W, rows: Iterable[ActionRow[W]], settings: ViewSettings) -> None:
        self.rows = {row.id: row for row in rows}
        self.keymap = Keymap(self.rows.values(), settings, window)
        self._window = window
        self._groups: dict[str, QActionGroup] = {}
        self._menus: dict[str, QMenu] = {}
        self._actions = {row.id: self._make(row) for row in self.rows.values() if not row.is_hint}
        self._holds, self._is_late = 0, False
        self._after_edits = {id_: action for id_, action in self._actions.items() if self.rows[id_].follows_edits}
        self.keymap.changed.connect(self.take_keys)
        self.take_keys()

    def __getitem__(self, id_: str) -> QAction:
        return self._actions[id_]

    def fill(self, order: Mapping[str, tuple[tuple[str, ...], ...]], scopes: Mapping[str, QWidget]) -> None:
        """Build the menus, and give views the actions whose keys hold in them alone.

        Args:
            order: sections of ids by the path of their menu.
            scopes: the view of every scope but that of the window.
        """
        for id_, action in self._actions.items():
            if self.rows[id_].scope != "window":
                scopes[self.rows[id_].scope].addAction(action)
        for name in MENUS:
            self._menus[name] = self._window.menuBar().addMenu(f"&{name}")  # all begin with letters of their own
        for path, sections in order.items():
            self._fill_in_order(path, sections)
        placed = {id_ for sections in order.values() for section in sections for id_ in section}
        for row in self.rows.values():
            if not row.is_hint and row.id not in placed:
                menu = self.menu(row.menu)
                if row.begins_section:
                    menu.addSeparator()
                menu.addAction(self._actions[row.id])
        for name in MENUS:
            self._menus[name].aboutToShow.connect(self.refresh)

    def _fill_in_order(self, path: str, sections: tuple[tuple[str, ...], ...]) -> None:
        menu = self.menu(path)
        for number, section in enumerate(sections):
            if number:
                menu.addSeparator()
            for id_ in section:
                if id_.startswith(SUB_MENU):
                    self.menu(f"{path}{_ARROW}{id_.removeprefix(SUB_MENU)}")
                else:
                    menu.addAction(self._actions[id_])

    def menu(self, path: str) -> QMenu:
        """Return a menu by its path, made when it is first asked for."""
        found = self._menus.get(path)
        if found is None:
            above, _, name = path.rpartition(_ARROW)
            found = self._menus[path] = self.menu(above).addMenu(name)
        return found

    def add_live_menu(self, path: str, fill: Callable[[QMenu], None]) -> QMenu:
        """Make a sub-menu one that is filled again whenever it opens.

        Args:
            path: where it stands, ``View > Panels``.
            fill: adds what it shows now.
        """
        menu = self.menu(path)

        def fill_again() -> None:
            menu.clear()
            fill(menu)

        menu.aboutToShow.connect(fill_again)
        return menu

    def refresh(self) -> None:
        """Enable what makes sense now, and set marks and words to what is so."""
        if self._holds:
            self._is_late = True
        else:
            self._refresh(self._actions)

    def refresh_after_edit(self) -> None:
        """Do so where an edit of blocks can have changed it."""
        if self._holds:
            self._is_late = True
        else:
            self._refresh(self._after_edits)

    @contextmanager
    def refreshed_once(self) -> Iterator[None]:
        """Refresh once at the end of a block in which much happens that asks for it, a project's opening for one."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if self._is_late and not self._holds:
                self._is_late = False
                self._refresh(self._actions)

    def _refresh(self, actions: Mapping[str, QAction]) -> None:
        for id_, action in actions.items():
            row = self.rows[id_]
            action.setEnabled(row.when(self._window))
            if row.is_checked is not None:
                action.setChecked(row.is_checked(self._window))
            if row.says is not None:
                action.setText(plain_entry(row.says(self._window)))

    def take_keys(self) -> None:
        """Give every action the keys of the keymap."""
        for id_, action in self._actions.items():
            action.setShortcuts(self.keymap.sequences(id_))

    def _make(self, row: ActionRow[W]) -> QAction:
        action = QAction(row.text, self._window)
        action.setObjectName(row.id)
        action.triggered.connect(lambda _checked=False: self._do(row))
        if row.is_checked is not None:
            action.setCheckable(True)
        if row.radio:
            self._groups.setdefault(row.radio, QActionGroup(self._window)).addAction(action)
        if row.scope == "window":
            self._window.addAction(action)
        else:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        return action

    def _do(self, row: ActionRow[W]) -> None:
        if row.does is not None and row.when(self._window):
            try:
                row.does(self._window)
            except UserError as error:  # the file may be gone, whatever was asked of it
                dialogs.tell(error, self._window)
            self.refresh()
