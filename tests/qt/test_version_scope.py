"""Edits that hold for other versions: by click and key, what stands beside the cursor, what is asked and told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.version_scope import VersionScope
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import BlockKey, Element, Status
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.map.scope_dialog import ScopeDialog
from metl_gui.ui.map.scoped_edits import MOST_UNASKED
from metl_gui.ui.project.selection import Dragged, NodeRef, Selected, to_mime
from metl_gui.ui.shell.window import Window
from metl_gui.ui.suggest.acceptance_dialog import AcceptanceDialog
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import QuestionDialog
from metl_gui.workbench.session import Workbench
from tests.helpers.world import declare
from tests.qt.conftest import activate
from tests.qt.matrix_hand import LEFT, NONE, at_cell, cell, elements, move, select
from tests.qt.test_tree_gestures import asked, drop

CONTROL = Qt.KeyboardModifier.ControlModifier
Versions = list[tuple[str, ...]]


@pytest.fixture
def opened(make_window: Callable[[], Window], tmp_path: Path) -> Callable[[Versions], Window]:
    """Return what opens a project of the schema ``s``, one version for each tuple of paths, and the entity ``be``."""

    def open_(versions: Versions) -> Window:
        workbench = Workbench.create(tmp_path / "project.metl")
        for number, paths in enumerate(versions, 1):
            workbench.do(AddVersion(Side.EXTRACTION, declare("s", (*paths, f"of{number}"), str(number))))
        workbench.do(AddVersion(Side.CDM, declare("be", ("a", "b", "c"), "1")))
        made = make_window()
        made.show_project(workbench)
        activate(made)
        return made

    return open_


def key_of(window: Window, label: str) -> BlockKey:
    """Return the key of the block of a version and ``be``."""
    document = window.project.value
    schema, entity = document.extraction.named("s"), document.cdm.named("be")
    assert schema is not None
    assert entity is not None
    version = document.extraction.labelled(schema.id, label)
    assert version is not None
    return version.id, entity.version_ids[-1]


def element(window: Window, label: str, source: str, target: str) -> Element:
    document, (v, w) = window.project.value, key_of(window, label)
    p, q = document.extraction.version(v).at_path(source), document.cdm.version(w).at_path(target)
    assert p is not None
    assert q is not None
    return Element(q.id, p.id)


def pairs(window: Window, label: str) -> set[tuple[str, str]]:
    """Return what is mapped in a version: (source, target)."""
    document, key = window.project.value, key_of(window, label)
    columns = {a.id: a.path for a in document.extraction.version(key[0]).attributes}
    rows = {a.id: a.path for a in document.cdm.version(key[1]).attributes}
    return {(columns[p], rows[q]) for q, p in elements(window, key)}


def click(window: Window, label: str, source: str, target: str) -> None:
    """Click on a cell."""
    at = at_cell(window, key_of(window, label), element(window, label, source, target))
    QTest.mouseClick(window.map.matrix.viewport(), LEFT, NONE, at)


def dialog(window: Window) -> ScopeDialog:
    """Return the dialog that is open."""
    QApplication.processEvents()
    return next(each for each in window.map.findChildren(ScopeDialog) if each.isVisible())


def said(window: Window) -> str:
    return window.notice.words.text()


FOUR: Versions = [("a", "b"), ("a",), ("b",), ("a", "b")]


def test_a_click_maps_every_version_that_has_the_field_and_is_one_undo_step(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened(FOUR)
    click(window, "2", "a", "a")
    assert [pairs(window, label) for label in "1234"] == [{("a", "a")}, {("a", "a")}, set(), {("a", "a")}]
    assert said(window) == "Mapped here and in 2 other versions."
    assert window.project.undo_title == "Map a to a, and in 2 other versions"
    window.project.undo()
    assert all(not pairs(window, label) for label in "1234")


def test_a_second_click_clears_it_everywhere(opened: Callable[[Versions], Window]) -> None:
    window = opened(FOUR)
    click(window, "1", "a", "a")
    click(window, "4", "a", "a")
    assert all(not pairs(window, label) for label in "1234")
    assert said(window) == "Cleared here and in 2 other versions."


def test_v_switches_to_later_versions_and_to_this_one_and_back(opened: Callable[[Versions], Window]) -> None:
    window = opened(FOUR)
    matrix = window.map.matrix
    select(window, key_of(window, "2"), element(window, "2", "a", "a"))
    matrix.setFocus()
    beside = [window.map.edits.words_at(window.selection.current)]
    for _ in range(3):
        QTest.keyClick(matrix, Qt.Key.Key_V)
        beside.append(window.map.edits.words_at(window.selection.current))
    assert beside == ["all 3 versions", "this and 1 later", "this version", "all 3 versions"]
    QTest.keyClick(matrix, Qt.Key.Key_V)
    assert said(window) == "Edits hold for this and later versions from now on."
    QTest.keyClick(matrix, Qt.Key.Key_Space)
    assert [pairs(window, label) for label in "124"] == [set(), {("a", "a")}, {("a", "a")}]


def test_the_menu_shows_and_chooses_the_scope(opened: Callable[[Versions], Window]) -> None:
    window = opened(FOUR)
    assert window.actions_table["scope_all"].isChecked()
    window.actions_table["scope_this"].trigger()
    assert window.map.edits.scope is VersionScope.THIS
    assert window.actions_table["scope_this"].isChecked()
    assert not window.actions_table["scope_all"].isChecked()
    click(window, "2", "a", "a")
    assert [pairs(window, label) for label in "124"] == [set(), {("a", "a")}, set()]
    assert said(window) == "Edits hold for this version from now on."


def test_the_scope_is_painted_beside_the_cell_under_the_pointer_and_nowhere_where_no_other_version_has_it(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened(FOUR)
    matrix = window.map.matrix
    for source, words in (("a", "all 3 versions"), ("of1", "")):
        at = at_cell(window, key_of(window, "1"), element(window, "1", source, "b"))
        window.selection.choose(Selected())
        move(matrix, at)
        pointed = matrix.sight.cell
        assert pointed is not None
        assert matrix.sight.beside(pointed) == words
        with_words = matrix.grab().toImage()
        matrix.sight.beside = lambda _cell: ""
        matrix.panes.repaint_marks()
        assert (matrix.grab().toImage() != with_words) is bool(words)
        matrix.sight.beside = window.map.edits.words_at


def test_a_drop_a_run_and_a_paste_hold_for_the_other_versions_too(opened: Callable[[Versions], Window]) -> None:
    window = opened([("a", "b", "c"), ("a", "b", "c")])
    key = key_of(window, "1")
    wanted = tuple(cell(key, *element(window, "1", path, path)) for path in ("a", "b"))
    window.map.mapper.run((wanted, ()))
    assert pairs(window, "2") == {("a", "a"), ("b", "b")}
    window.project.undo()
    select(window, key, element(window, "1", "a", "a"))
    QApplication.clipboard().setText("c\ta\n")
    window.actions_table["paste_block"].trigger()
    assert pairs(window, "1") == pairs(window, "2") == {("c", "a")}
    assert said(window) == "1 mapped from the clipboard; 1 more in 1 other version."


def test_other_versions_of_an_entity_that_keeps_several_take_part_once_they_are_chosen(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened([("a", "b"), ("a", "b")])
    entity = window.project.value.cdm.named("be")
    assert entity is not None
    window.project.do(SetSettings(Side.CDM, entity.id, (("policy", "parallel"),)))
    window.project.do(AddVersion(Side.CDM, declare("be", ("a", "b", "d"), "2")))
    older, newer = window.project.value.cdm.schema(entity.id).version_ids
    click(window, "1", "a", "a")
    version, other = key_of(window, "1")[0], key_of(window, "2")[0]
    keys = [(v, w) for w in (older, newer) for v in (version, other)]
    assert [len(elements(window, key)) for key in keys] == [0, 0, 1, 1]
    assert window.map.edits.words_at(window.selection.current) == "all 2 versions"

    window.actions_table["scope_entity_versions"].trigger()
    assert said(window) == "Edits hold for all versions and the other versions of an entity from now on."
    assert window.actions_table["scope_entity_versions"].isChecked()
    assert window.map.edits.words_at(window.selection.current) == "all 2 versions, 1 more of the entity"
    click(window, "1", "b", "b")
    assert [len(elements(window, key)) for key in keys] == [1, 1, 2, 2]
    window.project.undo()
    assert [len(elements(window, key)) for key in keys] == [0, 0, 1, 1]
    QTest.keyClick(window.map.matrix, Qt.Key.Key_V)
    QTest.keyClick(window.map.matrix, Qt.Key.Key_V)
    assert window.map.edits.words_at(window.selection.current) == "this version, 1 more of the entity"
    click(window, "1", "b", "b")
    assert [len(elements(window, key)) for key in keys] == [1, 0, 2, 1]
    window.actions_table["scope_entity_versions"].trigger()
    click(window, "2", "b", "b")
    assert [len(elements(window, key)) for key in keys] == [1, 0, 2, 2]


def test_the_suggestions_of_a_block_are_looked_at_first_where_many_versions_take_part(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened([("a", "b")] * (MOST_UNASKED + 2))
    key, before = key_of(window, "1"), window.project.value
    select(window, key, element(window, "1", "a", "a"))
    window.suggest.show()
    accept_all = window.suggest.panel.accept_all
    QTest.mouseClick(accept_all, LEFT)
    (look,) = (each for each in window.findChildren(AcceptanceDialog) if each.isVisible())
    assert window.project.value is before
    assert look.plan is not None
    assert look.plan.carried == 2 * (MOST_UNASKED + 1)
    QTest.keyClick(look, Qt.Key.Key_Escape)
    activate(window)
    window.map.matrix.setFocus()
    QTest.keyClick(window.map.matrix, Qt.Key.Key_V)
    select(window, key_of(window, "2"), element(window, "2", "a", "a"))
    QTest.mouseClick(accept_all, LEFT)
    assert pairs(window, "1") == set()
    assert pairs(window, "2") == pairs(window, str(MOST_UNASKED + 2)) == {("a", "a"), ("b", "b")}


def test_what_accepted_suggestions_leave_in_other_versions_is_listed_and_types_can_be_taken_along(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened([("a:boolean", "b"), ("a", "b"), ("a", "b")])
    click(window, "2", "of2", "a")
    window.actions_table["project_suggestions"].trigger()
    QTest.mouseClick(window.suggest.panel.everything.accept_all, LEFT)
    (look,) = (each for each in window.findChildren(AcceptanceDialog) if each.isVisible())
    assert "Left in 2 versions: 1 because the types differ, 1 because an end is taken." in look.words.text()
    told = {(words.title, words.facts) for words, group in look.model.rows if not group}
    assert told == {("s 1 → be 1", "a → a: the types differ"), ("s 2 → be 1", "a → a: an end is taken")}
    look.view.setCurrentIndex(look.model.index(len(look.model.rows) - 1))
    assert not look.no_sample.isVisible()
    QTest.mouseClick(look.types, LEFT, NONE, QPoint(8, look.types.height() // 2))
    assert "Left in 1 version: 1 because an end is taken." in look.words.text()
    QTest.mouseClick(look.confirm, LEFT)
    assert [pairs(window, label) for label in "123"] == [
        {("a", "a"), ("b", "b")},
        {("of2", "a"), ("b", "b")},
        {("a", "a"), ("b", "b")},
    ]


def test_accepted_suggestions_hold_for_other_versions_of_an_entity_once_they_are_chosen(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened([("a", "b")])
    entity = window.project.value.cdm.named("be")
    assert entity is not None
    window.project.do(SetSettings(Side.CDM, entity.id, (("policy", "parallel"),)))
    window.project.do(AddVersion(Side.CDM, declare("be", ("a", "b", "d"), "2")))
    version = key_of(window, "1")[0]
    keys = [(version, w) for w in window.project.value.cdm.schema(entity.id).version_ids]
    for is_chosen, counts in ((False, [0, 2]), (True, [2, 2])):
        window.actions_table["project_suggestions"].trigger()
        QTest.mouseClick(window.suggest.panel.everything.accept_all, LEFT)
        (look,) = (each for each in window.findChildren(AcceptanceDialog) if each.isVisible())
        assert look.entities.isVisible()
        if is_chosen:
            QTest.mouseClick(look.entities, LEFT, NONE, QPoint(8, look.entities.height() // 2))
        assert look.entities.isChecked() is is_chosen
        QTest.mouseClick(look.confirm, LEFT)
        assert [len(elements(window, key)) for key in keys] == counts
        window.project.undo()


def drop_on_name(window: Window, label: str, path: str) -> QuestionDialog:
    """Drop a field on the name of the entity, and return what is asked."""
    document, key = window.project.value, key_of(window, label)
    version, entity = document.extraction.version(key[0]), document.cdm.version(key[1]).schema_id
    field = version.at_path(path)
    assert field is not None
    targets = window.map.targets
    dragged = to_mime(Dragged(Side.EXTRACTION, (NodeRef(version.schema_id, version.id, field.id),)))
    assert drop(targets, dragged, targets.view.visualRect(targets.model.index_of(NodeRef(entity))).center())
    return asked(window)


def test_an_attribute_that_a_drop_creates_is_mapped_in_every_version_in_scope(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened([("x", "a"), ("x",), ("a",), ("x:boolean",)])
    before = window.project.value
    question = drop_on_name(window, "2", "x")
    words = "Version 2 has 1 attribute more, mapped from x of s 2 and in 1 other version."
    assert any(words in label.text() for label in question.findChildren(QLabel))
    QTest.mouseClick(question.buttons["make"], LEFT)
    QApplication.processEvents()
    assert [pairs(window, label) for label in "1234"] == [{("x", "x")}, {("x", "x")}, set(), set()]
    told = "1 attribute created in a new version of be and mapped, here and in 1 other version. "
    assert said(window) == f"{told}Left in 1 version: 1 because the types differ."
    assert window.project.undo_title == "Create x of be and map it, and in 1 other version"
    window.project.undo()
    assert state_hash(window.project.value) == state_hash(before)
    window.map.edits.choose(VersionScope.THIS)
    QTest.mouseClick(drop_on_name(window, "2", "x").buttons["make"], LEFT)
    QApplication.processEvents()
    assert [pairs(window, label) for label in "1234"] == [set(), {("x", "x")}, set(), set()]


def test_a_pasted_table_that_names_versions_holds_for_those(opened: Callable[[Versions], Window]) -> None:
    window = opened([("a",), ("a",)])
    QApplication.clipboard().setText("s\t1\ta\tbe\t1\ta\n")
    window.map.matrix.setFocus()
    window.actions_table["paste_block"].trigger()
    assert [pairs(window, label) for label in "12"] == [{("a", "a")}, set()]


def test_what_a_pasted_range_leaves_is_told_line_by_line(
    opened: Callable[[Versions], Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    window = opened([("a", "b"), ("a", "b")])
    window.map.edits.choose(VersionScope.THIS)
    click(window, "1", "b", "a")
    told: list[tuple[str, ...]] = []
    monkeypatch.setattr(dialogs, "ask", lambda title, text, *_: told.append((title, text)))
    QApplication.clipboard().setText("s\t*\ta\tbe\t1\ta\n")
    window.map.matrix.setFocus()
    for words in ("1 mapped from the clipboard, 1 left.", "1 mapped from the clipboard already, 1 left."):
        window.actions_table["paste_block"].trigger()
        assert said(window) == words
        window.notice.action.click()
    assert told == [("1 element of ranges of versions left", "Line 1: s@1:be@1: an end is taken")] * 2


def test_a_pasted_range_of_many_versions_is_shown_before_anything_is_done(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened([("a", "b")] * (MOST_UNASKED + 2))
    before, last = window.project.value, str(MOST_UNASKED + 2)
    QApplication.clipboard().setText(f"s\t*\ta\tbe\t1\ta\ns\t..{MOST_UNASKED}\tb\tbe\t1\tb\n")
    window.map.matrix.setFocus()
    window.actions_table["paste_block"].trigger()
    shown = dialog(window)
    assert window.project.value is before
    assert shown.heading.text() == f"Map {2 * MOST_UNASKED + 2} attributes from the clipboard, in {last} versions?"
    assert not shown.alone.isVisible()
    window.map.edits.choose(VersionScope.THIS)
    click(window, last, "b", "b")
    QTest.keyClick(shown, Qt.Key.Key_Return, CONTROL)
    assert pairs(window, "1") == pairs(window, last) == {("a", "a"), ("b", "b")}
    assert said(window) == f"{2 * MOST_UNASKED + 2} mapped from the clipboard."
    window.project.undo()
    assert (pairs(window, "1"), pairs(window, last)) == (set(), {("b", "b")})

    QApplication.clipboard().setText("\n".join(f"s\t{label}\tb\tbe\t1\tb" for label in range(1, int(last) + 1)))
    window.actions_table["paste_block"].trigger()
    assert pairs(window, "1") == {("b", "b")}


def test_only_in_this_version_takes_the_others_back(opened: Callable[[Versions], Window]) -> None:
    window = opened(FOUR)
    click(window, "1", "a", "a")
    assert window.notice.action.text() == "Only in this version"
    window.notice.action.click()
    assert [pairs(window, label) for label in "124"] == [{("a", "a")}, set(), set()]
    assert window.project.undo_title == "Map a to a"


def test_what_was_left_is_told_and_types_can_be_mapped_after_all(opened: Callable[[Versions], Window]) -> None:
    window = opened([("a", "b"), ("a", "b"), ("a:boolean",)])
    window.map.edits.choose(VersionScope.THIS)
    click(window, "2", "b", "a")
    window.map.edits.choose(VersionScope.ALL)
    click(window, "1", "a", "a")
    assert said(window) == ("Mapped here. Left in 2 versions: 1 because an end is taken, 1 because the types differ.")
    window.notice.action.click()
    shown = dialog(window)
    facts = [words.facts for words, _ in shown.model.rows]
    assert facts == ["a → a: an end is taken", "a → a: the types differ"]
    assert not shown.do.isEnabled()
    shown.types.click()
    assert shown.do.isEnabled()
    shown.do.click()
    assert [pairs(window, label) for label in "123"] == [{("a", "a")}, {("b", "a")}, {("a", "a")}]


def test_where_an_end_is_taken_the_cursor_and_the_question_say_that_only_this_version_changes(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened([("a", "b"), ("a", "b")])
    click(window, "1", "a", "a")
    for source, target, words in (
        ("a", "a", "all 2 versions"),
        ("b", "b", "all 2 versions"),
        ("b", "a", "this version"),
    ):
        select(window, key_of(window, "1"), element(window, "1", source, target))
        assert window.map.edits.words_at(window.selection.current) == words
    click(window, "1", "b", "a")
    sheet = window.map.sheet
    assert sheet is not None
    assert sheet.text.text() == "Taken now: a → a. Other versions stay as they are."
    QTest.keyClick(sheet, Qt.Key.Key_R)
    assert (pairs(window, "1"), pairs(window, "2")) == ({("b", "a")}, {("a", "a")})


def test_many_versions_are_shown_before_anything_is_done(opened: Callable[[Versions], Window]) -> None:
    window = opened([("a",)] * (MOST_UNASKED + 2))
    state = window.project.value.state
    click(window, "1", "a", "a")
    shown = dialog(window)
    assert window.project.value.state == state
    assert shown.heading.text() == f"Map a to a, in {MOST_UNASKED + 2} versions?"
    shown.preview.work_out()
    assert len(shown.preview.model.rows) == MOST_UNASKED + 2
    QTest.keyClick(shown, Qt.Key.Key_Escape)
    assert window.project.value.state == state
    click(window, "1", "a", "a")
    QTest.keyClick(dialog(window), Qt.Key.Key_Return, CONTROL)
    assert window.project.value.state == state + 1
    assert pairs(window, str(MOST_UNASKED + 2)) == {("a", "a")}
    click(window, "2", "a", "a")
    dialog(window).alone.click()
    assert not pairs(window, "2")
    assert pairs(window, "1") == {("a", "a")}


def test_a_plan_of_many_versions_is_worked_out_again_when_the_project_moved_on(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened([("a", "b")] * (MOST_UNASKED + 2))
    click(window, "1", "a", "a")
    shown = dialog(window)
    window.map.edits.choose(VersionScope.THIS)
    window.map.mapper.toggle(cell(key_of(window, "7"), *element(window, "7", "b", "a")))
    shown.accept()
    assert pairs(window, "7") == {("b", "a")}
    assert pairs(window, "8") == {("a", "a")}


def test_a_block_is_applied_to_all_versions_and_mapped_like_the_one_before(
    opened: Callable[[Versions], Window],
) -> None:
    window = opened(FOUR)
    window.map.edits.choose(VersionScope.THIS)
    click(window, "1", "a", "a")
    click(window, "1", "b", "b")
    document, key = window.project.value, key_of(window, "1")
    entity = document.cdm.named("be")
    assert entity is not None
    schema = document.extraction.version(key[0]).schema_id
    before = document.matrix.block(*key)
    window.selection.choose(Selected(NodeRef(schema, key[0]), NodeRef(entity.id, key[1])))
    window.actions_table["apply_to_all"].trigger()
    assert [pairs(window, label) for label in "234"] == [{("a", "a")}, {("b", "b")}, {("a", "a"), ("b", "b")}]
    assert window.project.value.matrix.block(*key) == before
    window.project.undo()
    second = key_of(window, "2")
    window.selection.choose(Selected(NodeRef(schema, second[0]), NodeRef(entity.id, second[1])))
    window.actions_table["map_like_before"].trigger()
    assert [pairs(window, label) for label in "234"] == [{("a", "a")}, set(), set()]
    block = window.project.value.matrix.block(*second)
    assert block is not None
    assert block.status is Status.CONFIRMED
