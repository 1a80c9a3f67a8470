"""What every task of a fast lane is told, and the topic by which a lane talks with its tasks.

A lane has one small compacted topic of its own, ``metl.lane.<group>``, as Kafka is what driver and tasks can both reach
wherever Spark put them:

    start/<run>                  the newest start of a run, by its token; tasks of older starts end
    stop/<run>                   the start of the run that has to end
    failed/<run>/<task>          why a task cannot go on, whatever it tries
    trouble/<run>/<task>         why it does not get on for now
    trouble/<run>/<task>/...     by topic and partition: what was gone there before it was read
    counts/<topic>/<partition>   counts that are too long for the metadata of an offset
    topic/<topic>                the id of a topic that is read: one that is made again has another
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from metl_gui.core.runs.kafka import KafkaServers, own_topic
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.kafka.topic_orders import TopicOrder

SESSION_MS = 6_000
"""After so long without a sign of life the partitions of a task go to others; brokers allow no less by default."""

COUNTS = "counts/"
_PREFIX = "metl.lane."


class PartitionId(NamedTuple):
    """A partition."""

    topic: str
    partition: int


class LaneOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What every task of a lane is told.

    Args:
        run: what was asked, as tasks are told it (``RunSpec.for_tasks``); counts in the metadata of offsets are its.
        token: this start of the run; orders to stop name it.
        topics: what is read.
        pattern: what else is read as soon as it is there; a regular expression that names fit whole, empty for none.
        sink, errors: the topics of messages and of what is set aside; they hold secrets.
        plan: what the workers call the file of the plan.
    """

    run: RunSpec
    token: str
    topics: tuple[str, ...]
    pattern: str = ""
    sink: TopicOrder
    errors: TopicOrder
    plan: str

    @property
    def run_id(self) -> str:
        """The run."""
        return self.run.run_id

    @property
    def group(self) -> str:
        """The consumer group."""
        return group_of(self.run.source.group, self.run.run_id)

    @property
    def servers(self) -> KafkaServers:
        """Where source, sink and errors are, which is one cluster; with secrets."""
        return self.sink.servers

    @property
    def is_counted(self) -> bool:
        """Whether the members of the matrix wait for this lane, and it takes up what they agree on."""
        return self.run.policy.mode == "production" and not self.run.mapping.is_frozen

    @property
    def lane_topic(self) -> str:
        """The topic of the lane."""
        return lane_topic(self.group)


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a task cannot go on: an error as people read it."""

    token: str
    title: str
    text: str = ""
    hint: str = ""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """Why a task does not get on for now."""

    token: str
    text: str


def lane_topic(group: str) -> str:
    """Return the topic of a lane; different groups have different ones."""
    return own_topic(_PREFIX, group)


def start_key(run_id: str) -> str:
    """Return where the newest start of a run is said."""
    return f"start/{run_id}"


def topic_key(topic: str) -> str:
    """Return where the id of a topic stands that a lane has begun to read."""
    return f"topic/{topic}"


def stop_key(run_id: str) -> str:
    """Return where a run is told to end."""
    return f"stop/{run_id}"


def failed_key(run_id: str, task: int | None = None) -> str:
    """Return where a task says that it cannot go on; without a task what the keys of all begin with."""
    return f"failed/{run_id}/{'' if task is None else task}"


def trouble_key(run_id: str, task: int | None = None) -> str:
    """Return where a task says that it does not get on for now; without a task what the keys of all begin with."""
    return f"trouble/{run_id}/{'' if task is None else task}"


def gone_key(run_id: str, task: int, place: PartitionId) -> str:
    """Return where a task says what was gone of a partition before it was read; it begins as its troubles do."""
    return f"{trouble_key(run_id, task)}/{place.topic}/{place.partition}"


def group_of(group: str, run_id: str) -> str:
    """Return the consumer group of a run."""
    return group or f"metl-{run_id}"


def counts_key(place: PartitionId) -> str:
    """Return where the lane's topic holds counts of a partition."""
    return f"{COUNTS}{place.topic}/{place.partition}"
