"""The planner of batches: lists the source, takes what is new up to a bound, and cuts it into tasks.

``TopicSourceSpec`` is what a stream that reads topics is told of them. No client of Kafka is loaded here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.sources.files import FileRange, SourceFile, range_bytes, source_paths
from metl_gui.engine.streaming.checkpoint import Checkpoint, PlanInUse, SourceStatus
from metl_gui.engine.streaming.file_states import (
    KnownFile,
    Piece,
    SeenFile,
    SourceFileError,
    known_after,
    new_piece,
    seen_files,
    waiting_bytes,
)
from metl_gui.engine.streaming.ledger import BatchPlan, Ledger
from metl_gui.errors import in_utf8
from metl_gui.formats.compression import Codec
from metl_gui.formats.record_delimiters import Framing

LIST_SECONDS = 0.5
"""How long a listing of a source in which nothing was new is good for."""

SMALL_BATCH_SECONDS = 2.0
"""A followed source that trickles makes a batch this often; each makes files."""

SMALL_BATCH_BYTES = 8 << 20

Listing = list[SeenFile]


class Planner:
    """Plans the batches of one stream, in the process that Spark keeps for it.

    Args:
        checkpoint: of the stream.
        source: files, and about how much of them a batch reads at most; one line or one packed file may be more.
        cores: how many tasks run at once.
        rest_seconds: after this long without a change a file rests.
        clock: seconds, ever growing; never the time of day, which jumps.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        source: SourceSpec,
        cores: int,
        rest_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.checkpoint = checkpoint
        self.source = source
        self.cores = cores
        self.rest_seconds = rest_seconds
        self.clock = clock
        self.ledger = Ledger(checkpoint.ledger)
        self.fixed: Listing | None = None
        self._changed_at: dict[str, tuple[SeenFile, float]] = {}
        self._noted: dict[str, KnownFile] = {}
        self._told = set(checkpoint.problem_texts())
        self._idle_until = 0.0
        self._planned_at = -SMALL_BATCH_SECONDS

    def fix(self) -> None:
        """List the source for the last time: what appears or grows from now on is not read."""
        self.fixed = self._listed()

    def next_batch(self, after: int) -> int:
        """Return the number of the batch after one, planning it if it is not planned yet; the same when none is due.

        Raises:
            RunError: a file became shorter than what was read of it.
        """
        if self.ledger.newest > after:
            return after + 1
        now = self.clock()
        if now < self._idle_until:
            return after
        listing = self.fixed if self.fixed is not None else self._listed()
        use = self.checkpoint.plan_in_use()
        pieces = self._pieces(listing, now)
        if pieces and use is not None and self._is_due(pieces, now):
            self._write(listing, pieces, after, use)
            self._planned_at = now
            return self.ledger.newest
        self._idle_until = now + LIST_SECONDS
        self._tell(listing)
        return after

    def _listed(self) -> Listing:
        root, paths = source_paths(self.source.address)
        listing = seen_files(root, paths)
        present = {seen.name for seen in listing}
        for name in self.ledger.known.keys() - present:
            self._missed(name, self.ledger.known[name])
        return listing

    def _missed(self, name: str, known: KnownFile) -> None:
        if not known.given_up and known.read_to < known.size and not Path(known.path).exists():
            self._say(
                f"{name} vanished before its last {known.size - known.read_to:,} bytes were read. They are lost to "
                "this run unless the file comes back."
            )

    def _pieces(self, listing: Listing, now: float) -> list[tuple[SeenFile, Piece]]:
        room = self.source.batch_bytes
        found: list[tuple[SeenFile, Piece]] = []
        for seen in listing:
            rests = self._rests(seen, now)
            try:
                piece = new_piece(seen, self.ledger.known.get(seen.name), room, rests=rests)
            except SourceFileError as trouble:
                self._say(trouble.text)
                if trouble.gives_up:
                    self._give_up(seen.name, trouble.text)
                continue
            if piece is None:
                continue
            if piece.note:
                self._say(piece.note)
            found.append((seen, piece))
            room -= piece.bytes
            if room <= 0:
                break
        return found

    def _is_due(self, pieces: list[tuple[SeenFile, Piece]], now: float) -> bool:
        is_small = sum(piece.bytes for _, piece in pieces) < min(SMALL_BATCH_BYTES, self.source.batch_bytes)
        return self.fixed is not None or not is_small or now - self._planned_at >= SMALL_BATCH_SECONDS

    def _rests(self, seen: SeenFile, now: float) -> bool:
        if self.fixed is not None:
            return True
        before = self._changed_at.get(seen.name)
        if before is None or before[0] != seen:
            self._changed_at[seen.name] = (seen, now)
            return False
        return now - before[1] >= self.rest_seconds

    def _write(self, listing: Listing, pieces: list[tuple[SeenFile, Piece]], after: int, use: PlanInUse) -> None:
        files, tasks = cut(tuple(piece for _, piece in pieces), self.cores)
        known = self._noted | {seen.name: known_after(seen, piece) for seen, piece in pieces}
        self._noted = {}
        size = sum(piece.bytes for _, piece in pieces)
        plan = BatchPlan(
            number=self.ledger.newest + 1,
            plan=use,
            files=files,
            tasks=tasks,
            known=known,
            bytes_planned=self.ledger.bytes_planned + size,
        )
        try:
            self.ledger.add(plan, committed=after)
        except FileExistsError:
            # Planned by a process that was killed meanwhile; its plan is as good as this one.
            self.ledger = Ledger(self.checkpoint.ledger)
        self._tell(listing)

    def _tell(self, listing: Listing) -> None:
        self.checkpoint.write_status(
            SourceStatus(
                files=len(listing),
                bytes_total=sum(seen.size for seen in listing),
                bytes_waiting=sum(waiting_bytes(seen, self.ledger.known.get(seen.name)) for seen in listing),
                batch=self.ledger.newest,
                bytes_planned=self.ledger.bytes_planned,
            )
        )

    def _give_up(self, name: str, why: str) -> None:
        known = msgspec.structs.replace(self.ledger.known[name], given_up=why)
        self.ledger.note(name, known)
        self._noted[name] = known

    def _say(self, text: str) -> None:
        text = in_utf8(text)
        if text not in self._told:
            self._told.add(text)
            self.checkpoint.add_problem(text)


