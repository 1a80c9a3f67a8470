"""What a run is asked to do, complete: nothing else is looked up while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from metl_gui.core.runs.kafka import KafkaServers, is_kafka
from metl_gui.core.runs.records import LIMIT_BYTES

NOOP = "noop"
BATCH_BYTES = 256 << 20
"""What a batch reads at most: some seconds of work, so that little is done again after a kill."""
Format: TypeAlias = Literal["jsonl", "parquet"]
Lane: TypeAlias = Literal["batch", "fast"]
Role: TypeAlias = Literal["source", "sink", "errors"]
ROLES: tuple[Role, ...] = ("source", "sink", "errors")
"""The order in which a run names its Kafka servers."""


class ReplayOrder(msgspec.Struct, frozen=True):
    """How an error store is replayed.

    Args:
        reasons: only what was set aside for these; all when empty.
        is_again: everything that the run itself set aside, whatever was replayed of it.
    """

    reasons: tuple[str, ...] = ()
    is_again: bool = False


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One mapping run, complete: nothing else is looked up while it runs.

    Args:
        run_id: from ``new_run_id``.
        plan: the compiled plan of the kernel, serialised.
        source: a file, a folder or a glob; for a replay an error store.
        replay: read an error store.
        notes: what a person should know of how the run was asked for; goes into its report.
        format: how messages are written into a folder.
        by_date: write them into a folder for each day below the one of their entity.
        max_record_bytes: records larger than this are set aside as ``too_large``.
        checkpoint: run in batches, and keep here what the run needs to go on after a kill; empty for all at once.
        follow: go on when the source is exhausted, until somebody stops the run.
        is_frozen: stay with this state, whatever is published meanwhile.
        batch_bytes: about how much of the source a batch reads at most.
        lane: ``batch`` goes batch after batch; ``fast`` keeps tasks that consume, map and produce in transactions.
        start: where a topic is read from when nothing was committed: ``earliest``, ``latest``, a time in ISO 8601, or
            ``topic/partition/offset`` with commas between.
        group: the consumer group of a fast lane; empty for one named after the run.
        has_tombstones: send a null value after each delete into a topic.
        wait_seconds: how long a partition waits for a version that is not known yet before the record is set aside.
        publication: grows with every publishing, so that lanes know which of two states counts.
        matrix: the id of the project, by which the lanes of one matrix find each other.
        servers: the Kafka servers of source, sink and errors, with their secrets; never written down.
        sink: a folder that is new or empty, ``noop``, or topics.
        folder: the run folder; created when missing.
        errors: folder of the error store, or a topic; by default ``errors`` in the run folder.
        mode: ``test`` or ``production``.
        limit: read at most this many records; None for all.
        samples: each task keeps the first records that became a message of each entity, up to this many an entity.
        state, hash: the state of the matrix that the plan was compiled from.
    """

    run_id: str
    plan: bytes
    source: str
    sink: str
    folder: str
    errors: str = ""
    mode: Literal["test", "production"] = "test"
    limit: int | None = None
    samples: int = 50
    state: int = 0
    hash: str = ""
    replay: ReplayOrder | None = None
    notes: tuple[str, ...] = ()
    format: Format = "jsonl"
    by_date: bool = False
    max_record_bytes: int = LIMIT_BYTES
    checkpoint: str = ""
    follow: bool = False
    is_frozen: bool = False
    batch_bytes: int = BATCH_BYTES
    lane: Lane = "batch"
    start: str = ""
    group: str = ""
    has_tombstones: bool = False
    wait_seconds: float = 0.0
    publication: int = 0
    matrix: str = ""
    servers: tuple[KafkaServers, ...] = ()

    @property
    def as_kept(self) -> RunSpec:
        """What of it may be written down: without the plan, which the state stands for, and without secrets."""
        return msgspec.structs.replace(self, plan=b"", servers=tuple(one.without_secrets for one in self.servers))

    def servers_of(self, role: Role) -> KafkaServers | None:
        """Return the Kafka servers of the source, the sink or the errors; None where that is no topic."""
        if not is_kafka(getattr(self, role)):
            return None
        before = ROLES[: ROLES.index(role)]
        return self.servers[sum(is_kafka(getattr(self, other)) for other in before)]

    @property
    def is_marked(self) -> bool:
        """Whether a replay takes what it has read out of the error store; one that sends nothing does not."""
        return self.sink != NOOP

    @property
    def errors_folder(self) -> Path:
        """Where the error store goes; it stays empty where set-aside records go into a topic."""
        return Path(self.errors) if self.errors and not is_kafka(self.errors) else Path(self.folder) / "errors"

    @property
    def samples_folder(self) -> Path:
        """Where records are kept beside their messages, for people to look at."""
        return Path(self.folder) / "samples"


def what_stays(sink: str, *, in_batches: bool) -> str:
    """Say what of a run is there when it ends before its work is done.

    Args:
        sink: of the run.
        in_batches: what it puts in place, it puts there batch after batch.
    """
    if in_batches:
        return "What it has put in place stays."
    return "What it has sent stays in its topics." if is_kafka(sink) else "None of its messages was kept."
