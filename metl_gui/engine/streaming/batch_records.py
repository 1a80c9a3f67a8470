"""Put a batch in place: everything it wrote becomes visible under one record, once, whatever is killed when.

The parts lie in hidden folders within the outputs. The record of the batch, written in one move, says where each of
them belongs; from then on the batch counts, and whoever comes after a kill finishes its moves. A batch without a
record never was: its parts are dropped and it is mapped again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from metl_gui.core.runs.report import Tally
from metl_gui.engine.streaming.checkpoint import Checkpoint, damaged, read_whole
from metl_gui.errors import RunError
from metl_gui.own_files import atomic_write, make_below, sync

PARTIAL = ".metl-partial"
"""In a folder of outputs: what is not in place yet."""

KEPT_RECORDS = 20
"""How many records of batches stay; the newest has the sums of its run."""


class Move(msgspec.Struct, frozen=True):
    """One part on its way to its place."""

    partial: str
    place: str


class BatchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What one batch became.

    Args:
        number: of the batch.
        run_id: the run that put it in place.
        state, hash: what it was mapped with.
        seconds: how long it took.
        tally: what it counted.
        moves: its parts.
        run_tally, run_batches, run_states, run_seconds: the sums of the run up to here; states in the order of use.
        bytes_read: what the run read of the source, as it lies on disk.
    """

    number: int
    run_id: str
    state: int
    hash: str
    seconds: float
    tally: Tally
    moves: list[Move]
    run_tally: Tally
    run_batches: int
    run_states: list[int]
    run_seconds: float
    bytes_read: int


class BatchLog:
    """The records of one stream.

    Args:
        checkpoint: of the stream.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.folder = checkpoint.batches

    def newest(self) -> BatchRecord | None:
        """Return the record of the batch that was put in place last."""
        names = sorted(self.folder.glob("[0-9]*.json"))
        return _record(names[-1]) if names else None

    def has(self, number: int) -> bool:
        """Return whether a batch is in place; true too of those whose records were dropped."""
        newest = max((int(path.stem) for path in self.folder.glob("[0-9]*.json")), default=0)
        return number <= newest

    def newest_of(self, run_id: str) -> BatchRecord | None:
        """Return the newest record of a run, None when it put none in place."""
        for path in sorted(self.folder.glob("[0-9]*.json"), reverse=True):
            record = _record(path)
            if record.run_id == run_id:
                return record
        return None

    def add(self, record: BatchRecord) -> None:
        """Let a batch count, and move its parts in place.

        Raises:
            RunError: they cannot be moved; they will be when the run goes on.
        """
        for folder in {Path(move.partial).parent for move in record.moves}:
            sync(folder)
        for move in record.moves:
            sync(Path(move.partial))
        atomic_write(self.folder / f"{record.number:09d}.json", msgspec.json.encode(record), durable=True)
        settle(record)
        for path in sorted(self.folder.glob("[0-9]*.json"))[:-KEPT_RECORDS]:
            path.unlink()


def _record(path: Path) -> BatchRecord:
    record = read_whole(path, BatchRecord)
    if record is None:
        raise damaged(path, "the record of the batch is gone.")
    return record


def settle(record: BatchRecord) -> None:
    """Finish the moves of a batch that counts; those that were made are left alone.

    Raises:
        RunError: a part is neither here nor there, or cannot be moved.
    """
    folders = {Path(move.place).parent: _root(Path(move.partial)).parent.parent for move in record.moves}
    try:
        for folder, root in folders.items():
            root.mkdir(parents=True, exist_ok=True)
            make_below(root, folder.relative_to(root).parts)
        for move in record.moves:
            try:
                os.replace(move.partial, move.place)  # noqa: PTH105 - many small ones
            except FileNotFoundError:
                if not Path(move.place).exists():
                    raise
        for folder in folders:
            sync(folder)
    except OSError as error:
        raise RunError(
            "A batch cannot be put in place.",
            f"Batch {record.number}: {error}.",
            "Mend the folder, then go on with the run: it finishes this batch first.",
        ) from error


def moves_of(written: Iterable[str], stream: str, number: int) -> list[Move]:
    """Return where the parts of a batch belong: beside those of other batches, under names of their own."""
    return [_move(Path(path), stream, number) for path in written]


def drop_partials(folders: Iterable[Path]) -> None:
    """Remove what killed runs left in folders of outputs."""
    for folder in folders:
        shutil.rmtree(folder / PARTIAL, ignore_errors=True)


def drop_batch_folders(moves: Iterable[Move]) -> None:
    """Remove the folders that the parts of a batch lay in."""
    roots = {_root(Path(move.partial)) for move in moves}
    for root in roots:
        shutil.rmtree(root, ignore_errors=True)
        with contextlib.suppress(OSError):
            root.parent.rmdir()


def _move(path: Path, stream: str, number: int) -> Move:
    root = _root(path)
    name = f"part-{stream}-{number:09d}-{path.name.removeprefix('part-')}"
    return Move(str(path), str(root.parent.parent / path.relative_to(root).with_name(name)))


def _root(path: Path) -> Path:
    """Return the folder of one attempt of a batch: what lies right below ``PARTIAL``."""
    return next(parent for parent in path.parents if parent.parent.name == PARTIAL)
