"""Records of topics for people and readers: a few to look at, and enough of them to tell schemas and versions by.

The client of Kafka is loaded when it is needed first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO

from metl_gui.engine.kafka.servers import is_kafka
from metl_gui.engine.sources.first_records import FirstRecord, first_records
from metl_gui.registry import folders
from metl_gui.registry.formats import Format
from metl_gui.registry.reading import Reading
from metl_gui.workbench.profiles import kafka_servers
from metl_gui.workbench.progress import UNWATCHED, Watch

_MOST_READ = 200_000
_TOLD_EVERY = 1000
_SUFFIX = ".jsonl"


def records_to_see(source: str, most: int, most_of_each: int | None = None) -> Iterator[FirstRecord]:
    """Yield the first records of files or topics.

    Args:
        source: a file, a folder, a pattern, or topics.
        most: how many in all.
        most_of_each: how many of each file or partition; by default as many as are left, of partitions their share.

    Raises:
        RunError: there is no such source, or it cannot be read.
    """
    if not is_kafka(source):
        yield from first_records(source, most, most_of_each)
        return
    from metl_gui.engine.sources.first_messages import first_messages

    for found in first_messages(kafka_servers(source), source, most, most_of_each):
        yield found.record


def read_topics(source: str, format_: Format, watch: Watch = UNWATCHED) -> Reading:
    """Read which schemas and versions the records of topics show; of long topics those at the beginning.

    Args:
        source: topics by name or pattern.
        format_: how to read the records.
        watch: progress and cancel.

    Raises:
        RunError: servers do not answer or refuse, or a topic is not there.
        RunCancelled: it was cancelled.
    """
    from metl_gui.engine.sources.first_messages import first_messages

    with tempfile.TemporaryDirectory(prefix="metl-topics-") as folder, ExitStack() as files:
        opened: dict[str, IO[bytes]] = {}
        for number, found in enumerate(first_messages(kafka_servers(source), source, _MOST_READ)):
            if not number % _TOLD_EVERY:
                watch.step(f"Reading {found.topic}", number)
            if found.topic not in opened:
                opened[found.topic] = files.enter_context((Path(folder) / f"{found.topic}{_SUFFIX}").open("wb"))
            opened[found.topic].write(found.record.raw + b"\n")
        files.close()
        watch.step("Telling schemas and versions apart")
        read = folders.read([folder], format_) if opened else Reading()
    return _named(read)


def _named(read: Reading) -> Reading:
    """Name the topics where the files that stood for them are named."""

    def topic(text: str) -> str:
        name, suffix, rest = text.partition(_SUFFIX)
        return f"{name.rpartition('/')[2]}{rest}" if suffix else text

    return replace(
        read,
        declarations=tuple(replace(one, source=topic(one.source)) for one in read.declarations),
        refused=tuple(replace(one, source=topic(one.source)) for one in read.refused),
    )
