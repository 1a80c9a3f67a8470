"""Suggestions over the whole project in the window: listed, filtered, folded, looked at and accepted many at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.version_scope import VersionScope
from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.suggest.blocks import SuggestionScope
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.ui.shell.window import Window
from metl_gui.ui.suggest.acceptance_dialog import AcceptanceDialog
from metl_gui.ui.suggest.panel import PanelSection
from metl_gui.ui.suggest.project_list import ProjectSuggestionList
from metl_gui.ui.suggest.project_suggestions import ProjectSuggestions, scope_of
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.mapping.suggestions import NOT_MAPPED, SuggestionOrder
from metl_gui.workbench.samples.kept_samples import keep_samples
from metl_gui.workbench.settings import set_project_settings
from tests.qt.conftest import activate
from tests.qt.held_jobs import HeldJobs


@pytest.fixture
def everything(window: Window) -> ProjectSuggestionList:
    """The list over all of the sample, of which nothing is mapped."""
    blocks = [block for block in window.project.value.matrix.blocks() if block.elements]
    edits = tuple(SetElements(block.key, zeros=block.elements) for block in blocks)
    window.project.do(CompositeEdit("Clear everything", edits))
    window.selection.choose(Selected())
    activate(window)
    window.actions_table["project_suggestions"].trigger()
    return window.suggest.panel.everything


def node(window: Window, side: Side, name: str) -> NodeRef:
    schema = window.project.value.tree(side).named(name)
    assert schema is not None
    return NodeRef(schema.id)


def looked_at(window: Window) -> AcceptanceDialog:
    dialog = window.suggest.look_at_all(window.suggest.panel.everything.sure)
    assert dialog is not None
    return dialog


def blocks_of(window: Window) -> dict[BlockKey, Status]:
    return {block.key: block.status for block in window.project.value.matrix.blocks() if block.elements}


def decided(window: Window) -> dict[BlockKey, Status]:
    """The blocks that wait for no decision; one that does goes on waiting, whatever else is set in it."""
    return {key: status for key, status in blocks_of(window).items() if status is not Status.NEEDS_REVIEW}


def press(widget: ProjectSuggestionList, key: Qt.Key) -> None:
    QTest.keyClick(widget.view, key)


def stand_on(everything: ProjectSuggestionList, row: int) -> None:
    everything.view.setCurrentIndex(everything.model.index(row))


def test_without_a_selection_the_list_holds_all_blocks_with_the_best_score_first(
    everything: ProjectSuggestionList,
) -> None:
    scores = [each.score for each in everything.listed]
    assert scores == sorted(scores, reverse=True)
    assert len({each.block.schema for each in everything.listed}) > 8
    assert len({each.block.entity for each in everything.listed}) == 6
    assert [row.suggestion for row in everything.model.rows] == list(everything.listed)


def test_what_is_unlikely_is_folded_away_and_no_key_accepts_it(
    everything: ProjectSuggestionList, window: Window
) -> None:
    assert min(each.score for each in everything.listed) >= 0.3
    count = len(everything.listed)
    everything.unlikely.click()
    assert len(everything.listed) > count
    stand_on(everything, len(everything.listed) - 1)
    chosen = everything.current
    assert chosen is not None
    assert chosen.suggestion is not None
    assert chosen.suggestion.score < 0.3
    window.map.edits.choose(VersionScope.THIS)
    accept = window.suggest.panel.accept
    assert (accept.property("kind"), accept.key) == ("", "")
    press(everything, Qt.Key.Key_Return)
    assert blocks_of(window) == {}
    accept.click()
    assert blocks_of(window) == {chosen.suggestion.key: Status.CONFIRMED}


def test_the_list_is_filtered_by_names_and_status_and_sorted_by_schema_or_entity(
    everything: ProjectSuggestionList, window: Window
) -> None:
    everything.box.setText("PERSON customer")
    assert {(each.block.schema, each.block.entity) for each in everything.listed} == {
        ("fx.customers.person", "customer")
    }
    everything.box.clear()
    whole = everything.listed
    everything.order.setCurrentIndex(everything.order.findData(SuggestionOrder.ENTITY))
    assert [each.block.entity for each in everything.listed] == sorted(each.block.entity for each in whole)
    everything.order.setCurrentIndex(everything.order.findData(SuggestionOrder.SCHEMA))
    assert [each.block.schema for each in everything.listed] == sorted(each.block.schema for each in whole)
    window.map.edits.choose(VersionScope.THIS)
    stand_on(everything, 0)
    press(everything, Qt.Key.Key_Return)
    (mapped,) = blocks_of(window)
    everything.status.setCurrentIndex(everything.status.findData(Status.CONFIRMED.value))
    assert {each.key for each in everything.listed} == {mapped}
    everything.status.setCurrentIndex(everything.status.findData(NOT_MAPPED))
    assert mapped not in {each.key for each in everything.listed}
    assert everything.listed


def test_several_selected_nodes_give_the_suggestions_of_all_and_going_through_them_keeps_them(
    everything: ProjectSuggestionList, window: Window
) -> None:
    nodes = tuple(node(window, Side.EXTRACTION, name) for name in ("fx.customers.person", "fx.payments.orders"))
    everything.selected_only.click()
    window.selection.choose(Selected(source=nodes[0], sources=nodes))
    names = {"fx.customers.person", "fx.payments.orders"}
    assert {each.block.schema for each in everything.listed} == names
    stand_on(everything, 1)
    assert window.selection.current.element == everything.listed[1].element
    press(everything, Qt.Key.Key_Return)
    assert {each.block.schema for each in everything.listed} == names
    everything.selected_only.click()
    assert len({each.block.schema for each in everything.listed}) > 8


def test_a_selected_entity_stands_for_its_newest_version_and_a_schema_version_for_itself(window: Window) -> None:
    document = window.project.value
    schema, entity = document.extraction.named("fx.accounts.account"), document.cdm.named("account")
    assert schema is not None
    assert entity is not None
    older = Selected(NodeRef(schema.id, schema.version_ids[1]), NodeRef(entity.id, entity.version_ids[0]))
    assert scope_of(document, older) == SuggestionScope((schema.version_ids[1],), (entity.version_ids[-1],))
    assert scope_of(document, Selected()) == SuggestionScope()


def test_enter_accepts_one_and_delete_refuses_it_for_all_versions(
    everything: ProjectSuggestionList, window: Window
) -> None:
    window.map.edits.choose(VersionScope.THIS)
    stand_on(everything, 0)
    taken = everything.listed[0]
    press(everything, Qt.Key.Key_Return)
    assert blocks_of(window) == {taken.key: Status.CONFIRMED}
    assert taken.element not in {each.element for each in everything.listed if each.key == taken.key}
    stand_on(everything, 0)
    refused = everything.listed[0]
    press(everything, Qt.Key.Key_Delete)
    assert (refused.key, refused.element) not in {(each.key, each.element) for each in everything.listed}
    window.suggest.suggestions.restore(window.suggest.suggestions.refused[0])
    assert (refused.key, refused.element) in {(each.key, each.element) for each in everything.listed}


def test_the_button_counts_what_it_accepts_and_a_filter_narrows_it(everything: ProjectSuggestionList) -> None:
    blocks = {each.key for each in everything.sure}
    assert everything.accept_all.text() == f"Accept {len(everything.sure)} above 0.90 in {len(blocks)} blocks…"
    assert all(each.score >= 0.9 for each in everything.sure)
    whole = len(everything.sure)
    everything.box.setText("person")
    assert 0 < len(everything.sure) < whole
    everything.box.setText("no such name")
    assert not everything.accept_all.isEnabled()


def test_accepting_many_confirms_them_in_all_versions_as_one_step_after_a_look(
    everything: ProjectSuggestionList, window: Window
) -> None:
    before, sure = window.project.value, everything.sure
    dialog = looked_at(window)
    assert window.project.value is before
    assert dialog.plan is not None
    carried = dialog.plan.carried
    assert carried > 0
    QTest.mouseClick(dialog.confirm, Qt.MouseButton.LeftButton)
    after = window.project.value
    assert after.matrix.ones == len(sure) + carried
    assert set(decided(window).values()) == {Status.CONFIRMED}
    assert after.state == before.state + 1
    assert not {(each.key, each.element) for each in sure} & {(each.key, each.element) for each in everything.listed}
    window.project.undo()
    assert window.project.value.matrix.ones == 0


def test_the_keyboard_is_in_the_list_after_many_were_accepted(
    everything: ProjectSuggestionList, window: Window
) -> None:
    QTest.mouseClick(everything.accept_all, Qt.MouseButton.LeftButton)
    dialog = next(each for each in window.map.findChildren(AcceptanceDialog) if each.isVisible())
    QTest.mouseClick(dialog.confirm, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    activate(window)
    panel = window.suggest.panel
    assert QApplication.focusWidget() is (everything.view if everything.listed else panel.parts[panel.part])


def test_only_this_version_is_changed_where_that_is_chosen_and_nothing_is_confirmed_yet(
    everything: ProjectSuggestionList, window: Window
) -> None:
    sure = everything.sure
    dialog = looked_at(window)
    dialog.scope.setCurrentIndex(dialog.scope.findData(VersionScope.THIS))
    QTest.mouseClick(dialog.leave_open, Qt.MouseButton.LeftButton)
    assert set(blocks_of(window)) == {each.key for each in sure}
    assert set(decided(window).values()) == {Status.UNCONFIRMED}


@pytest.mark.usefixtures("everything")
def test_where_a_second_person_confirms_the_look_says_so_and_nothing_is_confirmed(window: Window) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    set_project_settings(workbench, ["second_person_confirms=yes"])
    dialog = looked_at(window)
    assert not dialog.leave_open.isVisibleTo(dialog)
    assert "A second person confirms them." in dialog.words.text()
    QTest.mouseClick(dialog.confirm, Qt.MouseButton.LeftButton)
    assert set(decided(window).values()) == {Status.UNCONFIRMED}


@pytest.mark.usefixtures("everything")
def test_the_look_shows_a_sample_before_and_after(window: Window, sample: SampleFolder, tmp_path: Path) -> None:
    dialog = looked_at(window)
    assert dialog.no_sample.isVisibleTo(dialog)
    dialog.reject()
    assert window.project.workbench is not None
    keep_samples(window.project.workbench, str(sample.messages))
    window.project.read_samples_again()
    dialog = looked_at(window)
    before, after = (text.laid.text for text in dialog.texts)
    assert "Would be filtered" in before
    assert "out · " not in before
    assert "out · " in after
    assert dialog.grab().save(str(tmp_path / "look.png"))
    dialog.reject()
    assert blocks_of(window) == {}


def test_while_it_is_looked_for_the_list_says_so_and_a_stopped_search_leaves_nothing_running(
    everything: ProjectSuggestionList, window: Window
) -> None:
    jobs = HeldJobs()
    late = ProjectSuggestions(window.project, window.selection, window.suggest.suggestions, jobs)
    late.want(True)
    assert late.is_looking
    (job,) = jobs.running
    job.cancel()
    jobs.release()
    assert (late.found, late.is_looking, late.is_stopped) == ((), False, True)
    late.want(False)
    late.want(True)
    jobs.release()
    assert late.found == window.suggest.everywhere.found
    assert {each.key for each in late.found} >= {each.key for each in everything.listed}
    jobs.stop()
    late.deleteLater()


def test_the_list_keeps_qts_rules_and_is_empty_when_nobody_looks(
    everything: ProjectSuggestionList, window: Window
) -> None:
    tester = QAbstractItemModelTester(everything.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    everything.unlikely.click()
    everything.box.setText("amount")
    stand_on(everything, 0)
    press(everything, Qt.Key.Key_Return)
    window.project.undo()
    window.suggest.panel.show_part(PanelSection.BLOCK)
    assert window.suggest.everywhere.found == ()
    assert tester is not None


def test_a_least_score_filters_the_list_and_lets_all_of_it_be_accepted(
    everything: ProjectSuggestionList, window: Window
) -> None:
    everything.score.setCurrentIndex(everything.score.findData(0.5))
    assert 0.5 <= min(each.score for each in everything.listed) < 0.9
    assert not everything.unlikely.isVisible()
    blocks = {each.key for each in everything.sure}
    assert everything.accept_all.text() == f"Accept {len(everything.sure)} above 0.50 in {len(blocks)} blocks…"
    everything.accept_all.click()
    (dialog,), sure = window.findChildren(AcceptanceDialog), everything.sure
    assert "above 0.50" in dialog.heading.text()
    QTest.mouseClick(dialog.confirm, Qt.MouseButton.LeftButton)
    assert not {(each.key, each.element) for each in sure} & {(each.key, each.element) for each in everything.listed}
    assert window.project.value.matrix.ones >= len(sure)
