"""The kernel's door: batches in, outcomes out. The same for every kernel that maps by a plan."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.engine.kernel.outcomes import Outcome
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.reference import Mode, Reference


class Kernel:
    """Maps batches of raw records.

    Args:
        plan: the compiled state.
        mode: ``production`` sets aside what is held for review; ``test`` maps every block as it stands.
    """

    def __init__(self, plan: Plan, mode: Mode = "test") -> None:
        self.plan = plan
        self.reference = Reference(plan, mode)

    def map(self, raws: Sequence[bytes], offsets: Sequence[int], file: str) -> Outcome:
        """Map one batch of records of one file, in order.

        Args:
            raws: the records exactly as they lie in the file.
            offsets: how many (decompressed) bytes lie before each.
            file: the name of the file as positions say it.
        """
        outcome = Outcome(bytes_in=sum(map(len, raws)))
        for raw, offset in zip(raws, offsets, strict=True):
            self.reference.map_record(raw, f"{file}@{offset}", outcome)
        return outcome
