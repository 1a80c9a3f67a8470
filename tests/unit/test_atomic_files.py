"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.own_files import atomic_file, atomic_write, drop_partials


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("folder", "file"), [(0o755, 0o640), (0o700, 0o600)])
def test_a_file_is_as_open_as_the_umask_says_and_closed_in_a_closed_folder(
    tmp_path: Path, folder: int, file: int
) -> None:
    tmp_path.chmod(folder)
    atomic_write(tmp_path / "a", b"1")
    assert mode_of(tmp_path / "a") == file


@pytest.mark.parametrize("mode", [0o600, 0o666])
def test_a_file_with_a_mode_of_its_own_is_its_owners_alone_until_it_is_there(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(0o755)
    with atomic_file(tmp_path / "a", mode=mode) as partial:
        assert mode_of(partial) == 0o600
    assert mode_of(tmp_path / "a") == mode


@pytest.mark.parametrize("durable", [False, True])
def test_what_was_there_stays_until_the_new_content_is_whole(tmp_path: Path, durable: bool) -> None:
    atomic_write(tmp_path / "a", b"before")
    with atomic_file(tmp_path / "a", durable=durable) as partial:
        partial.write_bytes(b"after")
        assert (tmp_path / "a").read_bytes() == b"before"
    assert (tmp_path / "a").read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


@pytest.mark.parametrize("error", [OSError, ValueError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_what_was_there_and_nothing_beside_it(
    tmp_path: Path, error: type[BaseException]
) -> None:
    atomic_write(tmp_path / "a", b"before")

    def fail(partial: Path) -> None:
        partial.write_bytes(b"after")
        raise error

    with pytest.raises(error), atomic_file(tmp_path / "a") as partial:
        fail(partial)
    assert (tmp_path / "a").read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_a_file_that_should_be_new_replaces_none(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", b"first", is_new=True, durable=True)
    with pytest.raises(FileExistsError):
        atomic_write(tmp_path / "a", b"second", is_new=True, durable=True)
    assert (tmp_path / "a").read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "a") as partial:
        partial.rename(tmp_path / f".a.{'0' * 8}.partial")  # kept, as by a kill
    for name in ("a", ".a.json", ".ab.00000000.partial"):
        (tmp_path / name).touch()
    drop_partials(tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.json", ".ab.00000000.partial", "a"]


def test_an_error_names_the_file_and_not_the_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        atomic_write(tmp_path / "a", b"1")
    assert caught.value.filename == str(tmp_path / "a")
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_a_durable_file_is_on_the_disk_before_it_takes_its_name_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[Path, bool]] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        kept.append((Path(f"/proc/self/fd/{descriptor}").readlink(), (tmp_path / "a").exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    atomic_write(tmp_path / "a", b"1", durable=True)
    assert [(place == tmp_path, is_there) for place, is_there in kept] == [(False, False), (True, True)]
    atomic_write(tmp_path / "b", b"1")
    assert len(kept) == 2
