"""Project files of earlier versions say today what they said then, and go on being edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compatibility.answers import ORDERS, QUESTIONS, ask, lacking
from tests.compatibility.installed import Installed, write_project

OLDER = Path(__file__).parents[2] / "cases" / "projects"
HASH = "2534ad0f459ea1f37ab8f74fde920d34a5123818e8cb5de0eca7a494422f7298"
TITLES = [
    "Undo: Add fx.payments version 2",
    "Add fx.payments version 2",
    "Map 3 elements of fx.payments 1 → payment 1",
    "Add payment version 1",
    "Add fx.payments version 1",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_command_says_of_a_kept_project_all_that_its_own_version_said(looked_at: Installed, question: str) -> None:
    then = looked_at.json(f"answers/{question}.json")
    assert list(lacking(then, ask(looked_at, question))) == []


def test_the_newest_edit_of_a_kept_project_is_taken_back_and_brought_again(kept: Installed) -> None:
    before = kept.metl("show", kept.project)
    versions = "fx.fees.tariff version 1 and 2 more"
    assert kept.metl("undo", kept.project)["title"] == f"Undo: Add {versions}"
    assert kept.metl("show", kept.project)["versions"] == before["versions"] - 3
    assert kept.metl("redo", kept.project)["title"] == f"Redo: Add {versions}"
    now = kept.metl("show", kept.project)
    assert {name: now[name] for name in ("versions", "elements", "hash")} == {
        name: before[name] for name in ("versions", "elements", "hash")
    }


def test_an_import_that_was_interrupted_in_a_kept_project_goes_on_to_its_end(kept: Installed) -> None:
    done = kept.metl("resume", kept.project)
    assert [(one["name"], one["version"]) for one in done["added"]] == [
        ("fx.fees.tariff", str(number)) for number in range(4, 7)
    ]
    found = kept.metl("search", kept.project, "--versions", "fx.fees.tariff")
    assert found["schema"] == "fx.fees.tariff"
    assert not any(one["code"] == "project.import-unfinished" for one in kept.metl("check", kept.project)["problems"])


def test_a_decision_that_waited_in_a_kept_project_is_taken_confirmed_by_a_second_person_and_published(
    kept: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = f"{ORDERS}@5:ledger_entry@2.0.0"
    (item,) = (one for one in kept.metl("review", kept.project)["items"] if one["block"]["schema"] == ORDERS)
    assert (item["assigned_to"], item["postponed"]) == ("Bob Example", True)
    assert [lost["from"] for lost in item["lost"]] == ["legacy_code"]
    kept.metl("review", kept.project, "--accept-loss", block, "legacy_code")
    assert not any(one["block"]["schema"] == ORDERS for one in kept.metl("review", kept.project)["items"])
    assert "Nobody has confirmed it" in kept.metl("publish", kept.project, codes=[1])["error"]["text"]
    monkeypatch.setenv("METL_USER", "Bob")
    kept.metl("review", kept.project, "--confirm", block)
    published = kept.metl("publish", kept.project, "--name", "after all")
    newest = kept.metl("history", kept.project)["states"][0]
    assert (newest["state"], newest["named"], newest["published"]) == (published["state"], "after all", True)


@pytest.mark.parametrize("version", range(1, 7))
def test_a_project_file_of_an_older_shape_has_the_state_and_the_history_that_it_was_left_with(
    version: int, tmp_path: Path
) -> None:
    installed = Installed(OLDER, tmp_path)
    write_project(installed.project, (OLDER / f"version-{version}.sql").read_text("utf-8"))
    shown = installed.metl("show", installed.project)
    assert (shown["state"], shown["elements"], shown["hash"]) == (5, 3, HASH)
    assert [entry["title"] for entry in installed.metl("history", installed.project)["states"]] == TITLES
    assert installed.metl("redo", installed.project)["title"] == "Redo: Add fx.payments version 2"
