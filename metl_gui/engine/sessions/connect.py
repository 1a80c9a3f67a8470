"""A session on a Spark Connect server: no Java here, the driver is the server's.

The program and the plans travel as artifacts of the session; a run is cancelled by its tag. When the server goes away
the session is over, and the next run begins another.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metl_gui.core.runs.events import Protection, WorkerFacts
from metl_gui.core.runs.target import Target
from metl_gui.engine.sessions.jobs import NumberedTask, collect_worker_facts, run_tasks_by_sql
from metl_gui.engine.sessions.local import most_telling_line
from metl_gui.engine.spark.archive import shipped_archive
from metl_gui.engine.spark.cancellation import cancel_until_over
from metl_gui.engine.spark.target_check import answers
from metl_gui.engine.spark.worker_check import WorkerCheck, check_packages
from metl_gui.errors import RunError, RunKilledError, SetupError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_RETRIES = 5
_FIRST_WAIT_MS = 100
_LONGEST_WAIT_MS = 2000
"""A server that does not answer for five seconds is gone; one that hiccups for less is not."""

_CANCEL_SECONDS = 0.2
_THIS_COMPUTER = ("localhost", "127.0.0.1", "::1")


class ConnectRuntime:
    """A session on a Connect server.

    Args:
        target: the server, already checked.
        folder: everything temporary goes here.

    Raises:
        RunError: the server refuses, or a worker lacks what a task needs.
        SetupError: what the client needs is not installed.
    """

    def __init__(self, target: Target, folder: Path) -> None:
        self.target = target
        self.folder = folder
        self._gone = threading.Event()
        self._sent: set[str] = set()
        self.spark: SparkSession = self._start()
        try:
            self.version = str(self.spark.version)
            self._client.add_artifacts(
                str(shipped_archive(otherwise=self.folder)), pyfile=True, archive=False, file=False
            )
            self.workers = self.check_workers(WorkerCheck())
            check_packages(self.workers)
        except RunError:
            self.end()
            raise
        except Exception as error:  # grpc's errors and Spark's have no base in common
            self.end()
            raise self._refused(error) from error
        self.parallelism = max(1, len({worker.partition for worker in self.workers}))
        self.protection = Protection(is_authenticated=bool(self._client.token), is_encrypted=_is_private(target))

    @property
    def is_alive(self) -> bool:
        """Whether the server has not been seen to be gone."""
        return not self._gone.is_set()

    def answers(self) -> bool:
        """Ask the server for this session; where there is none any more it is over."""
        try:
            is_there = answers(self.target.places) and bool(self.spark.conf.get("spark.app.name", "-"))
        except Exception:  # noqa: BLE001 - whatever it is, another session must be begun
            is_there = False
        if not is_there:
            self._gone.set()
        return is_there

    def has_died(self) -> bool:
        """Return whether the session is over."""
        return not self.answers()

    def died(self) -> RunKilledError:
        """Return the error that the server went away during a run."""
        return RunKilledError(
            "The Spark Connect server went away during the run.",
            f"{self.target.shown} does not know this session any more. Nothing was written.",
            "Once it answers again, run again: it connects anew and reads the source from its beginning. Or use "
            "local[*] to run on this computer.",
        )

    def wait(self) -> None:
        """Wait until the session is known to be over."""
        self._gone.wait()

    def begin_group(self, run_id: str) -> None:
        """Tag what this thread runs from now on."""
        self.spark.clearTags()
        self.spark.addTag(run_id)

    def cancel_until(self, run_id: str, is_over: threading.Event) -> None:
        """Interrupt what carries the tag again and again until it is over; a server that hangs is given up."""
        cancel_until_over(lambda: self.spark.interruptTag(run_id), is_over, _CANCEL_SECONDS, self._gone.set)

    def check_workers(self, check: WorkerCheck) -> Sequence[WorkerFacts]:
        """Ask the workers what they have and see."""
        return collect_worker_facts(self.spark, check)

    def ship_plan(self, plan: Path) -> str:
        """Send a plan to the session, once."""
        if plan.name not in self._sent:
            self._client.add_artifacts(str(plan), pyfile=False, archive=False, file=True)
            self._sent.add(plan.name)
        return plan.name

    def run_tasks(self, task: NumberedTask, count: int) -> list[bytes]:
        """Run a task for each number from 0 on and return what came of each."""
        return run_tasks_by_sql(self.spark, task, count)

    def warm_up(self) -> None:
        """Do nothing: the look at the workers has started what a run needs."""

    def end(self) -> None:
        """Close the session on the server."""
        if self.is_alive:
            self._gone.set()
            with contextlib.suppress(Exception):
                self.spark.stop()

    @property
    def _client(self) -> Any:
        return self.spark.client  # only sessions of Connect have one

    def _start(self) -> SparkSession:
        try:
            from pyspark.sql import SparkSession
            from pyspark.sql.connect.client.retries import DefaultPolicy
        except ImportError as error:
            raise SetupError(
                "The client of Spark Connect is not installed.",
                f"{error}.",
                "Install it: pip install 'pyspark[connect]'.",
            ) from error
        builder: Any = SparkSession.builder.remote(self.target.connect_url)
        for name, value in (*self.target.settings, *self.target.secret_settings):
            builder = builder.config(name, value)
        policy = DefaultPolicy(
            max_retries=_RETRIES, initial_backoff=_FIRST_WAIT_MS, max_backoff=_LONGEST_WAIT_MS, backoff_multiplier=3.0
        )
        try:
            session: Any = builder.create()
        except Exception as error:  # grpc's errors and Spark's have no base in common
            raise self._refused(error) from error
        session.client.set_retry_policies([policy])
        return session  # type: ignore[no-any-return]

    def _refused(self, error: Exception) -> RunError:
        return RunError(
            "The Spark Connect server does not take the session.",
            f"{self.target.shown}: {most_telling_line(error)}",
            "Check the address, its token and whether it wants TLS (use_ssl=true); the settings of a profile must be "
            "such that a session may change them.",
        )


def _is_private(target: Target) -> bool:
    """Whether nobody on the way reads along: it is encrypted, or leads nowhere."""
    parameters = target.master.partition("/;")[2].lower().split(";")
    return "use_ssl=true" in parameters or all(host in _THIS_COMPUTER for host, _ in target.places)
