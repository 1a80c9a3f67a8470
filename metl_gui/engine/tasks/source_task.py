"""One task of a run: it reads its ranges of a source and maps the records where it reads them.

The records never travel through the JVM; what a task yields is its outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from pyspark import SparkFiles, TaskContext

from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.sources.error_records import read_set_aside
from metl_gui.engine.sources.large_records import LargeReaders
from metl_gui.engine.sources.source import ReadPlan
from metl_gui.engine.spark.task_errors import TaskError
from metl_gui.engine.tasks.staging_attempt import StagingAttempt
from metl_gui.engine.tasks.task import TaskAttempt, TaskOrder, TaskOutcome, kernel_for
from metl_gui.errors import UserError

_Attempt: TypeAlias = TaskAttempt | StagingAttempt


def map_ranges(reading: ReadPlan, order: TaskOrder, number: int) -> TaskOutcome:
    """Map what a task is to read.

    Args:
        reading: the whole source, cut.
        order: what to do with it.
        number: of the task.

    Raises:
        TaskError: a file or a topic cannot be read to its end, or a sink does not take what was mapped.
    """
    context = TaskContext.get()
    attempt = context.attemptNumber() if context else 0
    task: _Attempt
    if order.run.source.holds == "messages":
        task = StagingAttempt(order, plans.decode(plan_file(order.plan).read_bytes()), number, attempt)
    else:
        kernel = kernel_for(order, lambda: plan_file(order.plan).read_bytes())
        task = TaskAttempt(order, kernel, number, attempt)
    map_source = _map_files if reading.topics is None else _map_topics
    try:
        if isinstance(task, StagingAttempt) and reading.is_typed:
            return _stage_typed(task, reading, number)
        return task.end(map_source(task, reading, order, number))
    except UserError as error:
        raise TaskError(error) from error


def _map_files(task: _Attempt, reading: ReadPlan, order: TaskOrder, number: int) -> Sequence[str]:
    read = read_set_aside if reading.is_error_store else read_batches
    most_bytes = order.run.source.max_record_bytes
    with LargeReaders(reading.files) as large:
        for batch in read(reading.files, reading.tasks[number], reading.limit, most_bytes, task.chunk_bytes):
            task.map(batch.records, large.of(batch))
    return ()


def _stage_typed(task: StagingAttempt, reading: ReadPlan, number: int) -> TaskOutcome:
    from metl_gui.engine.sources.typed_files import read_typed

    for batch in read_typed(reading.files, reading.tasks[number], task.plan, reading.limit):
        task.stage_typed(batch)
    return task.end()


def _map_topics(task: _Attempt, reading: ReadPlan, order: TaskOrder, number: int) -> Sequence[str]:
    from metl_gui.engine.sources.topic_records import TopicRecords, rare_collections

    read = TopicRecords(reading, number, order.run.source.max_record_bytes)
    with rare_collections():
        for batch in read.batches():
            task.map(batch.records, batch.large, batch.messages)
    return read.notes


def plan_file(name: str) -> Path:
    """Find a plan: a path that everybody sees, or the name of a file that was sent to the workers."""
    return Path(name) if Path(name).is_absolute() else Path(SparkFiles.get(name))
