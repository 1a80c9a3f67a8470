"""The topics of one trial, made for it and removed after it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from metl_gui.core.runs.kafka import KafkaServers

_BY_BROKER = {"message.timestamp.type": "LogAppendTime"}
"""Both ends take the time of one clock, the broker's."""


class TrialTopics(NamedTuple):
    """Where a trial reads and writes.

    Args:
        servers: the broker.
        source, sink, errors: topics.
        group: the consumer group.
    """

    servers: KafkaServers
    source: str
    sink: str
    errors: str
    group: str

    def address(self, topic: str) -> str:
        """Return the address of a topic."""
        return f"kafka://{self.servers.bootstrap}/{topic}"


@contextmanager
def trial_topics(servers: KafkaServers, partitions: int, prefix: str = "L-trial") -> Iterator[TrialTopics]:
    """Make the topics of a trial."""
    name = f"{prefix}-{secrets.token_hex(4)}"
    topics = TrialTopics(servers, f"{name}-in", f"{name}-out", f"{name}-errors", name)
    admin = AdminClient(dict(servers.client_settings))
    new: Any = NewTopic
    made = [new(topic, partitions, 1, config=_BY_BROKER) for topic in (topics.source, topics.sink, topics.errors)]
    for future in admin.create_topics(made).values():
        future.result()
    try:
        yield topics
    finally:
        left = [topics.source, topics.sink, topics.errors, f"metl.lane.{name}", f"metl.{name}.state"]
        for future in admin.delete_topics(left).values():
            with suppress(KafkaException):
                future.result()
