"""What lanes of earlier versions wrote into topics and offsets is read as it was meant, without any broker."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metl_gui.core.runs.report import Tally
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.records import Announced, ChunkKey, KeyedRecord
from metl_gui.engine.lanes.coordination.state import CoordinationState
from metl_gui.engine.lanes.offset_metadata import decoded_base, read_metadata
from metl_gui.engine.lanes.order import PartitionId, counts_key, lane_topic
from tests.compatibility.topics import KeptMessage, read_messages, read_offsets

GROUP = "kept-orders"
LANES = (GROUP, "kept-wide", "kept-wider")


def messages(kept: Path, lane: str) -> list[KeptMessage]:
    return read_messages(kept / "topics" / f"{lane}.jsonl.xz")


def agreed(kept: Path) -> list[KeyedRecord]:
    """Return what stood in the topic by which the lanes of the project agreed."""
    return [
        KeyedRecord(one.offset, 0, (one.key or b"").decode(), one.value)
        for one in messages(kept, GROUP)
        if one.topic.endswith(".state")
    ]


def tally_of(kept: Path, lane: str) -> Tally:
    """Add up what a lane counted, from its offsets and from its topic."""
    total = Tally()
    for one in read_offsets(kept / "topics" / f"{lane}-offsets.json"):
        note = read_metadata(one.metadata)
        assert note is not None
        total.add(note.tally)
        if note.base:
            key = counts_key(PartitionId(one.topic, one.partition)).encode()
            bases = dict(_numbered(each.value) for each in messages(kept, lane) if each.key == key)
            total.add(decoded_base(bases[note.base]))
    return total


def _numbered(value: bytes | None) -> tuple[int, bytes]:
    number, _, counts = (value or b"").partition(b"\n")
    return int(number), counts


@pytest.mark.parametrize("lane", LANES)
def test_the_counts_of_a_kept_lane_are_those_of_the_messages_in_its_topics(kept_version: Path, lane: str) -> None:
    offsets = read_offsets(kept_version / "topics" / f"{lane}-offsets.json")
    counted, found = tally_of(kept_version, lane), messages(kept_version, lane)
    sent = Counter(one.topic for one in found if one.value is not None or not one.headers)
    sink, errors = ("kept.out", "kept.errors") if lane == GROUP else (f"{lane}.out", f"{lane}.errors")
    assert counted.read == counted.mapped + counted.filtered + counted.set_aside + counted.skipped
    assert counted.messages_out == sent[sink]
    assert counted.set_aside == sent[errors]
    if lane != GROUP:  # which was set back, and counts what it repeated
        assert counted.read == sum(one.offset for one in offsets)
        ((entity, columns),) = counted.by_attribute.items()
        assert (entity, set(columns.values())) == ("order@1", {10})


def test_the_offsets_of_kept_lanes_hold_their_counts_plain_packed_and_in_the_topic(kept_version: Path) -> None:
    plain, packed, elsewhere = (
        read_offsets(kept_version / "topics" / f"{lane}-offsets.json")[0].metadata for lane in LANES
    )
    note, packed_note, short_note = (read_metadata(text) for text in (plain, packed, elsewhere))
    assert plain.startswith("{")
    assert packed.startswith("z:")
    assert note is not None
    assert packed_note is not None
    assert short_note is not None
    assert (note.base, packed_note.base) == (0, 0)
    assert short_note.base > 0
    report = json.loads((kept_version / "topics" / f"{GROUP}-report.json").read_bytes())["report"]
    assert (note.run, note.states, note.hash) == (report["run_id"], (report["state"],), report["hash"])
    assert note.order


def test_the_report_of_a_kept_lane_is_what_its_offsets_add_up_to(kept_version: Path) -> None:
    report = json.loads((kept_version / "topics" / f"{GROUP}-report.json").read_bytes())["report"]
    counted = tally_of(kept_version, GROUP)
    for name in ("read", "mapped", "filtered", "set_aside", "skipped", "messages_out", "by_entity", "by_attribute"):
        assert getattr(counted, name) == report[name], name


def test_every_record_by_which_kept_lanes_agreed_is_read_and_written_as_it_stood(kept_version: Path) -> None:
    kinds: Counter[str] = Counter()
    for entry in agreed(kept_version):
        word = log.read(entry.key, entry.value)
        assert word is not None, entry.key
        kinds[entry.key.partition("/")[0]] += 1
        if not isinstance(word.key, ChunkKey):
            value: Any = word.value
            assert json.loads(log.encoded(value)) == json.loads(entry.value or b"")
    assert kinds.keys() == {"plan", "announced", "member", "change", "frozen", "set-back", "obeyed"}


def test_the_kept_agreement_is_on_the_announced_state_whose_plan_is_there_whole(kept_version: Path) -> None:
    entries = agreed(kept_version)
    words = [log.read(entry.key, entry.value) for entry in entries]
    (announced,) = (word.value for word in words if word is not None and isinstance(word.value, Announced))
    chunks = {
        word.key.number: word.value
        for word in words
        if word is not None and isinstance(word.key, ChunkKey) and isinstance(word.value, bytes)
    }
    plan = log.joined(chunks, announced)
    assert plan is not None
    assert plans.decode(plan).state == announced.state
    fold = CoordinationState.of(entries, 0, 0)
    assert (fold.state_in_force, fold.is_frozen) == (announced, False)


@pytest.mark.parametrize("lane", LANES[1:])
def test_a_kept_plan_is_read_and_written_as_it_was(kept_version: Path, lane: str) -> None:
    text = (kept_version / "topics" / f"{lane}-plan.json").read_bytes()
    assert msgspec.json.decode(plans.encode(plans.decode(text))) == msgspec.json.decode(text)


@pytest.mark.parametrize("lane", LANES)
def test_the_topic_of_a_lane_is_still_named_after_its_group(kept_version: Path, lane: str) -> None:
    found = [one for one in messages(kept_version, lane) if one.topic == lane_topic(lane)]
    assert {(one.key or b"").partition(b"/")[0] for one in found} >= {b"stop"}
