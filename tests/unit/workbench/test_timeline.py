"""The states of a project page by page, with filters and what gives a state weight."""

from __future__ import annotations

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.trees.nodes import Side
from metl_gui.store.edit_log import RetentionPolicy
from metl_gui.workbench.history.states import StateFilter, Weight, find_state, states_page, timeline, together
from metl_gui.workbench.publishing.publication import judge, publish
from metl_gui.workbench.session import EditOrigin, Workbench


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
