"""Entities whose messages nobody could tell apart, or that would go where programs talk: refused by name."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from metl_gui.core.runs.kafka import LOAD_TOPICS, KafkaServers
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.checks.destinations import refuse_shared_places
from metl_gui.engine.execution.preconditions import check_run
from metl_gui.engine.kafka.topic_messages import topic_of
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.lanes.coordination.records import topic_of as agreement_topic
from metl_gui.engine.lanes.order import lane_topic
from metl_gui.engine.sinks.sink import folder_name
from metl_gui.errors import RunError
from tests.helpers.run_specs import run_spec

PROJECT = "0b5e4a56-6f0c-4f55-9d0f-7a4b8f0f6c11"


def spec_of(sink: str, *entities: str, errors: str = "") -> RunSpec:
    blocks = tuple(BlockPlan(entity, "1", (("id", "id"),)) for entity in entities)
    version = VersionPlan("1", "", ("id",), ("id",), key=("id",), blocks=blocks, is_inferred=True)
    plan = plans.encode(Plan(1, "h", (SchemaPlan("s", (version,)),)))
    return run_spec(run_id="r", plan=plan, source="/none", sink=sink, errors=errors, folder="/run", matrix=PROJECT)


def long_name_with_a_plain_hash() -> tuple[str, str]:
    """Return a name that is too long for a folder, and another one that is written as its shortened one."""
    for number in range(10_000):
        name = f"{number:0>130}"
        told = hashlib.sha256(name.encode()).hexdigest()[:16]
        if told[0] in "01" and told[1].isdigit():
            return name, f"{name[:30]}{chr(int(told[:2], 16))}{told[2:]}"
    raise AssertionError


def test_an_entity_that_is_called_as_the_topic_of_another_one_is_refused_with_both() -> None:
    topic = topic_of("metl.{entity}", "a b")
    for one, other in (("a b", topic.removeprefix("metl.")), ("shop.order", "shop_order")):
        with pytest.raises(RunError, match="would share a topic") as refused:
            refuse_shared_places(spec_of("kafka://h:1/metl.{entity}", one, other))
        assert repr(one) in refused.value.text
        assert repr(other) in refused.value.text
        assert "without {entity}" in refused.value.hint
        refuse_shared_places(spec_of("kafka://h:1/all", one, other))


@pytest.mark.parametrize(
    ("entity", "topic"),
    [
        (f"{PROJECT}.state", agreement_topic(PROJECT)),
        ("lane.mine", lane_topic("mine")),
        ("load.7", f"{LOAD_TOPICS}7"),
    ],
)
def test_an_entity_whose_topic_is_one_that_lanes_talk_by_is_refused_with_it(entity: str, topic: str) -> None:
    with pytest.raises(RunError, match="not its own") as refused:
        refuse_shared_places(spec_of("kafka://h:1/metl.{entity}", "order", entity))
    assert repr(entity) in refused.value.title
    assert topic in refused.value.text
    refuse_shared_places(spec_of("kafka://h:1/shop.{entity}", "order", entity))
    for spec in (spec_of(f"kafka://h:1/{topic}", "order"), spec_of("noop", "order", errors=f"kafka://h:1/{topic}")):
        with pytest.raises(RunError, match="takes no messages of a run"):
            refuse_shared_places(spec)


def test_entities_with_one_folder_are_refused_with_both(tmp_path: Path) -> None:
    one, other = long_name_with_a_plain_hash()
    assert folder_name(one) == folder_name(other)
    with pytest.raises(RunError, match="would share a folder") as refused:
        refuse_shared_places(spec_of(str(tmp_path / "out"), one, other))
    assert repr(other) in refused.value.text
    refuse_shared_places(spec_of("noop", one, other))
    refuse_shared_places(spec_of(str(tmp_path / "out"), one, "Order", "order"))


def test_an_entity_whose_folder_is_that_of_set_aside_records_is_refused(tmp_path: Path) -> None:
    spec = spec_of(str(tmp_path / "out"), "order", "errors", errors=str(tmp_path / "out" / "errors"))
    with pytest.raises(RunError, match="'errors' and set-aside records"):
        refuse_shared_places(spec)
    refuse_shared_places(spec_of(str(tmp_path / "out"), "order", errors=str(tmp_path / "out" / "errors")))


def test_such_a_run_is_refused_before_it_looks_for_anything_else() -> None:
    with pytest.raises(RunError, match="would share a topic"):
        check_run(spec_of("kafka://127.0.0.1:1/metl.{entity}", "a b", "a_b-c8687a08"), "local[1]")


def test_a_checkpoint_in_the_home_folder_of_nobody_is_refused_by_its_name(tmp_path: Path) -> None:
    servers = (KafkaServers(bootstrap="127.0.0.1:1"),)
    place = {"sink": str(tmp_path / "out"), "checkpoint": "~nobody-at-all/x"}
    with pytest.raises(RunError, match="cannot be found") as refused:
        check_run(run_spec(source="kafka://127.0.0.1:1/t", follow=True, servers=servers, **place), "local[1]")
    assert "~nobody-at-all/x" in refused.value.text
