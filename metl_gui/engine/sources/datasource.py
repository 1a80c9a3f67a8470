"""The file source as Spark sees it: a Python data source that yields Arrow batches of raw records.

Columns: ``file`` (index in the listing), ``offset``, ``size`` (bytes of the record) and ``raw`` (its bytes, only the
beginning when it is larger than the limit).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from metl_gui.core.framing import Framed
from metl_gui.engine.failures import TaskError
from metl_gui.engine.sources.files import read_ranges
from metl_gui.engine.sources.reading import Reading
from metl_gui.errors import UserError

BATCH_RECORDS = 8192
BATCH_BYTES = 4 << 20
SCHEMA = "file int, offset bigint, size bigint, raw binary"
_TYPES: dict[str, pa.DataType] = {
    "file": pa.int32(),
    "offset": pa.int64(),
    "size": pa.int64(),
    "raw": pa.binary(),
}
_ARROW = pa.schema(_TYPES)


class FileDataSource(DataSource):
    """Reads the ranges of a listing; its one option ``reading`` holds them as JSON."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "metl_files"

    def schema(self) -> str:
        """Return the columns."""
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's interface
        """Make the reader."""
        return FileReader(msgspec.json.decode(self.options["reading"], type=Reading))


class FileReader(DataSourceReader):
    """Reads the ranges of one task after the other."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def partitions(self) -> Sequence[InputPartition]:
        """Return one partition for each task."""
        return [InputPartition(index) for index in range(len(self.reading.tasks))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the records of a task in batches.

        Raises:
            TaskError: a file cannot be read to its end.
        """
        records = read_ranges(self.reading.files, self.reading.tasks[partition.value], self.reading.limit)
        try:
            yield from batches_of(records)
        except UserError as error:
            raise TaskError(error) from error


def batches_of(records: Iterator[tuple[int, Framed]]) -> Iterator[pa.RecordBatch]:
    """Gather records to Arrow batches of a bounded size."""
    files: list[int] = []
    framed: list[Framed] = []
    size = 0
    for file, record in records:
        files.append(file)
        framed.append(record)
        size += len(record.raw)
        if len(files) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield _batch(files, framed)
            files, framed, size = [], [], 0
    if files:
        yield _batch(files, framed)


def _batch(files: list[int], framed: list[Framed]) -> pa.RecordBatch:
    offsets, raw, sizes = zip(*framed, strict=True)
    columns: list[pa.Array[Any]] = [
        pa.array(files, pa.int32()),
        pa.array(offsets, pa.int64()),
        pa.array(sizes, pa.int64()),
        pa.array(raw, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)
