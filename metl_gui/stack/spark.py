"""Spark servers: a Connect server, and a standalone master with its workers."""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

import msgspec

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.target import TOKEN, Target, parse_target
from metl_gui.engine.spark.class_archive import archive_options, find_archive
from metl_gui.engine.spark.java import find_java
from metl_gui.engine.spark.protection import ASKING, HERE, SECRET
from metl_gui.errors import SetupError
from metl_gui.stack import guard
from metl_gui.stack.component import HOST, Component, listens

_DEPLOY = "org.apache.spark.deploy"
_DAEMON = {
    **ASKING,
    "spark.master.rest.enabled": "false",
    "spark.ui.killEnabled": "false",
    "spark.master.ui.decommission.allow.mode": "DENY",
}
"""Settings of masters and workers. What takes jobs over HTTP, and the buttons of their pages, ask nobody."""
_QUICK = "-XX:TieredStopAtLevel=1"
"""Only the quick compiler: they start sooner, and little of what they do for us is Java."""
_REGISTERED = re.compile(r"Successfully registered with master")
_EXECUTOR = b"CoarseGrainedExecutorBackend"


def spark_home() -> Path:
    """Return the folder of the Spark that is installed with us.

    Raises:
        SetupError: there is none.
    """
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SetupError("Spark is missing.", "", "Run `pip install 'pyspark[connect]>=4.2,<4.3'`.")
    return Path(spec.origin).parent


def quick_java() -> dict[str, str]:
    """Return the variable by which every Java of Spark starts sooner: servers, executors, and what is submitted.

    It maps Spark's archived classes, where they are, and has the quick compiler alone; a person's own options stay.
    """
    options = (_QUICK, archive_options(find_archive(find_java())), os.environ.get("JAVA_TOOL_OPTIONS", ""))
    return {"JAVA_TOOL_OPTIONS": " ".join(filter(None, options))}


class _SparkProgram(Component):
    """What the programs of Spark have in common: they listen on this computer alone and ask for a secret.

    Args:
        folder: everything it writes goes here.
        ports: where it listens.
        python: what its Python workers run, by default our own.
        environment: what stands in its environment, and so in that of its Python workers, besides ours.
        memory: what its heap may take.

    Attributes:
        secret: what it asks for; it travels in environments, which are their owner's alone to read.
    """

    secret_variable: ClassVar[str] = "_SPARK_AUTH_SECRET"  # noqa: S105 - its name
    """Where it reads its secret."""

    def __init__(
        self,
        folder: Path | None = None,
        ports: Sequence[int] = (),
        python: Path | None = None,
        environment: Mapping[str, str] | None = None,
        memory: str = "256m",
    ) -> None:
        super().__init__(folder, ports)
        self.python = python or Path(sys.executable)
        self.environment = dict(environment or {})
        self.memory = memory
        self.secret = secrets.token_hex(32)

    def _prepare(self, watch: Watch) -> None:
        find_java()
        watch.step(f"Starting {self.title}")
        (self.folder / "tmp").mkdir(exist_ok=True)

    def _class(self, name: str, *arguments: str) -> list[str]:
        return [str(spark_home() / "bin" / "spark-class"), name, *arguments]

    def _environment(self) -> dict[str, str]:
        return {
            "JAVA_HOME": str(find_java().path),
            "SPARK_HOME": str(spark_home()),
            "PYSPARK_PYTHON": str(self.python),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_WORKER_DIR": str(self.folder / "work"),
            "SPARK_DAEMON_MEMORY": self.memory,
            "SPARK_DAEMON_JAVA_OPTS": " ".join(f"-D{name}={value}" for name, value in _DAEMON.items()),
            "TMPDIR": str(self.folder / "tmp"),
            **quick_java(),
            **self.environment,
            self.secret_variable: self.secret,
        }

    def _answers(self) -> bool:
        return listens(self.port)


