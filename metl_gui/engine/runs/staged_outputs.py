"""Where a run writes until it is over: hidden folders beside the real ones, which they become in one move.

A reader sees the outputs of a run whole or not at all, whatever is killed when. What a killed run leaves is hidden, so
that no reader takes it for outputs, named by its run, and removed by the next run that writes beside it (``sweep``),
never while its own run lives.

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

from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import NOOP, RunSpec
from metl_gui.engine.runs.folder_lock import SUFFIX as OWNER_SUFFIX
from metl_gui.engine.runs.folder_lock import (
    PathLock,
    RunLock,
    drop_lock,
    outermost,
    owner_of,
    owner_of_run,
    refuse_if_locked,
    run_of_dead,
)
from metl_gui.errors import RunError
from metl_gui.own_files import atomic_write, drop_partials, is_own, make_folder

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
    atomic_write(run_folder / JOURNAL, msgspec.json.encode(list(moves)))


def drop_journal(run_folder: Path) -> None:
    """Forget it, when all is in place or nothing is."""
    (run_folder / JOURNAL).unlink(missing_ok=True)


def roll_back_moves(run_folder: Path) -> tuple[str, ...]:
    """Undo what a killed run has moved in place without its messages; the run is dead.

    Returns:
        What was taken back.
    """
    drop_partials(run_folder / JOURNAL)
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
    """Return whether anything of a partial folder that was removed is there yet, under either name."""
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


class Staging:
    """The outputs of one run before they are in place.

    Args:
        spec: the run.

    ``prepare`` refuses what cannot be written, ``commit`` moves everything in place, ``discard`` leaves no trace.
    ``notes`` says what was removed that killed runs had left.
    """

    def __init__(self, spec: RunSpec) -> None:
        if "://" in spec.sink.address and not is_kafka(spec.sink.address):
            raise RunError(
                "This sink is not known.",
                f"{spec.sink.address} is neither a folder nor a topic nor {NOOP}.",
                "Give a folder, kafka://host:port/metl.{entity}, or noop.",
            )
        if "://" in spec.sink.errors and not is_kafka(spec.sink.errors):
            raise RunError(
                "Set-aside records need a folder or a topic.",
                f"{spec.sink.errors} is neither.",
                "Give a folder, or kafka://host:port/metl.errors",
            )
        self.out = None if spec.sink.address == NOOP or is_kafka(spec.sink.address) else _place(Path(spec.sink.address))
        self.errors = _place(spec.errors_folder)
        self.messages_partial = _partial(self.out, spec.run_id) if self.out else None
        self.errors_partial = _partial(self.errors, spec.run_id)
        if self.out and self.messages_partial and self.errors != self.out and self.errors.is_relative_to(self.out):
            self.errors_partial = self.messages_partial / self.errors.relative_to(self.out)
        self.samples = _place(spec.samples_folder)
        self.samples_partial = _partial(self.samples, spec.run_id)
        self.run_folder = Path(spec.policy.folder)
        self.run_id = spec.run_id
        self.notes: tuple[str, ...] = ()
        self._made: list[Path] = []
        self._owners: list[RunLock] = []
        self._held: list[PathLock] = []

    def prepare(self) -> None:
        """Check the places and make the partial folders.

        Raises:
            RunError: a place has data already, cannot be written, or another run writes there.
        """
        self._check_apart()
        folder = self.run_folder
        try:
            for place in self._shared:
                folder = place
                self._make(place.parent, exist_ok=True)
                self._held.append(PathLock(place, self.run_id))
            self._check_free()
            self.notes = sweep(place.parent for place in (self.out, self.errors, self.samples) if place is not None)
            for folder in filter(None, (self.messages_partial, self.errors_partial, self.samples_partial)):
                self._make(folder)
                if folder.name.endswith(SUFFIX):
                    self._own(owner_of(folder))
        except OSError as error:
            self.discard()
            raise RunError(
                "The output folder cannot be written.",
                f"{folder.parent}: {error.strerror}.",
                "Choose a folder that you may write to.",
            ) from error
        except RunError:
            self.discard()
            raise
        self._own(owner_of_run(self.run_folder))

    def check(self) -> None:
        """Refuse places that cannot take the outputs; nothing is made.

        Raises:
            RunError: a place has data already, another run writes there, or two of them lie in each other.
        """
        self._check_apart()
        for place in self._shared:
            refuse_if_locked(place)
        self._check_free()

    def _check_apart(self) -> None:
        if self.out and (self.out == self.errors or self.out.is_relative_to(self.errors)):
            raise RunError(
                "Messages and set-aside records need two folders.",
                f"{self.out} lies in {self.errors}.",
                "Give another --errors folder.",
            )

    def _check_free(self) -> None:
        for place in (self.out, self.errors, self.samples):
            if place is not None:
                _check_free(place)

    @property
    def _shared(self) -> list[Path]:
        """The places that another run may want too: not those in this one's folder, nor what lies in the output."""
        places = outermost([*([self.out] if self.out else []), self.errors])
        return [place for place in places if not place.is_relative_to(self.samples.parent)]

    def _make(self, folder: Path, *, exist_ok: bool = False) -> None:
        self._made.extend(path for path in (folder, *folder.parents) if not path.exists())
        if folder.is_relative_to(self.run_folder.resolve()) or is_own(folder):
            make_folder(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=exist_ok)
        else:
            folder.mkdir(parents=True, exist_ok=exist_ok)

    def _own(self, path: Path) -> None:
        # A folder without an owner is never removed by others; where none can be named, what follows fails too.
        with contextlib.suppress(OSError):
            self._owners.append(RunLock(path, self.run_id))

    def commit(self, written: Iterable[str]) -> None:
        """Move the parts of the successful tasks in place; parts of other attempts are dropped.

        Raises:
            RunError: the move failed; then nothing is in place.
        """
        keep = set(written)
        moves: list[PlannedMove] = []
        try:
            for partial, place in self._moves():
                _require_all(partial, keep)
                _drop_others(partial, keep)
                if place == self.out or any(partial.iterdir()):
                    moves.append(planned(partial, place))
            write_journal(self.run_folder, moves)
            for move in moves:
                Path(move.partial).replace(move.place)
            drop_journal(self.run_folder)
        except OSError as error:
            for move in moves:
                if move.is_made:
                    Path(move.place).rename(move.partial)
            drop_journal(self.run_folder)
            raise RunError(
                "The outputs cannot be moved in place.",
                f"{error}. Nothing of this run was kept, and its source is as it was.",
                "Choose an output folder that nothing else uses, on a disk with room, and run again.",
            ) from error
        self._remove_partials()

    def discard(self) -> None:
        """Remove everything that the run wrote, and the folders made for it."""
        self._remove_partials()
        for folder in sorted(self._made, key=lambda made: len(made.parts), reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()  # only when nothing is in it

    def _moves(self) -> list[tuple[Path, Path]]:
        """Return what is moved where; an error store inside the output moves with it."""
        moves = [(self.samples_partial, self.samples)]
        if self.messages_partial is None or not self.errors_partial.is_relative_to(self.messages_partial):
            moves.append((self.errors_partial, self.errors))
        if self.messages_partial is not None and self.out is not None:
            moves.append((self.messages_partial, self.out))
        return moves

    def _remove_partials(self) -> None:
        partials = [folder for folder in (self.errors_partial, self.messages_partial, self.samples_partial) if folder]
        for folder in partials:
            if folder.is_dir():
                remove_partial(folder)
        for owner in self._owners:
            owner.release()
        self._owners.clear()
        for held in self._held:
            held.release()
        self._held.clear()
        for place in self._shared:
            drop_lock(place, self.run_id)
        # Also those of a process that died, on whose behalf this one cleans up. What could not be removed keeps its
        # owner, whom nothing holds any more, and goes with the next run.
        left = [folder for folder in partials if is_left(folder)]
        for folder in partials:
            if folder not in left:
                with contextlib.suppress(OSError):
                    owner_of(folder).unlink()
        if not left:
            with contextlib.suppress(OSError):
                owner_of_run(self.run_folder).unlink()


def _place(path: Path) -> Path:
    try:
        str(path).encode()
        return path.expanduser().resolve()
    except UnicodeEncodeError as error:
        raise RunError("The name of an output folder is not UTF-8.", f"{path}.", "Choose another name.") from error
    except RuntimeError as error:  # a link that leads to itself, or the home folder of somebody unknown
        raise RunError("The output folder cannot be found.", f"{path}: {error}.", "Choose another folder.") from error


def _partial(place: Path, run_id: str) -> Path:
    return place.with_name(f".{place.name}.{run_id}{SUFFIX}")


def _check_free(place: Path) -> None:
    try:
        if place.is_dir() and not any(place.iterdir()):
            return
        is_free = not place.exists()
    except OSError as error:
        raise RunError(
            "The output folder cannot be read.", f"{place}: {error.strerror}.", "Choose another folder."
        ) from error
    if place.is_file():
        raise RunError("The output folder is a file.", f"{place} is not a folder.", "Give a new folder.")
    if not is_free:
        raise RunError(
            "The output folder is not empty.",
            f"{place} exists and holds data.",
            "Give a new folder, or empty this one.",
        )


def _require_all(folder: Path, keep: set[str]) -> None:
    """Refuse to move a folder from which somebody took a part.

    Raises:
        FileNotFoundError: a part is gone.
    """
    for path in keep:
        if Path(path).is_relative_to(folder):
            Path(path).stat()


def _drop_others(folder: Path, keep: set[str]) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif str(path) not in keep:
            path.unlink()
