"""What a Spark process says while it starts and runs: frozen values in one union, one JSON line each.

They derive from ``msgspec.Struct`` and say their tags, as they are written down as JSON.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from metl_gui.core.runs.lanes import LatencyFigures, MemberFigures, PartitionFigures
from metl_gui.core.runs.report import RunReport, Tally, Unit
from metl_gui.errors import RunError, RunKilledError, SetupError, UserError


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """What keeps strangers out of a session that runs.

    Args:
        is_authenticated: whether its ports ask for a secret.
        is_encrypted: whether nobody on the way can read along.
    """

    is_authenticated: bool = False
    is_encrypted: bool = False


class WorkerFacts(msgspec.Struct, frozen=True):
    """What one task found where it ran.

    Args:
        host: the computer.
        process: of the Python worker.
        partition: number of the task.
        python, executable, platform, user: what runs there.
        packages: versions by name, empty for what is missing.
        files: why a file cannot be read, for each that cannot.
        folders: why a folder cannot be written, by its path.
    """

    host: str
    process: int
    partition: int
    python: str
    executable: str
    platform: str
    user: str
    packages: dict[str, str]
    files: tuple[str, ...] = ()
    folders: dict[str, str] = {}


class Event(msgspec.Struct, frozen=True, tag_field="event"):
    """Base of all events; each names its tag, which stands in run folders and projects whatever the class is called."""


class SessionStarting(Event, frozen=True, tag="SessionStarting"):
    """The Spark session is being started."""

    target: str


class SessionReady(Event, frozen=True, tag="SessionReady"):
    """The Spark session takes runs from now on.

    Args:
        target, spark_version: where it runs, and what.
        seconds: how long it took to start.
        workers: what the workers of a cluster told, one for each task that runs at once; nobody on this computer.
        protection: what keeps strangers out.
    """

    target: str
    spark_version: str
    seconds: float
    workers: tuple[WorkerFacts, ...] = ()
    protection: Protection = Protection()


class SessionFailed(Event, frozen=True, tag="SessionFailed"):
    """The Spark session did not start; every run asked of it fails with this."""

    title: str
    text: str
    hint: str
    is_setup: bool = False


class RunStarted(Event, frozen=True, tag="RunStarted"):
    """The source is listed and the job is on its way.

    Args:
        files: how many files or partitions there are.
        bytes_total: how long they are together, in its unit.
        unit: what the source is measured in here and in all that follows: files in bytes, topics in records.
    """

    run_id: str
    files: int
    bytes_total: int
    unit: Unit = "bytes"


class RunProgressed(Event, frozen=True, tag="RunProgressed"):
    """What has been counted so far, several times a second; the exact counts stand in the report.

    Args:
        batch: the batch that is going on, 0 in a run without batches.
        seconds_left: about how long what is known of the source still takes; None while nobody can tell.
        unit: ``records`` where topics are read; then these, and not bytes, are what is told of the source.

    Units:
        bytes_total: bytes of the source as it lies on disk; bytes_read: how many of them are behind; bytes_waiting:
        how many of them no batch has yet.
    """

    run_id: str
    seconds: float
    bytes_total: int
    bytes_read: int
    tally: Tally
    batch: int = 0
    bytes_waiting: int = 0
    seconds_left: float | None = None
    unit: Unit = "bytes"


class BatchCommitted(Event, frozen=True, tag="BatchCommitted"):
    """A batch of a run is in place.

    Args:
        batch: its number.
        state: what it was mapped with.
        seconds: how long it took.
        bytes_read: how much of the source the run has behind it.
    """

    run_id: str
    batch: int
    state: int
    seconds: float
    read: int
    mapped: int
    filtered: int
    set_aside: int
    skipped: int
    messages_out: int
    bytes_read: int
    bytes_waiting: int


class LoadCommitted(Event, frozen=True, tag="LoadCommitted"):
    """What batches of a run staged is in a warehouse.

    Args:
        load: its name.
        batch: the last of them.
        seconds: how long it took.
        messages, appended, repeated, void, set_aside, waiting: as of a ``LoadReport``.
    """

    run_id: str
    load: str
    batch: int
    seconds: float
    messages: int
    appended: int
    repeated: int
    void: int
    set_aside: int
    waiting: int


class StateChanged(Event, frozen=True, tag="StateChanged"):
    """A following run maps with a newly published state, from this batch on."""

    run_id: str
    state: int
    hash: str
    batch: int


class SourceTroubled(Event, frozen=True, tag="SourceTroubled"):
    """Something is wrong with a file of a followed source; the run goes on with the others."""

    run_id: str
    text: str


class LaneProgressed(Event, frozen=True, tag="LaneProgressed"):
    """How far a fast lane is, four times a second; everything in it is committed.

    Args:
        seconds: since the run was started.
        state: the newest state that a task maps with.
        partitions: every partition of the source, by topic and number.
        tally: the counts of all partitions, without those by version and attribute.
        waiting: records that wait for a version that is not known yet; not part of ``tally``.
        latency: of the records of all partitions.
    """

    run_id: str
    seconds: float
    state: int
    partitions: tuple[PartitionFigures, ...]
    tally: Tally
    waiting: int = 0
    latency: LatencyFigures = LatencyFigures()


class LaneTroubled(Event, frozen=True, tag="LaneTroubled"):
    """A fast lane cannot go on for now, and tries again until it can; nothing is lost."""

    run_id: str
    text: str


class MembersChanged(Event, frozen=True, tag="MembersChanged"):
    """The instances on one matrix, when one came, went, or got ready for a state."""

    run_id: str
    members: tuple[MemberFigures, ...]


class RunFinished(Event, frozen=True, tag="RunFinished"):
    """The run is over and its outputs are in place."""

    run_id: str
    report: RunReport


class RunFailed(Event, frozen=True, tag="RunFailed"):
    """The run ended without outputs.

    Args:
        is_setup: this computer lacks something.
        is_killed: Spark was gone in the middle of it.
    """

    run_id: str
    title: str
    text: str
    hint: str
    is_setup: bool = False
    is_killed: bool = False

    @classmethod
    def of(cls, run_id: str, error: UserError) -> RunFailed:
        """Report an error as what ended a run."""
        is_setup, is_killed = isinstance(error, SetupError), isinstance(error, RunKilledError)
        return cls(run_id, error.title, error.text, error.hint, is_setup, is_killed)


class RunStopped(Event, frozen=True, tag="RunStopped"):
    """The run was cancelled; there are no outputs."""

    run_id: str
    seconds: float


EngineEvent: TypeAlias = (
    SessionStarting
    | SessionReady
    | SessionFailed
    | RunStarted
    | RunProgressed
    | BatchCommitted
    | LoadCommitted
    | StateChanged
    | SourceTroubled
    | LaneProgressed
    | LaneTroubled
    | MembersChanged
    | RunFinished
    | RunFailed
    | RunStopped
)

_DECODER = msgspec.json.Decoder(EngineEvent)


def encode_event(event: EngineEvent) -> bytes:
    """Write an event as one line of JSON without its line end."""
    return msgspec.json.encode(event)


def decode_event(line: bytes) -> EngineEvent:
    """Read an event back from its line."""
    event: EngineEvent = _DECODER.decode(line)
    return event


def failure(event: SessionFailed | RunFailed) -> UserError:
    """Turn a failure event back into the error that it reports."""
    is_killed = isinstance(event, RunFailed) and event.is_killed
    kind = SetupError if event.is_setup else RunKilledError if is_killed else RunError
    return kind(event.title, event.text, event.hint)
