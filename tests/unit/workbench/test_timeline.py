"""The states of a project page by page, with filters and what gives a state weight."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.titles import past_tense
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.store.edit_log import RetentionPolicy
from metl_gui.workbench.history.state_rows import rows_page
from metl_gui.workbench.history.states import StateFilter, Weight, find_state, states_page, timeline, together
from metl_gui.workbench.publishing.publication import judge, publish
from metl_gui.workbench.session import EditOrigin, Workbench
from tests.unit.workbench.conftest import declare


def flip(workbench: Workbench, times: int) -> None:
    """Clear an element and set it again, again and again: two states each time."""
    block = next(b for b in workbench.document.matrix.blocks() if b.elements)
    for _ in range(times):
        workbench.do(SetElements(block.key, zeros=block.elements[:1]), EditOrigin.WINDOW)
        workbench.do(SetElements(block.key, ones=block.elements[:1]), EditOrigin.WINDOW)


def test_pages_follow_each_other_without_a_gap_or_a_state_twice(mapped: Workbench) -> None:
    flip(mapped, 10)
    newest, found, below = mapped.document.state, [], None
    while True:
        page = states_page(mapped, StateFilter(), 7, below)
        found += [state.state for state in page.states]
        below = page.below
        if below is None:
            break
    assert found == list(range(newest, 0, -1))


def rows(workbench: Workbench, text: str = "", limit: int = 50) -> list[tuple[int, int, str]]:
    page = rows_page(workbench, StateFilter.of(text), limit)
    return [(row.before + 1, row.state, row.done) for row in page.states]


def test_an_edit_and_its_undo_are_one_row_and_a_redo_makes_it_one_that_was_done(mapped: Workbench) -> None:
    before = rows(mapped)
    block = next(b for b in mapped.document.matrix.blocks() if b.elements)
    first = mapped.document.state + 1
    done = past_tense(mapped.do(SetElements(block.key, zeros=block.elements[:1])).title)
    assert done.startswith("Cleared ")
    assert rows(mapped) == [(first, first, done), *before]
    mapped.undo()
    assert rows(mapped) == [(first, first + 1, f"{done}, then undone"), *before]
    mapped.redo()
    assert rows(mapped) == [(first, first + 2, done), *before]


@pytest.mark.parametrize(
    ("title", "done"),
    [
        ("Map 2 elements from a.csv", "Mapped 2 elements from a.csv"),
        ("Replace blocks with 2 elements from a.csv", "Replaced blocks with 2 elements from a.csv"),
        ("Undo: Never map a of b", "Undone: marked as never to be mapped: a of b"),
        ("old continues new", "old continues new"),
    ],
)
def test_what_was_done_is_told_in_the_past_tense(title: str, done: str) -> None:
    assert past_tense(title) == done


def test_what_came_and_went_between_an_edit_and_its_undo_is_in_their_row(mapped: Workbench) -> None:
    before = rows(mapped)
    block = next(b for b in mapped.document.matrix.blocks() if len(b.elements) > 1)
    first = mapped.document.state + 1
    one = past_tense(mapped.do(SetElements(block.key, zeros=block.elements[:1])).title)
    other = past_tense(mapped.do(SetElements(block.key, zeros=block.elements[1:2])).title)
    mapped.undo()
    assert rows(mapped) == [(first + 1, first + 2, f"{other}, then undone"), (first, first, one), *before]
    mapped.undo()
    assert rows(mapped) == [(first, first + 3, f"{one}, then undone"), *before]
    assert mapped.gestures_since(first - 1) == 0


def test_an_undo_that_others_stand_before_is_a_row_and_no_row_hides_a_state_with_weight(mapped: Workbench) -> None:
    block, other = [b for b in mapped.document.matrix.blocks() if b.elements][:2]
    first = mapped.document.state + 1
    mapped.do(SetElements(block.key, zeros=block.elements[:1]))
    mapped.do(SetElements(other.key, zeros=other.elements[:1]))
    mapped.undo_state(first)
    found = rows(mapped)
    assert [(row[0], row[1]) for row in found[:3]] == [(first + 2,) * 2, (first + 1,) * 2, (first,) * 2]
    assert found[0][2].startswith("Undone: ")
    assert mapped.gestures_since(first - 1) == 1

    mapped.undo_state(first + 1)
    mapped.name_state(first + 1, "kept")
    assert [row[1] for row in rows(mapped)[:4]] == [first + 3, first + 2, first + 1, first]


def test_an_import_is_one_row_unless_a_state_of_it_has_weight_or_one_looks_for_it(mapped: Workbench) -> None:
    before, newest = rows(mapped), mapped.document.state
    group = mapped.new_group(EditOrigin.WINDOW)
    for label in ("8", "9", "10"):
        mapped.do(AddVersion(Side.EXTRACTION, declare("fx.new", label, "a", f"b{label}")), group=group)
    assert rows(mapped) == [(newest + 1, newest + 3, "Imported 3 versions"), *before]
    assert mapped.undo_title() == "Import 3 versions"
    assert mapped.gestures_since(newest) == 1
    assert [row[1] for row in rows(mapped, "fx.new")] == [newest + 3, newest + 2, newest + 1]
    mapped.name_state(newest + 2, "two")
    assert [row[:2] for row in rows(mapped)[:2]] == [(newest + 3, newest + 3), (newest + 1, newest + 2)]


def test_pages_of_rows_follow_each_other_without_a_gap_or_a_state_twice(mapped: Workbench) -> None:
    flip(mapped, 10)
    mapped.undo()
    newest, found, below = mapped.document.state, [], None
    while True:
        page = rows_page(mapped, StateFilter(), 4, below)
        found += [state for row in page.states for state in range(row.state, row.before, -1)]
        below = page.below
        if below is None:
            break
    assert found == list(range(newest, 0, -1))


def test_a_filter_finds_a_state_far_behind_many_that_do_not_pass(mapped: Workbench) -> None:
    mapped.name_state(2, "The beginning")
    flip(mapped, 600)
    page = states_page(mapped, StateFilter.of("is:named beginning"), 5)
    assert [(state.state, state.name) for state in page.states] == [(2, "The beginning")]
    assert page.below is None


def test_every_word_and_every_person_of_a_filter_must_be_met(mapped: Workbench) -> None:
    def numbers(text: str) -> list[int]:
        return [state.state for state in states_page(mapped, StateFilter.of(text), 50).states]

    assert numbers("add refund") == [2]
    assert numbers("who:TESS add refund") == [2]
    assert numbers("who:grace") == []
    assert numbers("is:published") == []
    publish(mapped)
    assert numbers("is:published who:te") == [mapped.document.state]
    assert numbers("is:somehow") == []


def test_the_timeline_knows_names_publications_runs_and_exports(mapped: Workbench) -> None:
    mapped.name_state(1, "first")
    publish(mapped, state=3)
    mapped.add_run({"run_id": "r", "state": 2}, [])
    mapped.kept.states.add_export(3, 1)
    line = timeline(mapped)
    assert line.states == tuple(range(1, mapped.document.state + 1))
    assert {state.state: set(state.weights) for state in line.weighty} == {
        1: {Weight.NAMED},
        2: {Weight.RUN},
        3: {Weight.PUBLISHED, Weight.EXPORTED},
    }


def test_what_one_command_made_together_is_counted(mapped: Workbench) -> None:
    block = next(b for b in mapped.document.matrix.blocks() if b.elements)
    group = mapped.new_group()
    for element in block.elements[:3]:
        mapped.do(SetElements(block.key, zeros=(element,)), group=group)
    flip(mapped, 1)
    page = states_page(mapped, StateFilter(), 4)
    assert [together(mapped, state) for state in page.states] == [1, 1, 3, 3]


def test_every_state_of_a_compacted_history_and_the_one_before_it_can_be_looked_at(mapped: Workbench) -> None:
    mapped.name_state(2, "kept")
    flip(mapped, 5)
    mapped._project.compact(RetentionPolicy(edits=1, days=-1))
    states = states_page(mapped, StateFilter(), 50).states
    assert any(state.states > 1 for state in states)
    assert 2 in {state.state for state in states}
    for state in states:
        assert mapped.at_state(state.state).state == state.state
        assert mapped.at_state(state.before).state == state.before
    assert timeline(mapped).states == tuple(state.state for state in reversed(states))


def test_a_state_that_is_not_there_is_not_found(mapped: Workbench) -> None:
    assert find_state(mapped, mapped.document.state + 1) is None
    found = find_state(mapped, 1)
    assert found is not None
    assert found.title == "Add payment version 1"


def test_a_judgement_counts_as_publishing_does(mapped: Workbench) -> None:
    found = judge(mapped, mapped.document.state)
    published = publish(mapped)
    assert (found.blocks, found.held, found.unconfirmed) == (published.blocks, published.held, published.unconfirmed)
    assert found.problems == published.problems
    assert found.elements == 6
    assert found.errors == 0


def test_every_state_of_a_large_import_is_counted_with_it(workbench: Workbench) -> None:
    group = workbench.new_group()
    schema = workbench.document.extraction.schemas()[0]
    for number in range(1_100):
        setting = SetSettings(Side.EXTRACTION, schema.id, (("version_field", f"field_{number}"),))
        workbench.do(setting, group=group)
    newest = find_state(workbench, workbench.document.state)
    assert newest is not None
    assert together(workbench, newest) == 1_100