class SparkConnect(_SparkProgram):
    """A Connect server with a Spark of two cores in it; its secret is the token of its clients."""

    title: ClassVar[str] = "Spark's Connect server"
    secret_variable: ClassVar[str] = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 - its name

    def __init__(
        self,
        folder: Path | None = None,
        ports: Sequence[int] = (),
        python: Path | None = None,
        environment: Mapping[str, str] | None = None,
        memory: str = "600m",
    ) -> None:
        super().__init__(folder, ports, python, environment, memory)

    @property
    def address(self) -> str:
        """Its address, as runs take it; clients show a token without TLS to this name only."""
        return f"sc://localhost:{self.port}"

    @property
    def target(self) -> Target:
        """Its address with its token."""
        return msgspec.structs.replace(parse_target(self.address), secrets=((TOKEN, self.secret),))

    def _command(self) -> list[str]:
        settings = {
            "spark.connect.grpc.binding.port": self.port,
            "spark.connect.grpc.binding.address": HOST,
            **HERE,
            **ASKING,
            "spark.sql.warehouse.dir": self.folder / "warehouse",
        }
        options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        server = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
        return self._class(f"{_DEPLOY}.SparkSubmit", "--master", "local[2]", *options, *server)


class SparkWorker(_SparkProgram):
    """A worker of a standalone master.

    Args:
        master: whom it serves.
        cores: how many tasks it runs at once.
        executor_memory: what its executors may take together.
    """

    title: ClassVar[str] = "a worker of Spark"

    def __init__(self, master: SparkMaster, cores: int = 1, executor_memory: str = "1g") -> None:
        super().__init__(master.folder / f"worker-{master.next_number()}", (), master.python, master.environment)
        self.master = master
        self.secret = master.secret
        self.cores = cores
        self.executor_memory = executor_memory

    @property
    def executors(self) -> list[int]:
        """The process ids of the executors that run for it now."""
        return [process_id for process_id in self.process_ids if _is_executor(process_id)]

    def _prepare(self, watch: Watch) -> None:
        self.folder.mkdir(exist_ok=True)
        self.log.unlink(missing_ok=True)
        super()._prepare(watch)

    def _command(self) -> list[str]:
        place = ("--host", HOST, "--port", str(self.port), "--webui-port", "0")
        size = ("--cores", str(self.cores), "--memory", self.executor_memory)
        return self._class(f"{_DEPLOY}.worker.Worker", *place, *size, self.master.address)

    def _answers(self) -> bool:
        return bool(_REGISTERED.search(self.log.read_text(errors="replace")))


class SparkMaster(_SparkProgram):
    """A standalone master with workers, which it starts and stops.

    Args:
        workers: how many workers of one core it has.
    """

    title: ClassVar[str] = "Spark's master"

    def __init__(
        self,
        folder: Path | None = None,
        ports: Sequence[int] = (),
        python: Path | None = None,
        environment: Mapping[str, str] | None = None,
        workers: int = 2,
    ) -> None:
        super().__init__(folder, ports, python, environment)
        self._worker_count = workers
        self._made = 0
        self.workers: tuple[SparkWorker, ...] = ()

    @property
    def address(self) -> str:
        """Its address, as runs take it."""
        return f"spark://{HOST}:{self.port}"

    @property
    def target(self) -> Target:
        """Its address with what it asks for."""
        return msgspec.structs.replace(
            parse_target(self.address), settings=tuple(ASKING.items()), secrets=((SECRET, self.secret),)
        )

    @property
    def executors(self) -> list[int]:
        """The process ids of the executors that run for its workers now."""
        return [process_id for worker in self.workers for process_id in worker.executors]

    def next_number(self) -> int:
        """Return the number of the next worker that is made."""
        self._made += 1
        return self._made

    def start(self, watch: Watch = UNWATCHED) -> SparkMaster:
        """Start it, then its workers, and wait until they serve it."""
        with ExitStack() as on_failure:
            super().start(watch)
            on_failure.callback(self.stop)
            for _ in range(self._worker_count):
                self.add_worker(watch)
            on_failure.pop_all()
        return self

    def add_worker(self, watch: Watch = UNWATCHED) -> SparkWorker:
        """Start another worker of one core."""
        worker = SparkWorker(self).start(watch)
        self.workers += (worker,)
        return worker

    def _end(self, polite: int, seconds: float | None = None) -> None:
        for worker in self.workers:
            worker.stop()
        self.workers = ()
        super()._end(polite, seconds)

    def _command(self) -> list[str]:
        place = ("--host", HOST, "--port", str(self.port), "--webui-port", "0")
        return self._class(f"{_DEPLOY}.master.Master", *place)


def _is_executor(process_id: int) -> bool:
    try:
        return bool(guard.stat_of(process_id)) and _EXECUTOR in Path(f"/proc/{process_id}/cmdline").read_bytes()
    except OSError:
        return False
