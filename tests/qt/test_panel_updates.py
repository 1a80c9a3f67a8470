"""What an edit brings up to date: visible panels that show something of it; hidden ones when they are shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import BugError, ProjectError
from metl_gui.ui.project.document import DocumentChange
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window


def clear_one(window: Window, block: Block | None = None) -> None:
    """Clear the first element of a block, by default of the first one that has any."""
    document = window.project.value
    block = block or next(each for each in document.matrix.blocks() if each.elements)
    now = document.matrix.block(*block.key)
    assert now is not None
    assert window.project.do(SetElements(block.key, zeros=(now.elements[0],)))


def pages(qtbot: QtBot) -> tuple[QStackedWidget, QWidget]:
    """Return a stack of two pages and the second one, which is hidden."""
    stack, page = QStackedWidget(), QWidget()
    stack.addWidget(QWidget())
    stack.addWidget(page)
    qtbot.addWidget(stack)
    stack.show()
    return stack, page


def test_a_hidden_panel_is_not_updated_and_shows_the_newest_once_when_it_is_shown(window: Window, qtbot: QtBot) -> None:
    stack, page = pages(qtbot)
    seen: list[int] = []
    PanelUpdater(window.project, page, lambda: seen.append(window.project.value.state))
    clear_one(window)
    clear_one(window)
    assert seen == []
    stack.setCurrentWidget(page)
    assert seen == [window.project.value.state]
    stack.setCurrentIndex(0)
    stack.setCurrentWidget(page)
    assert len(seen) == 1  # nothing was changed meanwhile


def test_a_visible_panel_is_updated_by_each_change_that_concerns_it_and_by_no_other(
    window: Window, qtbot: QtBot
) -> None:
    stack, page = pages(qtbot)
    stack.setCurrentWidget(page)
    first, other = [block for block in window.project.value.matrix.blocks() if block.elements][:2]
    seen: list[int] = []
    PanelUpdater(
        window.project,
        page,
        lambda: seen.append(window.project.value.state),
        lambda changed: changed.blocks is None or first.key in changed.blocks,
    )
    clear_one(window, other)
    assert seen == []
    clear_one(window, first)
    assert seen == [window.project.value.state]


def test_a_change_that_does_not_concern_a_hidden_panel_leaves_it_as_it_is(window: Window, qtbot: QtBot) -> None:
    stack, page = pages(qtbot)
    seen: list[int] = []
    PanelUpdater(window.project, page, lambda: seen.append(1), lambda changed: not changed.same_trees)
    clear_one(window)
    stack.setCurrentWidget(page)
    assert seen == []


def test_changes_in_quick_succession_update_a_panel_with_a_delay_once(window: Window, qtbot: QtBot) -> None:
    stack, page = pages(qtbot)
    stack.setCurrentWidget(page)
    seen: list[int] = []
    updater = PanelUpdater(window.project, page, lambda: seen.append(window.project.value.state), delay_ms=20)
    clear_one(window)
    clear_one(window)
    assert seen == []
    qtbot.waitUntil(lambda: not updater.is_waiting)
    assert seen == [window.project.value.state]


def test_the_mapping_list_is_read_when_its_dock_is_shown_and_not_before(window: Window, qtbot: QtBot) -> None:
    window.show()
    qtbot.waitExposed(window)
    window.lists.show_mapping()
    panel = window.lists.mapping
    whole = window.project.value.matrix.ones
    assert panel.model.rowCount() == whole
    window.lists.mapping_dock.hide()
    clear_one(window)
    assert panel.model.rowCount() == whole
    window.lists.show_mapping()
    assert panel.model.rowCount() == whole - 1


def test_the_block_panel_does_not_follow_an_edit_between_other_schemas(window: Window, qtbot: QtBot) -> None:
    window.show()
    qtbot.waitExposed(window)
    document = window.project.value
    mapped = [block for block in document.matrix.blocks() if block.elements]
    shown = mapped[0]

    def ends(block: Block) -> tuple[int, int]:
        return document.extraction.schema_of(block.key[0]), document.cdm.schema_of(block.key[1])

    other = next(b for b in mapped if ends(b)[0] != ends(shown)[0] and ends(b)[1] != ends(shown)[1])
    source, target = (place_of_version(document, side, id_) for side, id_ in zip(Side, shown.key, strict=True))
    window.selection.choose(Selected(source, target))
    panel = window.map.block
    lists = panel.lists.lists
    assert panel.key == shown.key
    clear_one(window, other)
    assert panel.lists.lists is lists
    clear_one(window, shown)
    assert panel.lists.lists is not lists


def test_after_an_edit_every_action_is_as_a_refresh_of_all_would_leave_it(window: Window) -> None:
    table = window.actions_table

    def looks() -> dict[str, tuple[bool, bool, str]]:
        ids = [id_ for id_, row in table.rows.items() if not row.is_hint]
        return {id_: (table[id_].isEnabled(), table[id_].isChecked(), table[id_].text()) for id_ in ids}

    steps: tuple[Callable[[], object], ...] = (
        lambda: clear_one(window),
        window.project.undo,
        window.project.redo,
        lambda: window.show_page(1),
        lambda: clear_one(window),
        lambda: window.history.looking.look_at(1),
        window.history.looking.come_back,
    )
    for step in steps:
        step()
        seen = looks()
        table.refresh()
        assert looks() == seen


def test_a_change_says_whether_both_trees_stayed(window: Window) -> None:
    told: list[DocumentChange] = []
    window.project.changed.connect(told.append)
    clear_one(window)
    assert [(change.same_trees, len(change.blocks or ())) for change in told] == [(True, 1)]


def test_the_headers_of_the_matrix_are_not_painted_again_by_an_edit(window: Window, qtbot: QtBot) -> None:
    window.show()
    qtbot.waitExposed(window)
    matrix = window.map.matrix

    def kept() -> list[int | None]:
        """Name the pictures of both headers, where there are any."""
        pictures = (matrix.panes._top_picture._picture, matrix.panes._left_picture._picture)
        return [picture.cacheKey() if picture is not None else None for picture in pictures]

    for _ in range(2):  # they are kept once they are seen again
        matrix.grab()
    before = kept()
    assert None not in before
    clear_one(window)
    matrix.grab()
    assert kept() == before
    matrix.zoom(2.0)
    matrix.grab()
    assert kept() == [None, None]


def test_what_a_panel_cannot_read_when_it_is_shown_is_told_once_and_tried_again(window: Window, qtbot: QtBot) -> None:
    stack, page = pages(qtbot)
    seen: list[int] = []
    told: list[str] = []
    window.project.refused.disconnect()
    window.project.refused.connect(lambda error: told.append(str(error)))
    gone = [True]

    def update() -> None:
        if gone[0]:
            raise ProjectError("fx.metl is not where it was opened.")
        seen.append(window.project.value.state)

    PanelUpdater(window.project, page, update)
    clear_one(window)
    for _ in range(3):
        stack.setCurrentWidget(page)
        stack.setCurrentIndex(0)
        QApplication.processEvents()
    assert told == ["fx.metl is not where it was opened."]
    gone[0] = False
    for _ in range(2):
        stack.setCurrentWidget(page)
        stack.setCurrentIndex(0)
    assert seen == [window.project.value.state]
    assert len(told) == 1


@pytest.mark.logs(r"a panel could not be shown")
def test_a_fault_of_a_panel_that_is_shown_is_told_as_one_of_the_program(window: Window, qtbot: QtBot) -> None:
    stack, page = pages(qtbot)
    told: list[Exception] = []
    window.project.refused.disconnect()
    window.project.refused.connect(told.append)
    known: dict[str, int] = {}
    PanelUpdater(window.project, page, lambda: known["missing"])
    clear_one(window)
    stack.setCurrentWidget(page)
    QApplication.processEvents()
    assert [type(error) for error in told] == [BugError]
