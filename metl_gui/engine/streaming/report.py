"""How far a run in batches is, four times a second, and its report, from what lies in its checkpoint.

Progress counts what the batches counted and the tasks of the one going on. There is a report of a run that was killed
too.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from metl_gui.core.runs.events import RunProgressed
from metl_gui.core.runs.report import RunReport, Tally, Unit, report_of
from metl_gui.core.runs.run_spec import NOOP, RunSpec
from metl_gui.engine.runs.progress import INTERVAL_SECONDS, ProgressSum, TimeLeft
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.streaming.batch_records import BatchLog, BatchRecord
from metl_gui.engine.streaming.checkpoint import Checkpoint, StreamHead, read_head
from metl_gui.engine.streaming.ledger import Ledger

_SHOWN = 50


def stream_report(spec: RunSpec, target: str, *, is_stopped: bool = False, seconds_at_least: float = 0.0) -> RunReport:
    """Return what the batches of a run put in place so far.

    Args:
        spec: the run.
        target: the Spark target.
        is_stopped: somebody stopped it, or it died.
        seconds_at_least: how long it ran, where more is known than when its last batch was in place.

    Raises:
        RunError: the checkpoint is damaged.
    """
    checkpoint = _checkpoint_of(spec)
    record = BatchLog(checkpoint).newest_of(spec.run_id)
    head = read_head(checkpoint.path)
    return _report(spec, target, record, head, is_stopped=is_stopped, seconds_at_least=seconds_at_least)


def report_without_counts(spec: RunSpec, target: str, failure: str) -> RunReport:
    """Say of a run whose checkpoint cannot be read what is known without it.

    Args:
        spec: the run.
        target: the Spark target.
        failure: why there are no counts.
    """
    return msgspec.structs.replace(_report(spec, target, None, None, is_stopped=True), failure=failure)


def _checkpoint_of(spec: RunSpec) -> Checkpoint:
    return Checkpoint(Path(spec.policy.checkpoint).expanduser().absolute())


def _report(
    spec: RunSpec,
    target: str,
    record: BatchRecord | None,
    head: StreamHead | None,
    *,
    is_stopped: bool,
    seconds_at_least: float = 0.0,
) -> RunReport:
    checkpoint = _checkpoint_of(spec)
    tally = record.run_tally if record is not None else Tally()
    seconds = max(record.run_seconds if record is not None else 0.0, seconds_at_least)
    texts = checkpoint.problem_texts()
    more = (f"And {len(texts) - _SHOWN} more, in {checkpoint.problems}.",) if len(texts) > _SHOWN else ()
    sink, errors = (head.sink, head.errors) if head is not None else (spec.sink.address, str(spec.errors_folder))
    report = msgspec.structs.replace(
        report_of(spec, target, tally, seconds, (*texts[:_SHOWN], *more)),
        outputs="" if sink == NOOP else sink,
        errors=errors if tally.set_aside else "",
        checkpoint=str(checkpoint.path),
        is_stopped=is_stopped,
    )
    if record is None:
        return report
    return msgspec.structs.replace(
        report,
        state=record.state,
        hash=record.hash,
        batches=record.run_batches,
        states=tuple(record.run_states) if len(record.run_states) > 1 else (),
    )


class StreamProgress:
    """Tells how far one run is.

    Args:
        run: the run.
        checkpoint: its.
        progress_base: what the files of progress notes are named after.
        before: the newest batch that this run has in place, when it goes on.
        unit: what the source is measured in.
    """

    def __init__(
        self,
        run: RunContext,
        checkpoint: Checkpoint,
        progress_base: Path,
        before: BatchRecord | None,
        unit: Unit = "bytes",
    ) -> None:
        self.run = run
        self.checkpoint = checkpoint
        self.records = BatchLog(checkpoint)
        self.progress_base = progress_base
        self.seconds_before = before.run_seconds if before is not None else 0.0
        self.record = before
        self.left = TimeLeft()
        self.unit: Unit = unit
        self._next = 0.0
        self._sum: tuple[int, ProgressSum] | None = None

    def emit_progress(self, *, is_last: bool = False) -> None:
        """Emit the progress if it is time to."""
        now = time.monotonic()
        if not is_last and now < self._next:
            return
        self._next = now + INTERVAL_SECONDS
        self.record = self.records.newest_of(self.run.run_id) or self.record
        status = self.checkpoint.status()
        batch, tally, behind = self._of_batch(status.batch if status is not None else 0)
        total = Tally()
        bytes_read = behind
        if self.record is not None:
            total.add(self.record.run_tally)
            bytes_read += self.record.bytes_read
        # A project may have 100,000 versions; the report has them.
        total.by_version = {}
        total.add(msgspec.structs.replace(tally, by_version={}))
        waiting = status.bytes_waiting if status is not None else 0
        planned = self._planned_bytes(batch)
        seconds = self.seconds_before + now - self.run.started
        bytes_left = waiting + max(planned - behind, 0)
        self.run.emit(
            RunProgressed(
                run_id=self.run.run_id,
                seconds=round(seconds, 3),
                bytes_total=bytes_read + bytes_left,
                bytes_read=bytes_read,
                tally=total,
                batch=batch,
                bytes_waiting=waiting,
                seconds_left=self.left.after(seconds, bytes_read, bytes_left),
                unit=self.unit,
            )
        )

    def _of_batch(self, newest: int) -> tuple[int, Tally, int]:
        """Return the batch that is going on, and what its tasks counted and have behind them."""
        in_place = self.record.number if self.record is not None else 0
        if newest <= in_place:
            self._sum = None
            return in_place, Tally(), 0
        if self._sum is None or self._sum[0] != newest:
            path = Path(f"{self.progress_base}-{newest}")
            if not path.is_file():
                return newest, Tally(), 0
            self._sum = newest, ProgressSum(path, Ledger.plan_of(self.checkpoint.ledger, newest).task_bytes, self.unit)
        try:
            tally, behind = self._sum[1].read()
        except FileNotFoundError:
            return newest, Tally(), 0
        return newest, tally, behind

    def _planned_bytes(self, batch: int) -> int:
        return sum(self._sum[1].task_bytes) if self._sum is not None and self._sum[0] == batch else 0
