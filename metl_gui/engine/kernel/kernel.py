"""The kernel's door: batches in, outcomes out. The same for every kernel that maps by a plan."""

from __future__ import annotations

from metl_gui.engine.kernel.gathering import Gathering
from metl_gui.engine.kernel.outcomes import Outcome, error_row
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.reference import Mode, Reference
from metl_gui.errors import RecordError


class Kernel:
    """Maps batches of records.

    Args:
        plan: the compiled state.
        mode: ``production`` sets aside what is held for review; ``test`` maps every block as it stands.
        is_replay: the records were set aside before, and their messages say so.
    """

    def __init__(self, plan: Plan, mode: Mode = "test", *, is_replay: bool = False) -> None:
        self.plan = plan
        self.reference = Reference(plan, mode, is_replay=is_replay)
        self._gathering = Gathering()

    def map(self, records: Records) -> Outcome:
        """Map one batch of records, in order."""
        gathering = self._gathering
        gathering.begin(len(records))
        self._map_by_reference(records, 0, len(records))
        return gathering.outcome(records.bytes_in)

    def _map_by_reference(self, records: Records, start: int, stop: int) -> None:
        for record in range(start, stop):
            raw = records.raw(record)
            if records.sizes is not None and len(raw) < records.sizes[record]:
                self._put_cut_aside(raw, int(records.sizes[record]), records.place(record))
            else:
                self.reference.map_record(raw, records.place(record), self._gathering)

    def _put_cut_aside(self, raw: bytes, size: int, place: str) -> None:
        detail = f"the record has {size} bytes, of which the first {len(raw)} are kept here"
        error = RecordError("too_large", detail)
        self._gathering.put_aside(error, error_row(error, self.plan.state, ("", "", place), raw))
