"""The Spark session: how it is configured, started, cancelled and ended."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

import metl_gui
from metl_gui.engine.java import find_java
from metl_gui.engine.sources.files import cut_ranges, list_files
from metl_gui.engine.sources.reading import Reading
from metl_gui.errors import RunError, SetupError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from metl_gui.engine.task import TaskOrder

_QUIET = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""
QUICK_START = "-XX:TieredStopAtLevel=1"
"""Only the quick compiler: the first run begins seconds earlier, and little of a run is Java."""

_STOP_SECONDS = 3.0
_BREAK_SECONDS = 0.3


def check_target(target: str) -> None:
    """Refuse a Spark target that cannot be served, before anything is started.

    Raises:
        RunError: it is unknown, not supported yet, or nobody answers there.
    """
    if re.fullmatch(r"local(\[(\*|[1-9]\d{0,2})\])?", target):
        return
    if re.fullmatch(r"local\[\d+\]", target):
        raise RunError(
            "Spark cannot run here with that many threads.", f"{target} was asked for.", "Use local[*], or 1 to 999."
        )
    if target.startswith("sc://"):
        raise RunError(
            "Spark Connect targets are not supported yet.",
            f"{target} was asked for.",
            "Use local[*], or spark://host:port of a standalone cluster.",
        )
    if not re.fullmatch(r"spark://[^/:]+:\d+(,[^/:]+:\d+)*", target):
        raise RunError(
            "The Spark target is not known.",
            f"{target} is neither local[*] nor spark://host:port.",
            "Use local[*] to run on this computer.",
        )
    first = urlsplit(target.split(",", maxsplit=1)[0])
    try:
        socket.create_connection((first.hostname or "", first.port or 0), timeout=3).close()
    except OSError as error:
        raise RunError(
            "The Spark master does not answer.",
            f"{target}: {error.strerror or error}.",
            "Check the address, or use local[*] to run on this computer.",
        ) from error


def source_root() -> Path:
    """Return the folder from which ``metl_gui`` is imported, so that executors import the same."""
    return Path(metl_gui.__file__).resolve().parents[1]


class SparkRuntime:
    """One Spark session with its JVM and its temporary folder.

    Args:
        target: a master, already checked.
        folder: everything temporary goes here.
        java_options: further options of the JVM.
    """

    def __init__(self, target: str, folder: Path, java_options: str = QUICK_START) -> None:
        self.java_options = java_options
        self.target = target
        self.folder = folder
        self.spark: SparkSession = self._start()
        self._jvm: subprocess.Popen[bytes] = self.spark.sparkContext._gateway.proc  # type: ignore[union-attr]

    @property
    def version(self) -> str:
        """The version of Spark."""
        return self.spark.version

    @property
    def is_alive(self) -> bool:
        """Whether the JVM is there."""
        return self._jvm.poll() is None

    def has_died(self) -> bool:
        """Say whether the JVM is gone; its connections break a moment before its process ends."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._jvm.wait(_BREAK_SECONDS)
        return not self.is_alive

    def wait(self) -> None:
        """Wait until the JVM ends."""
        self._jvm.wait()

    def begin_group(self, run_id: str) -> None:
        """Put what this thread runs from now on into a group that can be cancelled."""
        self.spark.sparkContext.setJobGroup(run_id, f"METL run {run_id}", interruptOnCancel=True)

    def cancel_until(self, run_id: str, is_over: threading.Event) -> None:
        """Cancel a group again and again until its run is over: a job may be submitted after the first time."""
        while not is_over.is_set() and self.is_alive:
            with contextlib.suppress(Exception):
                self.spark.sparkContext.cancelJobGroup(run_id)
            is_over.wait(0.05)

    def read(self, reading: Reading, order: TaskOrder | None = None) -> DataFrame:
        """Return the raw records of a source or, with an order, the outcomes of mapping them where they are read."""
        source = self.spark.read.format("metl_files").option("reading", msgspec.json.encode(reading).decode())
        if order is not None:
            source = source.option("order", msgspec.json.encode(order).decode())
        return source.load()

    def warm_up(self) -> None:
        """Do once what a run does first, so that Java's classes and the Python workers are there for it."""
        path = self.folder / "warm-up.jsonl"
        path.write_bytes(b"{}\n")
        files, tasks = cut_ranges(list_files(str(path)))
        self.read(Reading(files, tasks * (os.cpu_count() or 1))).collect()

    def end(self) -> None:
        """End the JVM, kindly first."""
        if self.is_alive and self._jvm.stdin is not None:
            # The gateway ends itself when its standard input closes.
            self._jvm.stdin.close()
        try:
            self._jvm.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._jvm.send_signal(signal.SIGKILL)
            self._jvm.wait()

    def _start(self) -> SparkSession:
        java = find_java()
        os.environ.update(self._environment(java.path))
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession

        from metl_gui.engine.sources.datasource import FileDataSource

        builder: Any = SparkSession.builder
        for name, value in self._settings().items():
            builder = builder.config(name, value)
        try:
            spark: SparkSession = builder.getOrCreate()
        except (PySparkException, OSError) as error:
            raise _does_not_start(error) from error
        except Exception as error:  # py4j's errors have no base of their own
            raise _does_not_start(error) from error
        spark.dataSource.register(FileDataSource)
        return spark

    def _environment(self, java_home: Path) -> dict[str, str]:
        for name in ("tmp", "local", "warehouse"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "log4j2.properties").write_text(_QUIET)
        known = [str(source_root()), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        return {
            "JAVA_HOME": str(java_home),
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(known)),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(self.folder / "tmp"),
        }

    def _settings(self) -> dict[str, str]:
        folder = self.folder
        return {
            "spark.master": self.target,
            "spark.app.name": "METL Workbench",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'} "
            f"-Djava.io.tmpdir={folder / 'tmp'} {self.java_options}",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
            "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
            "spark.python.task.killTimeout": "200ms",
        }


def _does_not_start(error: Exception) -> SetupError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next((line for line in lines if "Exception" in line or "Error" in line), lines[0] if lines else "")
    return SetupError("Spark does not start.", reason.lstrip(": ")[:500], "Run `metl doctor` to see what is missing.")
