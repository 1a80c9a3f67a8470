"""A process that writes changes into a topic, at a rate or as fast as it can: ``python -m tests.lane_trial.load``.

It is a process of its own, so that it does not wait for whoever measures.
"""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path

import msgspec
from confluent_kafka import Producer

from metl_gui.engine.kafka.outgoing import PARTITIONER
from tests.benchmarks.live_load import changes

_DIFFERENT = 20_000
_STEP_SECONDS = 0.002
_ROOT = Path(__file__).resolve().parents[2]


class Load(msgspec.Struct, frozen=True):
    """What is written.

    Args:
        bootstrap, topic: where to.
        records: how many.
        rate: how many a second; 0 for as fast as it goes.
        versions: of the schema.
        has_schemas: each value carries its schema, as Connect writes it.
    """

    bootstrap: str
    topic: str
    records: int
    rate: float = 0.0
    versions: int = 1
    has_schemas: bool = True


def start(load: Load) -> subprocess.Popen[bytes]:
    """Start the process; it ends when everything is written."""
    command = [sys.executable, "-m", "tests.lane_trial.load", msgspec.json.encode(load).decode()]
    return subprocess.Popen(command, cwd=_ROOT)


def write(load: Load) -> None:
    """Write everything."""
    producer = Producer(
        {
            "bootstrap.servers": load.bootstrap,
            "linger.ms": 1 if load.rate else 20,
            "compression.type": "lz4",
            "partitioner": PARTITIONER,
            "acks": "all",
            "enable.idempotence": True,
            "queue.buffering.max.kbytes": 262_144,
        }
    )
    made = list(changes(min(load.records, _DIFFERENT), load.versions, load.has_schemas))
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
