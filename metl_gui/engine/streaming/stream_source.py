"""The source of a stream as Spark sees it: offsets are numbers of batches, and each task maps what it reads.

Planning runs in a Python process that Spark keeps beside its driver; reading and mapping in the Python workers. Only
outcomes travel through the JVM. A source that reads in the driver (``SimpleDataSourceStreamReader``) was measured too:
it takes 0.12 s a batch instead of 0.23 s, but all records would pass through one process.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from metl_gui.engine.failures import TaskError
from metl_gui.engine.sources.datasource import MappingReader
from metl_gui.engine.sources.files import FileRange
from metl_gui.engine.sources.reading import Reading
from metl_gui.engine.streaming.batches import PARTIAL, BatchRecords
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.engine.streaming.ledger import BatchPlan
from metl_gui.engine.streaming.planning import Planner
from metl_gui.engine.task import TaskOrder, TaskOutcome
from metl_gui.errors import UserError

FORMAT = "metl_stream"


class StreamOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What the source of a stream is told.

    Args:
        checkpoint: the folder.
        source: what is read.
        batch_bytes, rest_seconds, cores: of the planner.
        order: what every task is told; its folders are those that the parts belong into.
        samples_until: batches after this one keep no samples.
    """

    checkpoint: str
    source: str
    batch_bytes: int
    rest_seconds: float
    cores: int
    order: TaskOrder
    samples_until: int = 0


class BatchOutcome(msgspec.Struct, frozen=True):
    """What one task of a batch became; without an outcome the batch is in place already."""

    number: int
    outcome: TaskOutcome | None


class StreamSource(DataSource):
    """Maps the batches of a stream.

    Options: ``stream``, a ``StreamOrder`` as JSON.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> str:
        """Return the columns."""
        return "outcome binary"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's interface
        """Make the reader."""
        return BatchReader(msgspec.json.decode(self.options["stream"], type=StreamOrder))


class BatchReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches where Spark asks for offsets, and maps them where it reads.

    Args:
        stream: what to do.
    """

    def __init__(self, stream: StreamOrder) -> None:
        self.stream = stream
        self._planner: Planner | None = None

    @property
    def planner(self) -> Planner:
        """Plans the batches; made in the process that plans, never sent on."""
        if self._planner is None:
            stream = self.stream
            checkpoint = Checkpoint(Path(stream.checkpoint))
            self._planner = Planner(checkpoint, stream.source, stream.batch_bytes, stream.cores, stream.rest_seconds)
        return self._planner

    def __getstate__(self) -> dict[str, Any]:
        """Leave the planner behind on the way to a worker."""
        return {"stream": self.stream, "_planner": None}

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's interface
        """Return where a stream begins: after what is in place, should Spark's own checkpoint be lost."""
        newest = BatchRecords(self.planner.checkpoint).newest()
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
        records = BatchRecords(self.planner.checkpoint)
        for number in range(start["batch"] + 1, end["batch"] + 1):
            if records.has(number):
                found.append(InputPartition((number, 0, b"", b"")))
                continue
            plan = self.planner.ledger.batch(number)
            order = msgspec.json.encode(self.order_of(plan))
            for task, _ in enumerate(plan.tasks or [[]]):
                found.append(InputPartition((number, task, _reading(plan, task), order)))
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Map a task and yield its outcome."""
        number, task, reading, order = partition.value
        outcome = None
        if order:
            reader = MappingReader(
                msgspec.json.decode(reading, type=Reading), msgspec.json.decode(order, type=TaskOrder)
            )
            for batch in reader.read(InputPartition(task)):
                outcome = msgspec.json.decode(batch.column(0)[0].as_py(), type=TaskOutcome)
        line = msgspec.json.encode(BatchOutcome(number, outcome))
        yield pa.RecordBatch.from_arrays([pa.array([line], pa.binary())], names=["outcome"])

    def order_of(self, plan: BatchPlan) -> TaskOrder:
        """Say where the parts of one attempt of a batch go; zombies of another attempt write elsewhere."""
        attempt = f"{plan.number:09d}-{secrets.token_hex(4)}"
        order = self.stream.order
        use = plan.plan

        def partial(folder: str) -> str:
            made = Path(folder) / PARTIAL / attempt
            made.mkdir(parents=True, exist_ok=True)
            return str(made)

        progress = Path(progress_path(order.progress, plan.number))
        progress.write_bytes(b"")
        return msgspec.structs.replace(
            order,
            run_id=f"{order.run_id}-{use.file}",
            plan=str(self.planner.checkpoint.plans / use.file),
            messages=partial(order.messages) if order.messages else None,
            errors=partial(order.errors),
            samples=partial(order.samples),
            samples_wanted=order.samples_wanted if plan.number <= self.stream.samples_until else 0,
            progress=str(progress),
        )


def progress_path(base: str, number: int) -> str:
    """Name the file of the progress notes of a batch."""
    return f"{base}-{number}"


def _reading(plan: BatchPlan, task: int) -> bytes:
    """Tell a task only of the files that it reads."""
    parts = plan.tasks[task] if plan.tasks else []
    wanted = sorted({part.file for part in parts})
    place = {file: index for index, file in enumerate(wanted)}
    own = [msgspec.structs.replace(part, file=place[part.file]) for part in parts]
    # A task finds its parts under its own number, which stands in the names of what it writes.
    tasks: list[list[FileRange]] = [*([] for _ in range(task)), own]
    return msgspec.json.encode(Reading([plan.files[file] for file in wanted], tasks))
