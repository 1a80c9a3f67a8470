"""An error store as a source: what waits in it, and what of it was replayed already.

The records that were set aside are never changed. Beside them, in ``_replayed``, each replay leaves a mark: how far it
read each part, and where it put what was set aside again. So every record waits in one place, and a second replay goes
on where the first one ended. Tests and production are marked apart: a trial takes nothing away from production.

    errors/reason=unknown_version/part-000000-0.jsonl
    errors/_replayed/20261121-230500-a1b2c3.json        the mark of a replay
    errors/_replayed/20261121-230500-a1b2c3/reason=...  what that replay set aside again; it waits here now

A mark is written before the outputs are moved in place and completed after. One that was never completed counts when
its messages are where it says, and else does not.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from metl_gui.core.dimensional.rows.replays import CoveredRange
from metl_gui.core.runs.limits import LIMIT_BYTES, TOO_LARGE
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sources.files import FileRange, SourceFile, range_bytes
from metl_gui.errors import RunError
from metl_gui.file_locks import lock
from metl_gui.formats.compression import Codec
from metl_gui.formats.record_delimiters import Framing
from metl_gui.own_files import atomic_write, make_below, open_file
from metl_gui.values import Value

MARKS = "_replayed"
_REASON = "reason="
_NEEDED = "Name the folder of an error store: the report of a run gives it under errors."


class ReplayMark(msgspec.Struct, frozen=True, kw_only=True):
    """What one replay has taken out of a store.

    Args:
        read_to: by part, as its path below the store: how many bytes of it are behind.
        again: folder below the store with what was set aside again; empty when that went elsewhere.
        messages, partial: where the messages belong, and where they were before; empty when none were written.
        is_done: the messages are in place.
    """

    run_id: str
    mode: str
    when_ms: int
    read_to: dict[str, int]
    again: str = ""
    messages: str = ""
    partial: str = ""
    is_done: bool = False

    @property
    def counts(self) -> bool:
        """Whether its messages were sent."""
        return self.is_done or bool(self.messages and Path(self.messages).exists() and not Path(self.partial).exists())


class WaitingPart(Value):
    """Records of one reason that wait, in one file.

    Args:
        name: its path below the store.
        start, stop: which bytes of it.
    """

    name: str
    start: int
    stop: int

    @property
    def reason(self) -> str:
        """Why they were set aside."""
        return Path(self.name).parent.name.removeprefix(_REASON)


class ErrorStore(Value):
    """One error store.

    Args:
        root: its folder.
        below: only what lies below this folder of it is meant.
        reasons: only these reasons are meant, when there are any.
        is_with_large: records that were too large are meant too.
    """

    root: Path
    below: Path
    reasons: frozenset[str] = frozenset()
    is_with_large: bool = False

    @classmethod
    def at(cls, path: str | Path, reasons: Collection[str] = (), limit_bytes: int = LIMIT_BYTES) -> ErrorStore:
        """Find the store that a person named, or one of its reasons, or what one replay set aside again.

        Args:
            path: what was named.
            reasons: only these are meant, when there are any.
            limit_bytes: how large a record may be now. What was too large is meant when it is named, or when this is
                another limit than the usual one; it would be set aside again otherwise, with all its bytes.

        Raises:
            RunError: there is none.
        """
        try:
            place = Path(path).expanduser().resolve()
        except RuntimeError as error:  # a link that leads to itself, or the home folder of somebody unknown
            raise RunError("There is no such error store.", f"{path}: {error}", _NEEDED) from error
        if not os.path.isdir(place):  # noqa: PTH112 - what has too long a name is no folder either
            raise RunError("There is no such error store.", f"{place} is no folder.", _NEEDED)
        wanted = frozenset(reasons)
        if place.name.startswith(_REASON):
            wanted |= {place.name.removeprefix(_REASON)}
            place = place.parent
        root = next((parent.parent for parent in reversed(place.parents) if parent.name == MARKS), place)
        store = cls(root, place, wanted, TOO_LARGE in wanted or limit_bytes != LIMIT_BYTES)
        if not any(root.glob(f"{_REASON}*")):
            raise RunError("This is no error store.", f"{root} holds no folder {_REASON}...", _NEEDED)
        folders = [Path(), *(Path(MARKS, each.name) for each in (root / MARKS).glob("*"))]
        known = {part.reason for folder in folders for part in store.parts(folder)}
        unknown = sorted(wanted - known)
        if unknown:
            there = ", ".join(sorted(known)) or "none"
            raise RunError(
                f"Nothing was set aside as {', '.join(unknown)}.", f"Reasons in {root}: {there}.", "Name one of these."
            )
        return store

    def parts(self, folder: Path) -> Iterator[WaitingPart]:
        """Yield all parts of a folder of the store, whole; sorted by name.

        Raises:
            RunError: a part cannot be read.
        """
        try:
            for path in sorted((self.root / folder).glob(f"{_REASON}*/part-*.jsonl")):
                yield WaitingPart(path.relative_to(self.root).as_posix(), 0, path.stat().st_size)
        except OSError as error:
            raise RunError("The error store cannot be read.", f"{self.root}: {error.strerror}.", _NEEDED) from error

    def marks(self, mode: str) -> list[ReplayMark]:
        """Return what replays of a mode have taken out, oldest first.

        Raises:
            RunError: a mark cannot be read.
        """
        found = []
        for path in sorted((self.root / MARKS).glob("*.json")):
            try:
                mark = msgspec.json.decode(path.read_bytes(), type=ReplayMark)
                _require_within(mark.again)
            except (OSError, msgspec.MsgspecError) as error:
                raise RunError(
                    "A mark of the error store cannot be read.",
                    f"{path}: {error}. It says what was replayed already.",
                    "Restore it, or replay everything with --again.",
                ) from error
            if mark.mode == mode and mark.counts:
                found.append(mark)
        return found

    def waiting(self, mode: str, is_again: bool = False) -> list[WaitingPart]:
        """Return what waits for a replay of a mode.

        Args:
            mode: ``test`` or ``production``.
            is_again: everything that the run itself set aside, whatever was replayed of it.
        """
        if is_again:
            return [part for part in self.parts(Path()) if self._is_meant(part) and part.stop]
        marks = self.marks(mode)
        behind: dict[str, int] = {}
        for mark in marks:
            for name, count in mark.read_to.items():
                behind[name] = max(count, behind.get(name, 0))
        folders = [Path(), *(Path(mark.again) for mark in marks if mark.again)]
        parts = [part for folder in folders for part in self.parts(folder) if self._is_meant(part)]
        left = [WaitingPart(part.name, behind.get(part.name, 0), part.stop) for part in parts]
        return [part for part in left if part.start < part.stop]

    def meant(self) -> list[WaitingPart]:
        """Return all parts of the folder that a person named, replayed or not."""
        return [part for part in self.parts(self.below.relative_to(self.root)) if self._is_meant(part)]

    def covered(self, mode: str, read: Iterable[WaitingPart], is_again: bool) -> dict[str, int]:
        """Return what is behind once some parts were read: with everything again, also what earlier replays left."""
        parts = list(read)
        if is_again:
            parts += [part for mark in self.marks(mode) if mark.again for part in self.parts(Path(mark.again))]
        return {part.name: part.stop for part in parts}

    def has_large(self) -> bool:
        """Return whether records that were too large are left out."""
        return not self.is_with_large and any(part.reason == TOO_LARGE for part in self.parts(Path()))

    def again_folder(self, run_id: str) -> Path:
        """Return where a replay puts what is set aside again."""
        return self.root / MARKS / run_id

    def _is_meant(self, part: WaitingPart) -> bool:
        is_wanted = part.reason in self.reasons if self.reasons else True
        is_below = (self.root / part.name).is_relative_to(self.below)
        return is_wanted and is_below and (self.is_with_large or part.reason != TOO_LARGE)


class ReplaySource:
    """What waits in an error store, held by one replay.

    Args:
        store: the store.
        run_id, mode: of the replay.
        is_again: also what was replayed before.
        is_marked: leave a mark; without one the same records wait as before.
    """

    is_error_store = True
    is_typed = False
    topics = None

    def __init__(self, store: ErrorStore, run_id: str, mode: str, is_again: bool, is_marked: bool) -> None:
        self.store = store
        self.run_id, self.mode = run_id, mode
        self.is_again, self.is_marked = is_again, is_marked
        self.parts = store.waiting(mode, is_again)
        self._mark: ReplayMark | None = None

    @property
    def files(self) -> int:
        """How many parts there are."""
        return len(self.parts)

    @property
    def bytes_total(self) -> int:
        """Bytes of what waits."""
        return sum(part.stop - part.start for part in self.parts)

    def cut(self, limit: int | None, cores: int) -> tuple[list[SourceFile], list[list[FileRange]]]:
        """Cut the parts into the ranges of tasks; a replay has no limit."""
        del limit
        files = [
            SourceFile(part.name, str(self.store.root / part.name), part.stop, Codec.PLAIN, Framing.LINES)
            for part in self.parts
        ]
        step = range_bytes(self.bytes_total, cores)
        tasks = [
            [FileRange(index, start, min(start + step, part.stop))]
            for index, part in enumerate(self.parts)
            for start in range(part.start, part.stop, step)
        ]
        return files, tasks or [[]]

    def problems(self, files: list[SourceFile]) -> tuple[str, ...]:
        """Describe what cannot be replayed."""
        del files
        if not self.store.has_large():
            return ()
        return (f"Records that were {TOO_LARGE} go on waiting: replay them with a larger --max-record-bytes.",)

    def log_names(self) -> dict[str, str]:
        """Return nothing: records have the positions that they had."""
        return {}

    def covered(self) -> tuple[CoveredRange, ...]:
        """Return nothing: single records of many ranges wait in an error store."""
        return ()

    def before_commit(self, staging: Staging) -> None:
        """Write the mark.

        Raises:
            RunError: the store cannot be written.
        """
        if not self.is_marked:
            return
        root = self.store.root
        self._mark = ReplayMark(
            run_id=self.run_id,
            mode=self.mode,
            when_ms=time.time_ns() // 1_000_000,
            read_to=self.store.covered(self.mode, self.parts, self.is_again),
            again=staging.errors.relative_to(root).as_posix() if staging.errors.is_relative_to(root) else "",
            messages=str(staging.out or ""),
            partial=str(staging.messages_partial or ""),
        )
        self._write()

    def after_commit(self) -> None:
        """Complete the mark."""
        if self._mark is not None:
            self._mark = msgspec.structs.replace(self._mark, is_done=True)
            # Uncompleted it counts all the same, because the messages are in place.
            with contextlib.suppress(RunError):
                self._write()

    def on_discard(self) -> None:
        """Remove the mark."""
        if self._mark is not None:
            self._path.unlink(missing_ok=True)

    @property
    def _path(self) -> Path:
        return self.store.root / MARKS / f"{self.run_id}.json"

    def _write(self) -> None:
        try:
            atomic_write(self._path, msgspec.json.format(msgspec.json.encode(self._mark)))
        except OSError as error:
            raise _unmarkable(self.store.root, error) from error


@contextlib.contextmanager
def exclusive(store: ErrorStore, is_marked: bool) -> Iterator[None]:
    """Keep every other replay away from a store; the system lets go when the process ends, however it does.

    Raises:
        RunError: another replay is at it, or the store cannot be written.
    """
    if not is_marked:
        yield
        return
    folder = store.root / MARKS
    try:
        make_below(store.root, (MARKS,))
        file = open_file(folder / ".lock", "ab")
    except OSError as error:
        raise _unmarkable(store.root, error) from error
    with file:
        try:
            lock(file)
        except BlockingIOError as error:
            raise RunError(
                "These records are being replayed already.",
                f"Another replay reads {store.root}.",
                "Wait until it has ended; then what it could not map waits here.",
            ) from error
        yield


def _require_within(again: str) -> None:
    """Refuse a mark that leads out of its store: stores are handed around, and what it names is read and sent.

    Raises:
        msgspec.ValidationError: it does.
    """
    place = Path(again)
    if place.is_absolute() or ".." in place.parts:
        raise msgspec.ValidationError(f"it leads out of the store, to {again!r}")


def _unmarkable(root: Path, error: OSError) -> RunError:
    return RunError(
        "The error store cannot be written.",
        f"{root}: {error.strerror or error}. A replay marks what it has sent, so that nothing is sent twice.",
        "Copy the store to a folder of yours and replay that, or give --sink noop to try it only.",
    )
