"""What a source is told on its way to the executors."""

from __future__ import annotations

import msgspec

from metl_gui.engine.kafka.orders import TopicReading
from metl_gui.engine.sources.files import FileRange, SourceFile
from metl_gui.formats.compression import Codec


class Reading(msgspec.Struct, frozen=True):
    """The files, the ranges of each task and the limit.

    Args:
        is_error_store: the files are parts of an error store, whose rows hold the records.
        topics: the files are partitions (``partition_file``), and the ranges are of offsets.
    """

    files: list[SourceFile]
    tasks: list[list[FileRange]]
    limit: int | None = None
    is_error_store: bool = False
    topics: TopicReading | None = None


def partition_file(topic: str, partition: int, stop: int) -> SourceFile:
    """Return what stands for a partition in a reading.

    Args:
        topic, partition: its name.
        stop: up to which offset it is read.
    """
    return SourceFile(f"{topic}/{partition}", "", stop, Codec.PLAIN)


def partition_of(file: SourceFile) -> tuple[str, int]:
    """Return the topic and number of the partition that a file of a reading stands for."""
    topic, _, number = file.name.rpartition("/")
    return topic, int(number)
