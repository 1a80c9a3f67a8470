"""How all lanes of a matrix come to map with the same state: members that meet on a compacted topic.

A member is one task of a lane, as it is what maps: a driver cannot vouch for tasks elsewhere, and a task that Spark
starts again joins by itself.

In a task::

    member = StateMember(servers, matrix, instance, started_with, settings, prepare)
    while not member.may_map: ...     # until the log was read and what is in force is prepared
    for each transaction:
        taken = member.poll()         # a state that is in force from now on; `prepare` has made its kernel before
        if taken: member.took_up(positions)
        order = member.set_back(topic, partition)
        if not member.may_map: ...    # begin no transaction, abort the one that is open

Source: METL §3.4; dmm.md §8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from metl_gui.engine.kafka.servers import KafkaServers
from metl_gui.engine.lanes.members import MemberFigures, PlanState, SetBackOrder


class AgreementSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a member takes part.

    Args:
        lane: the lane (the consumer group) that orders to set back are for.
        session_seconds: after so long without a word a member is not waited for.
        beat_seconds: how often a member says that it lives.
        is_counted: others wait for it and it takes up what is in force; else it keeps its state (frozen, a test), and
            only hears orders.
    """

    lane: str
    session_seconds: float = 10.0
    beat_seconds: float = 1.0
    is_counted: bool = True


class Prepare(Protocol):
    """Makes everything that mapping with a state needs, on a thread of the member, before it says that it is ready."""

    def __call__(self, state: PlanState, /) -> None:
        """Prepare; what it raises is told to people, and the state is not taken up by anybody meanwhile."""


class StateMember:
    """One member of the agreement on a matrix. No call blocks: a thread of its own waits.

    Args:
        servers: where the topic is.
        matrix: the id of the project.
        instance: names the member; a later one of the same name takes its place, and this one is fenced.
        started_with: the state that the lane was started with; prepared already.
        settings: how it takes part.
        prepare: see ``Prepare``.
    """

    def __init__(
        self,
        servers: KafkaServers,
        matrix: str,
        instance: str,
        started_with: PlanState,
        settings: AgreementSettings,
        prepare: Prepare = lambda _state: None,
    ) -> None:
        self._started_with = started_with

    @property
    def may_map(self) -> bool:
        """Whether what this maps with is agreed on at this moment; ask before a transaction begins and before it ends.

        False until the log was read, after a pause that was longer than the session, and once fenced.
        """
        return True

    @property
    def is_fenced(self) -> bool:
        """Whether a later member of the same name has come: this one must end."""
        return False

    @property
    def trouble(self) -> str:
        """What keeps it from mapping or from a state, in words; empty for nothing."""
        return ""

    def poll(self) -> PlanState | None:
        """Return the state that is in force from now on, once, when it is another than before."""
        return None

    def took_up(self, positions: Mapping[tuple[str, int], int]) -> None:
        """Keep where each partition stood when a state was taken up, and after each assignment of partitions.

        Args:
            positions: by topic and partition the offset of the next record.
        """

    def set_back(self, topic: str, partition: int) -> SetBackOrder | None:
        """Return the newest order for a partition; obey it unless the metadata of the offset names it already."""
        return None

    def obeyed(self, order: SetBackOrder) -> None:
        """Tell whoever waits that an order was obeyed: the transaction with the offset is committed."""

    def members(self) -> tuple[MemberFigures, ...]:
        """Return what is known of all members."""
        return ()

    def close(self) -> None:
        """Take leave, so that nobody waits for this member."""


class AgreementWatch:
    """Reads the agreement without being a member, as the driver of a lane and commands do.

    Args:
        servers: where the topic is.
        matrix: the id of the project.
    """

    def __init__(self, servers: KafkaServers, matrix: str) -> None: ...

    @property
    def in_force(self) -> int | None:
        """The state that is in force, None before the first."""
        return None

    @property
    def pending(self) -> int | None:
        """The state that was announced and is not in force yet."""
        return None

    @property
    def is_frozen(self) -> bool:
        """Whether nothing is taken up until somebody allows it again."""
        return False

    def members(self) -> tuple[MemberFigures, ...]:
        """Return what is known of all members."""
        return ()

    def close(self) -> None:
        """End the thread that reads."""


def begin_lane(servers: KafkaServers, matrix: str, lane: str, started_with: PlanState) -> None:
    """Make ready for the tasks of a lane, in its driver: the topic, no ghosts of an earlier life, the state announced.

    Raises:
        RunError: the servers cannot be reached, or the topic has settings by which nothing can be agreed on.
    """


def announce(servers: KafkaServers, matrix: str, state: PlanState) -> None:
    """Announce a published state to all lanes of a matrix; one that is not newer changes nothing.

    Raises:
        RunError: the servers cannot be reached.
    """
