"""Scenarios of commands: one record through a local run, and one through the task of a fast lane."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec  # type: ignore[attr-defined]

from tests.flows import names
from tests.flows.counting import Flow
from tests.flows.project import SAMPLE, build, metl, program
from tests.flows.tracing import Trace
from tests.helpers.own_package import ROOT, OwnPackage

FIRST, AGAIN, IDLE = 1, 2, 3
_KERNEL_CACHE = "METL_KERNEL_CACHE"
_MANY = 6000
"""So many records of a run make it go over to machine code."""
_GROUP = "flow"
_SINK = "flow."
"""How the topics of the entities begin."""
_QUIET_SECONDS = 3.0
_IDLE_SECONDS = 5.0
_PATIENCE_SECONDS = 300.0
_LOOK_SECONDS = 0.02


def record_flows() -> list[Flow]:
    """Map a CDC message of the sample in a local run: by the reference kernel, and by machine code.

    Everything that the command does is recorded, start-up too; the Spark worker's part is that of the task. For machine
    code the message comes many times, as it takes over only then.

    Raises:
        RuntimeError: no machine code was at work.
    """
    subprocess.run([sys.executable, "-m", names.KERNEL_BUILD], cwd=ROOT, check=True)
    reference = _run_of("record by the reference", 1, {_KERNEL_CACHE: os.devnull})
    compiled = _run_of("record by machine code", _MANY, {})
    if not compiled.phases["first"] - reference.phases["first"]:
        raise RuntimeError("machine code did not take part")
    return [reference, compiled]


def _run_of(name: str, count: int, environment: Mapping[str, str]) -> Flow:
    with tempfile.TemporaryDirectory(prefix="flow-") as temporary:
        folder = Path(temporary)
        project = build(folder)
        source = folder / "messages.jsonl"
        source.write_text(_message() * count, encoding="utf-8")
        trace = Trace(folder / "trace", OwnPackage.of().folder)
        own = {**trace.environment([ROOT]), **environment}
        words = ("run", project, "--source", source, "--sink", folder / "out", "--spark", "local[1]", "--json")
        with trace.phase(FIRST):
            report = json.loads(metl(*words, environment=own))
        if report["mapped"] != count:
            raise RuntimeError(f"{report['mapped']} of {count} records were mapped")
        return Flow(name, {"first": trace.calls(FIRST)})


def _message() -> str:
    return (SAMPLE / "cdc" / "payments.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[0]


def lane() -> Flow:
    """Send a Kafka record through a fast lane on a real broker, and read the message that it becomes."""
    with tempfile.TemporaryDirectory(prefix="flow-") as temporary, _broker() as bootstrap:
        folder = Path(temporary)
        project = build(folder)
        trace = Trace(folder / "trace", OwnPackage.of().folder)
        record = json.loads(_message())
        topics = _Topics(bootstrap, record["topic"])
        words = [
            *("run", str(project), "--mode", "production", "--lane", "fast", "--follow", "--group", _GROUP),
            *("--source", f"kafka://{bootstrap}/{topics.source}", "--sink", f"kafka://{bootstrap}/{_SINK}{{entity}}"),
            *("--errors", f"kafka://{bootstrap}/flow-errors", "--create-topics", "--spark", "local[1]"),
        ]
        with _running(words, trace.environment([ROOT]), folder / "lane.log"):
            _wait_for(topics.is_read)
            with trace.phase(IDLE):
                time.sleep(_IDLE_SECONDS)
            for number in (FIRST, AGAIN):
                with trace.phase(number):
                    topics.send(record["key"], record["value"])
                    _wait_for(lambda number=number: topics.committed() >= number)  # type: ignore[misc]
                    trace.wait_until_quiet(_QUIET_SECONDS, lambda: time.sleep(_LOOK_SECONDS))
            if not topics.has_messages():
                raise RuntimeError("the record has become no message")
        return Flow("lane", {"first": trace.calls(FIRST), "again": trace.calls(AGAIN), "idle": trace.calls(IDLE)})


class _Topics:
    """What goes into a lane, and what it has committed.

    Args:
        bootstrap: address of the broker.
        source: the topic that the lane reads.
    """

    def __init__(self, bootstrap: str, source: str) -> None:
        settings: dict[str, Any] = {"bootstrap.servers": bootstrap}
        self.source = source
        self._admin = AdminClient(settings)
        self._producer = Producer(settings)
        new: Any = NewTopic
        self._admin.create_topics([new(source, 1, 1)])[source].result()

    def is_read(self) -> bool:
        """Say whether the lane has its partitions."""
        found = self._admin.describe_consumer_groups([_GROUP])[_GROUP].result()
        return bool(found.state == ConsumerGroupState.STABLE and found.members)

    def send(self, key: str, value: str) -> None:
        """Write a record."""
        self._producer.produce(self.source, value, key)
        self._producer.flush()

    def committed(self) -> int:
        """Return the offset up to which the lane has committed, with the messages in one transaction."""
        asked = ConsumerGroupTopicPartitions(_GROUP, [TopicPartition(self.source, 0)])
        answer: Any = self._admin.list_consumer_group_offsets([asked])[_GROUP].result()
        return int(answer.topic_partitions[0].offset)

    def has_messages(self) -> bool:
        """Say whether the lane has written into topics of entities."""
        known = self._admin.list_topics(timeout=_QUIET_SECONDS).topics
        specs: Any = OffsetSpec
        asked = {
            TopicPartition(name, number): specs.latest()
            for name, topic in known.items()
            if name.startswith(_SINK)
            for number in topic.partitions
        }
        return any(found.result().offset > 0 for found in self._admin.list_offsets(asked).values())


@contextmanager
def _broker() -> Iterator[str]:
    """Start a broker and yield its address."""
    module, *arguments = names.BROKER
    command = [sys.executable, "-u", "-m", module, *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            line = process.stdout.readline() if process.stdout is not None else ""
            if not line:
                raise RuntimeError("the broker did not start")
            yield line.split()[-1]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(_PATIENCE_SECONDS)


@contextmanager
def _running(words: list[str], environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """Let a command go on meanwhile, and stop it as Ctrl+C does."""
    with log.open("wb") as told:
        process = subprocess.Popen(
            [*program(), *words], cwd=ROOT, env=environment, stdout=told, stderr=told, start_new_session=True
        )
        try:
            yield
            if process.poll() is not None:
                raise RuntimeError(f"the run has ended: {log.read_text(errors='replace')[-2000:]}")
        except TimeoutError as error:
            raise RuntimeError(log.read_text(errors="replace")[-2000:]) from error
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(_PATIENCE_SECONDS)


def _wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError("what was waited for did not come")
        time.sleep(_LOOK_SECONDS)
