"""What lies below the user's cache, data and settings folders is for that user alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sinks.jsonl import JsonlParts
from metl_gui.own_files import cache_folder, data_folder, settings_folder
from metl_gui.workbench.demo.sample import fresh_copy
from metl_gui.workbench.profiles.saved_profiles import Profile, save_profile
from metl_gui.workbench.samples.cache import KeptSample, SampleCache
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import close_to_others, request_stop, run_folder
from tests.helpers.run_specs import run_spec


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of a person who lets everybody read."""
    for name in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    before = os.umask(0o022)
    yield tmp_path
    os.umask(before)


def open_to_others(*folders: Path) -> list[str]:
    """List what others may look into, with its mode."""
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    assert found
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in found if not path.is_symlink()}
    return [f"{mode:o} {path}" for path, mode in modes.items() if mode & 0o077]


def modes_of(folder: Path) -> dict[str, str]:
    found = (folder, *folder.rglob("*"))
    return {path.relative_to(folder).as_posix(): f"{stat.S_IMODE(path.stat().st_mode):o}" for path in found}


def write_parts(spec: RunSpec) -> None:
    """Write what a run does: a message, a record that was set aside and one kept beside its message."""
    RunFolder(Path(spec.policy.folder)).create(spec)
    staging = Staging(spec)
    staging.prepare()
    assert staging.messages_partial is not None
    written: list[str] = []
    for root, names in (
        (staging.messages_partial, ("order",)),
        (staging.errors_partial, ("reason=malformed",)),
        (staging.samples_partial, ()),
    ):
        parts = JsonlParts(root, "part-0")
        parts.append(names, [b"{}\n"])
        written += parts.close()
    staging.commit(written)
    RunFolder(Path(spec.policy.folder)).append_event(b"{}")


def spec_of(sink: Path, errors: str = "") -> RunSpec:
    folder = run_folder("project", "20260101-000000-abcdef")
    return run_spec(
        run_id="20260101-000000-abcdef", plan=b"{}", source="s", sink=str(sink), folder=str(folder), errors=errors
    )


def test_nobody_else_reads_what_a_run_keeps(home: Path) -> None:
    write_parts(spec_of(home / "out"))
    request_stop(run_folder("project", "20260101-000000-abcdef"))
    folder = run_folder("project", "20260101-000000-abcdef")
    assert {path.name for path in folder.iterdir()} >= {"spec.json", "events.jsonl", "errors", "samples"}
    assert open_to_others(cache_folder()) == []


def test_outputs_where_a_person_asked_for_them_are_as_open_as_the_person_wants(home: Path) -> None:
    write_parts(spec_of(home / "out", str(home / "aside")))
    assert modes_of(home / "out") == {".": "755", "order": "755", "order/part-0.jsonl": "644"}
    assert modes_of(home / "aside") == {
        ".": "755",
        "reason=malformed": "755",
        "reason=malformed/part-0.jsonl": "644",
    }


def test_outputs_of_the_demo_beside_its_project_are_closed() -> None:
    write_parts(spec_of(data_folder() / "samples" / "fx" / "out"))
    assert open_to_others(data_folder()) == []


def test_nobody_else_reads_kept_samples_profiles_or_the_demos_copy() -> None:
    SampleCache("project").write(1, [KeptSample.of(b"{}", when_ms=1)])
    save_profile(Profile(name="shop", target="kafka://host:9092"))
    fresh_copy()
    assert open_to_others(cache_folder(), data_folder(), settings_folder()) == []


def test_a_project_in_a_persons_folder_is_as_open_as_the_person_wants(home: Path) -> None:
    Workbench.create(home / "mine.metl").close()
    assert stat.S_IMODE((home / "mine.metl").stat().st_mode) == 0o644


def old_cache() -> Path:
    """What version 0.1.0 left: everything open, a program among it."""
    part = cache_folder() / "runs" / "p" / "r" / "samples" / "part-0.jsonl"
    part.parent.mkdir(parents=True)
    part.write_text("{}\n")
    program = cache_folder() / "components" / "program"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    return part


def test_what_earlier_versions_left_open_is_closed_when_a_command_begins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    old_cache()
    assert main(["profile", "list"]) == 0
    assert capsys.readouterr().err == ""
    assert open_to_others(cache_folder()) == []
    assert stat.S_IMODE((cache_folder() / "components" / "program").stat().st_mode) == 0o700


def test_it_is_closed_once_and_what_a_person_opens_afterwards_stays_open() -> None:
    part = old_cache()
    close_to_others()
    part.chmod(0o644)
    close_to_others()
    assert stat.S_IMODE(part.stat().st_mode) == 0o644


def test_nothing_that_a_link_leads_to_is_closed(home: Path) -> None:
    outside = home / "outside"
    outside.mkdir()
    (outside / "file").write_text("")
    part = old_cache()
    (part.parent / "link").symlink_to(outside)
    (part.parent / "file").symlink_to(outside / "file")
    close_to_others()
    assert modes_of(outside) == {".": "755", "file": "644"}


def test_a_cache_that_is_not_there_is_not_made() -> None:
    close_to_others()
    assert not cache_folder().exists()
