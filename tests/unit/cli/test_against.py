"""``metl check --against``: exit codes and documents of a dry run on the sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from tests.unit.cli.test_commands import ORDERS, Metl, metl, project

__all__ = ["metl", "project"]

WAITING = packaged.sample_projects() / "fx" / "waiting"


def test_a_version_that_would_hurt_confirmed_blocks_ends_with_3_and_is_not_added(metl: Metl, project: Path) -> None:
    state = metl("show", project)[1]["state"]
    code, document, _ = metl("check", project, "--against", WAITING)
    assert code == 3
    assert [(each["name"], each["version"]) for each in document["added"]] == [(ORDERS, "5")]
    assert {block["verdict"] for block in document["blocks"]} == {"smaller"}
    assert all(block["was_confirmed"] for block in document["blocks"])
    assert [problem["code"] for problem in document["problems"]][-1] == "trial.block-smaller"
    assert metl("show", project)[1]["state"] == state


def test_a_version_that_is_there_already_ends_with_0(metl: Metl, project: Path) -> None:
    code, document, _ = metl("check", project, "--against", packaged.sample_projects() / "fx" / "schemas")
    assert (code, document["added"], document["problems"]) == (0, [], [])
    assert document["unchanged"]


def test_sources_that_are_all_refused_end_with_1(metl: Metl, project: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    code, document, said = metl("check", project, "--against", tmp_path / "bad.json")
    assert code == 1
    assert len(document["refused"]) == 1
    assert "every source was refused" in said


def test_the_text_names_the_block_the_loss_and_what_may_have_become_of_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(project), "--against", str(WAITING)]) == 3
    said = capsys.readouterr().out
    assert f"trial.block-smaller {ORDERS}@5:payment@2.0.0: It would lose" in said
    assert "Perhaps customer_id is called customer_ref there" in said
    assert said.rstrip().endswith("Nothing was written.")
