"""Runs from and into real topics without Spark: its jobs are done by the test, one task after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, cast

from metl_gui.core.runs.events import EngineEvent
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.core.runs.target import Target
from metl_gui.engine.execution.driver import drive
from metl_gui.engine.host import strategy_of
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.engine.sessions.jobs import NumberedTask
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.sessions.runtime import Runtime
from tests.helpers.lanes import LaneWorld, order_plan
from tests.helpers.run_specs import run_spec

_SECONDS = 60.0
_LOOK_SECONDS = 0.02


class HereRuntime:
    """A session whose jobs run in this process.

    Args:
        folder: everything temporary goes here.
        after_job: called when the tasks of a job are through, before their outcomes are told.
    """

    parallelism = 2
    workers: Sequence[object] = ()
    target = Target(master="spark://here:1")

    def __init__(self, folder: Path, after_job: Callable[[], object] = lambda: None) -> None:
        self.folder = folder
        self.after_job = after_job
        folder.mkdir(parents=True, exist_ok=True)

    def begin_group(self, run_id: str) -> None:
        """Do nothing: nobody cancels a job of this kind."""

    def cancel_until(self, run_id: str, is_over: threading.Event) -> None:
        """Do nothing: a job of this kind ends by itself."""

    def check_workers(self, _check: object) -> tuple[()]:
        return ()

    def has_died(self) -> bool:
        return False

    def ship_plan(self, plan: Path) -> str:
        return str(plan)

    def run_tasks(self, task: NumberedTask, count: int) -> list[bytes]:
        found = [task(number) for number in range(count)]
        self.after_job()
        return found


class TopicRuns:
    """Runs between the topics of a world.

    Args:
        world: the topics.
        folder: of the test.
    """

    def __init__(self, world: LaneWorld, folder: Path) -> None:
        self.world = world
        self.folder = folder
        self.events: list[EngineEvent] = []

    def address(self, topics: str) -> str:
        """Name topics of the world's broker."""
        return f"kafka://{self.world.servers.bootstrap}/{topics}"

    def spec(self, **others: Any) -> RunSpec:
        """Ask for a run from the world's source into its sink and its error topic."""
        run_id = new_run_id()
        facts: dict[str, Any] = {
            "run_id": run_id,
            "plan": order_plan(self.world.source),
            "source": self.address(self.world.source),
            "sink": self.address(self.world.sink),
            "errors": self.address(self.world.errors),
            "folder": str(self.folder / run_id),
            "state": 7,
            "hash": "hash7",
        } | others
        topics = [facts[role] for role in ("source", "sink", "errors") if str(facts[role]).startswith("kafka://")]
        return run_spec(servers=(self.world.servers,) * len(topics), **facts)

    def run(self, after_job: Callable[[], None] = lambda: None, **others: Any) -> RunReport:
        """Do a run and return its report."""
        spec = self.spec(**others)
        runtime = cast(Runtime, HereRuntime(self.folder / "runtime", after_job))
        return drive(strategy_of(RunContext(runtime, spec, self.events.append)))


class FollowingRun:
    """A following run on a thread of its own while a ``with`` block lasts; it is stopped at its end."""

    def __init__(self, runs: TopicRuns, **others: Any) -> None:
        self.runs = runs
        self.is_cancelled = threading.Event()
        self.report: RunReport | None = None
        self.error: Exception | None = None
        spec = runs.spec(follow=True, checkpoint=str(runs.folder / "checkpoint"), **others)
        runtime = cast(Runtime, HereRuntime(runs.folder / "runtime"))
        self._run = RunContext(runtime, spec, runs.events.append, self.is_cancelled)
        self._thread = threading.Thread(target=self._follow)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_cancelled.set()
        self._thread.join(_SECONDS)
        assert not self._thread.is_alive()
        assert self.error is None, self.error

    def until(self, is_so: Callable[[], object]) -> None:
        """Wait for a condition while the run goes on."""
        end = time.monotonic() + _SECONDS
        while not is_so():
            assert self._thread.is_alive(), self.error
            assert time.monotonic() < end, self.runs.events[-3:]
            time.sleep(_LOOK_SECONDS)

    def _follow(self) -> None:
        try:
            self.report = drive(strategy_of(self._run))
        except Exception as error:  # noqa: BLE001 - the edge of a thread; the test says it
            self.error = error
