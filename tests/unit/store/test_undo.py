"""The cursor over the edit log."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.errors import EditError
from metl_gui.store.edit_log import COMMAND, DOORS, WINDOW
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.contents import Parts, parts
from tests.unit.store.editing import Editing


def content(editing: Editing) -> Parts:
    """What the file holds, without the numbers that only grow."""
    return {key: part for key, part in parts(editing.project.document()).items() if key[0] not in ("state", "ids")}


def test_undo_and_redo_walk_the_log_both_ways(editing: Editing) -> None:
    editing.small_world()
    whole = content(editing)
    titles = [edit.title for edit in editing.project.history()]
    assert [editing.undo_newest() for _ in range(4)] == titles
    assert content(editing) == {}
    assert editing.project.undo_candidate() is None
    assert [editing.redo_newest() for _ in range(4)] == titles[::-1]
    assert content(editing) == whole
    assert editing.project.redo_candidate() is None
    assert editing.project.state() == 12


def test_the_same_edit_can_be_undone_and_redone_many_times_under_one_title(editing: Editing) -> None:
    editing.small_world()
    for _ in range(4):
        assert editing.undo_newest() == "Add fx.payments version 2"
        assert editing.redo_newest() == "Add fx.payments version 2"
    assert editing.project.history(1)[0].title == "Redo: Add fx.payments version 2"


def test_a_new_edit_clears_redo(editing: Editing) -> None:
    editing.small_world()
    editing.undo_newest()
    editing.schema("other", "1", "a")
    assert editing.project.redo_candidate() is None
    assert [editing.undo_newest() for _ in range(2)] == [
        "Add other version 1",
        "Map 3 elements of fx.payments 1 → payment 1",
    ]


def test_undo_survives_a_restart(editing: Editing, path: Path) -> None:
    editing.small_world()
    editing.undo_newest()
    editing.project.close()
    with ProjectFile.open(path, for_editing=True) as project:
        again = Editing(project)
        assert again.redo_newest() == "Add fx.payments version 2"
        assert again.undo_newest() == "Add fx.payments version 2"
        assert again.undo_newest() == "Map 3 elements of fx.payments 1 → payment 1"


def test_a_gesture_of_several_states_is_taken_back_as_one(editing: Editing) -> None:
    editing.schema("s", "1", "a")
    before = content(editing)
    editing.schema("s", "2", "a", "b")
    editing.group = editing.last_group
    editing.schema("s", "3", "a", "b", "c")
    editing.schema("s", "4", "a", "b", "d")
    editing.group = None
    whole = content(editing)
    candidate = editing.project.undo_candidate()
    assert candidate is not None
    assert (candidate.group, candidate.states, candidate.title) == (2, 3, "Import 3 versions")
    editing.undo_newest()
    assert content(editing) == before
    assert editing.project.state() == 5
    assert editing.redo_newest() == "Import 3 versions"
    assert content(editing) == whole
    assert editing.undo_newest() == "Import 3 versions"


def test_the_window_does_not_take_back_what_a_command_did(editing: Editing) -> None:
    editing.schema("by window", "1", "a")
    editing.door = COMMAND
    editing.schema("by command", "1", "a")
    window, both = editing.project.undo_candidate((WINDOW,)), editing.project.undo_candidate(DOORS)
    assert window is not None
    assert both is not None
    assert (window.title, both.title) == ("Add by window version 1", "Add by command version 1")


def test_what_a_command_took_back_is_not_offered_to_the_window_again(editing: Editing) -> None:
    editing.schema("s", "1", "a")
    editing.door = COMMAND
    editing.undo_newest()
    assert editing.project.undo_candidate((WINDOW,)) is None
    assert editing.project.redo_candidate((WINDOW,)) is None
    assert editing.project.redo_candidate(DOORS) is not None


def test_what_was_changed_since_by_another_door_stands_in_the_way_of_undo(editing: Editing) -> None:
    editing.small_world()
    editing.door = COMMAND
    editing.schema("fx.payments", "3", "id:int64")
    editing.door = WINDOW
    group = editing.project.undo_candidate()
    assert group is not None
    with pytest.raises(EditError, match=r"Changed since: fx\.payments"):
        editing.undo_group(group)
    assert editing.project.state() == editing.document.state == 5


def test_any_group_can_be_taken_back_from_the_history(editing: Editing) -> None:
    editing.schema("s", "1", "a")
    editing.schema("t", "1", "a")
    group = editing.project.group_of(1)
    assert group is not None
    editing.undo_group(group)
    assert [schema.name for schema in editing.project.document().extraction.schemas()] == ["t"]
    assert editing.project.group_of(99) is None


def test_the_history_names_every_state_and_is_read_in_pages(editing: Editing) -> None:
    editing.small_world()
    editing.undo_newest()
    first = editing.project.history(limit=2)
    second = editing.project.history(limit=2, below=first[-1].state)
    assert [(edit.state, edit.undoes) for edit in first + second] == [(5, 4), (4, None), (3, None), (2, None)]
    assert {edit.door for edit in first} == {WINDOW}
    assert first[1].who == "tester"
