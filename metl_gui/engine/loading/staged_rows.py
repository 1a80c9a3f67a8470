"""Rows of a table, read by Spark as of one moment and put into a topic of the load.

Started as ``python -m metl_gui.engine.loading FOLDER`` with a ``StagingOrder`` on standard input; it prints a
``Staged`` for each part of the table, a ``StagingFailed`` where it fails. It ends when its standard input closes.

Each part of a table is read by one task on one connection that joins the snapshot. A task that is tried again puts its
rows into the topic again: the same rows of the same moment, so that nothing is other than before. Which partition a key
belongs to follows the rule of Kafka's own clients (``partition_of``).

Cost: every row is read once and sent once; memory holds a batch of rows for each task.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.target import Target
from metl_gui.engine.kafka.topic_messages import PARTITIONER
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.loading.row_template import RowTemplate
from metl_gui.engine.sessions.runtime import start_runtime
from metl_gui.errors import RunError, UserError
from metl_gui.formats.table_columns import TableColumn

if TYPE_CHECKING:
    import pyarrow as pa


_FETCH_ROWS = "2000"
_FLUSH_SECONDS = 60.0
_DRIVER = "org.postgresql.Driver"


class RowForm(msgspec.Struct, frozen=True, kw_only=True):
    """The record after which rows are written, and the table's columns (``row_template.RowTemplate``)."""

    value: bytes
    key: bytes
    columns: tuple[TableColumn, ...]
    mapped: frozenset[str]
    end: str

    def template(self) -> RowTemplate:
        """Return what writes the rows."""
        return RowTemplate(self.value, self.key, self.columns, self.mapped, self.end)


class StagingOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What is read and where it goes.

    Args:
        target: where Spark runs.
        driver: the jar of PostgreSQL's JDBC driver.
        url: the database as JDBC names it, without secrets.
        properties: user, password and settings of the driver.
        joining: statements by which a connection joins the snapshot.
        tables: the query of the table, or of each of its partitions, with the conditions on ``ctid`` that part it.
        form: how a row is written.
        servers: where the topic of the load is, with secrets.
        topic: its name.
    """

    target: Target
    driver: str
    url: str
    properties: tuple[tuple[str, str], ...]
    joining: str
    tables: tuple[tuple[str, tuple[str, ...]], ...]
    form: RowForm
    servers: KafkaServers
    topic: str


class Staged(msgspec.Struct, frozen=True, tag="staged"):
    """So many rows are in the topic, after so many of the table's parts."""

    rows: int
    parts: int


class StagingFailed(msgspec.Struct, frozen=True, tag="failed"):
    """It ended with an error, in words."""

    title: str
    text: str
    hint: str


