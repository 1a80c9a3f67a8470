"""The folder from which a run in batches goes on: what it is about, who is at it, and where its parts lie.

stream.json   what the stream reads and where it writes; never changes
lock          held by the process that runs it
ledger/       what each batch reads
batches/      what each batch became; a batch counts from the moment its record is here
plans/        the compiled states, and which of them new batches take
status.json   what waits, for people who look
problems.jsonl  what a person should know of the source

Each file is written whole or not at all, so that a kill at any moment leaves the one before or the one after. Folders
of version 0.1 hold a checkpoint of Spark's besides (``spark/``), which says nothing that is not here and is left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from metl_gui.core.runs.kafka import is_kafka, parse_address
from metl_gui.core.runs.run_spec import NOOP, PlanState, RunSpec
from metl_gui.engine.runs.folder_lock import lock_when_free, outermost, refuse_if_locked
from metl_gui.engine.sources.files import source_paths
from metl_gui.errors import RunError, in_utf8
from metl_gui.own_files import atomic_write, is_own, make_below, make_folder, open_file

_Value = TypeVar("_Value")


def read_whole(path: Path, kind: type[_Value]) -> _Value | None:
    """Read a file of a checkpoint; None when there is none.

    Raises:
        RunError: it cannot be read, or holds something else.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(
            "The checkpoint cannot be read.",
            f"{path}: {error.strerror or error}.",
            "Give a --checkpoint folder that you may write to, or mend its permissions.",
        ) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise damaged(path, str(error)) from error


def damaged(path: Path, why: str) -> RunError:
    """Return the error that a file of a checkpoint holds something else than a run wrote there."""
    return RunError(
        "The checkpoint is damaged.", f"{path}: {why}", "Start again with a new --checkpoint and a new --sink."
    )


OWNER = ".metl-stream.json"
"""In a folder of outputs: which stream writes there."""


