"""Lanes go on while what surrounds them is away, and map again what a connector repeats."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import partial
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.runs.run_spec import PlanState
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.lanes.coordination.announcements import announce, begin_lane
from metl_gui.stack.apicurio import ApicurioRegistry
from metl_gui.stack.component import ask
from metl_gui.stack.connect import ConnectWorker
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.stack.postgres import PostgresServer
from metl_gui.workbench.importing.remote_sources import ImportFilter
from metl_gui.workbench.importing.source_watch import (
    SourceLost,
    SourceRestored,
    VersionsAdded,
    Watcher,
    WatchEvent,
    into_file,
)
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.review.decisions import confirm_unconfirmed
from metl_gui.workbench.runs.mapping_run import PRODUCTION, pin
from metl_gui.workbench.session import Workbench
from tests.helpers.lanes import LaneThreads, LaneWorld, again, change, order_plan, until
from tests.helpers.run_specs import changed
from tests.live.conftest import WatchTables

pytestmark = pytest.mark.live


def published(path: Path) -> PlanState:
    """Confirm and publish what a project has, as lanes take it up."""
    with Workbench.open(path) as workbench:
        confirm_unconfirmed(workbench)
        publish(workbench)
        pinned = pin(workbench, PRODUCTION)
    return pinned.mapping


def map_all(path: Path, schema: str) -> None:
    """Map a schema's version one by one to an entity of the same attributes."""
    with Workbench.open(path) as workbench:
        source = workbench.document.extraction.named(schema)
        assert source is not None
        columns = workbench.document.extraction.version(source.version_ids[-1]).attributes
        declared = tuple(AttributeDeclaration(one.path, one.type) for one in columns)
        workbench.do(AddVersion(Side.CDM, VersionDeclaration("order", declared, "1", key=("id",))))
        (target,) = workbench.document.cdm.schemas()
        wanted = workbench.document.cdm.version(target.version_ids[-1])
        pairs = tuple(Element(to.id, at.id) for to, at in zip(wanted.attributes, columns, strict=True))
        workbench.do(SetElements((source.version_ids[-1], wanted.id), pairs))


def test_a_lane_goes_on_while_its_registry_is_down_and_maps_what_waited_once_that_is_back(
    kafka: KafkaBroker, apicurio: ApicurioRegistry, own_name: str, tmp_path: Path
) -> None:
    world, path = LaneWorld(kafka.servers, own_name, partitions=1), tmp_path / "shop.metl"
    Workbench.create(path).close()
    events: list[WatchEvent] = []
    take = into_file(path, Side.EXTRACTION)
    watcher = Watcher(apicurio.v3, take, events.append, 1.0, ImportFilter((f"{world.source}*",)))

    def register(*fields: str) -> None:
        listed = [{"name": name, "type": "string" if name == "city" else "long"} for name in fields]
        schema = {"type": "record", "name": "Value", "namespace": world.source, "fields": listed}
        subject = f"{apicurio.confluent}/subjects/{world.source}-value/versions"
        ask("POST", subject, {"schema": json.dumps(schema)})

    register("id", "amount")
    watcher.look()
    map_all(path, world.source)
    first = published(path)
    order = world.order(first.plan, first.state, hash=first.hash, publication=first.publication, wait_seconds=100.0)
    begin_lane(kafka.servers, own_name, order.group, first)
    with LaneThreads(msgspec.structs.replace(order, run=changed(order.run, matrix=own_name)), first.plan):
        world.send([change(1)])
        world.wait_for_read(1)
        apicurio.kill()
        watcher.look()
        world.send([change(2), change(3, city="Ulm")])
        until(lambda: any(note.is_waiting for _, note in world.notes().values()), "the wait")
        assert watcher.look() > 1
        assert watcher.is_away
        assert world.tally().read == 2
        apicurio.restart()
        register("id", "amount", "city")
        until(lambda: bool(watcher.look()) and watcher.added == 2, "the version")
        second = published(path)
        assert announce(kafka.servers, own_name, second)
        world.wait_for_read(3)
    assert [type(event) for event in events] == [VersionsAdded, SourceLost, SourceRestored, VersionsAdded]
    found = [(one.document["payload"]["id"], int(one.headers["metl.state"])) for one in world.sent(world.sink)]
    assert found == [(1, first.state), (2, first.state), (3, second.state)]
    assert not world.sent(world.errors)


def test_changes_that_debezium_repeats_are_mapped_again_with_the_origin_of_what_they_repeat(
    kafka: KafkaBroker, postgres: PostgresServer, connect: ConnectWorker, debezium: WatchTables, own_name: str
) -> None:
    world, offsets = LaneWorld(kafka.servers, own_name), connect.folder / "offsets"
    world.source = f"{own_name}.public.{own_name}"
    world.make(world.source)
    postgres.execute(f"CREATE TABLE {own_name} (id int PRIMARY KEY, amount int)")
    debezium([f"public.{own_name}"], own_name)
    plan = order_plan(world.source)

    def write(first: int, last: int, sql: str = "") -> None:
        postgres.execute(f"INSERT INTO {own_name} SELECT n, n FROM generate_series({first}, {last}) n;{sql}")

    def is_noted(before: bytes) -> bool:
        return offsets.exists() and offsets.read_bytes() != before

    with LaneThreads(world.order(plan), plan):
        for number in (1, 2):  # what is noted the second time is of a change, and not of the snapshot before
            noted = offsets.read_bytes() if offsets.exists() else b""
            write(number, number)
            world.wait_for_read(number)
            until(partial(is_noted, noted), "a note of it")
        kept = offsets.rename(offsets.with_name("kept"))
        offsets.mkdir()  # nothing can be noted from now on
        write(3, 52, f"UPDATE {own_name} SET amount = amount + 1 WHERE id > 32; DELETE FROM {own_name} WHERE id = 3")
        before = 2 + 50 + 20 + 2  # a tombstone stands behind the delete
        world.wait_for_read(before)
        connect.kill()
        offsets.rmdir()
        kept.rename(offsets)
        connect.restart()
        write(53, 53)
        until(lambda: any(one.document["key"] == {"own": {"id": 53}} for one in world.sent(world.sink)), "the last row")
    found = world.sent(world.sink)
    assert not again(found)
    by_origin = defaultdict(list)
    for one in found:
        told = one.document
        by_origin[json.dumps([told["key"], told["op"], told["source"]["origin"]])].append(told["payload"])
    assert len(by_origin) == 2 + 50 + 20 + 1 + 1
    assert len(found) > len(by_origin)
    assert all(payload == payloads[0] for payloads in by_origin.values() for payload in payloads)
    tally = world.tally()
    assert (tally.read, tally.mapped, tally.set_aside) == (len(found) + tally.skipped, len(found), 0)
