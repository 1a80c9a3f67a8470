"""Questions that are asked again while servers choose who answers for a partition or a group.

Right after a topic was made, and whenever a broker comes or goes, the server that a client asks may not know yet that
it is the one who answers. It says so, librdkafka asks it at most a few times within milliseconds, and gives up. What
readers are told of this among their messages goes by itself (``passes``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

if TYPE_CHECKING:
    from confluent_kafka import Consumer, TopicPartition

NO_LEADER: Final = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.REPLICA_NOT_AVAILABLE,
    }
)
"""What servers say of a partition while they choose who answers for it."""

NO_COORDINATOR: Final = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError._WAIT_COORD,
    }
)
"""What they say of a group meanwhile."""

CHOOSING: Final = NO_LEADER | NO_COORDINATOR

AWAY: Final = frozenset(
    {KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE, KafkaError._TIMED_OUT}
)
"""What a client says of servers that it cannot reach, and goes on trying."""

_PASSING: Final = AWAY | NO_LEADER | {KafkaError._MAX_POLL_EXCEEDED}
_AGAIN_SECONDS = 0.1
_Answer = TypeVar("_Answer")


def passes(error: KafkaError) -> bool:
    """Say whether a reader that is told this among its messages goes on by itself."""
    return not error.fatal() and (error.retriable() or error.code() in _PASSING)


def patiently(ask: Callable[[], _Answer], seconds: float) -> _Answer:
    """Ask again for so many seconds while servers choose who answers.

    Raises:
        KafkaException: they have not chosen until then, or say something else.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in CHOOSING or time.monotonic() > end:
                raise
        time.sleep(_AGAIN_SECONDS)


def bounds(client: Consumer, partition: TopicPartition, seconds: float) -> tuple[int, int]:
    """Return the first offset that a partition holds now, and the one behind its last.

    Args:
        client: what asks; what it remembers of the partition is not used.
        partition: its topic and number.
        seconds: how long servers may choose who answers, and how long their answer may take.

    Raises:
        KafkaException: the servers do not answer, or refuse.
    """
    found: tuple[int, int] = patiently(
        lambda: client.get_watermark_offsets(partition, timeout=seconds, cached=False), seconds
    )
    return found
