"""Fast lanes as people see them: how far partitions, members and loads are, and what setting back repeats."""

from __future__ import annotations

import msgspec


class LatencyFigures(msgspec.Struct, frozen=True):
    """How long records took, from the broker's time of the record to the commit of what it became.

    Args:
        p50, p95, p99: of the records committed in the last seconds; None while there were none.
        records: how many these are.

    Units: milliseconds.
    """

    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    records: int = 0


class PartitionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """How far a fast lane is in one partition.

    Args:
        topic, partition: which.
        task: the number of the task that has it, None while nobody has committed anything of it.
        position: the next record, as committed; end: the one that the next producer will write.
        lag: how many records lie between.
        read: records committed by this run.
        rate: records a second, over the last seconds.
        latency_ms: of its records.
        waiting: records that stand behind one whose version is not known yet; not part of ``read``.
    """

    topic: str
    partition: int
    task: int | None = None
    position: int = 0
    end: int = 0
    lag: int = 0
    read: int = 0
    rate: float = 0.0
    latency_ms: LatencyFigures = LatencyFigures()
    waiting: int = 0


class MemberFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What a member of the coordination of a matrix said last.

    Args:
        instance: its name, ``run/task``.
        state: the state that it maps with; None while it has none yet.
        ready_for: the newest state that it is ready for; None while it prepares.
        seconds_silent: how long nothing was heard of it.
        is_alive: whether the others wait for it.
        trouble: why it cannot take a state up, in words; empty when it can.
    """

    instance: str
    state: int | None
    ready_for: int | None
    seconds_silent: float
    is_alive: bool = True
    trouble: str = ""


class LoadProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a load is.

    Args:
        id: of the load.
        changes: the topic of the table's changes.
        rows: how many rows there are, as offsets count.
        done: how many of them are mapped or left out.
        superseded: left out, as a change of the row was mapped.
        superseded_partly: the same, where every such change left out large values.
        is_done: every partition is through, or was told to leave the rest.
        is_given_up: somebody told so.
        ended_ms: when somebody saw that (milliseconds since 1970); 0 before.
    """

    id: str
    changes: str
    rows: int
    done: int
    superseded: int = 0
    superseded_partly: int = 0
    is_done: bool = False
    is_given_up: bool = False
    ended_ms: int = 0


class PartitionReset(msgspec.Struct, frozen=True, kw_only=True):
    """What setting back means in one partition.

    Args:
        topic, partition: which.
        position: the record that would be next if nothing were done.
        to: the record that is next then; the position where nothing is repeated.
        from_ms: the time of that record (milliseconds since 1970); None where nothing is repeated or nobody knows.
        gone: how many offsets before it were asked for too, but are not in the topic any more.
    """

    topic: str
    partition: int
    position: int
    to: int
    from_ms: int | None = None
    gone: int = 0

    @property
    def records(self) -> int:
        """How many records are repeated at most."""
        return self.position - self.to
