"""What a run is asked to do, complete: nothing else is looked up while it runs.

``RunSpec`` is one value of four parts and the servers with their secrets. Whoever needs one part is given that part;
tasks are given the whole, without what they must not have (``for_tasks``). Files keep another form of it, which is flat
(``KeptSpec``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.core.runs.kafka import KafkaServers, is_kafka
from metl_gui.core.runs.limits import LIMIT_BYTES

NOOP = "noop"
WAREHOUSE = "warehouse:"
"""Begins a sink that is the target of a warehouse model."""
BATCH_BYTES = 256 << 20
"""What a batch reads at most: some seconds of work, so that little is done again after a kill."""
Format: TypeAlias = Literal["jsonl", "parquet", "stage"]
Lane: TypeAlias = Literal["batch", "fast"]
Mode: TypeAlias = Literal["test", "production"]
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


class SourceSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a run reads, and how much of it at a time.

    Args:
        address: a file, a folder or a glob, or topics; for a replay an error store or an error topic.
        start: where a topic is read from when nothing was committed: ``earliest``, ``latest``, a time in ISO 8601, or
            ``topic/partition/offset`` with commas between; empty for ``earliest``.
        limit: read at most this many records; None for all.
        max_record_bytes: records larger than this are set aside as ``too_large``.
        replay: read an error store.
        follow: go on when the source is exhausted, until somebody stops the run.
        batch_bytes: about how much of the source a batch reads at most.
        group: the consumer group of a fast lane; empty for one named after the run.
        holds: ``messages`` where its records are canonical messages, which are staged as they are; left out in files
            where they are changes, as before there was anything else.
    """

    address: str
    start: str = ""
    limit: int | None = None
    max_record_bytes: int = LIMIT_BYTES
    replay: ReplayOrder | None = None
    follow: bool = False
    batch_bytes: int = BATCH_BYTES
    group: str = ""
    holds: Literal["messages"] | UnsetType = UNSET


class SinkSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run writes, and in what form.

    Args:
        address: a folder that is new or empty, ``noop``, or topics; empty, before a run is prepared, for a folder of
            its own.
        errors: folder of the error store, or a topic; by default ``errors`` in the run folder.
        format: how messages are written into a folder: ``jsonl`` as they are, ``parquet`` in typed columns, ``stage``
            as rows of histories.
        by_date: write them into a folder for each day below the one of their entity.
        has_tombstones: send a null value after each delete into a topic.
        histories: of the entities that are staged; left out in files where nothing is, as before there were any.
        hidden: names, one below the other, of what records that are set aside are kept without; left out where they are
            kept as they came.
    """

    address: str = ""
    errors: str = ""
    format: Format = "jsonl"
    by_date: bool = False
    has_tombstones: bool = False
    histories: tuple[EntityHistory, ...] | UnsetType = UNSET
    hidden: tuple[tuple[str, ...], ...] | UnsetType = UNSET


class PlanState(msgspec.Struct, frozen=True, kw_only=True):
    """One state of the matrix, compiled: what a run begins with, and what lanes take up.

    Args:
        state: its number.
        hash: its content hash.
        plan: the compiled plan, as the kernel reads it; empty where it lies in a file.
        publication: how many times something had been published when this was; grows with every publishing, so that
            an older copy of the project never overrules a newer one.
    """

    state: int = 0
    hash: str = ""
    plan: bytes = b""
    publication: int = 0

    def __repr__(self) -> str:
        """Leave the plan, which may be megabytes, out of logs."""
        return f"{type(self).__name__}({self.state}, {self.hash[:12]!r}, publication={self.publication})"


class MappingSpec(PlanState, frozen=True, kw_only=True):
    """What a run maps with: a state, and how it gets on with the other runs of the matrix.

    Args:
        state, hash, plan, publication: as of any ``PlanState``.
        matrix: the id of the project, by which the lanes of one matrix find each other.
        is_frozen: stay with this state, whatever is published meanwhile.
        wait_seconds: how long a partition of a fast lane waits for a version that is not known yet before the record
            is set aside.
    """

    matrix: str = ""
    is_frozen: bool = False
    wait_seconds: float = 0.0


class RunPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is done, and what is kept of it.

    Args:
        folder: the run folder; created when missing.
        mode: ``test`` or ``production``.
        lane: ``batch`` goes batch after batch; ``fast`` keeps tasks that consume, map and produce in transactions.
        checkpoint: run in batches, and keep here what the run needs to go on after a kill; empty for all at once.
        samples: each task keeps the first records that became a message of each entity, up to this many an entity.
        notes: what a person should know of how the run was asked for; goes into its report.
    """

    folder: str = ""
    mode: Mode = "test"
    lane: Lane = "batch"
    checkpoint: str = ""
    samples: int = 50
    notes: tuple[str, ...] = ()


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One mapping run, complete: nothing else is looked up while it runs.

    Args:
        run_id: from ``new_run_id``.
        source: what it reads.
        sink: where it writes.
        mapping: what it maps with.
        policy: how it is done.
        servers: the Kafka servers of source, sink and errors, with their secrets; never written down.
        mask_key: of the hashes that the histories of the sink keep; never written down.
    """

    run_id: str
    source: SourceSpec
    sink: SinkSpec
    mapping: MappingSpec
    policy: RunPolicy
    servers: tuple[KafkaServers, ...] = ()
    mask_key: MaskKey | None = None

    @property
    def for_tasks(self) -> RunSpec:
        """What every task is told of it: without the plan, which they get as a file, and without servers."""
        return msgspec.structs.replace(self, mapping=msgspec.structs.replace(self.mapping, plan=b""), servers=())

    @property
    def as_kept(self) -> KeptSpec:
        """What of it may be written down: without the plan, which the state stands for, and without secrets."""
        servers = tuple(one.without_secrets for one in self.servers)
        return KeptSpec.of(msgspec.structs.replace(self.for_tasks, servers=servers))

    def address_of(self, role: Role) -> str:
        """Return where it reads, writes, or puts what it sets aside; empty for errors in the run folder."""
        return {"source": self.source.address, "sink": self.sink.address, "errors": self.sink.errors}[role]

    def servers_of(self, role: Role) -> KafkaServers | None:
        """Return the Kafka servers of the source, the sink or the errors; None where that is no topic."""
        if not is_kafka(self.address_of(role)):
            return None
        before = ROLES[: ROLES.index(role)]
        return self.servers[sum(is_kafka(self.address_of(other)) for other in before)]

    @property
    def is_replay(self) -> bool:
        """Whether it reads what was set aside before."""
        return self.source.replay is not None

    @property
    def is_marked(self) -> bool:
        """Whether a replay takes what it has read out of the error store; one that sends nothing does not.

        What is only staged is not sent yet: who loads it marks the store.
        """
        return self.sink.address != NOOP and self.sink.format != "stage"

    @property
    def is_lane(self) -> bool:
        """Whether it is a fast lane."""
        return self.policy.lane == "fast"

    @property
    def errors_folder(self) -> Path:
        """Where the error store goes; it stays empty where set-aside records go into a topic."""
        errors = self.sink.errors
        return Path(errors) if errors and not is_kafka(errors) else Path(self.policy.folder) / "errors"

    @property
    def samples_folder(self) -> Path:
        """Where records are kept beside their messages, for people to look at."""
        return Path(self.policy.folder) / "samples"


class KeptSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A run as files have it: ``spec.json``, the order of a production run, the project's list, an exported job.

    Its members are those of the parts of a ``RunSpec``, flat, in the order in which they were always written; the
    ``address`` of a part has the name of the part. What stands here is a file format.
    """

    run_id: str
    plan: bytes
    source: str
    sink: str
    folder: str
    errors: str = ""
    mode: Mode = "test"
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
    histories: tuple[EntityHistory, ...] | UnsetType = UNSET
    holds: Literal["messages"] | UnsetType = UNSET
    hidden: tuple[tuple[str, ...], ...] | UnsetType = UNSET

    @classmethod
    def of(cls, spec: RunSpec) -> KeptSpec:
        """Return the flat form of a run."""
        members: dict[str, Any] = {
            kept: getattr(getattr(spec, part), name) for part, kind in _PARTS for name, kept in _members(part, kind)
        }
        return cls(run_id=spec.run_id, servers=spec.servers, **members)

    @property
    def spec(self) -> RunSpec:
        """The run."""
        parts: dict[str, Any] = {
            part: kind(**{name: getattr(self, kept) for name, kept in _members(part, kind)}) for part, kind in _PARTS
        }
        return RunSpec(run_id=self.run_id, servers=self.servers, **parts)


_PARTS: tuple[tuple[str, type[msgspec.Struct]], ...] = (
    ("source", SourceSpec),
    ("sink", SinkSpec),
    ("mapping", MappingSpec),
    ("policy", RunPolicy),
)


def _members(part: str, kind: type[msgspec.Struct]) -> list[tuple[str, str]]:
    """Return the members of a part, each with its name in files."""
    return [(name, part if name == "address" else name) for name in kind.__struct_fields__]


def what_stays(sink: str, *, in_batches: bool) -> str:
    """Describe what of a run is there when it ends before its work is done.

    Args:
        sink: of the run.
        in_batches: what it puts in place, it puts there batch after batch.
    """
    if in_batches:
        return "What it has put in place stays."
    return "What it has sent stays in its topics." if is_kafka(sink) else "None of its messages was kept."
