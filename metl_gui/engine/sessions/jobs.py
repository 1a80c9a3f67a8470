"""The jobs of Spark: the mapping itself, and what workers elsewhere tell of themselves.

A task is told its number, and finds the rest in what travels with it, secrets among that. A data source in Python would
be planned in three further Python processes beside the driver, which a cluster may not have, and would show its
options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from metl_gui.core.runs.events import WorkerFacts
from metl_gui.engine.sources.source import ReadPlan
from metl_gui.engine.spark.worker_check import WorkerCheck, from_spark, parse_facts
from metl_gui.engine.spark.worker_facts import WorkerProbe

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from metl_gui.engine.sessions.runtime import Runtime
    from metl_gui.engine.tasks.task import TaskOrder, TaskOutcome

_ROWS = 1024
"""Rows of the question; a cluster of more cores than this is asked in part."""


NumberedTask: TypeAlias = Callable[[int], bytes]
"""What one task does that is told its number; it travels to the worker with all it needs."""


class MapByNumber:
    """A task that maps the ranges which go by its number, and returns its outcome.

    Args:
        reading, order: what to read and what to do with it, serialised.
    """

    def __init__(self, reading: bytes, order: bytes) -> None:
        self.reading = reading
        self.order = order

    def __call__(self, number: int) -> bytes:
        """Map, and return the encoded ``TaskOutcome``."""
        from metl_gui.engine.tasks.source_task import map_ranges
        from metl_gui.engine.tasks.task import TaskOrder

        reading = msgspec.json.decode(self.reading, type=ReadPlan)
        order = msgspec.json.decode(self.order, type=TaskOrder)
        return msgspec.json.encode(map_ranges(reading, order, number))


class _ByColumn:
    """A numbered task where workers are given columns of numbers."""

    def __init__(self, task: NumberedTask) -> None:
        self.task = task

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what came of each number."""
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_numpy():
                yield pa.RecordBatch.from_arrays([pa.array([self.task(int(number))], pa.binary())], names=["outcome"])


def map_source(runtime: Runtime, reading: ReadPlan, order: TaskOrder) -> list[TaskOutcome]:
    """Map a source and return the outcome of each task."""
    from metl_gui.engine.tasks.task import TaskOutcome

    task = MapByNumber(msgspec.json.encode(reading), msgspec.json.encode(order))
    outcomes = runtime.run_tasks(task, len(reading.tasks))
    return [msgspec.json.decode(outcome, type=TaskOutcome) for outcome in outcomes]


def run_tasks(context: SparkContext, task: NumberedTask, count: int) -> list[bytes]:
    """Run a task for each number from 0 on and return what came of each.

    Without Spark's SQL, which takes a second of the first run and has nothing to plan here.
    """
    return context.parallelize(range(count), count).map(task).collect() if count else []


def run_tasks_by_sql(spark: SparkSession, task: NumberedTask, count: int) -> list[bytes]:
    """Run a task for each number from 0 on, where there is nothing but SQL, and return what came of each."""
    if not count:
        return []
    rows = spark.range(0, count, 1, count).mapInArrow(_ByColumn(task), "outcome binary").collect()
    return [bytes(row[0]) for row in rows]


def do_nothing(_number: int) -> bytes:
    """Do nothing: a task that only has its worker started."""
    return b""


def collect_worker_facts(spark: SparkSession, check: WorkerCheck, tasks: int | None = None) -> Sequence[WorkerFacts]:
    """Ask the workers.

    Args:
        spark: the session.
        check: what to ask.
        tasks: how many tasks ask; by default as many as run at once, as Spark sees it.

    Raises:
        RunError: a worker cannot even answer.
    """
    from pyspark.sql.functions import udf

    # Rows and not Arrow batches: pyarrow may be what a worker lacks.
    question = udf(WorkerProbe(msgspec.json.encode(check).decode()).answer, "string", useArrow=False)
    try:
        rows = spark.range(0, max(_ROWS, tasks or 0), 1, tasks).select(question("id")).collect()
    except Exception as error:  # Spark's errors have no base in common
        explained = from_spark(str(error))
        if explained is None:
            raise
        raise explained from error
    return parse_facts(row[0] for row in rows)
