"""The two kernels side by side."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.runs.run_spec import Mode
from metl_gui.engine.kernel.compiled.memory import violations
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.mapping.kernel import Kernel
from tests.fuzz.differences import differences


@dataclass(frozen=True, slots=True)
class Setting:
    """How a plan is mapped with.

    Args:
        plan: the plan.
        mode: of the run.
        is_replay: the records were set aside before.
        patience: how often the compiled kernel meets a kind of record before it learns to map it.
    """

    plan: Plan
    mode: Mode
    is_replay: bool = False
    patience: int = 0


class Pair:
    """A compiled kernel and the reference, which go through the same batches.

    Args:
        setting: of both.
    """

    def __init__(self, setting: Setting) -> None:
        plan, mode, is_replay = setting.plan, setting.mode, setting.is_replay
        self.compiled = Kernel(plan, mode, is_replay=is_replay, choice="compiled", patience=setting.patience)
        self.reference = Kernel(plan, mode, is_replay=is_replay, choice="reference")
        self.hits = 0

    def differ(self, records: RecordBatch) -> list[str]:
        """Map a batch by both and return what differs; what the compiled kernel raises is a difference too."""
        before, _, _ = violations()
        try:
            ours = self.compiled.map(records)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            return [f"raised {type(error).__name__}: {error}"]
        after, address, size = violations()
        if after > before:
            return [f"{after - before} accesses outside of what is allowed, the last of {size} bytes at {address:#x}"]
        self.hits += ours.hits
        return differences(ours, self.reference.map(records))
