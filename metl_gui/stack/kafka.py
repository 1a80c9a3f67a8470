"""A Kafka broker: one process that is its own controller (KRaft)."""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from metl_gui.core.progress import Watch
from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import SetupError
from metl_gui.stack.component import HOST, Component, listens
from metl_gui.stack.jars import Artifact, JarSet, fetch

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
JAVA_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
)
"""Quick to start and small: these are servers for a try."""


def java_command(memory: str, class_path: str, main: str, *arguments: str) -> list[str]:
    """Return the command of a Java program of the stack."""
    java = find_java().path / "bin" / "java"
    return [str(java), f"-Xmx{memory}", *JAVA_OPTIONS, "-cp", class_path, main, *arguments]


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Write a file of Java properties."""
    lines = (f"{name}={value.replace(chr(92), chr(92) * 2)}\n" for name, value in properties.items())
    path.write_text("".join(lines))


class KafkaBroker(Component):
    """One broker whose topics have two partitions, where nothing else is said, and are made when first named.

    Args:
        folder: everything it writes goes here.
        ports: where it listens, and where its controller does.
        settings: further settings of ``server.properties``.
        memory: what its heap may take.
    """

    title: ClassVar[str] = "Kafka"
    port_count: ClassVar[int] = 2

    def __init__(
        self,
        folder: Path | None = None,
        ports: Sequence[int] = (),
        settings: Mapping[str, str] | None = None,
        memory: str = "512m",
    ) -> None:
        super().__init__(folder, ports)
        self.settings = dict(settings or {})
        self.memory = memory

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
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def _prepare(self, watch: Watch) -> None:
        libraries = fetch(KAFKA_JARS, watch)
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
            self._format(libraries)

    def _format(self, libraries: Path) -> None:
        identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # A leading dash would be read as an option.
        command = ["format", "-t", identity.replace("-", "a"), "-c", str(self._properties)]
        made = subprocess.run(
            java_command("128m", f"{libraries}/*", "kafka.tools.StorageTool", *command),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if made.returncode != 0:
            raise SetupError("Kafka cannot make its log folder.", (made.stderr or made.stdout).strip()[-800:])

    def _command(self) -> list[str]:
        return java_command(self.memory, f"{fetch(KAFKA_JARS)}/*", "kafka.Kafka", str(self._properties))

    def _answers(self) -> bool:
        from metl_gui.engine.kafka.clients import has_brokers

        return listens(self.port) and has_brokers(self.servers)
