"""A Spark session with a Java process of its own: how it is configured, started, cancelled and ended.

``SparkRuntime`` runs everything on this computer; ``cluster`` builds on it where workers are elsewhere, and
``connect`` has no Java of its own. What all have in common is in ``runtime``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import metl_gui
from metl_gui.core.runs.events import WorkerFacts
from metl_gui.core.runs.target import Target, parse_target
from metl_gui.engine.sessions.jobs import NumberedTask, do_nothing, run_tasks
from metl_gui.engine.spark.cancellation import cancel_until_over
from metl_gui.engine.spark.class_archive import archive_options, find_archive, spark_home
from metl_gui.engine.spark.java import find_java
from metl_gui.engine.spark.protection import ASKING, HERE, protected, protection_of
from metl_gui.engine.spark.worker_check import WorkerCheck
from metl_gui.errors import RunKilledError, SetupError, UserError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


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

_OPTIONS = "spark.driver.extraJavaOptions"
DAEMON = "spark.python.daemon.module"
_CRASH = "java-error.log"
"""What Java writes when it ends itself; it writes none when somebody ends it."""

_STOP_SECONDS = 3.0
_END_SECONDS = 5.0
_LOOK_SECONDS = 0.05


def source_root() -> Path:
    """Return the folder from which ``metl_gui`` is imported, so that executors import the same."""
    return Path(metl_gui.__file__).resolve().parents[1]


class SparkRuntime:
    """One Spark session with its JVM and its temporary folder.

    Args:
        target: where it runs, already checked.
        folder: everything temporary goes here.
        java_options: further options of the JVM.
        uses_archive: whether the JVM maps the archive of its classes, where there is one.
    """

    def __init__(
        self, target: Target | str, folder: Path, java_options: str = QUICK_START, *, uses_archive: bool = True
    ) -> None:
        self.java_options = java_options
        self._archive = find_archive(find_java()) if uses_archive else None
        self.target = parse_target(target) if isinstance(target, str) else target
        self.folder = folder
        self.workers: Sequence[WorkerFacts] = ()
        self.context: SparkContext = self._start()
        self.protection = protection_of(self.context.getConf().get)
        self._jvm: subprocess.Popen[bytes] = self.context._gateway.proc  # type: ignore[union-attr]

    @cached_property
    def spark(self) -> SparkSession:
        """Spark's SQL, made when somebody asks for it: a second that most runs do not need."""
        from pyspark.sql import SparkSession

        return SparkSession(self.context)

    @property
    def version(self) -> str:
        """The version of Spark."""
        return self.context.version

    @property
    def is_alive(self) -> bool:
        """Whether the JVM is there."""
        return self._jvm.poll() is None

    @property
    def has_ended_in_order(self) -> bool:
        """Whether the JVM has ended by itself, with nothing left to do."""
        return self._jvm.returncode == 0

    @property
    def parallelism(self) -> int:
        """How many tasks run at once."""
        return self.context.defaultParallelism

    def answers(self) -> bool:
        """Whether it takes a run now; a JVM that hangs is waited for until it goes on, or is gone."""
        return not self.has_died()

    def has_died(self) -> bool:
        """Return whether the JVM is gone: it answers no more, and its process ends in a moment."""
        try:
            self.context.getLocalProperty("spark.job.description")
        except Exception:  # noqa: BLE001 - py4j's errors have no base in common
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._jvm.wait(_END_SECONDS)
            return True
        return False

    def died(self) -> RunKilledError:
        """Return the error that the session went away during a run."""
        return RunKilledError(
            "Spark ended in the middle of the run.",
            "Its Java process is gone; nothing was written.",
            "Check that there is memory left on this computer, then run again: Spark starts anew.",
        )

    def wait(self) -> None:
        """Wait until the session has ended by itself."""
        self._jvm.wait()

    def begin_group(self, run_id: str) -> None:
        """Put what this thread runs from now on into a group that can be cancelled."""
        self.context.setJobGroup(run_id, f"METL run {run_id}", interruptOnCancel=True)

    def cancel_until(self, run_id: str, is_over: threading.Event) -> None:
        """Cancel a group again and again until its work is over; a JVM that hangs is ended."""
        cancel_until_over(lambda: self.context.cancelJobGroup(run_id), is_over, _LOOK_SECONDS, self._jvm.kill)

    def check_workers(self, check: WorkerCheck) -> Sequence[WorkerFacts]:  # noqa: ARG002 - what the workers of a cluster are asked
        """Return nothing: the workers are processes of ours on this computer."""
        return ()

    def ship_plan(self, plan: Path) -> str:
        """Return the plan's path, which the workers can read."""
        return str(plan)

    def run_tasks(self, task: NumberedTask, count: int) -> list[bytes]:
        """Run a task for each number from 0 on and return what came of each."""
        return run_tasks(self.context, task, count)

    def warm_up(self) -> None:
        """Do once what a run does first, so that Java's classes and the Python workers are there for it."""
        self.run_tasks(do_nothing, self.parallelism)

    def end(self, seconds: float = _STOP_SECONDS) -> None:
        """End the JVM, kindly first.

        Args:
            seconds: how long it may take.
        """
        if self.is_alive and self._jvm.stdin is not None:
            # The gateway ends itself when its standard input closes.
            self._jvm.stdin.close()
        try:
            self._jvm.wait(seconds)
        except subprocess.TimeoutExpired:
            self._jvm.send_signal(signal.SIGKILL)
            self._jvm.wait()

    def _start(self) -> SparkContext:
        java = find_java()
        with _environment(self._environment(java.path)):
            try:
                return self._started()
            except UserError:
                if self._archive is None or not (self.folder / _CRASH).exists():
                    raise
                archive, self._archive = self._archive, None
                context = self._started()
                archive.unlink(missing_ok=True)  # Java does not live with it
                return context

    def _started(self) -> SparkContext:
        from pyspark import SparkConf, SparkContext

        settings = self._merged(self._settings())
        _convert_no_arrays()
        try:
            # The settings of the first conf stand in the command line of Java, which everybody may read.
            SparkContext._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll(list(settings.items())))
            return SparkContext.getOrCreate(SparkConf().setAll([*settings.items(), *self._secret_settings()]))
        except Exception as error:  # py4j's errors have no base of their own
            raise self._does_not_start(error) from error

    def _secret_settings(self) -> Sequence[tuple[str, str]]:
        """Return the settings that must not stand in a command line."""
        return self.target.secret_settings

    def _merged(self, settings: dict[str, str]) -> dict[str, str]:
        """Put a person's own settings over ours; options of Java add up."""
        given = dict(self.target.settings)
        if _OPTIONS in given:
            given[_OPTIONS] = f"{settings[_OPTIONS]} {given[_OPTIONS]}"
        return protected(settings, given)

    def _environment(self, java_home: Path) -> dict[str, str]:
        for name in ("tmp", "local", "warehouse"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "log4j2.properties").write_text(_QUIET)
        known = [str(source_root()), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        spark = spark_home()
        return {
            **(
                {"SPARK_HOME": str(spark)} if spark is not None else {}
            ),  # else another Python is started to look for it
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
            "spark.master": self.target.master,
            "spark.app.name": "METL Workbench",
            **HERE,
            **ASKING,
            _OPTIONS: f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'} "
            f"-Djava.io.tmpdir={folder / 'tmp'} -XX:ErrorFile={folder / _CRASH} "
            f"{archive_options(self._archive)} {self.java_options}",
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
            "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
            "spark.python.task.killTimeout": "200ms",
            DAEMON: "metl_gui.engine.tasks.worker_daemon",
        }

    def _does_not_start(self, error: Exception) -> UserError:
        return SetupError(
            "Spark does not start.", most_telling_line(error), "Run `metl doctor` to see what is missing."
        )


@contextlib.contextmanager
def _environment(own: Mapping[str, str]) -> Iterator[None]:
    """Let what is started meanwhile inherit variables; PySpark starts Java with what stands here and nothing else."""
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _convert_no_arrays() -> None:
    """Have py4j look for no NumPy among what goes to Java: nothing of ours is, and the first look imports pandas."""
    from py4j import protocol
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

    of_numpy = (NumpyArrayConverter, NumpyScalarConverter)
    protocol.INPUT_CONVERTER[:] = [one for one in protocol.INPUT_CONVERTER if not isinstance(one, of_numpy)]


def most_telling_line(error: Exception) -> str:
    """Pick the line of Spark's words that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next((line for line in lines if "Exception" in line or "Error" in line), lines[0] if lines else "")
    return reason.lstrip(": ")[:500]
