"""The menus of the bar: everything has one place, no menu is longer than a screen, nothing hangs loose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from metl_gui.ui.actions.menus import SUB_MENU, Actions
from metl_gui.ui.actions.table import MENUS
from metl_gui.ui.shell.action_rows.action_table import ORDER
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench

LONGEST = 26
"""Entries that still stand on the smallest screen, lines between them left out."""


def named() -> list[str]:
    return [id_ for sections in ORDER.values() for section in sections for id_ in section]


def test_the_order_names_each_action_once_in_the_menu_that_its_row_says(window: Window) -> None:
    rows = window.actions_table.rows
    counts = Counter(id_ for id_ in named() if not id_.startswith(SUB_MENU))
    assert [id_ for id_, count in counts.items() if count > 1] == []
    for path, sections in ORDER.items():
        for id_ in (id_ for section in sections for id_ in section if not id_.startswith(SUB_MENU)):
            assert (id_, rows[id_].menu) == (id_, path)


def test_every_action_of_an_arranged_menu_has_its_place_there(window: Window) -> None:
    rows = window.actions_table.rows.values()
    assert [row.id for row in rows if not row.is_hint and row.menu in ORDER and row.id not in named()] == []


def test_every_sub_menu_that_a_row_stands_in_is_placed(window: Window) -> None:
    paths = {row.menu for row in window.actions_table.rows.values() if not row.is_hint and row.menu not in MENUS}
    for path in paths:
        above, _, name = path.rpartition(" > ")
        assert f"{SUB_MENU}{name}" in named(), above


def test_no_menu_is_longer_than_the_smallest_window_or_has_an_empty_section(window: Window) -> None:
    for name in MENUS:
        menu = window.actions_table.menu(name)
        menu.aboutToShow.emit()
        entries = menu.actions()
        assert sum(not entry.isSeparator() for entry in entries) <= LONGEST, name
        kinds = [entry.isSeparator() for entry in entries]
        assert not kinds[0], name
        assert not kinds[-1], name
        assert not any(one and other for one, other in pairwise(kinds)), name
        assert all(isinstance(each.menu(), QMenu) or each.text() or each.isSeparator() for each in entries), name


def test_quit_is_the_last_entry_of_the_file_menu(window: Window) -> None:
    assert window.actions_table.menu("File").actions()[-1] is window.actions_table["quit"]


def test_no_two_actions_of_one_view_have_the_same_key(window: Window) -> None:
    keys = Counter(
        (row.scope, key)
        for row in window.actions_table.rows.values()
        if not row.is_hint
        for key in (row.shortcut, row.also)
        if key
    )
    assert [pair for pair, count in keys.items() if count > 1] == []


def test_a_project_that_opens_or_closes_has_the_menus_looked_at_once_when_all_is_there(
    make_window: Callable[[], Window], sample: SampleFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    looked: list[bool] = []
    refresh = Actions._refresh

    def count(self: Actions[Window], actions: Mapping[str, QAction]) -> None:
        looked.append(window.project.workbench is not None)
        refresh(self, actions)

    monkeypatch.setattr(Actions, "_refresh", count)
    window.show_project(Workbench.open(sample.project))
    assert looked == [True]
    assert window.actions_table["publish"].isEnabled()
    window.projects.close()
    assert looked == [True, False]
    assert not window.actions_table["publish"].isEnabled()


def test_what_fails_while_menus_wait_leaves_them_as_things_are(window: Window) -> None:
    table = window.actions_table

    def fail() -> None:
        with table.refreshed_once(), table.refreshed_once():
            window.projects.close()
            assert table["publish"].isEnabled()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not table["publish"].isEnabled()
