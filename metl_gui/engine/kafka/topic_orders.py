"""What tasks are told of topics: which of their records to read, and where to send what these become.

Both hold secrets, so they travel in the closure of a job and are never written down.
"""

from __future__ import annotations

import msgspec

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.limits import TOO_LARGE

PATIENCE_SECONDS = 120.0
"""How long a task waits for servers that say nothing: long enough for a broker to be started again."""


ALL_REASONS = ""
"""Stands among reasons for what holds for all."""


class WaitingRecords(msgspec.Struct, frozen=True):
    """Which records of an error topic are meant.

    Args:
        reasons: only these; all when empty.
        behind: by partition as ``topic/partition`` and reason: up to where its records were replayed.
        is_again: what runs themselves set aside, whatever was replayed of it; else what replays set aside again too.
        is_with_large: records that were too large are meant too.
    """

    reasons: tuple[str, ...] = ()
    behind: dict[str, dict[str, int]] = {}
    is_again: bool = False
    is_with_large: bool = False

    def read_to(self, partition: str, reason: str) -> int:
        """Return up to where the records of a partition that were set aside for a reason were replayed.

        A replay for all reasons may leave out what is too large, so that nothing but a mark of its own tells of that.

        Args:
            partition: as ``topic/partition``.
            reason: why records were set aside.
        """
        marks = self.behind.get(partition, {})
        return max(marks.get(reason, 0), 0 if reason == TOO_LARGE else marks.get(ALL_REASONS, 0))


class TopicReading(msgspec.Struct, frozen=True):
    """How topics are read; the ranges are those of a ``ReadPlan``, whose files are partitions and places offsets.

    Args:
        servers: where they are.
        waiting: the topics are error topics, and these of their records are meant.
        patience_seconds: how long servers may say nothing.
    """

    servers: KafkaServers
    waiting: WaitingRecords | None = None
    patience_seconds: float = PATIENCE_SECONDS


class TopicOrder(msgspec.Struct, frozen=True):
    """Where messages or set-aside records go.

    Args:
        servers: where the topics are.
        topic: the topic, which may hold ``{entity}``.
        limits: how many bytes a message may have, by topic; nothing is known of the others.
        compacted: those topics that take no message without a key.
        has_tombstones: send a null value after each delete.
        patience_seconds: how long servers may take to answer.
    """

    servers: KafkaServers
    topic: str
    limits: dict[str, int] = {}
    compacted: tuple[str, ...] = ()
    has_tombstones: bool = False
    patience_seconds: float = PATIENCE_SECONDS
