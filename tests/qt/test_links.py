"""Links in the window: copied from menus and by key, opened from the clipboard, the Go to line and comments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QLabel, QWidget

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.project.comments import node_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.ui import main
from metl_gui.ui.project.linked_places import place_of, selected_at
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.plain_text import linked
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.links.known_projects import find_project
from metl_gui.workbench.links.link import Link, LinkPlace, PlaceKind, read_link
from metl_gui.workbench.session import EditOrigin, Workbench
from tests.qt.conftest import activate
from tests.qt.matrix_hand import at_cell, blocks, open_menu
from tests.qt.recorded_runs import keep_recorded

_CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def copied() -> Link:
    return read_link(QGuiApplication.clipboard().text())


def ask_menu(view: QWidget, at: QPoint) -> dict[str, object]:
    """Ask for the menu of a place by the mouse, take *Copy link* from it, and return what it had."""
    menu = open_menu(view, at)
    entries = {action.text(): action for action in menu.actions()}
    entries["Copy link"].trigger()
    menu.close()
    return dict(entries)


def menu_of_row(view: QAbstractItemView) -> dict[str, object]:
    return ask_menu(view.viewport(), view.visualRect(view.currentIndex()).center())


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the window refused, in words."""
    said: list[str] = []

    def note(title: str, text: str, *_: object) -> str:
        said.append(f"{title} {text}")
        return "close"

    monkeypatch.setattr(dialogs, "ask", note)
    return said


def test_the_menu_of_a_cell_copies_its_link_and_edits_nothing(window: Window) -> None:
    block = blocks(window)[0]
    at, before = at_cell(window, block.key, block.elements[0]), window.project.value
    window.selection.choose(Selected())
    entries = ask_menu(window.map.matrix.viewport(), at)
    link = copied()
    element = block.elements[0]
    assert link.place == LinkPlace(PlaceKind.CELL, (block.key[0], element.p, block.key[1], element.q))
    assert link.state == before.state
    assert link.names.count("=") == 1
    assert window.project.value is before
    assert len(entries) > 5


def test_the_key_copies_a_link_to_what_is_selected_and_the_other_key_opens_it_again(window: Window) -> None:
    activate(window)
    block = blocks(window)[0]
    document = window.project.value
    source = place_of_version(document, Side.EXTRACTION, block.key[0])
    window.selection.choose(Selected(source, place_of_version(document, Side.CDM, block.key[1])))
    window.map.matrix.setFocus()
    QTest.keyClick(window.map.matrix, Qt.Key.Key_C, _CONTROL_SHIFT)
    assert copied().place == LinkPlace(PlaceKind.BLOCK, block.key)
    window.selection.choose(Selected())
    window.show_page(2)
    QTest.keyClick(window, Qt.Key.Key_O, _CONTROL_SHIFT)
    assert window.page == 0
    assert window.selection.current.block == block.key


def test_each_place_of_trees_and_matrix_is_selected_again_by_its_link(window: Window) -> None:
    block, document = blocks(window)[0], window.project.value
    element = block.elements[0]
    source = place_of_version(document, Side.EXTRACTION, block.key[0], element.p)
    target = place_of_version(document, Side.CDM, block.key[1], element.q)
    for selected in (
        Selected(source, target),
        Selected(source=source),
        Selected(target=target),
        Selected(source=place_of_version(document, Side.EXTRACTION, block.key[0])),
    ):
        place = place_of(selected)
        assert place is not None
        assert selected_at(document, place) == selected
    assert place_of(Selected()) is None


def test_the_menu_of_a_tree_row_copies_the_link_of_its_node(window: Window) -> None:
    view = window.map.targets.view
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Down)
    menu_of_row(view)
    assert copied().place == place_of(window.selection.current)
    assert copied().place.kind is PlaceKind.ENTITY


