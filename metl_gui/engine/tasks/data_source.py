"""The source as Spark sees it: a Python data source of raw records, which maps them as it reads when told to.

Raw records come as Arrow batches with the columns ``file`` (index in the listing), ``offset``, ``size`` (bytes of the
record) and ``raw`` (its bytes, only the beginning when it is larger than the limit). With an order, each task maps its
records where it reads them and yields one row, its outcome: the records never travel through the JVM.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark import SparkFiles, TaskContext
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from metl_gui.engine.sources.batches import Batch, read_batches
from metl_gui.engine.sources.error_records import read_set_aside
from metl_gui.engine.sources.large_records import LargeReaders
from metl_gui.engine.sources.source import Reading
from metl_gui.engine.spark.task_errors import TaskError
from metl_gui.engine.tasks.task import Task, TaskOrder, kernel_for
from metl_gui.errors import UserError
from metl_gui.formats.record_delimiting import LIMIT_BYTES

FORMAT = "metl_files"
_TYPES: dict[str, pa.DataType] = {
    "file": pa.int32(),
    "offset": pa.int64(),
    "size": pa.int64(),
    "raw": pa.binary(),
}
_ARROW = pa.schema(_TYPES)
_OUTCOMES: dict[str, pa.DataType] = {"outcome": pa.binary()}


class FileDataSource(DataSource):
    """Reads the ranges of a listing.

    Options: ``reading``, a ``Reading`` as JSON; ``order``, a ``TaskOrder`` as JSON, to map as it reads.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> str:
        """Return the columns."""
        return "outcome binary" if "order" in self.options else "file int, offset bigint, size bigint, raw binary"

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's interface
        """Make the reader."""
        reading = msgspec.json.decode(self.options["reading"], type=Reading)
        if "order" in self.options:
            return MappingReader(reading, msgspec.json.decode(self.options["order"], type=TaskOrder))
        return RecordReader(reading)


class _Reader(DataSourceReader):
    """Reads the ranges of one task after the other.

    Args:
        reading: what to read.
        limit_bytes: how large a record may be.
    """

    def __init__(self, reading: Reading, limit_bytes: int = LIMIT_BYTES) -> None:
        self.reading = reading
        self.limit_bytes = limit_bytes

    def partitions(self) -> Sequence[InputPartition]:
        """Return one partition for each task."""
        return [InputPartition(index) for index in range(len(self.reading.tasks))]

    def batches(self, task: int) -> Iterator[Batch]:
        """Yield the records of a task.

        Raises:
            TaskError: a file cannot be read to its end.
        """
        try:
            read = read_set_aside if self.reading.is_error_store else read_batches
            yield from read(self.reading.files, self.reading.tasks[task], self.reading.limit, self.limit_bytes)
        except UserError as error:
            raise TaskError(error) from error


class RecordReader(_Reader):
    """Yields raw records."""

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the records of a task in batches."""
        for batch in self.batches(partition.value):
            yield _arrow(batch)


class MappingReader(_Reader):
    """Maps the records of a task where it reads them.

    Args:
        reading: what to read.
        order: what to do with it.
    """

    def __init__(self, reading: Reading, order: TaskOrder) -> None:
        super().__init__(reading, order.max_record_bytes)
        self.order = order

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Map a task and yield its outcome."""
        context = TaskContext.get()
        kernel = kernel_for(self.order, lambda: plan_file(self.order.plan).read_bytes())
        task = Task(self.order, kernel, partition.value, context.attemptNumber() if context else 0)
        notes = (
            self._map_files(task, partition.value)
            if self.reading.topics is None
            else self._map_topics(task, partition.value)
        )
        outcome: list[pa.Array[Any]] = [pa.array([msgspec.json.encode(task.end(notes))], pa.binary())]
        yield pa.RecordBatch.from_arrays(outcome, schema=pa.schema(_OUTCOMES))

    def _map_files(self, task: Task, number: int) -> Sequence[str]:
        with LargeReaders(self.reading.files) as large:
            for batch in self.batches(number):
                task.map(batch.records, large.of(batch))
        return ()

    def _map_topics(self, task: Task, number: int) -> Sequence[str]:
        from metl_gui.engine.sources.topic_records import TopicRecords, rare_collections

        read = TopicRecords(self.reading, number, self.limit_bytes)
        try:
            with rare_collections():
                for batch in read.batches():
                    task.map(batch.records, batch.large, batch.messages)
        except UserError as error:
            raise TaskError(error) from error
        return read.notes


def plan_file(name: str) -> Path:
    """Find a plan: a path that everybody sees, or the name of a file that was sent to the workers."""
    return Path(name) if Path(name).is_absolute() else Path(SparkFiles.get(name))


def _arrow(batch: Batch) -> pa.RecordBatch:
    records = batch.records
    sizes = records.lengths if records.sizes is None else records.sizes
    columns: list[pa.Array[Any]] = [
        pa.array([batch.file] * len(records), pa.int32()),
        pa.array(records.offsets, pa.int64()),
        pa.array(sizes, pa.int64()),
        pa.array(list(records), pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)
