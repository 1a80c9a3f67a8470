"""Exports of a kept project are what its version wrote, and what that wrote is still read back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.compatibility.exports import FORMATS, content_of, export, files_of
from tests.compatibility.installed import Installed


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_of_a_kept_project_is_what_its_version_wrote(looked_at: Installed, tmp_path: Path, name: str) -> None:
    before, version = looked_at.root / "exports", looked_at.kept.name
    export(looked_at, name, tmp_path)
    assert files_of(tmp_path, name) == files_of(before, name)
    for file in files_of(before, name):
        assert content_of(tmp_path / file, version) == content_of(before / file, version), file


@pytest.mark.parametrize("name", ["mapping.json", "mapping.dusb"])
def test_a_kept_export_is_read_back_as_what_its_project_published(
    looked_at: Installed, tmp_path: Path, name: str
) -> None:
    export(looked_at, "mapping.json", tmp_path)
    before = looked_at.root / "exports" / name
    found = looked_at.metl("diff", before, tmp_path / "mapping.json")
    assert (found["blocks"], found["trees"]) == ([], [])
    problems = looked_at.metl("check", before, "--same-as", looked_at.project)["problems"]
    assert [one for one in problems if one["severity"] == "error"] == []


@pytest.mark.parametrize(("option", "name"), [("--csv", "mapping.csv"), ("--xlsx", "mapping.xlsx")])
def test_a_kept_table_sets_nothing_that_its_project_has_not_set(
    looked_at: Installed, tmp_path: Path, option: str, name: str
) -> None:
    table = shutil.copy(looked_at.root / "exports" / name, tmp_path)
    done = looked_at.metl("map", looked_at.project, option, table, "--dry-run")
    assert (done["set"], done["conflicts"]) == (0, [])
    assert done["unchanged"] > 400
