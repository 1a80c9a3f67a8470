"""Whether Kafka servers are there and take part in their cluster."""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from metl_gui.engine.kafka.servers import KafkaServers

_SECONDS = 2.0


def has_brokers(servers: KafkaServers, seconds: float = _SECONDS) -> bool:
    """Ask for the brokers that are at work: one that is starting is not among them yet.

    Args:
        servers: whom to ask.
        seconds: how long to wait for an answer.
    """
    settings: dict[str, Any] = {**servers.client_settings, "log_level": 0}
    try:
        return bool(AdminClient(settings).list_topics(timeout=seconds).brokers)
    except KafkaException:
        return False
