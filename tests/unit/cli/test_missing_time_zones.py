"""Schemas whose time zone a typed sink misses, on the review list of the command line."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import msgspec
import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from metl_gui.core.runs.run_spec import Format
from metl_gui.store.lease import LeaseHolder
from metl_gui.workbench.runs.production import ORDER, ProductionOrder
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import PROCESS, ProcessFacts, ProcessPhase, run_folder
from tests.helpers.run_specs import run_spec
from tests.unit.cli.test_commands import ORDERS, Metl, metl

__all__ = ["metl"]


@pytest.fixture
def project(metl: Metl, mapped: Path) -> Path:
    """The sample with its settings, and no run yet."""
    for line in (packaged.sample_projects() / "fx" / "settings.csv").read_text("utf-8").splitlines()[1:]:
        schema, name, value = line.split(",")
        assert metl("set", mapped, "--schema", schema, f"{name}={value}")[0] == 0
    return mapped


def keep_run(project: Path, format_: Format) -> None:
    """Keep a run with the project, as one that ends does."""
    with Workbench.open(project) as workbench:
        workbench.add_run({"run_id": format_}, [], msgspec.to_builtins(run_spec(format=format_).as_kept))


def missing(metl: Metl, project: Path) -> list[str]:
    code, document, _ = metl("review", project, "--list")
    assert code == 0
    return [one["schema"] for one in document["missing_time_zones"]]


def test_the_sample_states_its_zones_so_none_is_missing(metl: Metl, project: Path) -> None:
    keep_run(project, "parquet")
    assert missing(metl, project) == []


def test_a_zone_that_is_taken_away_is_missed_once_until_it_is_back(metl: Metl, project: Path) -> None:
    keep_run(project, "parquet")
    metl("set", project, "--schema", ORDERS, "time_zone=")
    document = metl("review", project, "--list")[1]
    (one,) = document["missing_time_zones"]
    assert one["schema"] == ORDERS
    assert {"from": "created_at", "entity": "payment", "to": "booked_at"} in one["attributes"]
    assert document["items"] == []
    metl("undo", project)
    assert missing(metl, project) == []
    metl("redo", project)
    assert missing(metl, project) == [ORDERS]


def test_nothing_is_missed_before_a_run_wrote_typed_columns(metl: Metl, project: Path) -> None:
    metl("set", project, "--schema", ORDERS, "time_zone=")
    keep_run(project, "jsonl")
    assert missing(metl, project) == []
    keep_run(project, "parquet")
    assert missing(metl, project) == [ORDERS]


def test_a_production_run_that_is_going_on_is_enough(metl: Metl, project: Path) -> None:
    metl("set", project, "--schema", ORDERS, "time_zone=")
    with Workbench.open(project) as workbench:
        folder = run_folder(workbench.project_id, "going")
    folder.mkdir(parents=True)
    spec = run_spec(run_id="going", folder=str(folder), mode="production", follow=True, format="parquet")
    order = ProductionOrder(kept=spec.as_kept, target="local[2]", project=str(project))
    (folder / ORDER).write_bytes(msgspec.json.encode(order))
    facts = ProcessFacts(run_id="going", holder=LeaseHolder.here("Ada"), phase=ProcessPhase.RUNNING)
    (folder / PROCESS).write_bytes(msgspec.json.encode(facts))
    assert missing(metl, project) == [ORDERS]
    shutil.rmtree(folder)  # every copy of the sample is this project


@pytest.mark.parametrize("answer", ["Europe/Berlin", "none"])
def test_the_commands_that_the_list_names_take_the_schema_off(
    metl: Metl, project: Path, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_run(project, "parquet")
    metl("set", project, "--schema", ORDERS, "time_zone=")
    assert main(["review", str(project)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{ORDERS}  states no time zone")
    (said,) = (line for line in lines if "metl set" in line)
    stated, none = (
        said.removeprefix("  state it: metl ").removesuffix(" where they hold in no one zone").split(", or metl ")
    )
    command = none if answer == "none" else stated.replace("NAME", answer)
    assert main(shlex.split(command.replace("PROJECT", shlex.quote(str(project))))) == 0
    capsys.readouterr()
    assert missing(metl, project) == []
