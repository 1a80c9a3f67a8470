"""Decide whether machine code cuts messages: once it lies there, or so many rows came that making it pays."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from importlib import resources
from types import ModuleType

from metl_gui.engine.kernel.compiled import build

WORTH_ROWS = 4096
"""As for the kernel: loading the compiler takes as long as reading many times as many rows without it."""

MAKING_ROWS = 250_000
"""Making the machine code takes a few seconds, once for each computer and version."""


@cache
def stamp() -> str:
    """Return what tells one source of the machine code from another."""
    return hashlib.sha256(resources.files(__package__).joinpath("cutting.py").read_bytes()).hexdigest()[:20]


class Machine:
    """What this process knows of machine code.

    Args:
        worth_rows, making_rows: see above.
    """

    def __init__(self, worth_rows: int = WORTH_ROWS, making_rows: int = MAKING_ROWS) -> None:
        self.worth_rows = worth_rows
        self.making_rows = making_rows
        self._rows = 0
        self._is_possible = True
        self._module: ModuleType | None = None

    def after(self, rows: int) -> ModuleType | None:
        """Return the module ``cutting`` when it should be used for the next rows.

        Args:
            rows: how many come.
        """
        self._rows += rows
        if self._module is None and self._is_possible and self._rows > self.worth_rows:
            self._look()
        return self._module

    def _look(self) -> None:
        folder = build.folder() if build.is_possible() else None
        if folder is None:
            self._is_possible = False
            return
        mark = folder / f"cutting-{stamp()}"
        if self._rows <= self.making_rows and not mark.exists():
            return
        try:
            from metl_gui.engine.sinks import cutting

            cutting.warm()
        except (ImportError, OSError, MemoryError):
            # The compiler's library is damaged, or there is no memory left for it, or no room to keep what it made.
            self._is_possible = False
            return
        self._module = cutting
        with contextlib.suppress(OSError):
            mark.touch(0o600)


MACHINE = Machine()
