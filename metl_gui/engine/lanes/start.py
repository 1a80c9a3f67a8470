"""What has to be there before the tasks of a lane start: one cluster, topics, places to begin, an agreed state.

Only one run at a time may be at work in the consumer group of a lane (``refuse_others``), as an offset holds the counts
of one run only.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from confluent_kafka import TopicPartition

from metl_gui.core.runs.kafka import KafkaAddress, KafkaServers, parse_address, parse_start
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.core.runs.target import TargetKind
from metl_gui.engine.checks.destinations import entities_of
from metl_gui.engine.kafka.clients import ANSWER_SECONDS, ClientErrorLog, admin, in_words
from metl_gui.engine.kafka.offsets import ListedPartition, Lister, start_offsets
from metl_gui.engine.kafka.topics import topic_order
from metl_gui.engine.lanes.committed_offsets import Committed
from metl_gui.engine.lanes.coordination.announcements import begin_lane
from metl_gui.engine.lanes.coordination.topic import CoordinationWriter, read_all
from metl_gui.engine.lanes.offset_metadata import read_metadata
from metl_gui.engine.lanes.order import (
    SESSION_MS,
    LaneOrder,
    PartitionId,
    group_of,
    lane_topic,
    start_key,
    topic_key,
)
from metl_gui.engine.lanes.report import servers_of_lane
from metl_gui.engine.lanes.topic import make_topic
from metl_gui.engine.lanes.transactional_client import made_again
from metl_gui.engine.sessions.runtime import ship
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from metl_gui.engine.sessions.runtime import Runtime


_LET_GO_SECONDS = SESSION_MS / 1000 + 3.0
"""Members that have ended stay in the group until their session is over."""

_LOOK_SECONDS = 0.5
_WRITE_SECONDS = 10.0


def refuse_others(servers: KafkaServers, group: str, run_id: str) -> None:
    """Wait until nobody but a run is in a group; not for longer than those that have ended stay in it.

    Args:
        servers: where the group is.
        group: its name.
        run_id: the run whose own tasks may be there.

    Raises:
        RunError: somebody else stays in it, or the servers do not answer.
    """
    end = time.monotonic() + _LET_GO_SECONDS
    while others := _others(servers, group, run_id):
        if time.monotonic() > end:
            raise RunError(
                f"Somebody else is at work in the consumer group {group}.",
                f"Among its members is {others[0]}. Two would share the partitions, and neither report would hold what "
                "both counted.",
                "Stop the other one first, or name another --group.",
            )
        time.sleep(_LOOK_SECONDS)


def _others(servers: KafkaServers, group: str, run_id: str) -> list[str]:
    """Return the names of members that are no tasks of a run."""
    said = ClientErrorLog()
    with in_words(servers, said, f"group {group}"):
        # Nobody answers any more once the client is gone.
        client = admin(servers, said)
        members = client.describe_consumer_groups([group], request_timeout=ANSWER_SECONDS)[group].result().members
    names = [one.group_instance_id or one.client_id for one in members]
    return sorted(name for name in names if name.rpartition("-")[0] != run_id)


class LaneStart:
    """A lane that is about to start.

    Args:
        spec: the run.

    Raises:
        RunError: it cannot start as it was asked.

    Attributes:
        partitions: of its source, as listed now.
        committed: asks for what it committed.
        notes: what a person should know of where it begins.
    """

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.servers = _one_cluster(spec)
        self.address = parse_address(spec.source.address)
        self.group = group_of(spec.source.group, spec.run_id)
        lister = Lister(self.servers, self.address)
        self.partitions: tuple[ListedPartition, ...] = lister.listed()
        self.committed = Committed(lister, self.group)
        try:
            known = self.committed.offsets()
            new = [one for one in self.partitions if PartitionId(one.topic, one.partition) not in known]
            recorded = self._recorded(lister) if new else {}
            if not known:
                self._refuse_forgotten(recorded)
            self.notes = self._beside_others(known) + self._commit_starts(lister, new, recorded)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the servers."""
        self.committed.close()

    def order(self, runtime: Runtime, token: str) -> LaneOrder:
        """Bring the plan to the workers, make the topic of the lane, announce the state, and return the order.

        Raises:
            RunError: servers do not answer or refuse.
        """
        spec = self.spec
        sink, errors = parse_address(spec.sink.address), parse_address(spec.sink.errors)
        _check_one_topic(sink, "sink")
        _check_one_topic(errors, "error topic")
        entities = entities_of(spec.mapping.plan)
        order = LaneOrder(
            run=spec.for_tasks,
            token=token,
            topics=tuple(sorted({one.topic for one in self.partitions})),
            pattern=self.address.pattern,
            sink=topic_order(self.servers, sink, entities, has_tombstones=spec.sink.has_tombstones),
            errors=topic_order(self.servers, errors, ()),
            plan=ship(runtime, spec.mapping.plan),
        )
        make_topic(self.servers, order.lane_topic)
        self._record_topics()
        if spec.mapping.matrix:
            begin_lane(self.servers, spec.mapping.matrix, self.group, spec.mapping)
        return order

    def tasks(self, runtime: Runtime) -> int:
        """Return how many tasks share the partitions; a server that is everybody's keeps one slot for others."""
        if self.spec.source.limit is not None:
            return 1
        slots = runtime.parallelism - (runtime.target.kind is TargetKind.CONNECT)
        return max(1, min(slots, len(self.partitions)))

    def ends(self) -> dict[PartitionId, int]:
        """Return where the partitions ended when they were listed."""
        return {PartitionId(one.topic, one.partition): one.end for one in self.partitions}

    def _beside_others(self, known: Mapping[PartitionId, TopicPartition]) -> tuple[str, ...]:
        """Take over a group that others have used: an offset holds the counts of one run.

        Returns:
            What a person should know of it.

        Raises:
            RunError: somebody else is at work in the group.
        """
        notes = [read_metadata(one.metadata) for one in known.values()]
        if not self.spec.source.group or all(note is not None and note.run == self.spec.run_id for note in notes):
            return ()
        refuse_others(self.servers, self.group, self.spec.run_id)
        runs = sorted({note.run for note in notes if note is not None} - {self.spec.run_id})
        if not runs:
            return ()
        start = ", and --start is not heeded where it has been" if self.spec.source.start else ""
        told = (
            f"This run goes on in the group {self.group} where run {', '.join(runs)} ended{start}. What was counted "
            "there before stands in the reports of runs that were stopped; of runs that died nobody knows it any more."
        )
        return (told,)

    def _record_topics(self) -> None:
        """Write the ids of the topics to the topic of the lane, as Kafka forgets the offsets of a lane at rest."""
        writer = CoordinationWriter(self.servers, lane_topic(self.group), _WRITE_SECONDS)
        for topic, topic_id in {one.topic: one.topic_id for one in self.partitions}.items():
            writer.write(topic_key(topic), topic_id.encode())
        writer.flush(_WRITE_SECONDS)

    def _recorded(self, lister: Lister) -> dict[str, bytes | None]:
        """Return what stands in the topic of the lane by now."""
        topic = lane_topic(self.group)
        return {one.key: one.value for one in read_all(self.servers, topic)} if topic in lister.topics() else {}

    def _refuse_forgotten(self, recorded: Mapping[str, bytes | None]) -> None:
        """Refuse to begin anew where the group had offsets, of topics that are still the same.

        Raises:
            RunError: it had.
        """
        is_resumed = start_key(self.spec.run_id) in recorded
        if not is_resumed and self.spec.source.start:
            return
        # Where topics have no ids, nobody can tell whether one was made again: it is taken for the same.
        same = (
            topic_key(one.topic) in recorded
            and (not one.topic_id or recorded[topic_key(one.topic)] == one.topic_id.encode())
            for one in self.partitions
        )
        if any(same):
            raise RunError(
                "Kafka has forgotten where the lane was.",
                f"Its group {self.group} has no offsets any more: servers keep those of a group at rest for a week, "
                "where offsets.retention.minutes says nothing else, or somebody deleted them. Beginning anew would "
                "send everything again.",
                "Start a new lane with --start and the time at which this one ended."
                if is_resumed
                else "Say with --start where to begin.",
            )

    def _commit_starts(
        self, lister: Lister, new: Sequence[ListedPartition], recorded: Mapping[str, bytes | None]
    ) -> tuple[str, ...]:
        """Commit where partitions begin of which the group has committed nothing, so that each begins there once.

        Topics that were made again while the lane was stopped begin at their beginning, wherever the lane began.
        """
        if not new:
            return ()
        offsets, notes = start_offsets(lister, self.partitions, parse_start(self.spec.source.start))
        starts = {PartitionId(one.topic, one.partition): offsets[one.topic, one.partition] for one in new}
        before = recorded if start_key(self.spec.run_id) in recorded else {}
        remade = [
            one
            for one in new
            if one.topic_id and (before.get(topic_key(one.topic)) or one.topic_id.encode()) != one.topic_id.encode()
        ]
        self.committed.begin_at(starts | {PartitionId(one.topic, one.partition): one.begin for one in remade})
        return (*notes, *(made_again(one.name) for one in remade))


def _one_cluster(spec: RunSpec) -> KafkaServers:
    """Return the servers of a lane.

    Raises:
        RunError: source, sink and errors are not on one cluster.
    """
    all_servers = servers_of_lane(spec)
    source = all_servers[0]
    if any(other.client_settings != source.client_settings for other in all_servers[1:]):
        ids = [_cluster_of(servers) for servers in all_servers]
        if len(set(ids)) > 1:
            raise RunError(
                "A fast lane stays on one Kafka cluster.",
                f"Its source is on {source.shown}, its sink on {all_servers[1].shown}, its error topic on "
                f"{all_servers[2].shown}; no transaction spans two.",
                "Use --lane batch, which delivers at least once, or bring the topics to one cluster.",
            )
    return source


def _cluster_of(servers: KafkaServers) -> str:
    said = ClientErrorLog()
    with in_words(servers, said):
        return str(admin(servers, said).list_topics(timeout=ANSWER_SECONDS).cluster_id)


def _check_one_topic(address: KafkaAddress, what: str) -> None:
    if len(address.topics) != 1:
        raise RunError(
            f"The {what} of a fast lane is one topic.",
            f"{len(address.topics)} are named.",
            "Write it like kafka://host:port/topic.",
        )
