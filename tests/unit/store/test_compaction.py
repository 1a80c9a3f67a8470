"""Compaction of the log: what is kept stays exactly what it was, what is merged says so."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule
from msgspec.structs import replace

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.changes.rewind import rewound
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.errors import ProjectError
from metl_gui.store import edit_log, project_file
from metl_gui.store.edit_log import COMMAND, DOORS, RetentionPolicy
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing
from tests.unit.store.test_state_machine import StoreMachine, kinds, seeds, without_ids

NOTHING = RetentionPolicy(edits=1, days=0)


def states(project: ProjectFile) -> list[int]:
    return [edit.state for edit in reversed(project.history())]


@pytest.fixture
def long(editing: Editing) -> Editing:
    """Twelve states, each of them one schema more."""
    for number in range(12):
        editing.schema(f"s{number}", "1", "a", "b")
    return editing


def test_only_states_with_a_name_or_a_use_and_the_newest_are_left(long: Editing) -> None:
    kept = long.project.kept
    long.project.name_state(2, "two", EditContext("ada", 1))
    kept.states.publish(4, "", EditContext("ada", 2))
    kept.states.add_export(6, 3)
    long.project.kept.runs.add({"state": 8})
    whole = {state: parts(long.project.document(state)) for state in range(13)}
    assert long.project.compact(NOTHING) == 12 - 6
    assert states(long.project) == [2, 4, 6, 8, 11, 12]
    assert [edit.states for edit in reversed(long.project.history())] == [2, 2, 2, 2, 3, 1]
    for state in (0, *states(long.project)):
        assert parts(long.project.document(state)) == whole[state]
    assert long.project.compact(NOTHING) == 0


def test_a_merged_state_names_what_it_was_merged_into(long: Editing) -> None:
    long.project.name_state(5, "five", EditContext("ada", 1))
    long.project.compact(NOTHING)
    with pytest.raises(ProjectError, match=r"State 3 of fx\.metl cannot.*into state 5.*are 0 and 5"):
        long.project.document(3)
    with pytest.raises(ProjectError, match="merged into state 11"):
        long.project.change_between(7, 12)
    with pytest.raises(ProjectError, match="merged into state 5"):
        long.project.name_state(4, "four", EditContext())


def test_what_was_merged_cannot_be_taken_back_and_the_newest_can(long: Editing) -> None:
    long.project.compact(RetentionPolicy(edits=2, days=0))
    assert [long.undo_newest() for _ in range(2)] == ["Add s11 version 1", "Add s10 version 1"]
    assert long.project.undo_candidate() is None
    cut = long.project.group_of(10)
    assert cut is not None
    assert cut.is_cut
    assert [long.redo_newest() for _ in range(2)] == ["Add s10 version 1", "Add s11 version 1"]


def test_a_gesture_of_many_states_is_kept_whole_or_not_at_all(editing: Editing) -> None:
    editing.schema("s", "1", "a")
    for number in range(2, 8):
        editing.schema("s", str(number), "a", f"b{number}")
        editing.group = editing.group or editing.last_group
    editing.group = None
    before = parts(editing.project.document())
    editing.project.compact(NOTHING)
    assert states(editing.project) == [1, 2, 3, 4, 5, 6, 7]
    assert editing.undo_newest() == "Import 6 versions"
    assert editing.redo_newest() == "Import 6 versions"
    now = parts(editing.project.document())
    assert {k: v for k, v in now.items() if k[0] != "state"} == {k: v for k, v in before.items() if k[0] != "state"}


def test_an_old_edit_that_was_taken_back_lately_can_be_done_again(long: Editing, path: Path) -> None:
    group = long.project.group_of(3)
    assert group is not None
    long.undo_group(group)
    long.project.compact(NOTHING)
    assert states(long.project) == [2, 3, 12, 13]
    long.project.close()
    with ProjectFile.open(path, for_editing=True) as project:
        again = Editing(project)
        assert again.redo_newest() == "Add s2 version 1"
        assert again.document.extraction.named("s2") is not None
        assert again.undo_newest() == "Add s2 version 1"


def test_young_edits_are_kept_however_many_there_are(editing: Editing) -> None:
    now_ms = time.time_ns() // 1_000_000
    for number in range(6):
        editing.schema(f"s{number}", "1", "a")
    editing.project._connection.execute("UPDATE edits SET when_ms = ? WHERE state > 3", (now_ms,))
    assert editing.project.compact(RetentionPolicy(edits=1, days=90)) == 2
    assert states(editing.project) == [3, 4, 5, 6]


def test_each_call_does_a_bounded_part_and_the_parts_make_the_whole(long: Editing) -> None:
    whole = {state: parts(long.project.document(state)) for state in (0, 11, 12)}
    keeping = replace(NOTHING, at_once=4)
    gone = []
    while more := long.project.compact(keeping):
        gone.append(more)
        assert max(gone) < 4
    assert sum(gone) == 10
    assert {state: parts(long.project.document(state)) for state in (0, *states(long.project))} == whole


def test_a_large_log_is_compacted_when_its_editor_closes_it_and_a_small_one_is_not(
    editing: Editing, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_file, "KEEPING", RetentionPolicy(edits=10, days=0))
    monkeypatch.setattr(edit_log, "WORTH", 20)
    for number in range(29):
        editing.schema(f"s{number}", "1", "a")
    editing.project.close()
    with ProjectFile.open(path, for_editing=True) as project:
        assert len(project.history()) == 29
        Editing(project).schema("t", "1", "a")
    with ProjectFile.open(path, for_editing=True) as project:
        assert [len(project.history()), len(project.document().extraction.schemas())] == [11, 30]
    with ProjectFile.open(path, for_editing=True) as project:
        assert len(project.history()) == 11


def test_a_reader_never_compacts(long: Editing, path: Path) -> None:
    with ProjectFile.open(path, for_editing=False) as reader, pytest.raises(ProjectError, match="read only"):
        reader.compact(NOTHING)
    assert len(long.project.history()) == 12


class CompactingMachine(StoreMachine):
    """Names, publications and compactions between edits, undos and redos."""

    @rule(seed=seeds)
    def name(self, seed: int) -> None:
        self.project.name_state(self.any_state(seed), "named", EditContext("ada", 1))

    @rule(seed=seeds)
    def publish(self, seed: int) -> None:
        self.project.kept.states.publish(self.any_state(seed), "", EditContext("ada", 1))

    @rule(kind=kinds, seed=seeds)
    def command_that_is_undone(self, kind: str, seed: int) -> None:
        before = self.world.document.state
        self.command(kind, seed)
        if self.world.document.state == before:
            return
        self.world.door = COMMAND
        candidate = self.project.undo_candidate(DOORS)
        assert candidate is not None
        self.world.undo_group(candidate)
        self.states[self.world.document.state] = parts(self.world.document)

    @rule(edits=st.integers(1, 6), at_once=st.sampled_from([3, 5, 2_000]))
    def compact(self, edits: int, at_once: int) -> None:
        newest = self.world.document.state
        before = set(states(self.project))
        weighty = {found.state for found in self.project.kept.states.named()} - {0}
        hashes = {state: state_hash(self.project.document(state)) for state in before}
        while self.project.compact(RetentionPolicy(edits, 0, at_once)):
            pass
        left = states(self.project)
        assert before & (weighty | set(range(newest - edits + 1, newest + 1))) <= set(left) <= before
        assert {state: state_hash(self.project.document(state)) for state in left} == {s: hashes[s] for s in left}
        assert sum(edit.states for edit in self.project.history()) == newest
        current = self.project.document()
        for state in left:
            found = rewound(current, self.project.change_between(state, newest), state)
            assert without_ids(parts(found)) == without_ids(self.states[state])
        self._forget_what_was_cut(newest - edits)

    def _forget_what_was_cut(self, newest_merged: int) -> None:
        whole = {edit.group for edit in self.project.history() if not edit.is_cut}
        for stack in (self.undos, self.redos):
            lost = [group for group in stack if group not in whole]
            assert all(group <= newest_merged for group in lost)
            stack[:] = [group for group in stack if group in whole]

    def any_state(self, seed: int) -> int:
        """Choose a state that was not merged into another."""
        known = (0, *states(self.project))
        return known[seed % len(known)]


TestCompactingMachine = CompactingMachine.TestCase
TestCompactingMachine.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
