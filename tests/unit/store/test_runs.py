"""Runs, named states and refused proposals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.project.named_states import NamedState
from metl_gui.core.project.refusals import RefusedRename
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing

REPORT = {"run_id": "r1", "state": 4, "read": 10, "by_reason": {"malformed": 1}, "seconds": 1.5}


@dataclass(frozen=True)
class Counted:
    """An event as the engine makes them."""

    kind: str
    records: int


def test_a_run_is_read_back_with_its_report_and_events(editing: Editing, path: Path) -> None:
    editing.small_world()
    with ProjectFile.open(path, for_editing=False) as reader:
        assert reader.kept.runs.add(REPORT, [Counted("counted", 7), {"kind": "ended"}]) == "r1"
    [run] = editing.project.kept.runs.newest()
    assert (run.run_id, run.state, run.report) == ("r1", 4, REPORT)
    assert editing.project.kept.runs.events("r1") == [{"kind": "counted", "records": 7}, {"kind": "ended"}]
    assert editing.project.kept.runs.events("unknown") == []


def test_runs_come_newest_first_and_survive_a_restart(editing: Editing, path: Path) -> None:
    for number in range(5):
        editing.project.kept.runs.add({"run_id": f"r{number}"})
    editing.project.close()
    with ProjectFile.open(path, for_editing=False) as project:
        assert [run.run_id for run in project.kept.runs.newest(limit=3)] == ["r4", "r3", "r2"]


def test_a_run_makes_no_state_and_clears_no_redo(editing: Editing) -> None:
    editing.small_world()
    editing.undo_newest()
    before = parts(editing.project.document())
    editing.project.kept.runs.add(REPORT)
    assert parts(editing.project.document()) == before
    assert editing.project.redo_candidate() is not None


def test_a_run_without_an_id_is_given_one(editing: Editing) -> None:
    first, second = editing.project.kept.runs.add({}), editing.project.kept.runs.add({})
    assert first != second
    assert {run.run_id for run in editing.project.kept.runs.newest()} == {first, second}


def test_a_state_is_named_and_renamed_without_making_another_one(editing: Editing) -> None:
    editing.small_world()
    editing.project.name_state(3, "draft", EditContext("ada", 5))
    editing.project.name_state(3, "release", EditContext("bob", 6))
    assert editing.project.kept.states.named() == [NamedState(3, "release", "bob", 6)]
    assert editing.project.state() == 4
    assert [edit.name for edit in editing.project.history()] == ["", "release", "", ""]
    with pytest.raises(ProjectError, match="no state 5"):
        editing.project.name_state(5, "none", EditContext())


def test_a_refused_proposal_is_remembered_once(editing: Editing, path: Path) -> None:
    for _ in range(2):
        refused = RefusedRename(Side.EXTRACTION, 1, "legacy", "note")
        editing.project.kept.refused_renames.add([refused], EditContext("ada"))
    editing.project.close()
    with ProjectFile.open(path, for_editing=False) as project:
        assert list(project.kept.refused_renames.all()) == [(1, "legacy", "note")]
        assert project.state() == 0
