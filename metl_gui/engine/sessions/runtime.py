"""What the sessions of all targets have in common, and how the right one is started."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from metl_gui.core.runs.events import Protection, WorkerFacts
from metl_gui.core.runs.target import Target, TargetKind
from metl_gui.engine.spark.worker_check import WorkerCheck
from metl_gui.errors import RunKilledError
from metl_gui.own_files import atomic_write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from metl_gui.engine.sessions.jobs import NumberedTask


class Runtime(Protocol):
    """One Spark session, wherever it runs.

    A run calls ``begin_group`` on each thread that has Spark do something; ``cancel_until`` comes from another.
    """

    target: Target
    folder: Path
    workers: Sequence[WorkerFacts]
    """What the workers told when it was started; nobody where they are processes of ours on this computer."""
    protection: Protection
    """What keeps strangers out."""

    @property
    def spark(self) -> SparkSession:
        """Spark's own session."""
        ...

    @property
    def version(self) -> str:
        """The version of Spark."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether nothing is known that would keep it from taking a run; asks nobody."""
        ...

    @property
    def parallelism(self) -> int:
        """How many tasks run at once."""
        ...

    def answers(self) -> bool:
        """Ask whether it takes a run now; one that does not is over."""
        ...

    def has_died(self) -> bool:
        """Say after a failure whether the session is over; it may take a moment to show."""
        ...

    def died(self) -> RunKilledError:
        """Return the error that it went away during a run, and how to go on."""
        ...

    def wait(self) -> None:
        """Wait until it has ended by itself."""
        ...

    def begin_group(self, run_id: str) -> None:
        """Put what this thread runs from now on into a group that can be cancelled."""
        ...

    def cancel_until(self, run_id: str, is_over: threading.Event) -> None:
        """Cancel a group again and again until its work is over."""
        ...

    def check_workers(self, check: WorkerCheck) -> Sequence[WorkerFacts]:
        """Ask the workers what they have and see; nobody where they are processes of ours on this computer."""
        ...

    def ship_plan(self, plan: Path) -> str:
        """Bring a plan to where tasks read it, once for each state, and return what they call it."""
        ...

    def run_tasks(self, task: NumberedTask, count: int) -> list[bytes]:
        """Run a task for each number from 0 on and return what came of each."""
        ...

    def warm_up(self) -> None:
        """Do once what a run does first."""
        ...

    def end(self) -> None:
        """End it, kindly first."""
        ...


def ship(runtime: Runtime, plan: bytes) -> str:
    """Write a compiled plan where a session keeps its files, bring it to where tasks read it, and return its name."""
    path = runtime.folder / f"plan-{hashlib.sha256(plan).hexdigest()[:32]}.json"
    if not path.exists():
        atomic_write(path, plan)  # a run that is cancelled meanwhile does not wait for it, and the next one looks here
    return runtime.ship_plan(path)


def start_runtime(target: Target, folder: Path) -> Runtime:
    """Start the session that a target needs, and look at its workers.

    Raises:
        SetupError: something is missing on this computer.
        RunError: it does not start, nobody takes its tasks, or a worker lacks what a task needs.
    """
    match target.kind:
        case TargetKind.LOCAL:
            from metl_gui.engine.sessions.local import SparkRuntime

            return SparkRuntime(target, folder)
        case TargetKind.CLUSTER:
            from metl_gui.engine.sessions.cluster import ClusterRuntime

            return ClusterRuntime(target, folder)
        case TargetKind.CONNECT:
            from metl_gui.engine.sessions.connect import ConnectRuntime

            return ConnectRuntime(target, folder)
