"""Lanes of earlier versions go on, on a real broker, from what those versions wrote into topics and offsets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui.stack.kafka import KafkaBroker
from metl_gui.workbench.runs.production import find_run, stop_run
from metl_gui.workbench.session import Workbench
from tests.compatibility.installed import Installed, install
from tests.compatibility.topics import (
    KeptMessage,
    KeptOffset,
    forget,
    messages_of,
    read_messages,
    read_offsets,
    restore,
    send,
)
from tests.helpers.killing import end_everything
from tests.helpers.lanes import LaneThreads, LaneWorld, again, until

pytestmark = pytest.mark.live

GROUP = "kept-orders"
WIDE = ("kept-wide", "kept-wider")
SINK = "kept.out"


@pytest.fixture
def lane(
    kept_version: Path, kafka: KafkaBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installed]:
    """The project with its lane that was stopped, and the topics as they were then."""
    installed = install(kept_version, tmp_path, ["topics/run.tar.xz"], kafka.bootstrap)
    for name, value in installed.environment.items():
        monkeypatch.setenv(name, value)
    found, offsets = of_lane(kept_version, GROUP)
    restore(kafka.bootstrap, found, offsets)
    yield installed
    forget(kafka.bootstrap, {one.topic for one in found})


def of_lane(kept: Path, name: str) -> tuple[list[KeptMessage], list[KeptOffset]]:
    """Return what stood in the topics of a lane and what its group had committed."""
    topics = kept / "topics"
    return read_messages(topics / f"{name}.jsonl.xz"), read_offsets(topics / f"{name}-offsets.json")


def test_a_kept_lane_goes_on_where_its_offsets_say_and_no_record_is_missing_or_sent_twice(
    lane: Installed, kafka: KafkaBroker
) -> None:
    then = json.loads((lane.kept / "topics" / f"{GROUP}-report.json").read_bytes())["report"]
    before = list(messages_of(kafka.bootstrap, [SINK]))
    unsent = read_messages(lane.kept / "topics" / f"{GROUP}-unsent.jsonl.xz")
    with Workbench.open(lane.project) as workbench:
        run = find_run(workbench.project_id, then["run_id"])
    lane.metl("runs", lane.project, "--resume", run.run_id, "--detach")
    try:
        send(kafka.bootstrap, unsent)
        until(lambda: shown(lane, run.run_id)["read"] >= then["read"] + len(unsent), "the last record")
        stop_run(run, 60)
    finally:
        end_everything(run)
    report, now = shown(lane, run.run_id), list(messages_of(kafka.bootstrap, [SINK]))
    assert report["read"] == then["read"] + len(unsent)
    assert report["mapped"] + report["filtered"] + report["set_aside"] + report["skipped"] == report["read"]
    assert report["messages_out"] == sum(one.value is not None for one in now)
    assert not Counter(map(content, before)) - Counter(map(content, now))
    new = Counter(map(place, now)) - Counter(map(place, before))
    committed = {(one.topic, one.partition): one.offset for one in of_lane(lane.kept, GROUP)[1]}
    assert new
    assert set(new.values()) == {1}
    assert all(offset >= committed[topic, partition] for topic, partition, offset, _, _ in new)


@pytest.mark.parametrize("name", WIDE)
def test_the_counts_of_a_kept_lane_go_on_from_those_beside_its_offsets(
    kept_version: Path, kafka: KafkaBroker, name: str
) -> None:
    plan = (kept_version / "topics" / f"{name}-plan.json").read_bytes()
    found, offsets = of_lane(kept_version, name)
    world = LaneWorld(kafka.servers, name, partitions=1)
    restore(kafka.bootstrap, found, offsets)
    try:
        assert world.tally().read == 10
        world.send([(one.key, one.value) for one in found if one.topic == world.source][:5])
        with LaneThreads(world.order(plan), plan):
            world.wait_for_read(15)
        tally = world.tally()
        assert (tally.read, tally.messages_out) == (15, 15)
        assert set(tally.by_attribute["order@1"].values()) == {15}
        sent = world.sent(world.sink)
        assert (len(sent), again(sent)) == (15, [])
    finally:
        forget(kafka.bootstrap, {one.topic for one in found} | {world.sink, world.errors})


def shown(lane: Installed, run_id: str) -> dict[str, Any]:
    """Return the report of a lane, so far or at its end."""
    return dict(lane.metl("runs", lane.project, "--show", run_id)["report"])


def content(one: KeptMessage) -> tuple[bytes | None, bytes | None, object]:
    """Tell what a consumer reads of a message."""
    return one.key, one.value, one.headers


def place(one: KeptMessage) -> tuple[str, int, int, object, bool]:
    """Tell which record a message comes from, of which entity it is, and whether it is a tombstone."""
    topic, partition, offset = dict(one.headers)["metl.position"].decode().split("/")  # type: ignore[union-attr]
    return topic, int(partition), int(offset), one.key, one.value is None
