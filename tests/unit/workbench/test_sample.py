"""Copies of the sample project: fresh ones, and those that a person has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError, RunCancelled
from metl_gui.workbench.demo.sample import fresh_copy, prepare_demo
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import forget_old_runs, run_folder, runs_folder, samples_folder

from .conftest import declare


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_the_demo_adds_the_waiting_version_and_finds_two_blocks_to_review(home: Path) -> None:
    prepared = prepare_demo()
    assert prepared.folder.project.is_relative_to(home)
    assert [(added.name, added.version) for added in prepared.imported.added] == [("fx.payments.orders", "5")]
    assert prepared.imported.blocks == {"same": 0, "smaller": 2, "emptied": 0, "first": 0}
    lost = {item.block.entity: [each.element.from_path for each in item.lost] for item in prepared.review.items}
    assert lost == {"payment": ["customer_id", "legacy_code"], "ledger_entry": ["legacy_code"]}
    assert Path(prepared.request.source.address).is_dir()


def test_the_sample_states_where_local_times_hold() -> None:
    with Workbench.open(fresh_copy().project, for_editing=False) as workbench:
        zones = {one.name: one.setting("time_zone") for one in workbench.document.extraction.schemas()}
    assert {zone for zone in zones.values() if zone} == {"UTC"}
    assert sum(map(bool, zones.values())) == 4


def test_a_copy_that_nobody_changed_is_replaced() -> None:
    first = prepare_demo().folder
    assert prepare_demo().folder == first
    assert [path.name for path in samples_folder().iterdir()] == ["fx"]


def test_a_copy_that_somebody_edited_stays_and_the_new_one_gets_a_number() -> None:
    first = prepare_demo().folder
    with Workbench.open(first.project) as workbench:
        workbench.do(AddVersion(Side.CDM, declare("fee", "1", "a")))
        state = workbench.document.state
    second = fresh_copy()
    assert (second.path.name, second.project.name) == ("fx-2", "fx.metl")
    with Workbench.open(first.project) as workbench:
        assert workbench.document.state == state


def test_a_copy_with_somebodys_file_in_it_stays() -> None:
    first = fresh_copy()
    (first.path / "notes.txt").write_text("mine")
    assert fresh_copy().path.name == "fx-2"
    assert (first.path / "notes.txt").read_text() == "mine"


def test_a_copy_that_is_open_for_editing_stays() -> None:
    first = fresh_copy()
    with Workbench.open(first.project):
        assert fresh_copy().path != first.path


def test_a_cancelled_copy_leaves_nothing() -> None:
    seen: list[object] = []
    with pytest.raises(RunCancelled):
        fresh_copy(watch=Watch(seen.append, lambda: len(seen) > 20))
    assert list(samples_folder().iterdir()) == []


def test_a_data_folder_that_is_a_file_is_said_to_be_the_trouble(home: Path) -> None:
    (home / "data").write_text("in the way")
    with pytest.raises(ProjectError, match="cannot be copied"):
        fresh_copy()


def test_run_folders_are_forgotten_after_their_time() -> None:
    folder = runs_folder("project") / "20200101-000000-abcdef"
    folder.mkdir(parents=True)
    assert forget_old_runs("project") == 0
    assert forget_old_runs("project", kept_seconds=-1) == 1
    assert not folder.exists()
    assert forget_old_runs("nothing") == 0


@pytest.mark.parametrize("id_", ["/", "..", ".", "", "../..", "a/b", "a\\b", "C:", "-r", "x" * 65, "\0", "\n"])
def test_an_id_that_is_no_name_leads_to_no_other_folder(id_: str) -> None:
    assert runs_folder(id_).parent == runs_folder("project").parent
    assert run_folder("project", id_).parent == runs_folder("project")
    assert runs_folder(id_).name not in ("", ".", "..")


def test_the_runs_of_a_project_whose_id_is_a_path_leave_that_path_alone(tmp_path: Path) -> None:
    (tmp_path / "precious" / "old").mkdir(parents=True)
    assert forget_old_runs(str(tmp_path / "precious"), kept_seconds=-1) == 0
    assert (tmp_path / "precious" / "old").is_dir()
