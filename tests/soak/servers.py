"""What the soak runs on: PostgreSQL, Kafka, and Connect whose Debezium writes the changes of the tables into topics."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from metl_gui.errors import SetupError
from metl_gui.stack.component import keep
from metl_gui.stack.connect import JSON_CONVERTER, Connector, ConnectWorker
from metl_gui.stack.jars import fetch
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker
from metl_gui.stack.postgres import PostgresServer
from tests.soak.tables import PREFIX

_WORKER = {
    "producer.compression.type": "lz4",
    "producer.linger.ms": "10",
    "producer.batch.size": "262144",
    # A worker that is killed forgets the last seconds, and writes what came in them again.
    "offset.flush.interval.ms": "5000",
}
_CONNECTOR = {
    "max.batch.size": "4096",
    "max.queue.size": "16384",
    "poll.interval.ms": "20",
    "retriable.restart.connector.wait.ms": "1000",
}
_DATABASE = {"shared_buffers": "256MB", "max_wal_size": "2GB", "checkpoint_timeout": "5min"}


@dataclass(slots=True)
class Servers:
    """Servers that run.

    Args:
        postgres: has the tables.
        kafka: has the topics.
        connect: runs Debezium.
        restarts: how often the connector had failed and was started again.
    """

    postgres: PostgresServer
    kafka: KafkaBroker
    connect: ConnectWorker
    restarts: int = 0
    connector: Connector | None = field(default=None)

    @property
    def source(self) -> str:
        """The address of the topics of the tables, as a run takes it."""
        return self.kafka.address(f"^{PREFIX}\\.(crm|sales|billing)\\..*")

    @property
    def sink(self) -> str:
        """Where a run writes the messages of each entity."""
        return self.kafka.address("canonical.{entity}")

    @property
    def error_topic(self) -> str:
        """Where it writes what it sets aside."""
        return "canonical-errors"

    @property
    def errors(self) -> str:
        """The address of that topic."""
        return self.kafka.address(self.error_topic)

    def watch_tables(self, tables: Sequence[str], *, has_schemas: bool) -> None:
        """Have Debezium write what is in the tables, and then each change."""
        settings = dict(_CONNECTOR)
        for part in ("key.converter", "value.converter"):
            settings |= {part: JSON_CONVERTER, f"{part}.decimal.format": "NUMERIC"}
            settings[f"{part}.schemas.enable"] = str(has_schemas).lower()
        self.connector = self.connect.watch_tables(self.postgres, tables, PREFIX, settings=settings)

    def mend(self) -> None:
        """Start the connector again where it failed, as whoever operates it does."""
        try:
            if self.connector is not None and self.connector.state == "FAILED":
                self.restarts += 1
                self.connector.restart()
        except SetupError:
            return  # its worker is away


def start_servers(stack: ExitStack) -> Servers:
    """Start all of them; they end with the stack."""
    fetch(KAFKA_JARS)
    postgres = keep(stack, PostgresServer(settings=_DATABASE))
    kafka = keep(stack, KafkaBroker(settings={"log.segment.bytes": str(256 << 20)}))
    connect = keep(stack, ConnectWorker(kafka, settings=_WORKER, memory="400m"))
    return Servers(postgres, kafka, connect)
