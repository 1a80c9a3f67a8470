"""The ledger: what each batch reads, written down before Spark hears of it, so that a batch done again is the same.

One small file a batch, never changed once its batch is in place; now and then what is known of all files is gathered
in one, and the older ones go.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from metl_gui.engine.sources.files import FileRange, SourceFile
from metl_gui.engine.streaming.checkpoint import PlanInUse, damaged, read_whole
from metl_gui.engine.streaming.file_states import KnownFile
from metl_gui.own_files import atomic_write

GATHERED = "gathered.json"
GATHERED_EVERY = 50


class KnownPartition(msgspec.Struct, frozen=True):
    """What a stream knows of a partition of a topic.

    Args:
        topic_id: of its topic; another one once that was deleted and made again.
        read_to: what is before this offset was read, or is in a batch that is planned.
        end: one past the last offset that was there when it was listed last.
    """

    topic_id: str
    read_to: int
    end: int


class BatchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What one batch reads, and with which state it maps.

    Args:
        number: from 1.
        plan: the state.
        files: each as long as it is read.
        tasks: which parts of them each task reads.
        known: what is known of the files that it touches, once it is planned.
        bytes_planned: what this and all batches before it read together.
        partitions: the same as ``known`` of partitions, where topics are read; lengths count records then.
    """

    number: int
    plan: PlanInUse
    files: list[SourceFile]
    tasks: list[list[FileRange]]
    known: dict[str, KnownFile]
    bytes_planned: int
    partitions: dict[str, KnownPartition] = {}

    @property
    def task_bytes(self) -> list[int]:
        """How much each task reads."""
        return [sum(piece.stop - piece.start for piece in task) for task in self.tasks]


class LedgerSnapshot(msgspec.Struct, frozen=True):
    """What is known of all files and partitions after a batch."""

    number: int
    bytes_planned: int
    known: dict[str, KnownFile]
    partitions: dict[str, KnownPartition] = {}


class Ledger:
    """The ledger of one stream.

    Args:
        folder: where it lies.

    ``known`` and ``partitions`` are what is known of all files and partitions after the ``newest`` batch, by name.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        gathered = _gathered(folder)
        self.known = dict(gathered.known)
        self.partitions = dict(gathered.partitions)
        self.newest = gathered.number
        self.bytes_planned = gathered.bytes_planned
        for number in sorted(_numbers(folder)):
            if number > gathered.number:
                self._take(self.batch(number))

    def batch(self, number: int) -> BatchPlan:
        """Read what a batch reads.

        Raises:
            RunError: its file is gone or damaged.
        """
        return self.plan_of(self.folder, number)

    @staticmethod
    def plan_of(folder: Path, number: int) -> BatchPlan:
        """Read what a batch reads, without the rest of the ledger.

        Raises:
            RunError: it is damaged or gone.
        """
        path = _file(folder, number)
        plan = read_whole(path, BatchPlan)
        if plan is None:
            raise damaged(path, "the plan of the batch is gone.")
        return plan

    def has(self, number: int) -> bool:
        """Return whether a batch is planned and its plan still there."""
        return _file(self.folder, number).is_file()

    def add(self, plan: BatchPlan, committed: int) -> None:
        """Write down the next batch.

        Args:
            plan: its number follows the newest.
            committed: the newest batch that is in place.

        Raises:
            FileExistsError: somebody else planned this batch.
        """
        atomic_write(_file(self.folder, plan.number), msgspec.json.encode(plan), durable=True, is_new=True)
        self._take(plan)
        if plan.number % GATHERED_EVERY == 0:
            self._gather(committed)

    @property
    def is_begun(self) -> bool:
        """Whether it says where partitions begin."""
        return self.newest > 0 or (self.folder / GATHERED).is_file()

    def begin(self, partitions: dict[str, KnownPartition]) -> None:
        """Write down where partitions begin, before anything of them is read: it is asked for only once."""
        self.partitions.update(partitions)
        self._gather(0)

    def begin_files(self, known: dict[str, KnownFile]) -> None:
        """Write down what is known of files before any batch: others read them up to there."""
        self.known.update(known)
        self._gather(0)

    def replace(self, plan: BatchPlan) -> None:
        """Change what a batch reads that is not in place yet."""
        atomic_write(_file(self.folder, plan.number), msgspec.json.encode(plan), durable=True)
        self._take(plan)

    def note(self, name: str, known: KnownFile) -> None:
        """Remember something of a file until the next batch is written down with it."""
        self.known[name] = known

    def _take(self, plan: BatchPlan) -> None:
        self.known.update(plan.known)
        self.partitions.update(plan.partitions)
        self.newest = plan.number
        self.bytes_planned = plan.bytes_planned

    def _gather(self, committed: int) -> None:
        gathered = LedgerSnapshot(self.newest, self.bytes_planned, self.known, self.partitions)
        atomic_write(self.folder / GATHERED, msgspec.json.encode(gathered), durable=True)
        for number in _numbers(self.folder):
            if number < min(self.newest, committed):
                _file(self.folder, number).unlink(missing_ok=True)


def _gathered(folder: Path) -> LedgerSnapshot:
    return read_whole(folder / GATHERED, LedgerSnapshot) or LedgerSnapshot(0, 0, {})


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:09d}.json"


def _numbers(folder: Path) -> list[int]:
    return [int(path.stem) for path in folder.glob("[0-9]*.json") if path.stem.isdecimal()]
