"""The report of a run in batches, from what lies in its checkpoint: also of one that was killed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from metl_gui.engine.report import RunReport, Tally
from metl_gui.engine.runs import NOOP, RunSpec
from metl_gui.engine.streaming.batches import BatchRecord, BatchRecords
from metl_gui.engine.streaming.checkpoint import Checkpoint, StreamHead, read_head

_SHOWN = 50


def stream_report(spec: RunSpec, target: str, *, is_stopped: bool = False, seconds_at_least: float = 0.0) -> RunReport:
    """Say what the batches of a run put in place so far.

    Args:
        spec: the run.
        target: the Spark target.
        is_stopped: somebody stopped it, or it died.
        seconds_at_least: how long it ran, where more is known than when its last batch was in place.

    Raises:
        RunError: the checkpoint is damaged.
    """
    checkpoint = _checkpoint_of(spec)
    record = BatchRecords(checkpoint).newest_of(spec.run_id)
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
    return Checkpoint(Path(spec.checkpoint).expanduser().absolute())


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
    sink = head.sink if head is not None else spec.sink
    return RunReport(
        run_id=spec.run_id,
        mode=spec.mode,
        spark=target,
        state=record.state if record is not None else spec.state,
        hash=record.hash if record is not None else spec.hash,
        seconds=round(seconds, 3),
        records_per_second=round(tally.read / seconds, 1) if seconds else 0.0,
        outputs="" if sink == NOOP else sink,
        errors=(head.errors if head is not None else str(spec.errors_folder)) if tally.set_aside else "",
        problems=(*spec.notes, *texts[:_SHOWN], *more),
        source=spec.source,
        batches=record.run_batches if record is not None else 0,
        states=tuple(record.run_states) if record is not None and len(record.run_states) > 1 else (),
        checkpoint=str(checkpoint.path),
        is_stopped=is_stopped,
        **{name: getattr(tally, name) for name in Tally.__struct_fields__},
    )
