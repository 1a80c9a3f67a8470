"""A disk that is full, and folders on other computers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.errors import ProjectError
from metl_gui.store.creation import copy_file
from metl_gui.store.project_file import ProjectFile
from metl_gui.store.sqlite.connection import is_on_network
from tests.helpers.small_disks import fill, small_disk_in
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing

MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
tmpfs /run tmpfs rw 0 0
server:/export /mnt/team nfs4 rw,vers=4.2 0 0
//server/share /mnt/with\\040space cifs rw 0 0
/dev/sdb1 /mnt/team/local xfs rw 0 0
someone@host: /home/a/far fuse.sshfs rw 0 0
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    with small_disk_in(tmp_path / "disk", "1m") as folder:
        yield folder


def edit_until_full(editing: Editing) -> ProjectError:
    """Add versions until the disk refuses one."""
    with pytest.raises(ProjectError) as caught:  # noqa: PT012 - which of them is refused depends on the disk
        for number in range(10_000):
            editing.schema("s", str(number), *(f"attribute_{number}_{at}" for at in range(50)))
    return caught.value


def test_a_full_disk_refuses_the_edit_and_keeps_what_was_committed(small_disk: Path) -> None:
    with ProjectFile.create(small_disk / "fx.metl") as project:
        editing = Editing(project)
        editing.small_world()
        told = edit_until_full(editing)
        assert "The disk is full: fx.metl could not be written" in str(told)
        assert "Free some space" in told.hint
        assert parts(project.document()) == parts(editing.document)
    with ProjectFile.open(small_disk / "fx.metl", for_editing=False) as project:
        assert parts(project.document()) == parts(editing.document)


def test_editing_goes_on_when_there_is_room_again(small_disk: Path) -> None:
    with ProjectFile.create(small_disk / "fx.metl") as project:
        editing = Editing(project)
        editing.small_world()
        filler = fill(small_disk)
        edit_until_full(editing)
        filler.unlink()
        before = editing.document.state
        editing.schema("after", "1", "a")
        assert project.state() == before + 1


def test_no_project_is_made_on_a_full_disk(small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(ProjectError, match="The disk is full"):
        ProjectFile.create(small_disk / "fx.metl")
    assert [found.name for found in small_disk.iterdir()] == ["filler"]


def test_a_copy_that_does_not_fit_is_told_by_its_own_name_and_leaves_nothing(small_disk: Path, tmp_path: Path) -> None:
    with ProjectFile.create(tmp_path / "fx.metl"):
        pass
    fill(small_disk)
    with pytest.raises(ProjectError, match=r"The disk is full: copy\.metl could not be written") as caught:
        copy_file(tmp_path / "fx.metl", small_disk / "copy.metl")
    assert str(small_disk) in caught.value.text
    assert [found.name for found in small_disk.iterdir()] == ["filler"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/a/fx.metl", False),
        ("/mnt/team/fx.metl", True),
        ("/mnt/team/deep/er/fx.metl", True),
        ("/mnt/team/local/fx.metl", False),
        ("/mnt/with space/fx.metl", True),
        ("/home/a/far/fx.metl", True),
        ("/run/fx.metl", False),
    ],
)
def test_the_nearest_mount_decides_whether_a_path_is_on_a_network(path: str, expected: bool) -> None:
    assert is_on_network(Path(path), MOUNTS) is expected


@pytest.mark.parametrize(("far", "mode"), [(False, "wal"), (True, "delete")])
def test_on_a_network_folder_the_rollback_journal_is_used(
    path: Path, far: bool, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metl_gui.store.sqlite.connection.is_on_network", lambda _: far)
    with ProjectFile.create(path) as project:
        Editing(project).small_world()
        assert project._connection.execute("PRAGMA journal_mode").fetchone() == (mode,)
        assert project._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.state() == 4
