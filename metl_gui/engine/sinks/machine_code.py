"""The machine code that reads values of columns: used once it lies there, or so many rows came that making it pays."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from types import ModuleType

from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.machine_code import MachineCode

WORTH_ROWS = 4096
"""As for the kernel: loading the compiler takes as long as reading many times as many rows without it."""

MAKING_ROWS = 250_000
"""Making the machine code takes a few seconds, once for each computer and version."""


@cache
def stamp() -> str:
    """Return what tells one source of the machine code from another."""
    folder = resources.files(__package__)
    parts = (folder.joinpath(f"{name}.py").read_bytes() for name in ("column_values", "value_forms"))
    return hashlib.sha256(b"".join(parts)).hexdigest()[:20]


def column_code(worth_rows: int = WORTH_ROWS, making_rows: int = MAKING_ROWS) -> MachineCode[ModuleType]:
    """Return what a process knows of it; the arguments are explained above."""

    def is_there(rows: int) -> bool:
        mark = _mark()
        return mark is None or rows > making_rows or mark.exists()

    return MachineCode(_column_values, worth_rows, is_there, look_seconds=0.0)


def _mark() -> Path | None:
    """Return the file that says that it was made; none where nothing can be made or kept."""
    folder = build.folder() if build.is_possible() else None
    return folder / f"columns-{stamp()}" if folder is not None else None


def _column_values() -> ModuleType:
    mark = _mark()
    if mark is None:
        raise ImportError("machine code can neither be made nor kept here")
    from metl_gui.engine.sinks import column_values

    column_values.warm()
    with contextlib.suppress(OSError):
        mark.touch(0o600)
    return column_values


MACHINE = column_code()
