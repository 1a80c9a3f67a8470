"""Topics that are followed into a warehouse: stopped and begun again, each message is loaded once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka import Producer

from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.warehouse.read_progress import stored_progress
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.loads.targets import find_target
from metl_gui.workbench.loads.warehouse_loads import audit_warehouse
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.session import Workbench
from tests.helpers.lanes import LaneWorld
from tests.helpers.run_requests import run_request
from tests.spark.test_followed_warehouse import Follower, messages_of

pytestmark = pytest.mark.live


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFolder:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return fresh_copy()


def test_a_topic_is_followed_from_where_the_target_is(
    kafka: KafkaBroker, own_name: str, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name)
    with Workbench.open(sample.project, for_editing=False) as workbench:
        request = run_request(str(sample.messages / "payments.jsonl"), str(tmp_path / "messages"))
        folder = Path(run_mapping(workbench, request, spark).report.outputs) / "payment"
    records = [line for part in sorted(folder.glob("*.jsonl")) for line in part.read_bytes().splitlines()]
    address = f"kafka://{kafka.bootstrap}/{world.source}"
    target = f"duckdb:{tmp_path / 'fx.duckdb'}"

    def put(some: list[bytes]) -> None:
        writer = Producer(dict(kafka.servers.client_settings))
        for number, record in enumerate(some):
            writer.produce(world.source, record, str(number))
        writer.flush()

    source = SourceSpec(address=address, holds="messages", follow=True)
    half = len(records) // 2
    put(records[:half])
    first = Follower(sample.project, spark, source, target)
    first.until(lambda loads: messages_of(loads) > 0)
    began = first.stop()

    put(records[half:])
    second = Follower(sample.project, spark, source, target)
    second.until(lambda loads: len(loads) > 0 and read_to(target, address) == len(records))
    more = second.stop()
    with Workbench.open(sample.project, for_editing=False) as workbench:
        assert audit_warehouse(workbench, target).problems == ()
    assert began.load.appended > 0
    assert more.load.appended > 0
    assert began.load.repeated == more.load.repeated == 0
    assert began.load.appended + more.load.appended == len(records)
    assert began.run.report.read + more.run.report.read >= len(records)


def read_to(target: str, address: str) -> int:
    """Return how many offsets the target has behind it."""
    with find_target(target, "fx").open() as opened:
        places = stored_progress(opened, address).places
    return sum(json.loads(known)["read_to"] for known in places.values())
