"""Batches that are staged for a warehouse: their parts and how far they read, until a load has taken them up.

Nothing of them counts before that. So a stream into a warehouse has a new checkpoint each time it begins, which says
how far the target is (``begin_after``), and whatever a killed run had staged is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from metl_gui.core.dimensional.rows.replays import Coverage, CoveredRange
from metl_gui.engine.sources.source import partition_of
from metl_gui.engine.staging.part_marks import PartMark
from metl_gui.engine.staging.read_places import joined
from metl_gui.engine.streaming.checkpoint import Checkpoint, read_whole
from metl_gui.engine.streaming.file_states import KnownFile
from metl_gui.engine.streaming.ledger import BatchPlan, KnownPartition, Ledger
from metl_gui.errors import RunError
from metl_gui.own_files import atomic_write, make_below, make_folder

_FOLDER = "staged"


class StagedBatchFile(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that waits to be loaded.

    Args:
        number: of the batch.
        parts: what its tasks wrote whose results were received, by path.
        messages: in these.
        set_aside: records that became no message.
        places: what is known of the files or partitions that it read from, once it is loaded; JSON.
        coverage: what it read whole of topics; files are named otherwise while they grow.
    """

    number: int
    parts: dict[str, PartMark]
    messages: int
    set_aside: int
    places: dict[str, str]
    coverage: Coverage = Coverage()


def covered(plan: BatchPlan, publication: int) -> Coverage:
    """Return what a batch reads whole of topics, and that its messages are in the order of their logs.

    Args:
        plan: of the batch.
        publication: that it is mapped under.
    """
    if not plan.partitions:
        # A file that grows has no end to be covered up to; its messages come in the order of its log all the same.
        return Coverage(is_ordered=True)
    ranges = (
        CoveredRange(*partition_of(plan.files[piece.file]), piece.start, piece.stop)
        for task in plan.tasks
        for piece in task
    )
    return Coverage(publication, tuple(joined(ranges)), is_ordered=True)


def known_places(plan: BatchPlan) -> dict[str, str]:
    """Return what is known of the files or partitions of a batch, as JSON."""
    known: dict[str, KnownFile | KnownPartition] = {**plan.known, **plan.partitions}
    return {name: msgspec.json.encode(one).decode() for name, one in known.items()}


def keep_staged(checkpoint: Checkpoint, batch: StagedBatchFile) -> None:
    """Write down that a batch waits to be loaded."""
    folder = make_below(checkpoint.path, (_FOLDER,))
    atomic_write(folder / f"{batch.number:09d}.json", msgspec.json.encode(batch))


def staged_batches(checkpoint: Checkpoint) -> list[StagedBatchFile]:
    """Return the batches that wait to be loaded, in order."""
    found = (read_whole(path, StagedBatchFile) for path in sorted((checkpoint.path / _FOLDER).glob("[0-9]*.json")))
    return [one for one in found if one is not None]


def drop_staged(checkpoint: Checkpoint, batch: StagedBatchFile) -> None:
    """Remove a batch that is loaded."""
    (checkpoint.path / _FOLDER / f"{batch.number:09d}.json").unlink(missing_ok=True)
    for part in batch.parts:
        Path(part).unlink(missing_ok=True)


def begin_after(checkpoint: Checkpoint, places: Mapping[str, str], *, is_topics: bool) -> None:
    """Let a stream that has not begun yet go on behind what was read by others before it.

    Args:
        checkpoint: a new folder.
        places: as of ``StagedBatchFile``.
        is_topics: they are partitions, not files.

    Raises:
        RunError: they cannot be read, or the folder cannot be written.
    """
    if not places:
        return
    try:
        make_folder(checkpoint.ledger)
        ledger = Ledger(checkpoint.ledger)
        if is_topics:
            ledger.begin({name: msgspec.json.decode(text, type=KnownPartition) for name, text in places.items()})
        else:
            files = {name: msgspec.json.decode(text, type=KnownFile) for name, text in places.items()}
            ledger.begin_files({name: _unless_shorter(name, one) for name, one in files.items()})
    except (msgspec.MsgspecError, OSError) as error:
        raise RunError(
            "How far the source was read cannot be taken over.", f"{checkpoint.path}: {error}.", "Try again."
        ) from error


def _unless_shorter(name: str, known: KnownFile) -> KnownFile:
    """Give up a file that became shorter since it was read; what is there now is another one."""
    try:
        size = Path(known.path).stat().st_size
    except OSError:
        return known
    if known.given_up or size >= known.read_to:
        return known
    why = (
        f"{name} became shorter than the {known.read_to:,} bytes that were read of it. Nothing more is read of it; "
        "give what is there now a name of its own."
    )
    return msgspec.structs.replace(known, given_up=why)
