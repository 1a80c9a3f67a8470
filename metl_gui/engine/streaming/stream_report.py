"""The report of a run in batches, from what lies in its checkpoint: also of one that was killed."""

from __future__ import annotations

from pathlib import Path

from metl_gui.engine.report import RunReport, Tally
from metl_gui.engine.runs import NOOP, RunSpec
from metl_gui.engine.streaming.batches import BatchRecords
from metl_gui.engine.streaming.checkpoint import Checkpoint, read_head

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
    checkpoint = Checkpoint(Path(spec.checkpoint).expanduser().absolute())
    record = BatchRecords(checkpoint).newest_of(spec.run_id)
    head = read_head(checkpoint.path)
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
