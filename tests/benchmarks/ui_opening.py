"""The child process of the benchmark ``ui`` that opens a project in the real program and says when what was there.

Times are counted from the start of the process, which the parent writes into the environment: the monotonic clock of
Linux is the same in all processes. The window is usable when it was painted and the event loop is free.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STARTED = "METL_BENCHMARK_STARTED"


def main(project: Path) -> int:
    """Open a project in the window, and end once its matrix is drawn."""
    started = float(os.environ[STARTED])
    found: dict[str, float] = {}

    def note(name: str) -> None:
        found.setdefault(name, time.monotonic() - started)
        found.setdefault(f"{name}, processor", time.process_time())

    _after_show(lambda: _watch(note))
    from metl_gui.ui.main import main as program

    sys.argv[1:] = [str(project)]
    code = program()
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    return code


def _after_show(act: Callable[[], None]) -> None:
    """Do something once the program has shown its window, which it tells the garbage collector.

    Nothing of Qt may be loaded before: the program loads its own modules in an order that it has chosen.
    """
    freeze = gc.freeze

    def frozen() -> None:
        setattr(gc, "freeze", freeze)  # noqa: B010 - the program is watched from outside
        act()
        freeze()

    setattr(gc, "freeze", frozen)  # noqa: B010


def _watch(note: Any) -> None:
    """Note when the window is painted and free, when the matrix is drawn, and close it then."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from metl_gui.ui.matrix.view import MatrixView

    paint: Callable[[MatrixView, Any], None] = MatrixView.paintEvent

    def painted(self: MatrixView, event: Any) -> None:
        paint(self, event)
        if self.content is not None and len(self.content.columns.runs):
            note("drawn")
            QTimer.singleShot(0, QApplication.quit)

    setattr(MatrixView, "paintEvent", painted)  # noqa: B010
    QTimer.singleShot(0, lambda: note("usable"))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
