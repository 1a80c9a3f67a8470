"""The machine code that writes messages as records."""

from __future__ import annotations

from types import ModuleType

from metl_gui.engine.kernel.machine_code import MachineCode

WORTH_MESSAGES = 2048
"""Most tests read fewer messages."""


def _wrappers() -> ModuleType:
    from metl_gui.engine.kernel.compiled import wrappers

    return wrappers


MACHINE = MachineCode(_wrappers, WORTH_MESSAGES)
