"""A Kafka broker: one process that is its own controller (KRaft)."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from metl_gui.core.progress import Watch
from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.errors import SetupError
from metl_gui.stack.component import HOST, listens
from metl_gui.stack.jars import Artifact, JarSet, fetch
from metl_gui.stack.java_server import JavaServer

KAFKA_VERSION = "4.1.1"
DEBEZIUM_VERSION = "3.3.1.Final"
_GROUP = "org.apache.kafka"
KAFKA_JARS = JarSet(
    "kafka",
    "Kafka, Connect and Debezium",
    (
        Artifact(_GROUP, "kafka_2.13", KAFKA_VERSION),
        Artifact(_GROUP, "kafka-tools", KAFKA_VERSION),
        Artifact(_GROUP, "connect-runtime", KAFKA_VERSION),
        Artifact(_GROUP, "connect-json", KAFKA_VERSION),
        Artifact(_GROUP, "connect-transforms", KAFKA_VERSION),
        Artifact("io.debezium", "debezium-connector-postgres", DEBEZIUM_VERSION),
        Artifact("org.slf4j", "slf4j-simple", "1.7.36"),  # without it nobody hears why a connector failed
    ),
    megabytes=58,
)
"""One set: they share most of it."""


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Write a file of Java properties."""
    lines = (f"{name}={value.replace(chr(92), chr(92) * 2)}\n" for name, value in properties.items())
    path.write_text("".join(lines))


class KafkaBroker(JavaServer):
    """One broker whose topics have two partitions, where nothing else is said, and are made when first named.

    Args:
        folder: everything it writes goes here.
        ports: where it listens, and where its controller does.
        settings: further settings of ``server.properties``.
        memory: what its heap may take.
        archive_to: where Java writes the archive of its classes.
    """

    title: ClassVar[str] = "Kafka"
    main: ClassVar[str] = "kafka.Kafka"
    port_count: ClassVar[int] = 2

    def __init__(
        self,
        folder: Path | None = None,
        ports: Sequence[int] = (),
        settings: Mapping[str, str] | None = None,
        memory: str = "512m",
        archive_to: Path | None = None,
    ) -> None:
        super().__init__(folder, ports, memory, archive_to)
        self.settings = dict(settings or {})

    @property
    def libraries(self) -> Path:
        """The folder of Kafka's jars."""
        return fetch(KAFKA_JARS)

    @property
    def bootstrap(self) -> str:
        """``host:port`` for clients."""
        return f"{HOST}:{self.port}"

    @property
    def servers(self) -> KafkaServers:
        """How runs reach it."""
        return KafkaServers(bootstrap=self.bootstrap)

    def address(self, topics: str) -> str:
        """Return the address of topics, as a run takes it."""
        return f"kafka://{self.bootstrap}/{topics}"

    @property
    def _client_ports(self) -> list[int]:
        """The ports of all ways in: settings may name further ones."""
        ways = self.settings.get("advertised.listeners", "")
        return [int(way.rpartition(":")[2]) for way in ways.split(",")] if ways else [self.port]

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def _prepare(self, watch: Watch) -> None:
        fetch(KAFKA_JARS, watch)
        # It would answer at its other ways in until it came to this one, and end then.
        if held := [port for port in self._client_ports if listens(port)]:
            text = f"Another program listens at port {held[0]}."
            raise SetupError("Kafka does not start.", text, "End that program, or give Kafka other ports.")
        plain, control = (f"{HOST}:{port}" for port in self.ports)
        write_properties(
            self._properties,
            {
                "process.roles": "broker,controller",
                "node.id": "1",
                "controller.quorum.voters": f"1@{control}",
                "listeners": f"PLAINTEXT://{plain},CONTROLLER://{control}",
                "advertised.listeners": f"PLAINTEXT://{plain}",
                "controller.listener.names": "CONTROLLER",
                "inter.broker.listener.name": "PLAINTEXT",
                "log.dirs": str(self.folder / "logs"),
                "num.partitions": "2",
                "auto.create.topics.enable": "true",
                # What is kept three times elsewhere has one place here.
                "offsets.topic.replication.factor": "1",
                "offsets.topic.num.partitions": "4",
                "transaction.state.log.replication.factor": "1",
                "transaction.state.log.min.isr": "1",
                "transaction.state.log.num.partitions": "4",
                "share.coordinator.state.topic.replication.factor": "1",
                "share.coordinator.state.topic.min.isr": "1",
                "group.initial.rebalance.delay.ms": "0",
                # By default something is written twice a second, so that those who look on see a quiet cluster go on.
                "metadata.max.idle.interval.ms": "0",
                # One that was killed is let in again as soon as it is taken for gone, and one that got no processor for
                # a few seconds, beside Spark on a small computer, is not.
                "broker.session.timeout.ms": "5000",
                "broker.heartbeat.interval.ms": "500",
                **self.settings,
            },
        )
        if not (self.folder / "logs" / "meta.properties").is_file():
            self._format()

    def _format(self) -> None:
        identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # A leading dash would be read as an option.
        command = ["format", "-t", identity.replace("-", "a"), "-c", str(self._properties)]
        made = self._run_java("kafka.tools.StorageTool", *command, memory="128m")
        if made.returncode != 0:
            raise SetupError("Kafka cannot make its log folder.", (made.stderr or made.stdout).strip()[-800:])

    def _command(self) -> list[str]:
        return self._java(self.main, str(self._properties))

    def _answers(self) -> bool:
        from metl_gui.engine.kafka.clients import has_brokers

        # Each way in is opened by itself.
        return all(map(listens, self._client_ports)) and has_brokers(self.servers)
