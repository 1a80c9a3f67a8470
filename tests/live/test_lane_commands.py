"""A lane in production, ordered by commands: each says first what it will do, and the lane obeys without a restart."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui.cli.main import main
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.runs.production import live_runs, start_production, stop_run
from metl_gui.workbench.session import Workbench
from tests.helpers.killing import end_everything
from tests.helpers.lanes import LaneWorld, Sent, change
from tests.helpers.run_requests import run_request

pytestmark = pytest.mark.live

Metl = Callable[..., tuple[int, Any]]
_SECONDS = 300.0
_COLUMNS = ("id", "amount", "note")


@pytest.fixture
def metl(capsys: pytest.CaptureFixture[str]) -> Metl:
    """Run a command with --json; gives the exit code and the document."""

    def run(*arguments: object) -> tuple[int, Any]:
        code = main([str(argument) for argument in (*arguments, "--json")])
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def world(kafka: KafkaBroker, own_name: str) -> LaneWorld:
    return LaneWorld(kafka.servers, own_name)


@pytest.fixture
def workbench(world: LaneWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A project with one table and one entity, published; no process of its runs outlives the test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Workbench.create(tmp_path / "shop.metl", who="Ada") as made:
        declared = tuple(AttributeDeclaration(path, "string", optional=path != "id") for path in _COLUMNS)
        made.do(AddVersion(Side.EXTRACTION, VersionDeclaration(world.source, declared, "1", key=("id",))))
        made.do(AddVersion(Side.CDM, VersionDeclaration("order", declared, "1")))
        map_columns(made, "id", "amount")
        publish(made)
        yield made
        for run in live_runs(made.project_id):
            stop_run(run, 20)
            end_everything(run)


def wait_for(is_so: Callable[[], bool]) -> None:
    """Wait for what a process does that first has to start Spark."""
    end = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def map_columns(workbench: Workbench, *columns: str) -> None:
    document = workbench.document
    (source,), (target,) = document.extraction.schemas(), document.cdm.schemas()
    p = {each.path: each.id for each in document.extraction.version(source.version_ids[-1]).attributes}
    q = {each.path: each.id for each in document.cdm.version(target.version_ids[-1]).attributes}
    ones = tuple(Element(q[path], p[path]) for path in columns)
    workbench.do(SetElements((source.version_ids[-1], target.version_ids[-1]), ones))


def states(found: list[Sent]) -> list[int]:
    """Return with which state each of the records 0 to n was mapped last."""
    newest = {one.document["payload"]["id"]: one.document["state"] for one in found}
    return [newest[number] for number in sorted(newest)]


def lane_of(world: LaneWorld, kafka: KafkaBroker) -> RunRequest:
    """Ask for a lane between the topics."""
    return run_request(
        kafka.address(world.source),
        kafka.address(world.sink),
        spark="local[2]",
        mode="production",
        errors=kafka.address(world.errors),
        follow=True,
        lane="fast",
        group=world.name,
        include_unconfirmed=True,
    )


def test_a_lane_in_production_is_frozen_rolled_back_and_set_back_by_commands_alive_and_stopped(
    workbench: Workbench, world: LaneWorld, kafka: KafkaBroker, metl: Metl
) -> None:
    project, first = workbench.path, workbench.document.state
    run = start_production(workbench, lane_of(world, kafka))

    def send(*numbers: int) -> None:
        sent = len(world.sent(world.sink))
        world.send(change(number, note="new") for number in numbers)
        wait_for(lambda: len(world.sent(world.sink)) == sent + len(numbers))

    send(*range(10))
    code, listed = metl("lane", "list", project)
    (lane,) = listed["lanes"]
    assert (code, lane["run_id"], lane["state"], lane["frozen"]) == (0, run.run_id, first, False)
    assert [member["state"] for member in lane["members"]] == [first] * 2

    map_columns(workbench, "note")
    second = publish(workbench).state
    assert metl("lane", "wait", project, "--state", second)[0] == 0
    send(*range(10, 20))
    assert {one.document["payload"].get("note") for one in world.sent(world.sink)} == {None, "new"}

    code, would = metl("lane", "freeze", project)
    assert (code, would["done"], would["records"]) == (3, False, 0)
    assert metl("lane", "list", project)[1]["lanes"][0]["frozen"] is False
    assert metl("lane", "freeze", project, "--yes")[1]["frozen"] is True

    code, would = metl("lane", "roll-back", project, "--state", first)
    assert (code, would["done"], would["records"]) == (3, False, 10)
    assert f"--to state:{second}" in would["would"]
    assert metl("lane", "roll-back", project, "--state", first, "--yes")[0] == 0
    assert metl("lane", "wait", project, "--state", first)[0] == 0
    send(*range(20, 30))
    assert states(world.sent(world.sink)) == [first] * 10 + [second] * 10 + [first] * 10

    # What the second state mapped is mapped again with the first.
    code, plan = metl("lane", "set-back", project, "--to", f"state:{second}")
    assert (code, plan["done"], plan["live"], plan["records"]) == (3, False, True, 20)
    assert all(part["from_ms"] for part in plan["partitions"] if part["records"])
    assert len(world.sent(world.sink)) == 30
    code, done = metl("lane", "set-back", project, "--to", f"state:{second}", "--yes")
    assert (code, done["waiting"]) == (0, 0)
    wait_for(lambda: len(world.sent(world.sink)) == 50)
    assert states(world.sent(world.sink)) == [first] * 30

    assert metl("lane", "wait", project, "--state", second, "--seconds", "0.1")[0] == 1
    assert metl("lane", "unfreeze", project, "--yes")[1]["frozen"] is False

    assert stop_run(run, 60)
    code, plan = metl("lane", "set-back", project, "--to", "earliest")
    assert (code, plan["live"], plan["records"]) == (3, False, 30)
    assert metl("lane", "set-back", project, "--to", "earliest", "--yes")[0] == 0
    assert {one.offset for one in world.committed.offsets().values()} == {0}
    assert metl("lane", "set-back", project, "--to", "earliest")[0] == 0
