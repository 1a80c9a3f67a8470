"""A project file that is deleted, replaced or overwritten while it is open is noticed before anything is written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from metl_gui.core.differences.document_difference import compare_by_names
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError
from metl_gui.store import lease
from metl_gui.store.file_identity import Presence
from metl_gui.store.project_file import ProjectFile, read_project_id
from metl_gui.store.sqlite.connection import connect, writing
from metl_gui.workbench.session import Workbench
from tests.helpers.world import declare
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing

LOGS = ("-wal", "-shm")
_STRANGER = """\
import sys
from pathlib import Path
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.editing import Editing
with ProjectFile.create(Path(sys.argv[1]), "grace") as project:
    Editing(project).small_world()
    print("made", flush=True)
    sys.stdin.readline()
    project._connection.close()  # as a kill would, with its log
"""


@pytest.fixture(params=[False, True], ids=["with a log", "without a log, as on a network"])
def path(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("metl_gui.store.sqlite.connection.is_on_network", lambda _: request.param)
    return tmp_path / "fx.metl"


@pytest.fixture
def backup(path: Path) -> Path:
    """A copy of the project, made while nobody had it open."""
    with ProjectFile.create(path, "ada") as project:
        Editing(project).schema("before", "1", "a")
    return shutil.copyfile(path, path.with_name("backup.metl"))


@pytest.fixture
def open_editing(path: Path, backup: Path) -> Iterator[Editing]:
    """The project open for editing, with edits that the backup has not."""
    assert backup.exists()
    with ProjectFile.open(path, for_editing=True, who="ada") as project:
        editing = Editing(project)
        editing.small_world()
        assert (path.with_name("fx.metl-wal")).exists() is (project._presence._is_logged)
        yield editing


def refused(editing: Editing) -> str:
    """Try to edit; what the person is told, the same for whatever writes or reads."""
    with pytest.raises(ProjectError) as caught:
        editing.schema("after", "1", "a")
    for act in (editing.project.beat, editing.project.state, lambda: editing.project.kept.runs.add({"run_id": "r"})):
        with pytest.raises(ProjectError) as again:
            act()
        assert str(again.value) == str(caught.value)
    assert "Save a copy as" in caught.value.hint
    return caught.value.text


def names(path: Path) -> set[str]:
    return {found.name for found in path.parent.iterdir()}


def saved_whole(editing: Editing, target: Path) -> None:
    """Save a copy of all there is, and edit that."""
    assert editing.project.save_copy(target)
    with ProjectFile.open(target, for_editing=True) as copy:
        assert parts(copy.document()) == parts(editing.document)
        assert len(copy.history()) == editing.document.state
        assert Editing(copy).undo_newest() == "Add fx.payments version 2"


@pytest.mark.parametrize("gone", [(), LOGS])
def test_a_deleted_project_is_told_saved_and_let_go_without_a_trace(
    path: Path, open_editing: Editing, gone: tuple[str, ...]
) -> None:
    for ending in ("", *gone):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    assert refused(open_editing).startswith("It was deleted")
    saved_whole(open_editing, path.with_name("saved.metl"))
    open_editing.project.close()
    assert names(path) == {"backup.metl", "saved.metl"}


@pytest.mark.parametrize("gone", [(), LOGS])
def test_a_file_that_was_put_in_the_place_of_a_project_is_left_as_it_is(
    path: Path, backup: Path, open_editing: Editing, gone: tuple[str, ...]
) -> None:
    content = backup.read_bytes()
    for ending in gone:
        path.with_name(path.name + ending).unlink(missing_ok=True)
    backup.rename(path)
    assert refused(open_editing).startswith("Another file was put in its place")
    saved_whole(open_editing, path.with_name("saved.metl"))
    open_editing.project.close()
    assert path.read_bytes() == content
    assert names(path) == {"fx.metl", "saved.metl"}
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.state() == 1


@pytest.mark.parametrize("gone", [(), LOGS])
def test_a_backup_that_is_copied_over_an_open_project_stays_what_it_is(
    path: Path, backup: Path, open_editing: Editing, gone: tuple[str, ...]
) -> None:
    for ending in gone:
        path.with_name(path.name + ending).unlink(missing_ok=True)
    number = path.stat().st_ino
    shutil.copyfile(backup, path)
    assert path.stat().st_ino == number
    assert refused(open_editing).startswith("Another one was copied over it, a backup perhaps")
    open_editing.project.close()
    assert path.read_bytes() == backup.read_bytes()
    assert names(path) == {"fx.metl", "backup.metl"}
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.state() == 1
        Editing(project).small_world()


def test_a_copy_that_was_made_while_the_project_was_open_and_is_put_back_over_it_is_noticed(
    path: Path, open_editing: Editing
) -> None:
    copy = shutil.copyfile(path, path.with_name("copy.metl"))
    open_editing.schema("more", "1", "a")
    open_editing.project._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    open_editing.schema("more", "2", "b")
    shutil.copyfile(copy, path)
    assert refused(open_editing).startswith("Another one was copied over it")
    open_editing.project.close()
    assert path.read_bytes() == copy.read_bytes()


def test_a_copy_that_was_saved_while_the_project_was_open_and_is_put_back_over_it_is_noticed(
    path: Path, open_editing: Editing
) -> None:
    copy = path.with_name("copy.metl")
    open_editing.project.save_copy(copy)
    open_editing.schema("more", "1", "a")
    shutil.copyfile(copy, path)
    assert refused(open_editing).startswith("Another one was copied over it")
    open_editing.project.close()
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.state() == 5


def test_what_is_shown_is_saved_even_after_another_file_was_copied_over_the_project(
    path: Path, backup: Path, tmp_path: Path
) -> None:
    with Workbench.open(path, who="ada") as workbench:
        workbench.do(AddVersion(Side.CDM, declare("payment", {"key": None}, "1")))
        shutil.copyfile(backup, path)
        with pytest.raises(ProjectError, match="is not where it was opened"):
            workbench.do(AddVersion(Side.CDM, declare("payment", {"key": None}, "2")))
        shown = workbench.document
        assert not workbench.save_copy(tmp_path / "saved.metl")
    with Workbench.open(tmp_path / "saved.metl") as saved:
        assert compare_by_names(shown, saved.document).is_empty
        with Workbench.open(backup, for_editing=False) as other:
            assert not compare_by_names(saved.document, other.document).is_empty


def test_a_moved_project_is_told_and_goes_on_when_it_is_back(path: Path, open_editing: Editing) -> None:
    away = path.rename(path.with_name("away.metl"))
    assert refused(open_editing).startswith("It was moved or renamed")
    away.rename(path)
    open_editing.schema("after", "1", "a")
    assert parts(open_editing.project.document()) == parts(open_editing.document)


def test_a_project_that_was_moved_still_says_which_one_it_is(path: Path, open_editing: Editing) -> None:
    before = open_editing.project.project_id
    away = path.rename(path.with_name("away.metl"))
    assert open_editing.project.project_id == before == read_project_id(away)


def test_a_project_that_is_closed_after_it_was_moved_has_all_its_edits_where_it_is(
    path: Path, backup: Path, open_editing: Editing
) -> None:
    away = path.rename(path.with_name("away.metl"))
    open_editing.project.close()
    assert names(path) == {"away.metl", "backup.metl"}
    with ProjectFile.open(away, for_editing=False) as project:
        assert parts(project.document()) == parts(open_editing.document)
        if open_editing.project._presence._is_logged:  # else SQLite itself refuses to write to a file that was moved
            assert project.holder() is None
    assert backup.exists()


def test_the_log_of_another_program_that_made_the_project_anew_is_not_taken_away(
    path: Path, open_editing: Editing
) -> None:
    for ending in ("", *LOGS):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    command = [sys.executable, "-c", _STRANGER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stranger:
        assert stranger.stdout is not None
        assert stranger.stdin is not None
        assert stranger.stdout.readline() == "made\n"
        before = {name: (path.parent / name).stat().st_ino for name in names(path)}
        assert refused(open_editing).startswith("Another file was put in its place")
        open_editing.project.close()
        assert {name: (path.parent / name).stat().st_ino for name in names(path)} == before
        stranger.kill()
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.state() == 4


def test_a_reader_refuses_to_write_into_another_file(path: Path, backup: Path) -> None:
    with ProjectFile.open(path, for_editing=False) as project:
        backup.rename(path)
        content = path.read_bytes()
        with pytest.raises(ProjectError, match="Another file was put in its place"):
            project.kept.runs.add({"run_id": "r"})
    assert path.read_bytes() == content


def test_the_file_is_known_again_wherever_its_lease_goes(path: Path, open_editing: Editing) -> None:
    for number in range(9):
        open_editing.schema(f"more{number}", "1", *(f"attribute_{number}_{at}" for at in range(300)))
        if number % 3 == 1:
            open_editing.project.give_room_back()
        elif number % 3 == 2:
            open_editing.project._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert open_editing.project._presence._at is not None
    shutil.copyfile(path.with_name("backup.metl"), path)
    assert "copied over" in refused(open_editing)


@pytest.mark.parametrize("process_id", [0, 1, 2, 127, 128, 40_000, 4_194_304])
def test_a_lease_is_found_in_the_file_whatever_the_number_of_its_process_is(path: Path, process_id: int) -> None:
    ProjectFile.create(path).close()
    connection = connect(path)
    holder = replace(lease.LeaseHolder.here("Ada"), process_id=process_id)
    with writing(connection):
        lease.take(connection, holder)
    presence = Presence(path, connection)
    presence.follow_lease(holder)
    assert presence.loss() is None
    assert presence._at is not None
    connection.close()


def test_a_file_without_the_lease_is_looked_through_once_until_it_changes(
    path: Path, open_editing: Editing, monkeypatch: pytest.MonkeyPatch
) -> None:
    presence = open_editing.project._presence
    holder = replace(lease.LeaseHolder.here("Ada"), process_id=7)
    looks: list[bytes] = []
    monkeypatch.setattr(presence, "_at", None)

    def places(mark: bytes) -> Iterator[int]:
        looks.append(mark)
        return iter(())

    monkeypatch.setattr(presence, "_places", places)
    assert [presence._seen_ms(holder) for _ in range(3)] == [None] * 3
    assert len(looks) == 1
    os.utime(path)
    assert presence._seen_ms(holder) is None
    assert len(looks) == 2


def test_a_name_that_is_taken_or_is_none_of_a_project_is_not_given_to_a_copy(path: Path, open_editing: Editing) -> None:
    with pytest.raises(ProjectError, match="is there already"):
        open_editing.project.save_copy(path)
    with pytest.raises(ProjectError, match="is not a name for a project file"):
        open_editing.project.save_copy(path.with_name("copy.db"))
    assert open_editing.project.save_copy(path.with_name("copy.metl"))
    assert names(path) >= {"fx.metl", "copy.metl"}
