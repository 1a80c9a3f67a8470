"""The source of a stream as Spark sees it: offsets are numbers of batches, and each task maps what it reads.

Planning runs in a Python process that Spark keeps beside its driver; reading and mapping in the Python workers. Only
outcomes travel through the JVM. A source that reads in the driver (``SimpleDataSourceStreamReader``) was measured too:
it takes 0.12 s a batch instead of 0.23 s, but all records would pass through one process.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from metl_gui.engine.kafka.topic_orders import TopicReading
from metl_gui.engine.sources.files import FileRange
from metl_gui.engine.sources.source import ReadPlan
from metl_gui.engine.spark.task_errors import TaskError
from metl_gui.engine.streaming.batch_records import PARTIAL, BatchLog
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.engine.streaming.ledger import BatchPlan, Ledger
from metl_gui.engine.streaming.planner import Planner, TopicSourceSpec
from metl_gui.engine.tasks.source_task import map_ranges
from metl_gui.engine.tasks.task import TaskOrder, TaskOutcome
from metl_gui.errors import UserError
from metl_gui.own_files import make_below, write_file

FORMAT = "metl_stream"


class StreamOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What the source of a stream is told.

    Args:
        checkpoint: the folder.
        rest_seconds, cores: of the planner.
        order: what every task is told; its run names the source whole, and its folders are those that the parts belong
            into.
        samples_until: batches after this one keep no samples.
        topics: what is read where that are topics.
    """

    checkpoint: str
    rest_seconds: float
    cores: int
    order: TaskOrder
    samples_until: int = 0
    topics: TopicSourceSpec | None = None


class BatchOutcome(msgspec.Struct, frozen=True):
    """What one task of a batch became; without an outcome the batch is in place already."""

    number: int
    outcome: TaskOutcome | None


class BatchPlanner(Protocol):
    """Plans the batches of a stream, whatever is read."""

    checkpoint: Checkpoint
    ledger: Ledger

    def fix(self) -> None:
        """List the source for the last time."""
        ...

    def next_batch(self, after: int) -> int:
        """Return the number of the batch after one, or the same when none is due."""
        ...


class StreamSource(DataSource):
    """Maps the batches of a stream; made for one stream by ``source_of``.

    Attributes:
        stream: a ``StreamOrder`` as JSON. It may hold secrets, which options would show.
    """

    stream = b""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> str:
        """Return the columns."""
        return "outcome binary"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's interface
        """Make the reader."""
        return BatchReader(msgspec.json.decode(self.stream, type=StreamOrder))


def source_of(stream: StreamOrder) -> type[StreamSource]:
    """Make the source of one stream: a class of its own, which travels with what it holds."""
    told = msgspec.json.encode(stream)

    class OwnSource(StreamSource):
        stream = told

    return OwnSource


class BatchReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches where Spark asks for offsets, and maps them where it reads.

    Args:
        stream: what to do.
    """

    def __init__(self, stream: StreamOrder) -> None:
        self.stream = stream
        self._planner: BatchPlanner | None = None

    @property
    def planner(self) -> BatchPlanner:
        """Plans the batches; made in the process that plans, never sent on."""
        if self._planner is None:
            stream = self.stream
            checkpoint, source = Checkpoint(Path(stream.checkpoint)), stream.order.run.source
            if stream.topics is not None:
                from metl_gui.engine.streaming.topic_planner import TopicPlanner

                self._planner = TopicPlanner(checkpoint, source, stream.topics, stream.cores)
            else:
                self._planner = Planner(checkpoint, source, stream.cores, stream.rest_seconds)
        return self._planner

    def __getstate__(self) -> dict[str, Any]:
        """Leave the planner behind on the way to a worker."""
        return {"stream": self.stream, "_planner": None}

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's interface
        """Return where a stream begins: after what is in place, should Spark's own checkpoint be lost."""
        newest = BatchLog(self.planner.checkpoint).newest()
        return {"batch": newest.number if newest is not None else 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's interface
        """Say that the planner bounds batches by itself, in bytes."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's interface
        """List the source for the last time.

        Raises:
            TaskError: it cannot be listed.
        """
        try:
            self.planner.fix()
        except UserError as error:
            raise TaskError(error) from error

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: ARG002, N802 - Spark's interface
        """Return the next batch, or the same one when nothing is due.

        Raises:
            TaskError: the source cannot be listed, or a file became shorter.
        """
        try:
            return {"batch": self.planner.next_batch(start["batch"])}
        except UserError as error:
            raise TaskError(error) from error

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return one partition for each task of the batches after ``start``."""
        found: list[InputPartition] = []
        records = BatchLog(self.planner.checkpoint)
        for number in range(start["batch"] + 1, end["batch"] + 1):
            if records.has(number):
                found.append(InputPartition((number, 0, b"", b"")))
                continue
            plan = self.planner.ledger.batch(number)
            order = msgspec.json.encode(self.order_of(plan))
            for task, _ in enumerate(plan.tasks or [[]]):
                reading = msgspec.json.encode(_reading(plan, task, self.topics))
                found.append(InputPartition((number, task, reading, order)))
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Map a task and yield its outcome."""
        number, task, reading, order = partition.value
        outcome = None
        if order:
            outcome = map_ranges(
                msgspec.json.decode(reading, type=ReadPlan), msgspec.json.decode(order, type=TaskOrder), task
            )
        line = msgspec.json.encode(BatchOutcome(number, outcome))
        yield pa.RecordBatch.from_arrays([pa.array([line], pa.binary())], names=["outcome"])

    @property
    def topics(self) -> TopicReading | None:
        """How tasks read topics; None where files are read."""
        topics = self.stream.topics
        return TopicReading(topics.servers, None, topics.patience_seconds) if topics is not None else None

    def order_of(self, plan: BatchPlan) -> TaskOrder:
        """Say where the parts of one attempt of a batch go; zombies of another attempt write elsewhere."""
        attempt = f"{plan.number:09d}-{secrets.token_hex(4)}"
        order = self.stream.order
        use = plan.plan

        def partial(folder: str) -> str:
            Path(folder).mkdir(parents=True, exist_ok=True)
            return str(make_below(Path(folder), (PARTIAL, attempt)))

        progress = Path(progress_path(order.progress, plan.number))
        write_file(progress, b"")
        return msgspec.structs.replace(
            order,
            plan=str(self.planner.checkpoint.plans / use.file),
            messages=partial(order.messages) if order.messages else None,
            errors=partial(order.errors),
            samples=partial(order.samples),
            has_samples=plan.number <= self.stream.samples_until,
            progress=str(progress),
        )


def progress_path(base: str, number: int) -> str:
    """Name the file of the progress notes of a batch."""
    return f"{base}-{number}"


def _reading(plan: BatchPlan, task: int, topics: TopicReading | None) -> ReadPlan:
    """Tell a task only of the files that it reads."""
    parts = plan.tasks[task] if plan.tasks else []
    wanted = sorted({part.file for part in parts})
    place = {file: index for index, file in enumerate(wanted)}
    own = [msgspec.structs.replace(part, file=place[part.file]) for part in parts]
    # A task finds its parts under its own number, which stands in the names of what it writes.
    tasks: list[list[FileRange]] = [*([] for _ in range(task)), own]
    return ReadPlan([plan.files[file] for file in wanted], tasks, topics=topics)
