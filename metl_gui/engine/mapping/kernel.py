"""The kernel's door: batches in, outcomes out. The same for every kernel that maps by a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from metl_gui.core.runs.run_spec import Mode
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.machine_code import MachineCode
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.outcomes import BatchOutput, MappedBatch, error_row
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.reference import ReferenceKernel
from metl_gui.errors import RecordError

if TYPE_CHECKING:
    from metl_gui.engine.kernel.compiled.driver import Driver

Choice: TypeAlias = Literal["best", "compiled", "reference"]
WORTH_RECORDS = 4096
"""Loading machine code takes about half a second, in which the reference maps many times as many records as these."""


class Kernel:
    """Maps batches of records.

    Args:
        plan: the compiled state.
        mode: ``production`` sets aside what is held for review; ``test`` maps every block as it stands.
        is_replay: the records were set aside before, and their messages say so.
        publication: number of the publication that the state is mapped under, 0 for none.
        choice: who maps. ``best`` begins with the reference and goes over to machine code once it is there
            and enough records come for it; ``compiled`` waits for it. The outcome is the same.
        patience: how often records of a new kind come before machine code learns to map them.
    """

    def __init__(
        self,
        plan: Plan,
        mode: Mode = "test",
        *,
        is_replay: bool = False,
        publication: int = 0,
        choice: Choice = "best",
        patience: int | None = None,
    ) -> None:
        self.plan = plan
        self.reference = ReferenceKernel(plan, mode, is_replay=is_replay, publication=publication)
        self._gathering = BatchOutput()
        self._patience = patience
        self._choice: Choice = choice if build.is_possible() else "reference"
        self._machine = MachineCode(self._drive, None if self._choice == "reference" else WORTH_RECORDS)

    @property
    def is_compiled(self) -> bool:
        """Whether machine code is at work."""
        return self._machine.loaded is not None

    @property
    def column_sets(self) -> int:
        """How many programs machine code has learned, one for each column set and shape of record."""
        return self._machine.loaded.column_sets if self._machine.loaded else 0

    @property
    def evictions(self) -> int:
        """How many of these were dropped for want of room."""
        return self._machine.loaded.evictions if self._machine.loaded else 0

    def use_compiled(self) -> None:
        """Map with machine code from the first record on, where it lies ready: half a second that no record waits."""
        self._machine.if_there()

    def map(self, records: RecordBatch) -> MappedBatch:
        """Map one batch of records, in order."""
        gathering = self._gathering
        gathering.begin(len(records))
        driver = self._machine.now() if self._choice == "compiled" else self._machine.after(len(records))
        hits = 0
        if driver is None:
            for record in range(len(records)):
                self._map_by_reference(records, record)
        else:
            hits = driver.map(records, lambda record: self._map_by_reference(records, record))
        return gathering.outcome(records.bytes_in, hits)

    def _drive(self) -> Driver:
        from metl_gui.engine.kernel.compiled.driver import PATIENCE, Driver

        return Driver(self.reference, self._gathering, PATIENCE if self._patience is None else self._patience)

    def _map_by_reference(self, records: RecordBatch, record: int) -> None:
        if records.is_whole(record):
            self.reference.map_record(records, record, self._gathering)
        else:
            self._put_cut_aside(records.raw(record), records.size(record), records.position(record))

    def _put_cut_aside(self, raw: bytes, size: int, place: str) -> None:
        detail = f"the record has {size} bytes, of which the first {len(raw)} are kept here"
        error = RecordError("too_large", detail)
        self._gathering.put_aside(error, error_row(error, self.plan.state, ("", "", place), raw))
