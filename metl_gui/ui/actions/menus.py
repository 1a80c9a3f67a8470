"""The rows of the action table as Qt's actions and menus of one window.

``ROOMS`` lists the rows of every part of the window. A row says only which menu it belongs to; ``ORDER`` has the menus
as people read them: what stands together, in which order, with a line between sections. ``> Name`` is a sub-menu. What
``ORDER`` does not name stands at the end of its menu, in the order of ``ROOMS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from metl_gui.errors import UserError
from metl_gui.ui.actions import table
from metl_gui.ui.actions import table as setting_actions
from metl_gui.ui.actions.keymap import Keymap
from metl_gui.ui.actions.table import MENUS, ActionRow
from metl_gui.ui.shell import map_actions, review_actions, run_actions
from metl_gui.ui.shell import map_actions as block_actions
from metl_gui.ui.shell import map_actions as matrix_actions
from metl_gui.ui.shell import map_dock_actions as owner_actions
from metl_gui.ui.shell import map_dock_actions as preview_actions
from metl_gui.ui.shell import map_dock_actions as search_actions
from metl_gui.ui.shell import map_dock_actions as suggest_actions
from metl_gui.ui.shell import review_actions as history_actions
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.plain_text import plain_entry

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


ROOMS: tuple[tuple[ActionRow, ...], ...] = (
    table.TABLE,
    map_actions.MAP_ROWS,
    matrix_actions.MATRIX_ROWS,
    block_actions.BLOCK_ROWS,
    search_actions.LIST_ROWS,
    owner_actions.OWNER_ROWS,
    suggest_actions.SUGGESTION_ROWS,
    preview_actions.PREVIEW_ROWS,
    review_actions.REVIEW_ROWS,
    run_actions.RUN_ROWS,
    history_actions.HISTORY_ROWS,
    setting_actions.SETTING_ROWS,
)
"""The rows of every part of the window, the shell's first."""


def all_rows() -> tuple[ActionRow, ...]:
    """Return the whole table."""
    return tuple(row for rows in ROOMS for row in rows)


SUB_MENU = "> "

ORDER: dict[str, tuple[tuple[str, ...], ...]] = {
    "File": (
        ("new", "open", "> Open recent", "sample", "import_registry", "paste_files"),
        ("name_state", "save_copy", "project_settings"),
        ("export", "export_picture"),
        ("close", "quit"),
    ),
    "Edit": (
        ("undo", "redo", "undo_state"),
        ("copy_block", "paste_block", "clear_element"),
        ("find", "filter_sources", "filter_targets"),
    ),
    "View": (
        ("map_page", "review_page", "run_page"),
        ("fit", "fit_selection", "up_a_level", "> Go"),
        ("next_waiting", "next_difference", "review_in_matrix"),
        ("relevance", "show_everything", "> Order of rows and columns", "> Overlay"),
        ("mapping_list", "what_feeds", "where_goes", "progression", "gaps"),
        ("preview", "> Samples"),
        ("> History", "> Panels", "> Theme", "> Size"),
    ),
    "View > Go": (("back", "forward"), ("go_to", "add_bookmark", "> Bookmarks")),
    "View > Samples": (
        ("next_sample", "previous_sample", "choose_sample", "paste_message"),
        ("whole_sample", "sample_values"),
        ("include_samples", "forget_samples"),
    ),
    "View > History": (
        ("history", "why", "time_slider"),
        ("older_state", "newer_state", "back_to_now"),
        ("compare_with_now", "compare_with_live", "compare_with_file"),
    ),
    "Schema": (
        ("import_schema", "import_folder", "import_cdm", "try_schemas", "> Watch for new versions"),
        ("resume_import", "forget_import"),
        ("new_entity", "new_entity_version", "remove_version"),
        ("same_as", "not_same_as", "comment", "mask"),
        ("schema_settings", "entity_settings"),
    ),
    "Mapping": (
        ("map_chosen", "map_by_name", "map_by_position", "unmap_chosen"),
        ("open_block", "previous_block", "next_block", "block_versions"),
        ("suggestions", "next_suggestion", "refuse_suggestion", "accept_sure", "refused_suggestions"),
        ("> Answer", "confirm", "retire", "next_item", "later", "assign_item", "> Many at once", "next_for_second"),
        ("import_csv", "send_sheet", "read_sheet"),
    ),
    "Mapping > Many at once": (("confirm_shown", "confirm_same", "later_shown", "assign_shown"),),
    "Run": (
        ("run", "stop", "choose_source", "choose_topics", "choose_sink_topics"),
        ("run_production", "replay"),
        ("live_run", "run_lane", "> Lane", "run_details", "run_speed", "compare_runs", "pause_chart", "copy_chart"),
        ("run.profiles",),
        ("publish",),
    ),
}
"""Sections of ids by the path of their menu."""


_ARROW = " > "


class Actions:
    """The actions of a window.

    Args:
        window: what the actions act on; gets those whose keys hold everywhere.
        scopes: the view of every other scope.
    """

    def __init__(self, window: Window, scopes: Mapping[str, QWidget]) -> None:
        self.rows = {row.id: row for row in all_rows()}
        self.keymap = Keymap(self.rows.values(), window.settings, window)
        self._window = window
        self._scopes = scopes
        self._groups: dict[str, QActionGroup] = {}
        self._menus: dict[str, QMenu] = {}
        self._actions = {row.id: self._make(row) for row in self.rows.values() if not row.is_hint}
        self.keymap.changed.connect(self.take_keys)
        self.take_keys()

    def __getitem__(self, id_: str) -> QAction:
        return self._actions[id_]

    def fill(self) -> None:
        """Build the menus."""
        for name in MENUS:
            self._menus[name] = self._window.menuBar().addMenu(f"&{name}")  # all begin with letters of their own
        for path, sections in ORDER.items():
            self._fill_in_order(path, sections)
        placed = {id_ for sections in ORDER.values() for section in sections for id_ in section}
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
        for id_, action in self._actions.items():
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

    def _make(self, row: ActionRow) -> QAction:
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
            self._scopes[row.scope].addAction(action)
        return action

    def _do(self, row: ActionRow) -> None:
        if row.does is not None and row.when(self._window):
            try:
                row.does(self._window)
            except UserError as error:  # the file may be gone, whatever was asked of it
                dialogs.tell(error, self._window)
            self.refresh()
