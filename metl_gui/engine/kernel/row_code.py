"""Machine code for rows, beside the kernel's: used once it lies there, or so many rows came that making it pays."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.machine_code import MachineCode

WORTH_ROWS = 4096
"""As for the kernel: loading the compiler takes as long as reading many times as many rows without it."""

MAKING_ROWS = 250_000
"""Making the machine code takes a few seconds, once for each computer and version."""


class RowSource(NamedTuple):
    """What machine code is made of.

    Args:
        package: the modules lie in it.
        module: has the code, and ``warm``, which makes or loads it all.
        others: modules whose numbers the code goes by.
    """

    package: str
    module: str
    others: tuple[str, ...] = ()

    @property
    def mark(self) -> Path | None:
        """Return the file that says that it was made; none where nothing can be made or kept."""
        folder = build.folder() if build.is_possible() else None
        return folder / f"{self.module}-{stamp(self)}" if folder is not None else None


@cache
def stamp(source: RowSource) -> str:
    """Return what tells one source of the machine code from another."""
    folder = resources.files(source.package)
    parts = (folder.joinpath(f"{name}.py").read_bytes() for name in (source.module, *source.others))
    return hashlib.sha256(b"".join(parts)).hexdigest()[:20]


def row_code(
    source: RowSource, worth_rows: int = WORTH_ROWS, making_rows: int = MAKING_ROWS
) -> MachineCode[ModuleType]:
    """Return what a process knows of it; the numbers are explained above."""

    def is_there(rows: int) -> bool:
        mark = source.mark
        return mark is None or rows > making_rows or mark.exists()

    return MachineCode(lambda: _loaded(source), worth_rows, is_there, look_seconds=0.0)


def _loaded(source: RowSource) -> ModuleType:
    mark = source.mark
    if mark is None:
        raise ImportError("machine code can neither be made nor kept here")
    module = import_module(f"{source.package}.{source.module}")
    module.warm()
    if not module.IS_CHECKED:  # such a build is not kept
        with contextlib.suppress(OSError):
            mark.touch(0o600)
    return module
