"""The jobs of Spark: the mapping itself, and what workers elsewhere tell of themselves.

A task is told its number by the one row that it is given, and finds the rest in what travels with it, secrets among
that. A data source in Python would be planned in three further Python processes beside the driver, which a cluster may
not have, and would show its options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from metl_gui.core.runs.events import WorkerFacts
from metl_gui.engine.sources.source import ReadPlan
from metl_gui.engine.spark.worker_check import WorkerCheck, from_spark, parse_facts
from metl_gui.engine.spark.worker_facts import WorkerProbe

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from metl_gui.engine.tasks.task import TaskOrder

_ROWS = 1024
"""Rows of the question; a cluster of more cores than this is asked in part."""


class MapByNumber:
    """What a task does: maps the ranges that go by its number.

    Args:
        reading, order: what to read and what to do with it, serialised.
    """

    def __init__(self, reading: bytes, order: bytes) -> None:
        self.reading = reading
        self.order = order

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the outcome of each number that comes."""
        import pyarrow as pa

        from metl_gui.engine.tasks.source_task import map_ranges
        from metl_gui.engine.tasks.task import TaskOrder

        reading = msgspec.json.decode(self.reading, type=ReadPlan)
        order = msgspec.json.decode(self.order, type=TaskOrder)
        for batch in batches:
            for number in batch.column(0).to_numpy():
                outcome = msgspec.json.encode(map_ranges(reading, order, int(number)))
                yield pa.RecordBatch.from_arrays([pa.array([outcome], pa.binary())], names=["outcome"])


def map_by_number(spark: SparkSession, reading: ReadPlan, order: TaskOrder) -> list[bytes]:
    """Map a source and return the outcome of each task."""
    count = len(reading.tasks)
    if not count:
        return []
    task = MapByNumber(msgspec.json.encode(reading), msgspec.json.encode(order))
    rows = spark.range(0, count, 1, count).mapInArrow(task, "outcome binary").collect()
    return [bytes(row[0]) for row in rows]


def nothing_of(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read what comes and yield nothing: a task that only has its worker started."""
    for _ in batches:
        pass
    yield from ()


def tell_facts(spark: SparkSession, look: WorkerCheck, tasks: int | None = None) -> Sequence[WorkerFacts]:
    """Ask the workers.

    Args:
        spark: the session.
        look: what to ask.
        tasks: how many tasks ask; by default as many as run at once, as Spark sees it.

    Raises:
        RunError: a worker cannot even answer.
    """
    from pyspark.sql.functions import udf

    # Rows and not Arrow batches: pyarrow may be what a worker lacks.
    question = udf(WorkerProbe(msgspec.json.encode(look).decode()).answer, "string", useArrow=False)
    try:
        rows = spark.range(0, max(_ROWS, tasks or 0), 1, tasks).select(question("id")).collect()
    except Exception as error:  # Spark's errors have no base in common
        explained = from_spark(str(error))
        if explained is None:
            raise
        raise explained from error
    return parse_facts(row[0] for row in rows)
