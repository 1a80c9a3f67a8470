"""The two kernels side by side."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.engine.kernel.kernel import Kernel
from metl_gui.engine.kernel.outcomes import Outcome
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.reference import Mode
from tests.fuzz.differences import differences


@dataclass(frozen=True, slots=True)
class Setting:
    """How a plan is mapped with.

    Args:
        plan: the plan.
        mode: of the run.
        is_replay: the records were set aside before.
    """

    plan: Plan
    mode: Mode
    is_replay: bool


class Pair:
    """A compiled kernel and the reference, which go through the same batches.

    Args:
        setting: of both.
    """

    def __init__(self, setting: Setting) -> None:
        self.compiled = Kernel(setting.plan, setting.mode, is_replay=setting.is_replay)
        self.reference = Kernel(setting.plan, setting.mode, is_replay=setting.is_replay)
        self.hits = 0

    def differ(self, records: Records) -> list[str]:
        """Map a batch by both and return what differs; what the compiled kernel raises is a difference too."""
        try:
            ours = self.compiled.map(records)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            return [f"raised {type(error).__name__}: {error}"]
        found = differences(ours, self._expected(records))
        self.hits += ours.hits
        return found

    def _expected(self, records: Records) -> Outcome:
        return self.reference.map(records)
