"""The one table of actions; menus, buttons and the shortcut sheet are built from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

MENUS = ("File", "Edit", "View", "Schema", "Mapping", "Run", "Tools", "Help")


@dataclass(frozen=True)
class ActionRow:
    """One action.

    Args:
        id: its name in code.
        menu: the menu it stands in.
        text: what people read.
        shortcut: its keys, empty for none.
        needs_project: whether it makes sense only with an open project.
        begins_section: whether a line stands above it in its menu.
        is_hint: listed on the sheet only; the key belongs to the view that has the focus.
    """

    id: str
    menu: str
    text: str
    shortcut: str = ""
    needs_project: bool = True
    begins_section: bool = False
    is_hint: bool = False


TABLE = (
    ActionRow("new", "File", "New project…", "Ctrl+N", needs_project=False),
    ActionRow("open", "File", "Open project…", "Ctrl+O", needs_project=False),
    ActionRow("sample", "File", "Open the sample project", needs_project=False),
    ActionRow("name_state", "File", "Name this state…", "Ctrl+S"),
    ActionRow("export", "File", "Export the matrix…", begins_section=True),
    ActionRow("close", "File", "Close project", "Ctrl+W", begins_section=True),
    ActionRow("quit", "File", "Quit", "Ctrl+Q", needs_project=False),
    ActionRow("undo", "Edit", "Undo", "Ctrl+Z"),
    ActionRow("redo", "Edit", "Redo", "Ctrl+Shift+Z"),
    ActionRow("clear_element", "Edit", "Clear the selected element", "Del", begins_section=True),
    ActionRow("find", "Edit", "Filter the trees", "Ctrl+F"),
    ActionRow("map_page", "View", "Map", "Ctrl+1"),
    ActionRow("review_page", "View", "Review", "Ctrl+2"),
    ActionRow("run_page", "View", "Run", "Ctrl+3"),
    ActionRow("fit", "View", "Fit the whole matrix", begins_section=True),
    ActionRow("fit_selection", "View", "Fit the selection"),
    ActionRow("dark", "View", "Dark theme", needs_project=False, begins_section=True),
    ActionRow("import_schema", "Schema", "Import extraction schemas…", "Ctrl+I"),
    ActionRow("import_folder", "Schema", "Import a folder of extraction schemas…"),
    ActionRow("import_cdm", "Schema", "Import the canonical model…"),
    ActionRow("remove_version", "Schema", "Remove the selected version…", begins_section=True),
    ActionRow("import_csv", "Mapping", "Import a mapping table…"),
    ActionRow("confirm", "Mapping", "Confirm the new block", "Ctrl+Return", begins_section=True),
    ActionRow("next_item", "Mapping", "Next decision"),
    ActionRow("later", "Mapping", "Decide later"),
    ActionRow("retire", "Mapping", "Retire the block…"),
    ActionRow("confirm_same", "Mapping", "Confirm all that are smaller…"),
    ActionRow("run", "Run", "Test run", "F5"),
    ActionRow("stop", "Run", "Stop the run", "Shift+F5"),
    ActionRow("choose_source", "Run", "Choose the messages…", begins_section=True),
    ActionRow("shortcuts", "Help", "Keys", "F1", needs_project=False),
    ActionRow("about", "Help", "About METL Workbench", needs_project=False),
    ActionRow("hint_drag", "View", "Pan the matrix", "Drag", is_hint=True),
    ActionRow("hint_wheel", "View", "Zoom columns and rows, about the pointer", "Wheel", is_hint=True),
    ActionRow("hint_wheel_x", "View", "Zoom columns only", "Shift+Wheel", is_hint=True),
    ActionRow("hint_wheel_y", "View", "Zoom rows only", "Ctrl+Shift+Wheel", is_hint=True),
    ActionRow("hint_fit", "View", "Fit the whole matrix", "F", is_hint=True),
    ActionRow("hint_fit_selection", "View", "Fit the selection", "Z", is_hint=True),
    ActionRow("hint_arrows", "Mapping", "Move the cell cursor", "Arrows", is_hint=True),
    ActionRow("hint_space", "Mapping", "Set or clear the element", "Space or click", is_hint=True),
    ActionRow("hint_alt", "Mapping", "Only select the cell", "Alt+click", is_hint=True),
    ActionRow("hint_enter", "Mapping", "Take the first answer of the card in focus", "Enter", is_hint=True),
    ActionRow("hint_next", "Mapping", "Next decision, decide later (in the review list)", "N, L", is_hint=True),
)


class Actions:
    """The actions of a window.

    Args:
        window: gets the actions and their keys.
        callbacks: what each action does, by id.
    """

    def __init__(self, window: QMainWindow, callbacks: Mapping[str, Callable[[], object]]) -> None:
        self._actions: dict[str, QAction] = {}
        for row in TABLE:
            if not row.is_hint:
                self._actions[row.id] = self._make(window, row, callbacks[row.id])

    def __getitem__(self, id_: str) -> QAction:
        return self._actions[id_]

    def fill(self, window: QMainWindow) -> None:
        """Build the menus."""
        for name in MENUS:
            rows = [row for row in TABLE if row.menu == name and not row.is_hint]
            if rows:
                self._fill_menu(window.menuBar().addMenu(name), rows)

    def enable(self, has_project: bool) -> None:
        """Enable what makes sense."""
        for row in TABLE:
            if not row.is_hint:
                self._actions[row.id].setEnabled(has_project or not row.needs_project)

    def _fill_menu(self, menu: QMenu, rows: list[ActionRow]) -> None:
        for row in rows:
            if row.begins_section:
                menu.addSeparator()
            menu.addAction(self._actions[row.id])

    @staticmethod
    def _make(window: QMainWindow, row: ActionRow, callback: Callable[[], object]) -> QAction:
        action = QAction(row.text, window)
        action.setObjectName(row.id)
        if row.shortcut:
            action.setShortcut(QKeySequence(row.shortcut))
        action.triggered.connect(lambda _checked=False: callback())
        window.addAction(action)
        return action


def sheet() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the shortcut sheet: per menu the (keys, text) of what has keys."""
    return [
        (menu, [(row.shortcut, row.text) for row in TABLE if row.menu == menu and row.shortcut])
        for menu in MENUS
        if any(row.menu == menu and row.shortcut for row in TABLE)
    ]