class SendRows:
    """Writes batches of rows as records into the topic: runs in tasks."""

    def __init__(self, order: StagingOrder) -> None:
        self.order = order

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Send the rows of one part and yield how many they were."""
        import pyarrow as pa  # on the worker
        from confluent_kafka import Producer

        settings: dict[str, Any] = {
            **self.order.servers.client_settings,
            "enable.idempotence": True,
            "partitioner": PARTITIONER,
            "linger.ms": 20,
            "compression.type": "lz4",
        }
        producer, template, failures, rows = Producer(settings), self.order.form.template(), [], 0

        def told(error: object, _message: object) -> None:
            if error is not None:
                failures.append(str(error))

        for batch in batches:
            columns = [column.to_pylist() for column in batch.columns[:-1]]
            for texts in zip(*columns, strict=True):
                key, value = template.record(texts)
                while True:
                    try:
                        producer.produce(self.order.topic, value, key, on_delivery=told)
                        break
                    except BufferError:
                        producer.poll(0.1)
                rows += 1
            producer.poll(0)
            if failures:
                break
        if producer.flush(_FLUSH_SECONDS) or failures:
            raise RuntimeError(f"Kafka does not take the rows: {failures[0] if failures else 'no answer'}")
        yield pa.record_batch({"rows": pa.array([rows], pa.int64())})


def stage(order: StagingOrder) -> Generator[Staged]:
    """Have a process of its own read a table into its topic; it ends with the last part, or when this is closed.

    Raises:
        RunError: the database, Spark or Kafka refuses; a value cannot be said in the topic's words; the process died.
    """
    folder = Path(tempfile.mkdtemp(prefix="metl-load-"))
    command = [sys.executable, "-m", "metl_gui.engine.loading", str(folder)]
    decoder = msgspec.json.Decoder(Staged | StagingFailed)
    # What Spark keeps elsewhere while Java starts would stay when the process is ended then.
    (folder / "tmp").mkdir()
    own = {**build.named(), **os.environ, "TMPDIR": str(folder / "tmp")}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=own)
    try:
        told: Staged | StagingFailed | None = None
        # One that died before it read its order is told below, as any that dies.
        with contextlib.suppress(BrokenPipeError), process:
            if process.stdin is None or process.stdout is None:
                raise RunError("The process that reads the rows has no pipes.")
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            process.stdin.flush()
            for line in process.stdout:
                told = decoder.decode(line)
                if isinstance(told, StagingFailed):
                    raise RunError(told.title, told.text, told.hint)
                yield told
        if process.returncode != 0 or told is None:
            lines = (folder / "log").read_text(errors="replace").splitlines()
            last = next((line for line in reversed(lines) if any(map(str.isalpha, line))), "It said nothing.")
            raise RunError("The process that reads the rows ended.", f"{last.strip()[:500]} ({process.returncode})")
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _stage_here(order: StagingOrder, folder: Path) -> Iterator[Staged]:
    """Read a table into its topic; this process is Spark's own.

    Raises:
        RunError: the database, Spark or Kafka refuses; a value cannot be said in the topic's words.
    """
    settings = (*order.target.settings, ("spark.jars", order.driver), ("spark.ui.enabled", "false"))
    target = msgspec.structs.replace(order.target, settings=settings)
    runtime = start_runtime(target, folder)
    try:
        rows = parts = 0
        at_once = max(runtime.parallelism, 1) * 2
        for query, conditions in order.tables:
            for start in range(0, len(conditions), at_once):
                some = conditions[start : start + at_once]
                frame = runtime.spark.read.jdbc(
                    order.url,
                    f"({query}) rows_of_table",
                    predicates=list(some),
                    properties={
                        **dict(order.properties),
                        "driver": _DRIVER,
                        "fetchsize": _FETCH_ROWS,
                        "sessionInitStatement": order.joining,
                    },
                )
                found = frame.mapInArrow(SendRows(order), "rows long").collect()
                rows += sum(row[0] for row in found)
                parts += len(some)
                yield Staged(rows, parts)
    except UserError:
        raise
    except Exception as error:
        raise _in_words(error) from error
    finally:
        runtime.end()


def _in_words(error: Exception) -> RunError:
    lines = [line.strip() for line in str(error).splitlines()]
    causes = [line for line in lines if line.startswith(("ValueError:", "RuntimeError:", "Caused by:", "ERROR:"))]
    said = (causes[-1] if causes else lines[0] if lines else type(error).__name__).partition(": ")[2] or str(error)
    return RunError("The rows cannot be loaded.", said[:600], "What was put aside for the load is removed.")


def main() -> None:
    """Run one order; see the module."""
    folder = Path(sys.argv[1])
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=StagingOrder)
    is_done = threading.Event()
    threading.Thread(target=_end_with_input, args=(is_done,), daemon=True).start()
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        for staged in _stage_here(order, folder):
            out.write(msgspec.json.encode(staged) + b"\n")
    except UserError as error:
        out.write(msgspec.json.encode(StagingFailed(error.title, error.text, error.hint)) + b"\n")
    is_done.set()  # before ``out`` is closed: whoever listens closes our input then


def _end_with_input(is_done: threading.Event) -> None:
    # Read without Python's buffer, whose lock a thread that waits would hold when the program ends.
    while os.read(0, 4096):
        pass
    if not is_done.is_set():
        os._exit(1)  # Java ends with its own standard input, which closes now


_MASK = 0xFFFFFFFF
_SEED, _FACTOR, _SHIFT = 0x9747B28C, 0x5BD1E995, 24


def murmur2(key: bytes) -> int:
    """Return the hash that clients in Java choose a partition by. Source: MurmurHash2, 32 bits, Austin Appleby."""
    value = (_SEED ^ len(key)) & _MASK
    whole = len(key) & ~3
    for place in range(0, whole, 4):
        part = int.from_bytes(key[place : place + 4], "little") * _FACTOR & _MASK
        part = (part ^ part >> _SHIFT) * _FACTOR & _MASK
        value = value * _FACTOR & _MASK ^ part
    if rest := key[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * _FACTOR & _MASK
    value = (value ^ value >> 13) * _FACTOR & _MASK
    return value ^ value >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition of a key among so many."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def is_by_key(placed: Iterable[tuple[bytes, int]], partitions: int) -> bool:
    """Return whether all keys lie where the rule puts them."""
    return all(partition_of(key, partitions) == partition for key, partition in placed)