class StreamHead(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream is about; every run that goes on with it has the same.

    Args:
        stream: its id, that of its first run: it stands in the names of its outputs.
        source, sink, errors: as the first run was asked.
        mode: ``test`` or ``production``.
        checkpoint: the folder, for people who meet its outputs.
    """

    stream: str
    source: str
    sink: str
    errors: str
    mode: str
    checkpoint: str = ""

    @property
    def folders(self) -> list[Path]:
        """Where messages and set-aside records go, as far as that is a folder."""
        return [Path(place) for place in (self.sink, self.errors) if place and is_folder(place)]


class PlanInUse(msgspec.Struct, frozen=True):
    """Which compiled state new batches take.

    Args:
        file: its name in ``plans``.
        state, hash, publication: as of a ``PlanState``; batches that were planned before 0.2 name no publication.
    """

    file: str
    state: int
    hash: str
    publication: int = 0


class SourceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What was found when the source was listed last.

    Args:
        files: how many there are.
        bytes_total: how long they are together.
        bytes_waiting: how much of that no batch has yet.
        batch: the batch that was planned last.
        bytes_planned: what all batches of the ledger read together.
    """

    files: int
    bytes_total: int
    bytes_waiting: int
    batch: int
    bytes_planned: int


class Checkpoint:
    """The folder.

    Args:
        path: made when it is missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger = path / "ledger"
        self.batches = path / "batches"
        self.plans = path / "plans"
        self.problems = path / "problems.jsonl"
        self._head = path / "stream.json"
        self._status = path / "status.json"

    @contextlib.contextmanager
    def exclusive(self, run_id: str) -> Iterator[None]:
        """Keep others away while the ``with`` block lasts; a lock of a process that is gone is none.

        Raises:
            RunError: another run is at it, or the folder cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for folder in (self.ledger, self.batches, self.plans):
                make_below(self.path.parent, (self.path.name, folder.name))
            file = open_file(self.path / "lock", "a+b")
        except OSError as error:
            raise _unwritable(self.path, error) from error
        with file:
            try:
                lock_when_free(file)
            except BlockingIOError as error:
                file.seek(0)
                holder = file.read().decode("utf-8", "replace").strip() or "another run"
                raise RunError(
                    "This stream is running already.",
                    f"{self.path} is used by {holder}.",
                    "Stop that run first (metl runs PROJECT --stop RUN), or give another --checkpoint and --sink.",
                ) from error
            file.truncate(0)
            file.write(f"run {run_id}, process {os.getpid()} on {socket.gethostname()}".encode())
            file.flush()
            yield

    def head(self, spec: RunSpec) -> StreamHead:
        """Return what the stream is about; the first run decides it.

        Raises:
            RunError: the folder is another stream's.
        """
        wanted = head_of(spec)
        found = read_head(self.path)
        if found is None:
            atomic_write(self._head, msgspec.json.format(msgspec.json.encode(wanted)), durable=True)
            return wanted
        check_same(found, wanted)
        return found

    def use_plan(self, taken: PlanState) -> PlanInUse:
        """Let new batches map with a state; those that are planned keep theirs."""
        # One state makes different plans, with and without what nobody has confirmed.
        file = f"{taken.state}-{hashlib.sha256(taken.plan).hexdigest()[:16]}.json"
        use = PlanInUse(file, taken.state, taken.hash, taken.publication)
        if not (self.plans / use.file).is_file():
            atomic_write(self.plans / use.file, taken.plan, durable=True)
        if self.plan_in_use() != use:
            atomic_write(self.plans / "current.json", msgspec.json.encode(use), durable=True)
        return use

    def plan_in_use(self) -> PlanInUse | None:
        """Return which state new batches take, None before the first."""
        return read_whole(self.plans / "current.json", PlanInUse)

    def write_status(self, status: SourceStatus) -> None:
        """Say what was found in the source."""
        atomic_write(self._status, msgspec.json.encode(status))

    def status(self) -> SourceStatus | None:
        """Return what was found when the source was listed last; a damaged file is none: the next listing mends it."""
        try:
            return read_whole(self._status, SourceStatus)
        except RunError:
            return None

    def add_problem(self, text: str) -> None:
        """Keep something that a person should know of the source."""
        with open_file(self.problems, "ab") as file:
            file.write(msgspec.json.encode(in_utf8(text)) + b"\n")

    def problem_texts(self) -> list[str]:
        """Return what a person should know of the source, in order; a line that a full disk cut short is none."""
        try:
            lines = self.problems.read_bytes().split(b"\n")[:-1]
        except OSError:
            return []
        texts: list[str] = []
        for line in lines:
            with contextlib.suppress(msgspec.MsgspecError):
                texts.append(msgspec.json.decode(line, type=str))
        return texts


def head_of(spec: RunSpec) -> StreamHead:
    """Return what a stream that begins with a run is about, with whole paths."""
    sink = spec.sink.address if spec.sink.address == NOOP else _place(spec.sink.address)
    return StreamHead(
        stream=spec.run_id,
        source=_place(spec.source.address),
        sink=sink,
        errors=_place(spec.sink.errors or str(spec.errors_folder)),
        mode=spec.policy.mode,
        checkpoint=_whole(spec.policy.checkpoint),
    )


def read_head(checkpoint: Path) -> StreamHead | None:
    """Read what the stream of a checkpoint is about, None when there is none.

    Raises:
        RunError: the folder holds something else.
    """
    return read_whole(checkpoint / "stream.json", StreamHead)


def claim(folder: Path, head: StreamHead, run_folder: Path) -> None:
    """Make a folder of outputs the stream's own; one in the folder of its run, or where we keep ours, is closed.

    Raises:
        RunError: it holds data of somebody else.
    """
    check_claim(folder, head)
    try:
        if folder.is_relative_to(run_folder) or is_own(folder):
            make_folder(folder)
        else:
            folder.mkdir(parents=True, exist_ok=True)
        if not (folder / OWNER).is_file():
            atomic_write(folder / OWNER, msgspec.json.encode(head), durable=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def check_claim(folder: Path, head: StreamHead | None) -> None:
    """Refuse a folder of outputs that a stream cannot have; nothing is made.

    Args:
        folder: the folder.
        head: the stream's; None when it has not begun.

    Raises:
        RunError: it holds data of somebody else, or is no folder.
    """
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return
        owner = read_whole(folder / OWNER, StreamHead) if folder.is_dir() else None
    except OSError as error:
        raise _unwritable(folder, error) from error
    if owner is None:
        raise RunError(
            "The output folder is not empty.",
            f"{folder} holds data, and none of a run that could go on.",
            "Give a new folder, or empty this one.",
        )
    if head is None or owner.stream != head.stream:
        raise RunError(
            "The output folder belongs to another run.",
            f"{folder} is written by the stream {owner.stream} with the checkpoint {owner.checkpoint}.",
            "Go on with that checkpoint, or give a new folder.",
        )


def is_folder(place: str) -> bool:
    """Whether a sink or an error store of a stream is a folder, and not topics or nothing."""
    return place != NOOP and not is_kafka(place)


def _place(text: str) -> str:
    """Name a place of a run whole; topics are whole as they are.

    Raises:
        RunError: as of ``_whole``, or the address of topics cannot be read.
    """
    if not is_kafka(text):
        return _whole(text)
    parse_address(text)
    return text.strip()


def _whole(text: str) -> str:
    """Name a place of a run whole.

    Raises:
        RunError: it is none of this computer, or its name cannot be written down.
    """
    address, is_address, _ = text.partition("://")
    if is_address:
        raise RunError(
            "A run in batches has folders and topics only.",
            f"{address}://... is an address.",
            "Give a folder; source, sink and errors may be kafka://host:port/topic.",
        )
    try:
        path = str(Path(text).expanduser().absolute()) if text else ""
        path.encode()
    except UnicodeEncodeError as error:
        raise RunError("The name of a folder is not UTF-8.", f"{in_utf8(text)}.", "Choose another name.") from error
    except RuntimeError as error:  # the home folder of somebody unknown
        raise RunError("A folder of the run cannot be found.", f"{text}: {error}", "Write its whole path.") from error
    return path


def check_apart(head: StreamHead) -> None:
    """Refuse places of a stream that lie in each other, where one would take the other for somebody's data.

    Raises:
        RunError: the error names both.
    """
    sink, errors, checkpoint = Path(head.sink), Path(head.errors), Path(head.checkpoint)
    if is_folder(head.sink) and is_folder(head.errors) and sink.is_relative_to(errors):
        raise RunError(
            "Messages and set-aside records need two folders.",
            f"{sink} lies in {errors}.",
            "Give another --errors folder.",
        )
    for place in head.folders:
        if checkpoint.is_relative_to(place):
            raise RunError(
                "The checkpoint needs a folder beside the outputs.",
                f"{checkpoint} lies in {place}.",
                "Give another --checkpoint folder.",
            )


def check_stream(spec: RunSpec) -> None:
    """Check whether a run in batches could start; nothing is made or changed.

    Raises:
        RunError: the source, the checkpoint or a place for outputs will not do.
    """
    wanted = head_of(spec)
    if not is_kafka(spec.source.address):
        source_paths(spec.source.address)
    check_apart(wanted)
    found = read_head(Path(wanted.checkpoint))
    if found is not None:
        check_same(found, wanted)
    head = found or wanted
    for folder in outermost(head.folders):
        refuse_if_locked(folder)
    for folder in head.folders:
        check_claim(folder, found)


def check_same(found: StreamHead, wanted: StreamHead) -> None:
    """Refuse to go on with another stream's checkpoint.

    Raises:
        RunError: the source, the sink or the mode are not those that it was begun with.
    """
    for name in ("source", "sink", "mode"):
        before, now = getattr(found, name), getattr(wanted, name)
        if before != now:
            raise RunError(
                "The checkpoint belongs to another run.",
                f"{found.checkpoint} was begun with the {name} {before}, not {now}.",
                f"Go on with that {name}, or give a new --checkpoint folder.",
            )


def _unwritable(folder: Path, error: OSError) -> RunError:
    return RunError(
        "A folder of the run cannot be written.",
        f"{folder}: {error.strerror or error}.",
        "Choose a folder that you may write to.",
    )
