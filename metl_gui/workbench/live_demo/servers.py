"""What the shop runs on: PostgreSQL, Kafka, and Connect whose Debezium writes the changes of its tables into topics."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from metl_gui.workbench.components.component import keep
from metl_gui.workbench.components.connect import Connector, ConnectWorker, with_schemas
from metl_gui.workbench.components.jars import fetch
from metl_gui.workbench.components.kafka import KAFKA_JARS, KafkaBroker
from metl_gui.workbench.components.postgres import PostgresServer
from metl_gui.workbench.live_demo.shop import SERVICE, TABLES
from metl_gui.workbench.progress import Watch


@dataclass(frozen=True, slots=True)
class Servers:
    """Servers that run.

    Args:
        postgres: has the tables.
        kafka: has the topics.
        connect: runs Debezium.
    """

    postgres: PostgresServer
    kafka: KafkaBroker
    connect: ConnectWorker

    @property
    def feeds(self) -> dict[str, str]:
        """The topics of the tables, and the entity that each is for."""
        return {f"{SERVICE}.{table}": entity for table, entity in TABLES.items()}

    @property
    def source(self) -> str:
        """Their address, as a run takes it."""
        return self.kafka.address(",".join(self.feeds))

    @property
    def sink(self) -> str:
        """Where a run writes the messages of each entity."""
        return self.kafka.address("canonical.{entity}")

    @property
    def errors(self) -> str:
        """Where a run writes what it sets aside."""
        return self.kafka.address("canonical-errors")

    def watch_tables(self, watch: Watch) -> Connector:
        """Have Debezium write what is in the tables, and then each change.

        Raises:
            SetupError: it does not start.
        """
        numbers = {f"{part}.converter.decimal.format": "NUMERIC" for part in ("key", "value")}
        return self.connect.watch_tables(
            self.postgres, list(TABLES), SERVICE, settings=with_schemas() | numbers, watch=watch
        )


def start_servers(stack: ExitStack, watch: Watch) -> Servers:
    """Start all of them; they end with the stack.

    Raises:
        SetupError: something is missing on this computer, or one of them does not start.
        RunCancelled: the watch was cancelled.
    """
    fetch(KAFKA_JARS, watch)
    postgres = keep(stack, PostgresServer(), watch)
    kafka = keep(stack, KafkaBroker(), watch)
    return Servers(postgres, kafka, keep(stack, ConnectWorker(kafka), watch))
