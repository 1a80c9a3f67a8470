"""The real programs around a mapping, each started when the first test asks for it and shared by all tests after it.

A test that kills or pauses one brings it back before it ends. Names of topics, prefixes, groups and tables are the
test's own (``own_name``), as the programs are everybody's. Where a piece is missing on this computer, the tests that
need it are skipped with a sentence that names it; on CI that fails the run.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.lanes.target import TRIES
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import SetupError
from metl_gui.own_files import cache_folder
from metl_gui.stack.apicurio import APICURIO_JARS, ApicurioRegistry, find_newer_java
from metl_gui.stack.connect import Connector, ConnectWorker
from metl_gui.stack.jars import JarSet, find_maven
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker
from metl_gui.stack.postgres import PostgresServer, find_programs
from tests.helpers.ways_in import WaysIn, add_scrammer

WatchTables = Callable[..., Connector]


def need(*pieces: Callable[[], object]) -> None:
    """Skip the test when a piece that must be installed is not; a piece that is broken fails it."""
    for piece in pieces:
        try:
            piece()
        except SetupError as error:
            pytest.skip(str(error))


def need_jars(jars: JarSet) -> None:
    """Skip the test when jars are neither here nor can be asked for."""
    if not jars.is_fetched:
        need(find_maven)


@pytest.fixture(scope="session")
def ways_in(tmp_path_factory: pytest.TempPathFactory) -> WaysIn:
    """The ports of the broker, and the certificates that those over TLS need."""
    return WaysIn.find(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def kafka(ways_in: WaysIn) -> Iterator[KafkaBroker]:
    """A broker that makes topics of two partitions when they are first named."""
    need(find_java)
    need_jars(KAFKA_JARS)
    with ways_in.broker() as broker:
        add_scrammer(broker)
        yield broker


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server with a database named ``shop``, empty at first."""
    need(find_programs)
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def connect(kafka: KafkaBroker) -> Iterator[ConnectWorker]:
    """A Connect worker that writes to the broker."""
    with ConnectWorker(kafka, writes_avro=True) as worker:
        yield worker


@pytest.fixture(scope="session")
def apicurio() -> Iterator[ApicurioRegistry]:
    """A registry with Apicurio's own APIs and Confluent's, empty at first."""
    need(find_newer_java)
    need_jars(APICURIO_JARS)
    with ApicurioRegistry() as registry:
        yield registry


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkProcess]:
    """A Spark of two cores that tries tasks again, as lanes need it; a test that kills a part of it has its own."""
    need(find_java)
    with SparkProcess(f"local[2,{TRIES}]") as process:
        yield process


@pytest.fixture
def debezium(connect: ConnectWorker, postgres: PostgresServer) -> Iterator[WatchTables]:
    """Have Debezium watch tables: called with their names and a prefix of topics, it returns the running connector.

    The connectors of a test are removed after it, with their slots in the database.
    """
    made: list[Connector] = []

    def watch_tables(tables: Sequence[str], prefix: str, settings: Mapping[str, str] | None = None) -> Connector:
        made.append(connect.watch_tables(postgres, tables, prefix, settings=settings))
        return made[-1]

    yield watch_tables
    for connector in made:
        with contextlib.suppress(SetupError):  # a test may have removed it
            connector.delete()
        connect.drop_slot(postgres, connector)


@pytest.fixture
def own_name() -> str:
    """Return a name that no other test has, good for topics, prefixes, groups and tables."""
    return f"t{secrets.token_hex(4)}"


@pytest.fixture
def own_folders(tmp_path: Path) -> dict[str, str]:
    """An environment whose settings, projects and runs lie in the test's own folders; jars and machine code do not."""
    cache = tmp_path / "cache" / cache_folder().name
    cache.mkdir(parents=True)
    shared = cache_folder() / "components"
    shared.mkdir(parents=True, exist_ok=True)
    (cache / "components").symlink_to(shared)
    return {
        **os.environ,
        "XDG_CACHE_HOME": str(cache.parent),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