def test_the_menu_of_a_review_item_copies_a_link_that_leads_back_to_it(window: Window) -> None:
    window.show_page(1)
    view = window.review.list.view
    rows = list(window.review.list.model.places.values())
    window.review.list.go_to_row(rows[1])
    key = window.review.list.current.key  # type: ignore[union-attr]
    menu_of_row(view)
    assert copied().place == LinkPlace(PlaceKind.REVIEW, key)
    window.review.list.go_to_row(rows[0])
    window.show_page(0)
    window.links.open_copied()
    assert window.page == 1
    assert window.review.list.current is not None
    assert window.review.list.current.key == key


def test_a_link_to_an_earlier_state_shows_the_place_as_it_was_there(window: Window) -> None:
    block = blocks(window)[0]
    element = block.elements[0]
    place = LinkPlace(PlaceKind.CELL, (block.key[0], element.p, block.key[1], element.q))
    window.links.copy_place(place)
    then = window.project.value.state
    window.project.do(SetElements(block.key, zeros=(element,)))
    window.selection.choose(Selected())
    window.links.open_copied()
    assert window.project.looks_back == then
    assert window.selection.current.element == element
    shown = window.project.value.matrix.block(*block.key)
    assert shown is not None
    assert element in shown.elements
    window.links.copy_place(place)
    assert copied().state == then
    window.links.open(str(Link(copied().project, then + 1, place)))
    assert window.project.looks_back is None


def test_the_menu_of_a_state_in_the_history_copies_a_link_that_leads_to_it(window: Window) -> None:
    window.actions_table["history"].trigger()
    view = window.history.panel.view
    for _ in range(3):
        QTest.keyClick(view, Qt.Key.Key_Down)
    menu_of_row(view)
    state = window.project.value.state - 3
    assert copied() == Link(copied().project, state, LinkPlace(PlaceKind.STATE), f"state {state}")
    window.history.dock.hide()
    window.links.open_copied()
    assert window.project.looks_back == state
    assert window.history.dock.isVisible()


def test_links_to_a_run_and_to_what_it_set_aside_lead_to_them(window: Window, refusals: list[str]) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    for run_id in ("run-1", "run-2"):
        keep_recorded(workbench, run_id)
    path = workbench.path
    window.projects.close()
    window.show_project(Workbench.open(path))
    window.show_page(2)
    page = window.run_page
    page.show_run("run-1")
    page.aside.link_wanted.emit("unknown_version")
    assert copied().place == LinkPlace(PlaceKind.SET_ASIDE, run="run-1", reason="unknown_version")
    link = str(copied())
    page.show_run("run-2")
    window.actions_table["copy_link"].trigger()
    assert copied().place == LinkPlace(PlaceKind.RUN, run="run-2")
    window.show_page(0)
    window.links.open(link)
    assert (window.page, page.run_id, page.messages.wanted.reason) == (2, "run-1", "unknown_version")
    window.links.open(link.replace("run-1", "run-9"))
    assert "keeps no run run-9" in refusals[0]


def test_the_go_to_line_takes_a_link_and_says_what_is_wrong_with_one(window: Window) -> None:
    activate(window)
    block = blocks(window)[0]
    window.links.copy_place(LinkPlace(PlaceKind.BLOCK, block.key))
    link = QGuiApplication.clipboard().text()
    window.map.matrix.setFocus()
    QTest.keyClick(window.map.matrix, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    sheet = window.map.going.go_to_sheet
    QTest.keyClicks(sheet.line, "metl://x/1/exec/rm")
    QTest.keyClick(sheet.line, Qt.Key.Key_Return)
    assert "no kind of place" in sheet.note.text()
    sheet.line.selectAll()
    QTest.keyClicks(sheet.line, link)
    QTest.keyClick(sheet.line, Qt.Key.Key_Return)
    assert not sheet.isVisible()
    assert window.selection.current.block == block.key


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no link"),
        ("metl://" + "x" * 5000, "letters"),
        ("metl://other/1/state", "not known on this computer"),
        ("{project}/999/state", "newest state is"),
        ("{project}/{state}/block/999/1", "no version 999"),
    ],
)
def test_a_link_that_leads_nowhere_is_refused_with_a_hint_and_nothing_moves(
    window: Window, refusals: list[str], text: str, words: str
) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    before = window.selection.current, window.page, window.project.value
    window.links.open(text.format(project=f"metl://{workbench.project_id}", state=workbench.document.state))
    assert words in refusals[0]
    assert len(refusals[0]) < 500
    assert (window.selection.current, window.page, window.project.value) == before


