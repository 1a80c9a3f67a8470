"""The archives of the Java classes of Kafka and Connect, which are written when these end in order."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.engine.spark.class_archive import archive_of, make_archive
from metl_gui.stack.connect import ConnectWorker
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker


def has_archives() -> bool:
    """Return whether both archives are there, for the jars and the Java that are here."""
    if not KAFKA_JARS.is_fetched:
        return False
    broker = KafkaBroker()
    return all(archive_of(server.archive_key) is not None for server in (broker, ConnectWorker(broker)))


def make_archives(watch: Watch = UNWATCHED) -> None:
    """Start a broker and a worker of Connect once and end them, so that Java writes down the classes that were used.

    Raises:
        SetupError: a server does not start, or Java wrote nothing.
        RunCancelled: the watch was cancelled.
        OSError: the cache cannot be written.
    """

    def write_of_broker(path: Path) -> None:
        with KafkaBroker(archive_to=path) as broker:
            make_archive(ConnectWorker(broker).archive_key, partial(_run_worker, broker, watch))

    make_archive(KafkaBroker().archive_key, write_of_broker)


def _run_worker(broker: KafkaBroker, watch: Watch, path: Path) -> None:
    worker = ConnectWorker(broker, archive_to=path)
    worker.start(watch)
    worker.stop()
