"""The kernel's door: batches in, outcomes out. The same for every kernel that maps by a plan."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.core.json_text import quoted
from metl_gui.engine.kernel.lane import Lane
from metl_gui.engine.kernel.outcomes import Fate, Outcome
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.reference import Mode, Reference


class Kernel:
    """Maps batches of raw records.

    Args:
        plan: the compiled state.
        mode: ``production`` sets aside what is held for review; ``test`` maps every block as it stands.
        is_fast: records that look like one mapped before take the fast lane; the outcome is the same either way.
    """

    def __init__(self, plan: Plan, mode: Mode = "test", *, is_fast: bool = True) -> None:
        self.plan = plan
        self.reference = Reference(plan, mode)
        self.lane = Lane(self.reference) if is_fast else None

    def map(self, raws: Sequence[bytes], offsets: Sequence[int], file: str) -> Outcome:
        """Map one batch of records of one file, in order.

        Args:
            raws: the records exactly as they lie in the file.
            offsets: how many (decompressed) bytes lie before each.
            file: the name of the file as positions say it.
        """
        outcome = Outcome(bytes_in=sum(map(len, raws)))
        place = quoted(file)[1:-1]
        lane = self.lane
        for raw, offset in zip(raws, offsets, strict=True):
            sent = lane.write(raw, b"%b@%d" % (place, offset)) if lane else None
            if sent:
                outcome.send(sent)
                continue
            self.reference.map_record(raw, f"{file}@{offset}", outcome)
            if lane and outcome.fates[-1] is Fate.MAPPED:
                lane.learn(raw)
        return outcome
