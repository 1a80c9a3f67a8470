"""What one task does where its records are canonical messages: stage them, write the parts, and count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.core.runs.report import Tally
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.runs.progress import ProgressNotes
from metl_gui.engine.sources.files import COLUMN_CHUNK_BYTES
from metl_gui.engine.sources.large_records import LargeRecords
from metl_gui.engine.staging.messages import MessageStager, StagedBatch
from metl_gui.engine.staging.part_marks import marks_of
from metl_gui.engine.staging.sink import stage_parts
from metl_gui.engine.staging.typed_files import TypedBatch
from metl_gui.engine.staging.typed_messages import TypedStager
from metl_gui.engine.tasks.task import SetAsideOutput, TaskOrder, TaskOutcome

if TYPE_CHECKING:
    from confluent_kafka import Message


class StagingAttempt:
    """One attempt of one task, as ``tasks.task.TaskAttempt`` is for changes.

    Args:
        order: the run's.
        plan: every entity version.
        number, attempt: name the parts, which keep the order of the source.

    Attributes:
        chunk_bytes: so much of a file makes one batch.
    """

    chunk_bytes = COLUMN_CHUNK_BYTES

    def __init__(self, order: TaskOrder, plan: Plan, number: int, attempt: int) -> None:
        name = f"part-{number:06d}-{attempt}"
        run = order.run
        self.tally = Tally()
        histories, is_production = run.sink.histories or (), run.policy.mode == "production"
        self.plan = plan
        self.stager = MessageStager(plan, histories, is_production=is_production, mask_key=run.mask_key)
        self.typed_stager = TypedStager(plan, histories, is_production=is_production, mask_key=run.mask_key)
        self.parts = stage_parts(Path(order.messages), name) if order.messages else None
        self.errors = SetAsideOutput(order, plan.state, name)
        self.notes = ProgressNotes(order.progress, number, attempt)

    def map(
        self, records: RecordBatch, large: LargeRecords | None = None, messages: Sequence[Message | None] = ()
    ) -> None:
        """Stage one batch and write what it became; the arguments are those of ``TaskAttempt.map``."""
        self._take(self.stager.stage(records), records, large, messages)

    def stage_typed(self, found: TypedBatch) -> None:
        """Stage rows of messages in Parquet and write what they became."""
        staged, records = self.typed_stager.stage(found)
        self._take(staged, records, None, ())

    def _take(
        self, staged: StagedBatch, records: RecordBatch, large: LargeRecords | None, messages: Sequence[Message | None]
    ) -> None:
        for entity, table in staged.tables:
            if self.parts is not None:
                self.parts.hold(entity, table)
        for row in staged.set_aside:
            self.errors.put(row, records, large, messages)
        self.tally.add(staged.tally)
        self.notes.note(self.tally)

    def end(self, notes: Sequence[str] = ()) -> TaskOutcome:
        """Write what is left and return what was counted, with notes on what was read."""
        errors = self.errors.close()
        parts = self.parts.close() if self.parts is not None else []
        self.notes.note(self.tally, is_done=True)
        return TaskOutcome(self.tally, [*parts, *errors], list(notes), marks=marks_of(parts))
