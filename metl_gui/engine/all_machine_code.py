"""All machine code of the program: the kernel's, and that of rows beside it; as a program, make what is missing.

The kernel's comes first, as every run wants it. Each is used as soon as it lies there.
"""

from __future__ import annotations

import contextlib
import os

from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.sinks import column_code
from metl_gui.engine.staging import place_code

_NICENESS = 3
"""Little: tasks that map by the reference meanwhile would keep a compiler at the lowest priority waiting for ever."""
_OF_ROWS = (column_code, place_code)


def is_made() -> bool:
    """Return whether all of it lies there."""
    marks = (one.SOURCE.mark for one in _OF_ROWS)
    return build.is_ready() and all(mark is not None and mark.exists() for mark in marks)


def load_rows() -> None:
    """Load that of rows, as far as it lies there."""
    for one in _OF_ROWS:
        one.MACHINE.if_there()


def main() -> None:
    """Make it at low priority, and give the lock back."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    try:
        build.build()
        for one in _OF_ROWS:
            # What is wrong with it is told by the run that meets it, which goes on without.
            with contextlib.suppress(Exception):
                one.MACHINE.now()
        build.note_tried()
    finally:
        build.unlock()


if __name__ == "__main__":
    main()
