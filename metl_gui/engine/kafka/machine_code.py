"""Decide whether machine code writes messages as records: once it lies there, and enough messages came for it."""

from __future__ import annotations

import time
from types import ModuleType

from metl_gui.engine.kernel.compiled import build

WORTH_MESSAGES = 2048
"""Loading machine code takes about half a second; most tests read fewer messages."""

_LOOK_SECONDS = 1.0


class RecordMachineCode:
    """What this process knows of machine code.

    Args:
        worth_messages: see above; negative for never, for those who compare.

    Attributes:
        module: the module ``wrappers`` once it is loaded.
    """

    def __init__(self, worth_messages: int = WORTH_MESSAGES) -> None:
        self.worth_messages = worth_messages
        self._messages = 0
        self._looked = float("-inf")
        self.module: ModuleType | None = None

    def after(self, messages: int) -> ModuleType | None:
        """Return the module ``wrappers`` when it should be used for the next messages.

        Args:
            messages: how many come.
        """
        self._messages += messages
        if self.module is None and 0 <= self.worth_messages < self._messages:
            now = time.monotonic()
            if now - self._looked > _LOOK_SECONDS:
                self._looked = now
                if build.is_ready():
                    self._load()
        return self.module

    def _load(self) -> None:
        try:
            from metl_gui.engine.kernel.compiled import wrappers
        except (ImportError, OSError, MemoryError):
            # The compiler's library is damaged, or there is no memory left for it.
            self.worth_messages = -1
            return
        self.module = wrappers


MACHINE = RecordMachineCode()
