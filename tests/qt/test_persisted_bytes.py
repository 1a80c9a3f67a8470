"""What the window keeps for its next opening, and what lies on the clipboard, is what it was before and is read again.

The ids of actions stand in a person's keys and in the palette's memory, the names of docks and pages in layouts, the
numbers of pages and columns in visits and in the kept header of the mapping list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings
from PySide6.QtWidgets import QDockWidget, QMainWindow

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.actions.table import SCOPES
from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.map.clipboard import BLOCK_MIME
from metl_gui.ui.matrix.layout.camera import Anchor, Viewpoint
from metl_gui.ui.matrix.layout.content import SortOrder
from metl_gui.ui.project import selection
from metl_gui.ui.project.selection import Dragged, NodeRef, Selected
from metl_gui.ui.project.settings import ViewSettings, stored_settings
from metl_gui.ui.registries.controller import Watched, watched_of
from metl_gui.ui.shell.action_rows.action_table import all_rows
from metl_gui.ui.shell.view_state import visit_of
from metl_gui.ui.shell.window import Window
from metl_gui.ui.table import panel as mapping_list
from metl_gui.ui.table.rows import MappingColumn
from metl_gui.workbench.importing.remote_sources import ImportFilter
from tests.helpers.persisted import rows

_PLACE = Viewpoint(Anchor(3, 1.5), Anchor(None, 2.5), 4.0, 0.5, Selected(NodeRef(1, 2, 3), NodeRef(4)))
_WATCHED = Watched("@registry", Side.CDM, ImportFilter(("shop.*",), "shop"))
_DRAGGED = Dragged(Side.CDM, (NodeRef(1, 2, 3), NodeRef(4)))

_NAMES: Mapping[str, Callable[[], object]] = {
    "actions": lambda: sorted(row.id for row in all_rows()),
    "views of keys": lambda: list(SCOPES),
    "pages by their numbers": lambda: list(PAGES),
    "columns of the mapping list by their numbers": lambda: [column.value for column in MappingColumn],
    "the kept columns of the mapping list": lambda: mapping_list._COLUMNS_KEPT,
    "orders of columns and rows": lambda: [order.value for order in SortOrder],
    "a place on the plane": _PLACE.as_json,
    "what is watched": _WATCHED.as_json,
    "kinds of what is copied and dragged": lambda: [selection.MIME_TYPE, BLOCK_MIME],
    "nodes that are dragged": lambda: json.loads(_data(_DRAGGED)),
}


def _data(dragged: Dragged) -> bytes:
    return bytes(selection.to_mime(dragged).data(selection.MIME_TYPE).data())


def _keep(settings: ViewSettings) -> None:
    """Remember something of everything."""
    settings.theme = "dark"
    settings.scale = 125
    settings.keys = {"run": "Ctrl+R"}
    settings.remember_action("panel:historyDock")
    settings.remember_project(Path("/p.metl"))
    settings.last_open = Path("/p.metl")
    settings.remember_export("json", Path("/out"))
    settings.shows_time = True
    settings.shows_values = False
    settings.map_width = 320.0
    settings.folds_settled = True
    settings.shows_first_steps = False
    settings.remember_target("local[2]")
    settings.who = "ada"
    settings.folded = [[1, 300], [0, 200]]
    settings.save_visit("project", {"page": 1})
    settings.save_bookmarks("project", {"here": _PLACE.as_json()})
    settings.save_diagram("project", {"table:payment": [12.0, -24.0]})
    settings.save_warehouse("project", "duckdb:w.duckdb", "fx", "mark")
    settings.save_watched("project", [_WATCHED.as_json()])
    settings.save_layout("window", QByteArray(b"geometry"))


def _kept(settings: ViewSettings) -> list[object]:
    """Return all that is remembered."""
    layout = settings.layout("window")
    return [
        settings.theme, settings.scale, settings.keys, settings.recent_actions, settings.recent, settings.last_open,
        settings.last_export, settings.shows_time, settings.shows_values, settings.folds_settled, settings.targets,
        settings.who, settings.folded, settings.visit("project"), settings.bookmarks("project"),
        settings.diagram("project"), settings.warehouses("project"),
        settings.watched("project"), layout.data() if layout is not None else None,
    ]  # fmt: skip


def _ini(path: Path) -> QSettings:
    return QSettings(str(path), QSettings.Format.IniFormat)


def _docks(window: Window) -> dict[str, list[str]]:
    pages: tuple[QMainWindow, ...] = (window.map, window.review, window.run_page, window.warehouse.page)
    return {page.objectName(): sorted(dock.objectName() for dock in page.findChildren(QDockWidget)) for page in pages}


@pytest.mark.parametrize("name", _NAMES)
def test_a_name_that_the_window_keeps_is_what_it_was_before(name: str) -> None:
    assert _NAMES[name]() == rows("window")[name]


def test_the_settings_of_a_window_have_the_lines_that_they_had_before(tmp_path: Path) -> None:
    store = _ini(tmp_path / "view.ini")
    _keep(ViewSettings(store))
    store.sync()
    assert (tmp_path / "view.ini").read_text() == rows("window")["settings"]


def test_settings_of_before_are_what_the_window_remembers(tmp_path: Path) -> None:
    (tmp_path / "before.ini").write_text(rows("window")["settings"])
    now = ViewSettings(_ini(tmp_path / "now.ini"))
    _keep(now)
    assert _kept(ViewSettings(_ini(tmp_path / "before.ini"))) == _kept(now)
    at_first = _kept(ViewSettings(_ini(tmp_path / "new.ini")))
    assert not [value for value, first in zip(_kept(now), at_first, strict=True) if value == first]


def test_the_settings_of_a_user_lie_where_they_lay_before() -> None:
    path = Path(stored_settings().fileName())
    assert f"{path.parent.name}/{path.name}" == rows("window")["the file of the settings"]


def test_places_and_what_is_watched_are_read_as_they_were_kept_before() -> None:
    assert Viewpoint.of_json(rows("window")["a place on the plane"]) == _PLACE
    assert watched_of(rows("window")["what is watched"]) == _WATCHED
    assert selection.from_mime(selection.to_mime(_DRAGGED)) == _DRAGGED


def test_docks_and_pages_have_the_names_under_which_layouts_were_kept_before(window: Window) -> None:
    assert _docks(window) == rows("window")["docks by page"]
    assert window.objectName() == "window"


def test_the_palette_knows_what_was_chosen_before_by_the_same_names(window: Window) -> None:
    ids = {entry.id for entry in window.commands.palette_entries()}
    actions = {row.id for row in all_rows()}
    assert {id_.partition(":")[0] for id_ in ids - actions} == {"panel", "word"}
    assert "panel:historyDock" in ids


def test_a_visit_has_the_members_that_it_had_before(window: Window) -> None:
    window.map.sources.box.setText("id")
    seen = json.loads(json.dumps(visit_of(window)))
    assert list(seen) == rows("window")["a visit"]
    assert list(seen["trees"]) == ["extraction", "cdm"]
    assert {name: type(each).__name__ for name, each in seen["trees"]["extraction"].items()} == {
        "filter": "str",
        "open": "list",
        "top": "int",
    }
    assert seen["trees"]["extraction"]["filter"] == "id"
    assert seen["order"] == "tree order"
    assert Viewpoint.of_json(seen["place"]) is not None
