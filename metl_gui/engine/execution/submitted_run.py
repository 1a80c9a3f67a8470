"""A run inside a job that somebody else submitted: the session is Spark's, and only the exported folder is there.

``job`` is the program that ``spark-submit`` starts; it calls ``run_job`` once the kernel's archive can be imported.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from metl_gui.core.runs.events import WorkerFacts
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import KeptSpec
from metl_gui.core.runs.target import Target
from metl_gui.engine.execution.driver import drive
from metl_gui.engine.execution.once import OnceStrategy
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.engine.sessions.jobs import NumberedTask, collect_worker_facts, run_tasks
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.spark.protection import protection_of
from metl_gui.engine.spark.worker_check import WorkerCheck, check_packages
from metl_gui.errors import RunError, RunKilledError, UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _Publication(msgspec.Struct):
    """What an export says beside the plan of the publication that its state is mapped under; 0.1 said nothing."""

    publication: int = 0


class SubmittedRuntime:
    """The session of a submitted job; it begins and ends with the job, and this program leaves it alone.

    Args:
        spark: the session.
        folder: everything temporary of the driver goes here.

    Raises:
        RunError: a worker lacks what a task needs.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.target = Target(master=spark.sparkContext.master or "")
        self.version = spark.version
        self.protection = protection_of(spark.sparkContext.getConf().get)
        self.workers = self.check_workers(WorkerCheck())
        check_packages(self.workers)

    @property
    def is_alive(self) -> bool:
        """Whether the session takes jobs."""
        return not self.spark.sparkContext._jsc.sc().isStopped()

    @property
    def parallelism(self) -> int:
        """How many tasks run at once."""
        return self.spark.sparkContext.defaultParallelism

    def answers(self) -> bool:
        """Whether it takes a run now."""
        return self.is_alive

    def has_died(self) -> bool:
        """Return whether the session is over; without it this program would be over too."""
        return not self.is_alive

    def died(self) -> RunKilledError:
        """Return the error that the session went away during the run."""
        return RunKilledError(
            "The Spark session ended during the run.", "Nothing was written.", "Submit the job again."
        )

    def wait(self) -> None:
        """Do nothing: the job ends with this program."""

    def begin_group(self, run_id: str) -> None:
        """Name what is run, for Spark's own pages."""
        self.spark.sparkContext.setJobGroup(run_id, f"METL run {run_id}")

    def cancel_until(self, run_id: str, is_over: threading.Event) -> None:  # noqa: ARG002 - as of a Runtime
        """Cancel what is run; who submitted the job ends it as a whole."""
        self.spark.sparkContext.cancelJobGroup(run_id)

    def check_workers(self, check: WorkerCheck) -> Sequence[WorkerFacts]:
        """Ask the workers what they have and see."""
        return collect_worker_facts(self.spark, check, self.parallelism)

    def ship_plan(self, plan: Path) -> str:
        """Send the plan to the executors."""
        self.spark.sparkContext.addFile(str(plan))
        return plan.name

    def run_tasks(self, task: NumberedTask, count: int) -> list[bytes]:
        """Run a task for each number from 0 on and return what came of each."""
        return run_tasks(self.spark.sparkContext, task, count)

    def warm_up(self) -> None:
        """Do nothing: the look at the workers has started what a run needs."""

    def end(self) -> None:
        """Do nothing: the job ends with this program."""


def run_job(spark: SparkSession, plan: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Map a source as production does and return the report, or what went wrong.

    Args:
        spark: the session of the job; the kernel's archive travels with it already.
        plan: the compiled plan.
        asked: ``source``, ``sink``, ``errors``, ``format`` and ``limit``, as ``KeptSpec`` names them.

    Returns:
        The document of a report (docs/reference/report.md), or ``{"error": {"title", "text", "hint"}}``.
    """
    folder = Path(tempfile.mkdtemp(prefix="metl-job-"))
    try:
        return _run(spark, folder, plan.read_bytes(), asked).as_json()
    except UserError as error:
        return {"error": {"title": error.title, "text": error.text, "hint": error.hint}}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(spark: SparkSession, folder: Path, raw: bytes, asked: dict[str, Any]) -> RunReport:
    try:
        plan, publication = plans.decode(raw), msgspec.json.decode(raw, type=_Publication).publication
    except msgspec.MsgspecError as error:
        raise RunError("plan.json is damaged.", f"{error}.", "Export the folder again.") from error
    kept = KeptSpec(
        run_id=new_run_id(),
        plan=raw,
        folder=str(folder / "run"),
        mode="production",
        samples=0,
        state=plan.state,
        hash=plan.hash,
        publication=publication,
        **asked,
    )
    return drive(OnceStrategy(RunContext(SubmittedRuntime(spark, folder), kept.spec, lambda _event: None)))
