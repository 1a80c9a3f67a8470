"""Attributes that came or went, on the review list of the command line, and the commands that answer."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from tests.unit.cli.test_commands import Metl, metl

__all__ = ["metl"]
SAMPLE = packaged.sample_projects() / "fx" / "warehouse.yaml"
HEAD = "schema,schema_version,attribute,entity,entity_version,cdm_attribute"


@pytest.fixture
def project(metl: Metl, mapped: Path, tmp_path: Path) -> Path:
    """The sample with its model, and a version more of the customer with two attributes more, which a schema feeds."""
    metl("warehouse", "import", mapped, SAMPLE)
    assert (
        metl("entity", mapped, "change", "customer", "--add", "tier:string", "score:integer", "--label", "3.0.0")[0]
        == 0
    )
    ddl = tmp_path / "crm.sql"
    ddl.write_text("CREATE TABLE crm (customer_id integer PRIMARY KEY, tier text, score integer);", encoding="utf-8")
    (added,) = metl("import", mapped, "--tree", "extraction", ddl)[1]["added"]
    csv = tmp_path / "crm.csv"
    rows = [
        f"{added['name']},{added['version']},{name},customer,3.0.0,{name}" for name in ("customer_id", "tier", "score")
    ]
    csv.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    assert metl("map", mapped, "--csv", csv)[0] == 0
    return mapped


def asked(metl: Metl, project: Path) -> Any:
    code, document, _ = metl("review", project, "--list")
    assert code == 0
    return document["warehouse"]


def said(project: Path, capsys: pytest.CaptureFixture[str], beginning: str) -> list[str]:
    """Return the commands that the list names on lines with a beginning."""
    capsys.readouterr()
    assert main(["review", str(project)]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    return [line.removeprefix(beginning) for line in lines if line.startswith(beginning)]


def carry_out(metl: Metl, command: str, project: Path) -> None:
    assert metl(*shlex.split(command.removeprefix("metl ").replace("PROJECT", shlex.quote(str(project)))))[0] == 0


NEW = {"model": "fx", "entity": "customer", "tables": ["customer"], "attributes": ["tier", "score"]}


def test_new_attributes_are_listed_and_the_command_that_the_list_names_adds_them_as_one_step(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(metl, project) == {"new_attributes": [NEW], "lost_attributes": [], "rebuilds": []}
    (head,) = said(project, capsys, "customer has 2 new attributes that no table of the warehouse fx takes: ")
    assert head == "tier, score"
    (command,) = said(project, capsys, "add: ")
    carry_out(metl, command, project)
    assert asked(metl, project)["new_attributes"] == []
    columns = metl("warehouse", "show", project)[1]["tables"][0]["columns"]
    assert [(one["name"], one["from"]) for one in columns[-2:]] == [("tier", "tier"), ("score", "score")]
    metl("undo", project)
    assert asked(metl, project)["new_attributes"] == [NEW]


def test_what_is_not_wanted_is_not_listed_until_that_is_undone(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = said(project, capsys, "not wanted: ")
    carry_out(metl, command, project)
    assert asked(metl, project)["new_attributes"] == []
    metl("undo", project)
    assert asked(metl, project)["new_attributes"] == [NEW]


def test_an_attribute_that_nothing_feeds_any_more_is_listed_and_taken_out(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metl("warehouse", "add-columns", project, "customer", "tier")
    assert metl("entity", project, "change", "customer", "--remove", "tier")[0] == 0
    (one,) = asked(metl, project)["lost_attributes"]
    assert one == {
        "model": "fx",
        "entity": "customer",
        "attribute": "tier",
        "uses": [{"table": "customer", "part": "column", "name": "tier"}],
    }
    (keep,) = said(project, capsys, "keep it so: ")
    (out,) = said(project, capsys, "take it out: ")
    carry_out(metl, keep, project)
    assert asked(metl, project)["lost_attributes"] == []
    metl("undo", project)
    carry_out(metl, out, project)
    assert asked(metl, project)["lost_attributes"] == []
    assert "tier" not in {one["name"] for one in metl("warehouse", "show", project)[1]["tables"][0]["columns"]}


@pytest.mark.parametrize(
    ("command", "name", "title"),
    [
        ("add-columns", "nothing", "customer cannot take nothing as a column."),
        ("add-columns", "address.country", "customer cannot take address.country as a column."),
        ("drop-columns", "customer_id", "customer declares no column customer_id."),
    ],
)
def test_what_a_table_cannot_take_or_lose_is_refused(
    metl: Metl, project: Path, command: str, name: str, title: str
) -> None:
    code, document, _ = metl("warehouse", command, project, "customer", name)
    assert (code, document["error"]["title"]) == (1, title)
    code, document, _ = metl("warehouse", command, project, "custom", name)
    assert "There is no table custom" in document["error"]["title"]
    assert "customer" in document["error"]["hint"]
