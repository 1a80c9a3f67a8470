"""A Kafka Connect worker with Debezium: the tables of a PostgreSQL database as topics."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.errors import SetupError
from metl_gui.own_files import make_folder, write_file
from metl_gui.stack.component import HOST, answers, ask
from metl_gui.stack.jars import Artifact, JarSet, fetch
from metl_gui.stack.java_server import JavaServer
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker, write_properties
from metl_gui.stack.postgres import CAPTURER, PostgresServer
from metl_gui.values import Value

CONVERTER_JARS = JarSet(
    "apicurio-converter",
    "the converter that writes Avro with a registry",
    (Artifact("io.apicurio", "apicurio-registry-utils-converter", "2.6.13.Final"),),
    megabytes=20,
)
"""The last version whose parts are all on Maven Central; it speaks with newer registries by their older API."""
AVRO_CONVERTER = "io.apicurio.registry.utils.converter.AvroConverter"
JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"
_ENTRY = "capturer"
_LOOK_SECONDS = 0.1
_RUNNING_SECONDS = 60


class Connector(Value):
    """One connector of a worker.

    Args:
        worker: where it runs.
        name: its name there, and its replication slot's.
        prefix: what its topics begin with.
        settings: everything it was made with.
    """

    worker: ConnectWorker
    name: str
    prefix: str
    settings: Mapping[str, str]

    def topic(self, table: str) -> str:
        """Return the topic of a table, such as ``public.orders``."""
        return f"{self.prefix}.{table}"

    @property
    def state(self) -> str:
        """What Connect says: RUNNING, PAUSED, FAILED or UNASSIGNED, of its task where that is there."""
        told = self.worker.ask("GET", f"/connectors/{self.name}/status")
        states = [part["state"] for part in (told["connector"], *told["tasks"])]
        return next((state for state in states if state != "RUNNING"), "RUNNING" if told["tasks"] else "UNASSIGNED")

    def wait_until_it_runs(self, watch: Watch = UNWATCHED) -> None:
        """Wait until its task runs.

        Raises:
            SetupError: it failed, or does not run in time; the error shows what it said.
        """
        end = time.monotonic() + _RUNNING_SECONDS
        while (state := self.state) != "RUNNING":
            if state == "FAILED" or time.monotonic() > end:
                told = self.worker.ask("GET", f"/connectors/{self.name}/status")
                traces = [part.get("trace", "") for part in (told["connector"], *told["tasks"])]
                raise SetupError(
                    f"The connector {self.name} does not run.",
                    f"It is {state}: {' '.join(filter(None, traces))[:1200]}",
                )
            watch.step(f"Waiting for the connector {self.name}")
            time.sleep(_LOOK_SECONDS)

    def pause(self) -> None:
        """Let it read no more, until it resumes."""
        self.worker.ask("PUT", f"/connectors/{self.name}/pause")

    def resume(self) -> None:
        """Let it read again."""
        self.worker.ask("PUT", f"/connectors/{self.name}/resume")

    def restart(self) -> None:
        """Start it anew, from the offsets it committed last."""
        self.worker.ask("POST", f"/connectors/{self.name}/restart?includeTasks=true")

    def delete(self) -> None:
        """Remove it; its topics, slot and publication stay."""
        self.worker.forget(self.name)


class ConnectWorker(JavaServer):
    """A standalone worker; its connectors are made through its REST interface, and again after a restart.

    Args:
        broker: where its topics are.
        folder: everything it writes goes here.
        ports: where its REST interface listens.
        settings: further settings of the worker, such as a long ``offset.flush.interval.ms``, after which a worker that
            is killed sends more again.
        memory: what its heap may take.
        writes_avro: whether its connectors may use the converter that writes Avro with a registry.
        archive_to: where Java writes the archive of its classes.
    """

    title: ClassVar[str] = "Kafka Connect"
    main: ClassVar[str] = "org.apache.kafka.connect.cli.ConnectStandalone"

    def __init__(
        self,
        broker: KafkaBroker,
        folder: Path | None = None,
        ports: Sequence[int] = (),
        settings: Mapping[str, str] | None = None,
        memory: str = "256m",
        writes_avro: bool = False,
        archive_to: Path | None = None,
    ) -> None:
        super().__init__(folder, ports, memory, archive_to)
        self.broker = broker
        self.writes_avro = writes_avro
        self.settings = dict(settings or {})
        self._connectors: dict[str, Mapping[str, str]] = {}

    @property
    def libraries(self) -> Path:
        """The folder of the jars of Kafka, Connect and Debezium."""
        return fetch(KAFKA_JARS)

    @property
    def url(self) -> str:
        """The address of its REST interface."""
        return f"http://{HOST}:{self.port}"

    def watch_tables(
        self,
        postgres: PostgresServer,
        tables: Sequence[str],
        prefix: str,
        *,
        settings: Mapping[str, str] | None = None,
        watch: Watch = UNWATCHED,
    ) -> Connector:
        """Have Debezium write what is and what changes in tables, and wait until it does.

        Args:
            postgres: the database.
            tables: with their schemas, such as ``public.orders``; a comma list of Debezium's expressions each.
            prefix: what the topics begin with; also the connector's name.
            settings: further settings of Debezium or of Connect's connectors, such as ``avro_settings``.
            watch: asked whether to go on waiting.

        Raises:
            SetupError: Connect refuses it, or it fails.
        """
        slot = "".join(letter if letter.isalnum() else "_" for letter in prefix.lower())
        postgres.let_capture(slot, tables, (settings or {}).get("signal.data.collection", ""))
        # Everybody who reaches the REST interface reads the settings of connectors.
        password = self._secrets / f"{slot}.properties"
        write_file(password, f"{_ENTRY}={postgres.capture_password}\n".encode())
        own = {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "plugin.name": "pgoutput",
            "database.hostname": HOST,
            "database.port": str(postgres.port),
            "database.user": CAPTURER,
            "database.password": f"${{file:{password}:{_ENTRY}}}",
            "database.dbname": postgres.database,
            "topic.prefix": prefix,
            "table.include.list": ",".join(tables),
            "slot.name": slot,
            "publication.name": slot,
            "publication.autocreate.mode": "disabled",
            "poll.interval.ms": "20",
            "tasks.max": "1",
            **(settings or {}),
        }
        connector = Connector(self, prefix, prefix, own)
        self.ask("PUT", f"/connectors/{prefix}/config", own)
        self._connectors[prefix] = own
        connector.wait_until_it_runs(watch)
        return connector

    def forget(self, name: str) -> None:
        """Remove a connector, if it is there."""
        if self._connectors.pop(name, None) is not None:
            self.ask("DELETE", f"/connectors/{name}")

    def drop_slot(self, postgres: PostgresServer, connector: Connector) -> None:
        """Remove what a connector left in its database, so that the log of changes is not kept for nobody."""
        postgres.execute(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = :'slot';"
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = :'slot';"
            'DROP PUBLICATION IF EXISTS :"slot"',
            {"slot": connector.settings["slot.name"]},
        )

    def ask(self, method: str, path: str, document: object = None) -> Any:
        """Ask the REST interface and return its answer.

        Raises:
            SetupError: it refuses, or is not there.
        """
        # A worker that is sorting itself out asks to come again; a connector just made has no status yet.
        return ask(method, self.url + path, document, again={404, 409})

    def restart(self, watch: Watch = UNWATCHED) -> ConnectWorker:
        """Kill it and start it again; its connectors go on from the offsets that were written last."""
        super().restart(watch)
        for name, settings in self._connectors.items():
            self.ask("PUT", f"/connectors/{name}/config", settings)
        for name, settings in self._connectors.items():
            Connector(self, name, settings["topic.prefix"], settings).wait_until_it_runs(watch)
        return self

    @property
    def _secrets(self) -> Path:
        return self.folder / "secrets"

    @property
    def _properties(self) -> Path:
        return self.folder / "worker.properties"

    def _prepare(self, watch: Watch) -> None:
        fetch(KAFKA_JARS, watch)
        make_folder(self._secrets)
        write_properties(
            self._properties,
            {
                "bootstrap.servers": self.broker.bootstrap,
                "listeners": self.url,
                "key.converter": JSON_CONVERTER,
                "key.converter.schemas.enable": "false",
                "value.converter": JSON_CONVERTER,
                "value.converter.schemas.enable": "false",
                "offset.storage.file.filename": str(self.folder / "offsets"),
                "offset.flush.interval.ms": "1000",
                "config.providers": "file",
                "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
                "config.providers.file.param.allowed.paths": str(self._secrets),
                # Looked up by name: to look through all jars takes many seconds.
                "plugin.discovery": "service_load",
                **({"plugin.path": str(_lay_out_converter(self.folder, watch))} if self.writes_avro else {}),
                **self.settings,
            },
        )

    def _command(self) -> list[str]:
        return self._java(self.main, str(self._properties))

    def _answers(self) -> bool:
        return answers(f"{self.url}/connectors")


def _lay_out_converter(folder: Path, watch: Watch) -> Path:
    """Make a plugin of the converter's jars, with a note by which Connect finds it without looking through all."""
    plugin = folder / "plugins" / "avro"
    plugin.mkdir(parents=True, exist_ok=True)
    for jar in fetch(CONVERTER_JARS, watch).glob("*.jar"):
        link = plugin / jar.name
        if not link.is_symlink():
            link.symlink_to(jar)
    with zipfile.ZipFile(plugin / "services.jar", "w") as services:
        services.writestr("META-INF/services/org.apache.kafka.connect.storage.Converter", AVRO_CONVERTER + "\n")
    return plugin.parent


def with_schemas() -> dict[str, str]:
    """Return what makes a connector write each JSON message with its schema."""
    both = ("key", "value")
    own = {f"{part}.converter": JSON_CONVERTER for part in both}
    return own | {f"{part}.converter.schemas.enable": "true" for part in both}
