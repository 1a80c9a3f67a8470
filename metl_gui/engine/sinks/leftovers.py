"""What killed runs left behind: hidden folders that no reader takes for outputs, removed when their run is dead.

A run that is killed while its folders are moved in place may have moved some of them. Its journal says which, so that
they are taken back: the outputs of a run are there together or not at all. The messages are moved last; once they are
there, the run is whole and stays.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from metl_gui.engine.sinks.ownership import SUFFIX as OWNER_SUFFIX
from metl_gui.engine.sinks.ownership import run_of_dead
from metl_gui.own_files import write_file

SUFFIX = ".partial"
_DOOMED = ".discarded"
JOURNAL = "commit.json"
"""In the folder of a run, while its outputs are moved in place."""


class PlannedMove(msgspec.Struct, frozen=True):
    """One folder on its way to its place.

    Args:
        partial, place: from where to where.
        device, inode, changed_ns: which folder it is, so that no other one is ever taken for it; numbers of inodes
            are used again at once.
    """

    partial: str
    place: str
    device: int
    inode: int
    changed_ns: int

    @property
    def is_made(self) -> bool:
        """Whether it is in its place."""
        try:
            found = Path(self.place).stat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino, found.st_mtime_ns) == (self.device, self.inode, self.changed_ns)


def planned(partial: Path, place: Path) -> PlannedMove:
    """Plan a move."""
    facts = partial.stat()
    return PlannedMove(str(partial), str(place), facts.st_dev, facts.st_ino, facts.st_mtime_ns)


def write_journal(run_folder: Path, moves: Sequence[PlannedMove]) -> None:
    """Write down what is about to be moved, whole or not at all."""
    partial = run_folder / f"{JOURNAL}{SUFFIX}"
    write_file(partial, msgspec.json.encode(list(moves)))
    partial.replace(run_folder / JOURNAL)


def drop_journal(run_folder: Path) -> None:
    """Forget it, when all is in place or nothing is."""
    (run_folder / JOURNAL).unlink(missing_ok=True)


def take_back(run_folder: Path) -> tuple[str, ...]:
    """Take back what a killed run has moved in place without its messages; the run is dead.

    Returns:
        What was taken back.
    """
    try:
        moves = msgspec.json.decode((run_folder / JOURNAL).read_bytes(), type=list[PlannedMove])
    except (OSError, msgspec.MsgspecError):
        return ()
    made = [move for move in moves if move.is_made]
    if moves and not moves[-1].is_made:
        for move in made:
            Path(move.place).rename(move.partial)
            remove_partial(Path(move.partial))
    else:
        made = []
    drop_journal(run_folder)
    return tuple(move.place for move in made)


def remove_partial(folder: Path) -> None:
    """Remove a partial folder; under another name first, so that tasks which still write find no place to do so."""
    doomed = folder.with_suffix(_DOOMED)
    try:
        folder.rename(doomed)
    except OSError:
        doomed = folder
    shutil.rmtree(doomed, ignore_errors=True)


def is_left(folder: Path) -> bool:
    """Say whether anything of a partial folder that was removed is there yet, under either name."""
    return folder.exists() or folder.with_suffix(_DOOMED).exists()


def sweep(folders: Iterable[Path]) -> tuple[str, ...]:
    """Remove the partial folders of dead runs that lie in some folders, and never those of a run that lives.

    Returns:
        What was removed, in words.
    """
    return tuple(
        f"{found.name} in {found.parent} was removed: run {run_id} was killed before it had ended."
        for folder in dict.fromkeys(folders)
        for found, run_id in _dead(folder)
    )


def _dead(folder: Path) -> Iterator[tuple[Path, str]]:
    try:
        found = sorted(folder.glob(f".*.*{OWNER_SUFFIX}"))
    except OSError:
        return
    for owner in found:
        run_id = run_of_dead(owner)
        if not run_id or not owner.name.endswith(f".{run_id}{OWNER_SUFFIX}"):
            continue
        partial = owner.with_suffix(SUFFIX)
        was_there = partial.is_dir()
        if was_there:
            remove_partial(partial)
        shutil.rmtree(owner.with_suffix(_DOOMED), ignore_errors=True)
        if not is_left(partial):
            with contextlib.suppress(OSError):
                owner.unlink()
            if was_there:
                yield partial, run_id
