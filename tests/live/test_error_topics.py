"""What is set aside into a topic is found there again: as version tasks, as what a replay is for, and as samples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from metl_gui.engine.kafka.inspection import count_live_rows, first_records
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.workbench.importing.version_tasks import (
    accept_task,
    collect_tasks,
    sample_records,
    version_tasks,
    waiting_stores,
)
from metl_gui.workbench.runs.mapping_run import PRODUCTION
from metl_gui.workbench.runs.replay import StillWaiting, what_waits
from metl_gui.workbench.session import Workbench

pytestmark = pytest.mark.live


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench.create(tmp_path / "shop.metl") as opened:
        yield opened


def send(broker: KafkaBroker, topic: str, *messages: tuple[bytes, bytes | None, dict[str, str]]) -> None:
    """Send messages with their headers, and wait until the broker has them."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": "0"})
    for key, value, headers in messages:
        producer.produce(
            topic, value, key, partition=0, headers=[(name, text.encode()) for name, text in headers.items()]
        )
    assert producer.flush(60) == 0


def _set_aside(schema: str, offset: int, reason: str) -> dict[str, str]:
    told = {"metl.reason": reason, "metl.detail": "no version fits", "metl.state": "7", "metl.schema": schema}
    return told | {"metl.version": "", "metl.position": f"{schema}/0/{offset}"}


def test_a_version_that_waits_in_an_error_topic_becomes_a_task_and_no_other_reason_does(
    kafka: KafkaBroker, own_name: str, workbench: Workbench
) -> None:
    schema, errors = f"{own_name}.public.orders", f"{own_name}-errors"
    rows = [b'{"before":null,"after":{"id":%d,"channel":"web"},"op":"c"}' % number for number in range(3)]
    told = [_set_aside(schema, 10 + number, "unknown_schema") for number in range(2)]
    told.append(_set_aside(schema, 12, "type_mismatch"))
    send(kafka, errors, *[(b'{"id":1}', row, why) for row, why in zip(rows, told, strict=True)])
    address = kafka.address(errors)

    collect_tasks(workbench, address, "run-1")
    (task,) = version_tasks(workbench)
    assert (task.schema, task.records) == (schema, 2)
    assert [one.path for one in task.declaration.attributes] == ["id", "channel"]
    assert waiting_stores(task) == (address,)
    shown = [json.loads(record) for record in sample_records(workbench, task)]
    assert [(one["topic"], one["offset"], one["value"]["after"]["id"]) for one in shown] == [
        (schema, 10, 0),
        (schema, 11, 1),
    ]
    assert what_waits(address, PRODUCTION) == StillWaiting(("type_mismatch", "unknown_schema"), is_untouched=True)

    accept_task(workbench, task.id)
    assert version_tasks(workbench) == ()


def test_an_error_topic_that_is_not_there_holds_nothing_to_replay(kafka: KafkaBroker, own_name: str) -> None:
    assert what_waits(kafka.address(f"{own_name}-none"), PRODUCTION) == StillWaiting()


def test_rows_of_a_topic_are_counted_by_the_place_of_their_source_and_not_by_their_order(
    kafka: KafkaBroker, own_name: str
) -> None:
    def sent(key: int, op: str, offset: int) -> tuple[bytes, bytes, dict[str, str]]:
        document = {"op": op, "key": {"id": key}, "source": {"position": f"orders/0/{offset}"}}
        return b"%d" % key, json.dumps(document).encode(), {}

    late = sent(1, "u", 3)  # replayed after the delete that came behind it
    tombstone: tuple[bytes, None, dict[str, str]] = (b"1", None, {})
    send(kafka, own_name, sent(1, "c", 1), sent(2, "c", 2), sent(1, "d", 4), tombstone, late, sent(3, "c", 5))
    assert count_live_rows(kafka.servers, kafka.address(own_name)) == 2
    first = [json.loads(line) for line in first_records(kafka.servers, (own_name, f"{own_name}-none"), 2)]
    assert [(one["offset"], one["value"]["key"]["id"]) for one in first] == [(0, 1), (1, 2)]
