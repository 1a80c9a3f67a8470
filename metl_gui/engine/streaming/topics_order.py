"""What a stream that reads topics is told of them; loads no client of Kafka."""

from __future__ import annotations

import msgspec

from metl_gui.engine.kafka.servers import KafkaServers


class TopicsOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What is read.

    Args:
        servers: where it is.
        address: topics by name or pattern, as a person wrote it.
        start: where partitions begin that are there when the stream begins.
        is_ordered: what each partition becomes must keep its order.
        is_hurried: make small batches too, because they leave no files.
        patience_seconds: how long tasks wait for silent servers.
    """

    servers: KafkaServers
    address: str
    start: str
    is_ordered: bool
    is_hurried: bool
    patience_seconds: float
