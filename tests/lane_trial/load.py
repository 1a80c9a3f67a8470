"""A process that writes changes into a topic, at a rate or as fast as it can: ``python -m tests.lane_trial.load``.

It is a process of its own, so that it does not wait for whoever measures.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from confluent_kafka import Producer

from metl_gui.engine.kafka.topic_messages import PARTITIONER
from tests.benchmarks.live_load import Change, avro_changes, changes

_DIFFERENT = 20_000
_STEP_SECONDS = 0.002
_ROOT = Path(__file__).resolve().parents[2]

Form: TypeAlias = Literal["json+schema", "json", "avro"]


class Load(msgspec.Struct, frozen=True):
    """What is written.

    Args:
        bootstrap, topic: where to.
        records: how many.
        rate: how many a second; 0 for as fast as it goes.
        versions: of the schema.
        form: of keys and values; JSON as Connect writes it with schemas or without, or Avro.
    """

    bootstrap: str
    topic: str
    records: int
    rate: float = 0.0
    versions: int = 1
    form: Form = "json+schema"


def start(load: Load) -> subprocess.Popen[bytes]:
    """Start the process; it ends when everything is written."""
    command = [sys.executable, "-m", "tests.lane_trial.load", msgspec.json.encode(load).decode()]
    return subprocess.Popen(command, cwd=_ROOT)


def _made(load: Load) -> Iterator[Change]:
    count = min(load.records, _DIFFERENT)
    if load.form == "avro":
        return avro_changes(count, load.versions)
    return changes(count, load.versions, load.form == "json+schema")


def write(load: Load) -> None:
    """Write everything."""
    producer = Producer(
        {
            "bootstrap.servers": load.bootstrap,
            "linger.ms": 5 if load.rate else 20,  # what Kafka's own producers do
            "compression.type": "lz4",
            "partitioner": PARTITIONER,
            "acks": "all",
            "enable.idempotence": True,
            "queue.buffering.max.kbytes": 262_144,
        }
    )
    made = list(_made(load))
    began = time.monotonic()
    for done, change in enumerate(islice(cycle(made), load.records), 1):
        while True:
            try:
                producer.produce(load.topic, change.value, change.key)
                break
            except BufferError:
                producer.poll(0.05)
        if load.rate and done >= (time.monotonic() - began) * load.rate:
            producer.poll(0)
            time.sleep(_STEP_SECONDS)
    producer.flush()


if __name__ == "__main__":
    write(msgspec.json.decode(sys.argv[1], type=Load))
