"""A Spark session whose workers are elsewhere: a standalone cluster, YARN, Kubernetes.

The driver is a Java process of ours on this computer, which workers must be able to reach. The program travels with
the job (``spark.archive``); a plan is sent once for each state.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from metl_gui.core.runs.events import WorkerFacts
from metl_gui.core.runs.target import Target
from metl_gui.engine.sessions.jobs import collect_worker_facts
from metl_gui.engine.sessions.local import DAEMON, SparkRuntime, most_telling_line
from metl_gui.engine.spark.archive import shipped_archive
from metl_gui.engine.spark.protection import ASKING, SECRET
from metl_gui.engine.spark.worker_check import WorkerCheck, check_packages
from metl_gui.errors import RunError, RunKilledError, UserError

EXECUTOR_SECONDS = 40.0
"""How long to wait for the first worker to take the session; its Java may be slow to start."""

_SETTLE_SECONDS = 1.0
_LOOK_SECONDS = 0.1
_PYTHON = "spark.pyspark.python"
_OWN_PATH = "spark.executorEnv.PYTHONPATH"


class ClusterRuntime(SparkRuntime):
    """A session with workers elsewhere; its arguments are those of ``SparkRuntime``.

    Raises:
        RunError: it does not start, nobody takes its tasks, or a worker lacks what a task needs.
    """

    def __init__(self, target: Target, folder: Path) -> None:
        super().__init__(target, folder)
        self._sent: set[str] = set()
        try:
            self._await_workers()
            self.context.addPyFile(str(shipped_archive(otherwise=self.folder)))
            self.workers = self.check_workers(WorkerCheck())
            check_packages(self.workers)
        except BaseException:
            self.end()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the JVM is there and has not given its cluster up."""
        if not super().is_alive:
            return False
        try:
            return not self.context._jsc.sc().isStopped()
        except Exception:  # noqa: BLE001 - py4j has no base: the JVM is going
            return False

    def has_died(self) -> bool:
        """Return whether the session is over."""
        return super().has_died() or not self.is_alive

    def died(self) -> RunKilledError:
        """Return the error that the session went away during a run."""
        if self._jvm.poll() is not None:
            return super().died()
        return RunKilledError(
            "The Spark cluster ended the session during the run.",
            f"{self.target.shown} stopped it, or is gone. Nothing was written.",
            "Look after the cluster, then run again: it connects anew and reads the source from its beginning.",
        )

    def wait(self) -> None:
        """Wait until the session has ended by itself."""
        while self.is_alive:
            time.sleep(_SETTLE_SECONDS)

    def check_workers(self, check: WorkerCheck) -> Sequence[WorkerFacts]:
        """Ask the workers what they have and see."""
        return collect_worker_facts(self.spark, check, max(self.parallelism, len(self._executors())))

    def ship_plan(self, plan: Path) -> str:
        """Send a plan to the executors, once.

        An executor that comes later asks for all that was ever sent, before its first task, whatever that is of: a copy
        lies there as long as the session, and the folder of a run may go.
        """
        if plan.name not in self._sent:
            plans = self.folder / "plans"
            plans.mkdir(exist_ok=True)
            self.context.addFile(str(shutil.copyfile(plan, plans / plan.name)))
            self._sent.add(plan.name)
        return plan.name

    def warm_up(self) -> None:
        """Do nothing: the look at the workers has started what a run needs."""

    def _executors(self) -> list[str]:
        """Return the hosts of the executors, the driver left out."""
        context = self.context
        infos = context._jsc.sc().statusTracker().getExecutorInfos()
        own = context._jsc.sc().env().blockManager().blockManagerId().hostPort()
        places = [f"{info.host()}:{info.port()}" for info in infos]
        return [place for place in places if place != own]

    def _await_workers(self) -> None:
        """Wait for the first executor, and a moment for the others that come with it.

        Raises:
            RunError: none comes.
        """
        end = time.monotonic() + EXECUTOR_SECONDS
        while not self._executors():
            if not self.is_alive:
                raise self._does_not_start(RuntimeError("the cluster refused the session"))
            if time.monotonic() > end:
                raise RunError(
                    "No worker takes the session.",
                    f"{self.target.shown} had none to offer within {EXECUTOR_SECONDS:.0f} seconds.",
                    "Look whether workers run and have cores and memory left, or ask for less: spark.cores.max and "
                    "spark.executor.memory in a profile.",
                )
            time.sleep(_LOOK_SECONDS)
        known, changed = len(self._executors()), time.monotonic()
        while time.monotonic() < changed + _SETTLE_SECONDS:
            time.sleep(_LOOK_SECONDS)
            now = len(self._executors())
            if now != known:
                known, changed = now, time.monotonic()

    def _environment(self, java_home: Path) -> dict[str, str]:
        python = self.target.setting(_PYTHON) or "python3"
        own = Path(sys.executable).parent
        environment = super()._environment(java_home)
        if not self.target.is_local_cluster:
            environment.pop("SPARK_LOCAL_IP")
        # Where the workers' Python has no path of its own, this computer's is ours.
        return environment | {"PYSPARK_PYTHON": python, "PATH": os.pathsep.join([str(own), os.environ.get("PATH", "")])}

    def _settings(self) -> dict[str, str]:
        settings = super()._settings()
        for name in (_OWN_PATH, DAEMON):  # there may be nothing of ours there
            settings.pop(name)
        settings["spark.executor.extraJavaOptions"] = self.java_options
        if self.target.is_local_cluster:
            return settings
        # What its ports ask for is the cluster's to say.
        for name in ("spark.driver.host", "spark.driver.bindAddress", *ASKING):
            settings.pop(name)
        host = _own_address(self.target)
        if host:
            settings["spark.driver.host"] = host
        return settings

    def _secret_settings(self) -> Sequence[tuple[str, str]]:
        given = super()._secret_settings()
        # Spark makes a secret for threads of its own process, and none for workers beside it.
        return ((SECRET, secrets.token_hex(32)), *given) if self.target.is_local_cluster else given

    def _does_not_start(self, error: Exception) -> UserError:
        return RunError(
            "Spark does not start on this target.",
            f"{self.target.shown}: {most_telling_line(error)}",
            "Mend the target or its profile, or use local[*] to run on this computer.",
        )


def _own_address(target: Target) -> str:
    """Return the address of this computer on the way to the cluster: workers connect back to it."""
    for host, port in target.places:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            way.connect((host, port))  # a datagram socket sends nothing by this
            return str(way.getsockname()[0])
    return ""