def test_a_link_opens_its_project_first_and_that_is_found_wherever_it_was_opened_before(
    make_window: Callable[[], Window], waiting_sample: SampleFolder, tmp_path: Path
) -> None:
    window = make_window()
    window.show_project(Workbench.open(waiting_sample.project))
    workbench = window.project.workbench
    assert workbench is not None
    key = blocks(window)[0].key
    window.links.copy_place(LinkPlace(PlaceKind.BLOCK, key))
    assert find_project(workbench.project_id) == waiting_sample.project
    link = QGuiApplication.clipboard().text()
    window.show_project(Workbench.create(tmp_path / "other.metl"))
    window.links.open(link)
    assert window.project.workbench is not None
    assert window.project.workbench.path == waiting_sample.project
    assert window.selection.current.block == key
    window.projects.close()
    window.links.open(link)
    assert window.selection.current.block == key


def test_a_link_in_a_comment_can_be_clicked_and_markup_beside_it_stays_words(window: Window) -> None:
    block, workbench = blocks(window)[0], window.project.workbench
    assert workbench is not None
    window.links.copy_place(LinkPlace(PlaceKind.BLOCK, block.key))
    link = QGuiApplication.clipboard().text()
    document = window.project.value
    schema = document.extraction.schemas()[0]
    workbench.add_comment(node_subject(document, Side.EXTRACTION, schema.id), f"<b>see</b> {link}.")
    window.project.read_comments_again()
    window.actions_table["comment"].trigger()
    window.selection.choose(Selected(source=place_of_version(document, Side.EXTRACTION, schema.version_ids[0])))
    panel = window.owner_docks.comments
    panel.about.setCurrentIndex(panel.about.count() - 1)
    card = next(card for card in panel.cards if link in card.comment.text)
    words = next(label for label in card.findChildren(QLabel) if "metl://" in label.text())
    assert "&lt;b&gt;see&lt;/b&gt;" in words.text()
    activate(window)
    words.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(words, Qt.Key.Key_Tab)
    QTest.keyClick(words, Qt.Key.Key_Return)
    assert window.selection.current.block == block.key


def test_a_text_without_a_link_has_no_markup_and_a_hostile_one_gets_none_into_it() -> None:
    assert linked("a & <b>") == "a &amp; &lt;b&gt;"
    hostile = 'metl://x/1/state"onclick=1><script>'
    assert "<script>" not in linked(hostile)
    found = linked("(metl://x/1/state#a%3Cb).")
    assert found.startswith('(<a href="metl://x/1/state#a%3Cb"')
    assert found.endswith(">a&lt;b</a>).")


def test_undo_in_the_window_is_untouched_by_following_links(window: Window) -> None:
    block = blocks(window)[0]
    workbench = window.project.workbench
    assert workbench is not None
    window.project.do(SetElements(block.key, zeros=(block.elements[0],)))
    title = workbench.undo_title((EditOrigin.WINDOW,))
    window.links.copy_place(LinkPlace(PlaceKind.BLOCK, block.key))
    window.links.open_copied()
    assert workbench.undo_title((EditOrigin.WINDOW,)) == title


def test_the_program_follows_a_link_in_place_of_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def note(project: Path | None = None, source: str = "", shows_live: bool = False, link: str = "") -> int:
        asked.append(link or (project, source, shows_live))
        return 0

    monkeypatch.setattr(main, "run", note)
    assert main.main(["metl://x/1/state"]) == 0
    assert main.main(["fx.metl", "--live"]) == 0
    assert asked == ["metl://x/1/state", (Path("fx.metl"), "", True)]
