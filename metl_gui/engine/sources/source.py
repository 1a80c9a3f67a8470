"""What a run reads, whatever it is: listed once, cut into ranges, and told when the run's outputs are in place.

``ReadPlan`` is what a source is told on its way to the executors.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from metl_gui.core.dimensional.rows.replays import WHOLE, CoveredRange
from metl_gui.engine.kafka.topic_orders import TopicReading
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sources.files import FileListing, FileRange, SourceFile, cut_ranges, growth_problems
from metl_gui.formats.compression import Codec


class Source(Protocol):
    """A source as one run holds it.

    ``before_commit`` is called right before the outputs are moved in place, ``after_commit`` right after, and
    ``on_discard`` when they are not going to be.
    """

    is_error_store: bool
    is_typed: bool

    @property
    def topics(self) -> TopicReading | None:
        """How topics are read; None where files are."""
        ...

    @property
    def files(self) -> int:
        """How many files or partitions there are."""
        ...

    @property
    def bytes_total(self) -> int:
        """Bytes to read, as they lie on disk; of topics records, as far as offsets tell."""
        ...

    def cut(self, limit: int | None, cores: int) -> tuple[list[SourceFile], list[list[FileRange]]]:
        """Cut everything into the ranges of tasks."""
        ...

    def problems(self, files: list[SourceFile]) -> tuple[str, ...]:
        """Describe what a person should know of the source after it was read."""
        ...

    def log_names(self) -> dict[str, str]:
        """Return how positions in a warehouse call the files that are not called by their names."""
        ...

    def covered(self) -> tuple[CoveredRange, ...]:
        """Return what a run reads whole; an error store has single records of many ranges."""
        ...

    def before_commit(self, staging: Staging) -> None:
        """Note which outputs are about to be moved in place."""
        ...

    def after_commit(self) -> None:
        """Note that the outputs are in place."""
        ...

    def on_discard(self) -> None:
        """Remove the note of ``before_commit``."""
        ...


class FileSource:
    """Files of records.

    Args:
        listing: the files.
    """

    is_error_store = False
    is_typed = False
    topics = None

    def __init__(self, listing: FileListing) -> None:
        self.listing = listing

    @property
    def files(self) -> int:
        """How many files there are."""
        return len(self.listing.files)

    @property
    def bytes_total(self) -> int:
        """Bytes of all files as they lie on disk."""
        return self.listing.bytes_total

    def cut(self, limit: int | None, cores: int) -> tuple[list[SourceFile], list[list[FileRange]]]:
        """Cut the files into the ranges of tasks."""
        return cut_ranges(self.listing, limit, cores)

    def problems(self, files: list[SourceFile]) -> tuple[str, ...]:
        """Describe which files were left out, and which grew.

        Raises:
            RunError: a file is gone or shorter than it was.
        """
        left_out = (f"{name} was left out: it is not a file of records." for name in self.listing.left_out)
        return (*left_out, *growth_problems(files))

    def log_names(self) -> dict[str, str]:
        """Return how positions in a warehouse call the files.

        Raises:
            RunError: a file cannot be read.
        """
        return {file.name: file.log_name() for file in self.listing.files}

    def covered(self) -> tuple[CoveredRange, ...]:
        """Return the files, packed ones to their ends, up to which they were listed.

        Raises:
            RunError: a file cannot be read.
        """
        logs = self.log_names()
        return tuple(
            CoveredRange(logs[file.name], 0, 0, file.size_bytes if file.codec is Codec.PLAIN else WHOLE)
            for file in self.listing.files
        )

    def before_commit(self, staging: Staging) -> None:
        """Do nothing: files stay as they are."""

    def after_commit(self) -> None:
        """Do nothing: files stay as they are."""

    def on_discard(self) -> None:
        """Do nothing: files stay as they are."""


class ReadPlan(msgspec.Struct, frozen=True):
    """The files, the ranges of each task and the limit.

    Args:
        is_error_store: the files are parts of an error store, whose rows hold the records.
        topics: the files are partitions (``partition_file``), and the ranges are of offsets.
        is_typed: the files are messages in Parquet, and the ranges begin at row groups.
    """

    files: list[SourceFile]
    tasks: list[list[FileRange]]
    limit: int | None = None
    is_error_store: bool = False
    topics: TopicReading | None = None
    is_typed: bool = False


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
