"""A run in batches: each is mapped by Spark, put in place whole, and told of."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.core.runs.events import BatchCommitted, RunStarted, SourceTroubled, StateChanged
from metl_gui.core.runs.kafka import KafkaServers, is_kafka
from metl_gui.core.runs.report import RunReport, Tally, Unit, check_sums
from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.kafka.topic_orders import PATIENCE_SECONDS, TopicReading
from metl_gui.engine.runs.folder_lock import lock_paths, outermost
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.spark.cancellation import LOOK_SECONDS
from metl_gui.engine.spark.task_errors import DISK_FULL, folder_error, run_error
from metl_gui.engine.staging.part_marks import PartMark
from metl_gui.engine.streaming.batch_loop import BatchLoop
from metl_gui.engine.streaming.batch_records import (
    BatchLog,
    BatchRecord,
    drop_batch_folders,
    drop_partials,
    moves_of,
    settle,
)
from metl_gui.engine.streaming.batch_source import BatchPlanner, BatchSource
from metl_gui.engine.streaming.checkpoint import (
    Checkpoint,
    StreamHead,
    check_apart,
    claim,
    head_of,
    is_folder,
    read_head,
)
from metl_gui.engine.streaming.ledger import BatchPlan, Ledger
from metl_gui.engine.streaming.planner import Planner, TopicSourceSpec, mend
from metl_gui.engine.streaming.report import StreamProgress, stream_report
from metl_gui.engine.streaming.staged_batches import StagedBatchFile, covered, keep_staged, known_places
from metl_gui.engine.tasks.task import TaskOrder, TaskOutcome, with_topics
from metl_gui.errors import BugError, RunCancelled, RunError, RunKilledError, UserError
from metl_gui.own_files import make_folder

REST_SECONDS = 3.0
"""After this long without a change a file rests: its last line counts as ended."""

_LAST_BATCH_SECONDS = 0.3
"""How long a batch may take to end when the run is stopped; else it is dropped, and done again when the run goes on."""

_STOP_SECONDS = 0.3
_FOLLOWED_PATIENCE_SECONDS = 900.0
"""How long a task of a following run waits for Kafka servers that say nothing."""

_SAMPLED_BATCHES = 4


class BatchStrategy:
    """A run whose batches are put in place one after the other; what is in place stays whatever happens.

    It ends when the source is exhausted, or a following run is stopped.

    Args:
        run: the run.
    """

    def __init__(self, run: RunContext) -> None:
        self.run = run
        self.spec = run.spec
        self.checkpoint = Checkpoint(Path(run.spec.policy.checkpoint).expanduser().absolute())
        self.records = BatchLog(self.checkpoint)
        self.progress_base = run.runtime.folder / f"progress-{run.run_id}"
        self._putting = threading.Lock()
        self._is_closed = False
        self._seconds_before = 0.0
        self._told = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[RunStarted]:
        """Finish what a killed run left, and lock checkpoint and outputs for this run alone.

        Raises:
            RunError: they are locked by another run, or cannot be read or written.
        """
        try:
            self._check_topics()
            check_apart(head_of(self.spec))
            self.run.folder.create(self.spec)
            with self.checkpoint.exclusive(self.run.run_id):
                self.head = self.checkpoint.head(self.spec)
                with lock_paths(outermost(self.head.folders), self.run.run_id):
                    before = self._settled(self.head)
                    self.checkpoint.use_plan(self.spec.mapping)
                    self._seconds_before = before.run_seconds if before is not None else 0.0
                    self.progress = StreamProgress(self.run, self.checkpoint, self.progress_base, before, self.unit)
                    try:
                        yield RunStarted(self.run.run_id, 0, 0, self.unit)
                    finally:
                        self._closed()
        except OSError as error:
            raise self._in_words(error) from error

    def start(self) -> None:
        """Begin with the batch after the newest that is in place."""
        newest, servers = self._newest_number(), self.spec.servers_of("source")
        patience = _FOLLOWED_PATIENCE_SECONDS if self.spec.source.follow else PATIENCE_SECONDS
        order = self._order()
        source = BatchSource(
            checkpoint=self.checkpoint,
            order=order,
            planner=self._planner(order.run.source, servers, patience),
            samples_until=newest + _SAMPLED_BATCHES,
            topics=TopicReading(servers, None, patience) if servers is not None else None,
        )
        self.loop = BatchLoop(self.run, source, newest, self._put)

    def poll(self) -> bool:
        """Wait a moment for the batches, and tell how far they are four times a second."""
        is_over = self.loop.is_over.wait(LOOK_SECONDS)
        self._tell_troubles()
        self.progress.emit_progress()
        return not is_over

    def stop(self) -> None:
        """Stop the batches, between two of them where the one that is going on ends in a moment."""
        self.loop.stop()
        self.loop.is_over.wait(_LAST_BATCH_SECONDS)
        with self._putting:
            self._is_closed = True
        self.loop.cancel()
        self.loop.is_over.wait(_STOP_SECONDS)

    def finish(self) -> RunReport:
        """Return what ended the batches before their time, or how far they came."""
        self._raise_fault()
        self.progress.emit_progress(is_last=True)
        is_stopped = self.run.is_cancelled.is_set()
        return stream_report(
            self.spec, self.run.runtime.target.shown, is_stopped=is_stopped, seconds_at_least=self.run.seconds
        )

    @property
    def unit(self) -> Unit:
        """What the source is measured in."""
        return "records" if is_kafka(self.spec.source.address) else "bytes"

    def _check_topics(self) -> None:
        """Inspect topics as the checks before a run did, which may be long ago.

        Raises:
            RunError: servers do not answer or refuse, or topics are missing.
        """
        if self.spec.servers:
            from metl_gui.engine.checks.topic_checks import check_topics

            check_topics(self.spec, is_resumed=read_head(self.checkpoint.path) is not None)

    def _closed(self) -> None:
        """Put no other batch in place, and tidy up."""
        with self._putting:
            self._is_closed = True
        self._tell_troubles()
        for left in self.run.runtime.folder.glob(f"{self.progress_base.name}-*"):
            left.unlink(missing_ok=True)

    def _settled(self, head: StreamHead) -> BatchRecord | None:
        """Finish what a killed run left: its last batch is in place whole, the one after it never was."""
        folders = head.folders
        for folder in folders:
            claim(folder, head, Path(self.spec.policy.folder))
        make_folder(self.spec.samples_folder)
        newest = self.records.newest()
        if newest is not None:
            settle(newest)
        drop_partials([*folders, self.spec.samples_folder])
        committed, servers = newest.number if newest is not None else 0, self.spec.servers_of("source")
        if servers is None:
            mend(self.checkpoint, committed)
        else:
            from metl_gui.engine.streaming.topic_planner import mend_topics

            mend_topics(self.checkpoint, servers, committed)
        self._told = len(self.checkpoint.problem_texts()) if newest is None else 0
        return self.records.newest_of(self.run.run_id)

    def _planner(self, source: SourceSpec, servers: KafkaServers | None, patience_seconds: float) -> BatchPlanner:
        cores = self.run.runtime.parallelism
        if servers is None:
            return Planner(self.checkpoint, source, cores, REST_SECONDS)
        from metl_gui.engine.streaming.topic_planner import TopicPlanner

        sink = self.spec.sink.address
        topics = TopicSourceSpec(
            servers=servers,
            is_ordered=is_kafka(sink),
            is_hurried=not is_folder(sink),
            patience_seconds=patience_seconds,
        )
        return TopicPlanner(self.checkpoint, source, topics, cores)

    def _newest_number(self) -> int:
        newest = self.records.newest()
        return newest.number if newest is not None else 0

    def _order(self) -> TaskOrder:
        head = self.head
        source = msgspec.structs.replace(self.spec.source, address=head.source)
        order = TaskOrder(
            run=msgspec.structs.replace(self.spec.for_tasks, source=source),
            plan="",
            messages=head.sink if is_folder(head.sink) else None,
            errors=head.errors if is_folder(head.errors) else str(self.spec.errors_folder),
            samples=str(self.spec.samples_folder),
            progress=str(self.progress_base),
        )
        return with_topics(order, self.spec)

    def _put(self, number: int, outcomes: list[TaskOutcome], began: float) -> None:
        """Put a batch in place that is mapped.

        Raises:
            RunCancelled: the run is over.
        """
        with self._putting:
            if self._is_closed:
                raise RunCancelled("the run was stopped; this batch is done again when it goes on")
            self._commit(number, outcomes, began)

    def _commit(self, number: int, outcomes: list[TaskOutcome], began: float) -> None:
        tally = Tally()
        for outcome in outcomes:
            tally.add(outcome.tally)
        check_sums(tally)
        for note in dict.fromkeys(note for outcome in outcomes for note in outcome.notes):
            self.checkpoint.add_problem(note)
        plan = Ledger.plan_of(self.checkpoint.ledger, number)
        before = self.records.newest_of(self.run.run_id)
        run_tally = before.run_tally if before is not None else Tally()
        run_tally.add(tally)
        states = before.run_states if before is not None else []
        changed = bool(states) and states[-1] != plan.plan.state
        now = time.monotonic()
        record = BatchRecord(
            number=number,
            run_id=self.run.run_id,
            state=plan.plan.state,
            hash=plan.plan.hash,
            seconds=round(now - began, 3),
            tally=tally,
            moves=moves_of((path for outcome in outcomes for path in outcome.written), self.head.stream, number),
            run_tally=run_tally,
            run_batches=before.run_batches + 1 if before is not None else 1,
            run_states=[*states, plan.plan.state] if changed or not states else states,
            run_seconds=round(self._seconds_before + now - self.run.started, 3),
            bytes_read=(before.bytes_read if before is not None else 0) + sum(plan.task_bytes),
        )
        self.records.add(record)
        drop_batch_folders(record.moves)
        if self.spec.sink.format == "stage":
            self._keep_staged(record, plan, {path: m for one in outcomes for path, m in one.marks.items()})
        self._tell_batch(record, changed=changed)

    def _keep_staged(self, record: BatchRecord, plan: BatchPlan, marks: Mapping[str, PartMark]) -> None:
        """Have a warehouse load the batch, and keep how far it is read with it."""
        tally = record.tally
        is_loaded_as_it_is = self.spec.source.holds == "messages"
        keep_staged(
            self.checkpoint,
            StagedBatchFile(
                number=record.number,
                parts={move.place: marks[move.partial] for move in record.moves if move.partial in marks},
                messages=tally.messages_out,
                set_aside=tally.set_aside,
                places=self._places_after(record, plan),
                coverage=Coverage() if is_loaded_as_it_is else covered(plan, plan.plan.publication or plan.plan.state),
            ),
        )

    def _places_after(self, record: BatchRecord, plan: BatchPlan) -> dict[str, str]:
        """Return how far a batch read; the first one says it of partitions without records too, which began then."""
        if record.run_batches > 1:
            return known_places(plan)
        began = self.loop.source.planner.ledger.partitions
        return known_places(msgspec.structs.replace(plan, partitions=began | plan.partitions))

    def _tell_batch(self, record: BatchRecord, *, changed: bool) -> None:
        if changed:
            self.run.emit(StateChanged(self.run.run_id, record.state, record.hash, record.number))
        status = self.checkpoint.status()
        tally = record.tally
        self.run.emit(
            BatchCommitted(
                run_id=self.run.run_id,
                batch=record.number,
                state=record.state,
                seconds=record.seconds,
                read=tally.read,
                mapped=tally.mapped,
                filtered=tally.filtered,
                set_aside=tally.set_aside,
                skipped=tally.skipped,
                messages_out=tally.messages_out,
                bytes_read=record.bytes_read,
                bytes_waiting=status.bytes_waiting if status is not None else 0,
            )
        )

    def _raise_fault(self) -> None:
        fault = self.loop.fault
        if fault is None or self.run.is_cancelled.is_set():
            return
        if isinstance(fault, BugError):
            raise fault
        if self.run.runtime.has_died():
            raise RunKilledError(
                "Spark ended in the middle of the run.",
                "Its session is gone. What its batches put in place stays; the one that was going on is not there.",
                "Go on with metl runs PROJECT --resume, or start the run again with the same checkpoint.",
            ) from fault
        raise self._in_words(fault) from fault

    def _in_words(self, fault: BaseException) -> RunError:
        """Say what happened, and put right what is said of runs all at once: what batches put in place stays."""
        if isinstance(fault, OSError):
            error = folder_error(fault)
        elif isinstance(fault, UserError):
            error = RunError(fault.title, fault.text, fault.hint)
        else:
            error = run_error(fault)
        text = error.text
        if error.title == DISK_FULL and str(self.checkpoint.path) not in text:
            text = f"{text} The checkpoint is {self.checkpoint.path}."  # Spark does not say which file
        return RunError(error.title, text, error.hint.replace("Nothing was written.", "What is in place stays."))

    def _tell_troubles(self) -> None:
        for text in self.checkpoint.problem_texts()[self._told :]:
            self._told += 1
            self.run.emit(SourceTroubled(self.run.run_id, text))
