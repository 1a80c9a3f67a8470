"""May machine code be used yet? One answer: for the kernel, and for what cuts messages.

It is used once it lies there and enough came for it: loading it takes about half a second. Until then, and where it
cannot be loaded, the same is done without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from metl_gui.engine.kernel.compiled import build

Loaded = TypeVar("Loaded")
LOOK_SECONDS = 1.0
"""How often it is looked for."""


def _is_built(_count: int) -> bool:
    return build.is_ready()


class MachineCode(Generic[Loaded]):
    """What this process knows of machine code of one kind.

    Args:
        load: loads it and returns what uses it; it raises what an import, a disk or a lack of memory raises.
        worth: it is worth loading when more than so many records, messages or rows came; None for never.
        is_there: whether it should be loaded now that so many came; by default once it lies ready.
        look_seconds: how often that is asked; by default ``LOOK_SECONDS``.

    Attributes:
        loaded: what uses it, once it is loaded.
    """

    def __init__(
        self,
        load: Callable[[], Loaded],
        worth: int | None,
        is_there: Callable[[int], bool] = _is_built,
        look_seconds: float | None = None,
    ) -> None:
        self.worth = worth
        self.loaded: Loaded | None = None
        self._load = load
        self._is_there = is_there
        self._look_seconds = LOOK_SECONDS if look_seconds is None else look_seconds
        self._count = 0
        self._looked = float("-inf")

    def after(self, count: int) -> Loaded | None:
        """Return what uses it when it should be used for the next records, messages or rows.

        Args:
            count: how many come.
        """
        self._count += count
        if self.loaded is None and self.worth is not None and self._count > self.worth:
            now = time.monotonic()
            if now - self._looked >= self._look_seconds:
                self._looked = now
                return self.if_there()
        return self.loaded

    def if_there(self) -> Loaded | None:
        """Return what uses it where it lies there, however little came for it."""
        if self.loaded is None and self.worth is not None and self._is_there(self._count):
            try:
                self.loaded = self._load()
            except (ImportError, OSError, MemoryError):
                # The compiler's library is damaged, or there is no memory left for it, or no room to keep what it made.
                self.worth = None
        return self.loaded

    def now(self) -> Loaded:
        """Return what uses it, however long it takes to make it; raises what loading it raises."""
        if self.loaded is None:
            self.loaded = self._load()
        return self.loaded