def cut(pieces: tuple[Piece, ...], cores: int) -> tuple[list[SourceFile], list[list[FileRange]]]:
    """Cut what a batch reads into tasks of about the same length; small pieces share one.

    Only files of lines are cut. Order: as given.
    """
    step = range_bytes(sum(piece.bytes for piece in pieces), cores)
    files: list[SourceFile] = []
    tasks: list[list[FileRange]] = []
    room = 0
    for index, piece in enumerate(pieces):
        files.append(piece.file)
        stop = piece.file.size_bytes
        width = step if is_cut(piece.file) else max(piece.bytes, 1)
        for start in range(piece.start, stop, width):
            part = FileRange(index, start, min(start + width, stop))
            size = part.stop - part.start
            if not tasks or size > room:
                tasks.append([])
                room = step
            tasks[-1].append(part)
            room -= size
    return files, tasks


def is_cut(file: SourceFile) -> bool:
    """Whether parts of a file can be read by themselves."""
    return file.framing is Framing.LINES and file.codec is Codec.PLAIN


def mend(checkpoint: Checkpoint, committed: int) -> None:
    """Leave out, before a stream goes on, what it can never read: files that went or became shorter.

    What was planned of them and is not in place is taken out of its batch. A person reads which files they are.
    """
    ledger = Ledger(checkpoint.ledger)
    told = set(checkpoint.problem_texts())
    for number in range(committed + 1, ledger.newest + 1):
        plan = ledger.batch(number)
        lost = {index: file for index, file in enumerate(plan.files) if _size_of(file.path) < file.size_bytes}
        if not lost:
            continue
        known = dict(plan.known)
        for index, file in lost.items():
            size = sum(part.stop - part.start for task in plan.tasks for part in task if part.file == index)
            text = (
                f"{file.name} went or became shorter before {size:,} bytes of it were read; they are lost to this run, "
                "and nothing more is read of it. Give what is there now a name of its own."
            )
            if text not in told:
                checkpoint.add_problem(text)
            known[file.name] = msgspec.structs.replace(known[file.name], given_up=text)
        tasks = [[part for part in task if part.file not in lost] for task in plan.tasks]
        ledger.replace(msgspec.structs.replace(plan, tasks=[task for task in tasks if task], known=known))
    _give_up_shorter(checkpoint, ledger)


def _give_up_shorter(checkpoint: Checkpoint, ledger: Ledger) -> None:
    shorter = {
        name: known
        for name, known in ledger.known.items()
        if not known.given_up and 0 <= _size_of(known.path) < known.read_to
    }
    if not shorter:
        return
    given_up: dict[str, KnownFile] = {}
    for name, known in shorter.items():
        text = (
            f"{name} became shorter than the {known.read_to:,} bytes that were read of it. Nothing more is read of it; "
            "give what is there now a name of its own."
        )
        checkpoint.add_problem(text)
        given_up[name] = msgspec.structs.replace(known, given_up=text)
    plan = ledger.batch(ledger.newest) if ledger.has(ledger.newest) else None
    if plan is not None:
        ledger.replace(msgspec.structs.replace(plan, known=plan.known | given_up))


def _size_of(path: str) -> int:
    """Return how long a file is, -1 when there is none."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return -1


class TopicSourceSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How topics are read.

    Args:
        servers: where they are.
        is_ordered: what each partition becomes must keep its order.
        is_hurried: make small batches too, because they leave no files.
        patience_seconds: how long tasks wait for silent servers.
    """

    servers: KafkaServers
    is_ordered: bool
    is_hurried: bool
    patience_seconds: float
