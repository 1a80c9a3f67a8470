"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from metl_gui.errors import ProjectError
from metl_gui.workbench.atomic_files import MANIFEST, whole_folder, write_whole


def make(path: Path, leavings: tuple[str, ...] = (), **files: str) -> None:
    with whole_folder(path, {"export": "x"}, leavings) as folder:
        for name, text in files.items():
            place = folder / name.replace("__", "/")
            place.parent.mkdir(exist_ok=True)
            place.write_text(text)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_a_folder_names_its_files_and_is_replaced_by_a_later_export(tmp_path: Path) -> None:
    make(tmp_path / "out", a="1", deep__b="2")
    assert json.loads((tmp_path / "out" / MANIFEST).read_text())["files"] == ["a", "deep/b", MANIFEST]
    make(tmp_path / "out", c="3")
    assert names(tmp_path / "out") == ["c", MANIFEST]
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("foreign", ["mine.txt", "deep/mine.txt", ".git/HEAD"])
def test_a_folder_with_anything_of_somebody_elses_is_left_as_it_is(tmp_path: Path, foreign: str) -> None:
    out = tmp_path / "out"
    make(out, a="1")
    (out / foreign).parent.mkdir(exist_ok=True)
    (out / foreign).write_text("mine")
    with pytest.raises(ProjectError, match=f"holds {foreign}, which no export put there"):
        make(out, a="2")
    assert ((out / "a").read_text(), (out / foreign).read_text()) == ("1", "mine")
    make(out, leavings=("mine.txt", "deep", ".git"), a="2")
    assert not (out / foreign).exists()


@pytest.mark.parametrize("manifest", ["{", "[]", '{"format": "metl-export"}', '{"format": "else", "files": ["a"]}'])
def test_a_folder_without_a_manifest_of_ours_is_not_ours(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("1")
    (tmp_path / "out" / MANIFEST).write_text(manifest)
    with pytest.raises(ProjectError, match="holds a and 1 more"):
        make(tmp_path / "out", a="2")


def test_a_folder_whose_writing_fails_leaves_the_one_before_and_nothing_beside_it(tmp_path: Path) -> None:
    make(tmp_path / "out", a="1")

    def fail() -> None:
        with whole_folder(tmp_path / "out", {}) as folder:
            (folder / "a").write_text("2")
            raise OSError(28, "No space left on device")

    with pytest.raises(ProjectError, match="No space left on device"):
        fail()
    assert (tmp_path / "out" / "a").read_text() == "1"
    assert names(tmp_path) == ["out"]


def test_what_appears_in_the_folder_while_the_new_one_is_written_is_not_lost(tmp_path: Path) -> None:
    make(tmp_path / "out", a="1")

    def overtaken() -> None:
        with whole_folder(tmp_path / "out", {}) as folder:
            (folder / "a").write_text("2")
            (tmp_path / "out" / "mine").write_text("mine")

    with pytest.raises(ProjectError, match="holds mine"):
        overtaken()
    assert (tmp_path / "out" / "a").read_text() == "1"


def test_an_empty_folder_and_a_link_to_an_export_take_an_export(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    make(tmp_path / "out", a="1")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    make(tmp_path / "link", a="2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out" / "a").read_text() == "2"


def test_a_folder_is_not_written_over_a_file_or_under_the_name_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ProjectError, match="is a file"):
        make(tmp_path / "file", a="1")
    with pytest.raises(ProjectError, match="name of a project"):
        make(tmp_path / "out.metl", a="1")
    with pytest.raises(ProjectError, match="cannot be written"):
        make(tmp_path / "absent" / "out", a="1")
    with pytest.raises(ProjectError, match="cannot be written"):
        make(tmp_path / ("x" * 300), a="1")


def test_a_link_to_a_file_stays_and_the_file_is_written(tmp_path: Path) -> None:
    file, link, chained = tmp_path / "deep" / "file", tmp_path / "link", tmp_path / "chained"
    file.parent.mkdir()
    link.symlink_to(Path("deep", "file"))
    chained.symlink_to(link)
    for place, text in ((link, b"new"), (link, b"replaced"), (chained, b"again")):
        write_whole(place, text)
        assert (link.is_symlink(), chained.is_symlink(), file.is_symlink()) == (True, True, False)
        assert file.read_bytes() == text
    assert names(file.parent) == ["file"]


def test_a_link_to_what_is_not_to_be_written_is_refused_and_stays(tmp_path: Path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    os.mkfifo(pipe)
    with (tmp_path / "open").open("wb") as held:
        for leads_to, said in (
            (tmp_path / "new.metl", "name of a project"),
            (tmp_path, "is a folder"),
            (pipe, "no regular file"),
            (Path("/dev/null"), "no regular file"),
            (Path("/dev/no-such-device"), "belongs to the system"),
            (Path(f"/proc/self/fd/{held.fileno()}"), "belongs to the system"),
            (link, "cannot be written"),
        ):
            link.symlink_to(leads_to)
            with pytest.raises(ProjectError, match=said):
                write_whole(link, b"1")
            assert link.readlink() == leads_to
            link.unlink()
    assert names(tmp_path) == ["open", "pipe"]
