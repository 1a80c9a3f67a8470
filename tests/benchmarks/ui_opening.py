"""The child process of the benchmark ``ui`` that opens a project in the real program and says when what was there.

Times are counted from the start of the process, which the parent writes into the environment: the monotonic clock of
Linux is the same in all processes. The window is usable when it was painted and the event loop is free.
"""

from __future__ import annotations

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

    _watch(note)
    from metl_gui.ui.main import main as program

    code = program([str(project)])
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    return code


def _watch(note: Any) -> None:
    """Note when the window is painted and free, when the matrix is drawn, and close it then."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from metl_gui.ui.matrix.view import MatrixView
    from metl_gui.ui.shell.window import Window

    show: Callable[[Window, Any], None] = Window.showEvent
    paint: Callable[[MatrixView, Any], None] = MatrixView.paintEvent

    def shown(self: Window, event: Any) -> None:
        show(self, event)
        QTimer.singleShot(0, self, lambda: note("usable"))

    def painted(self: MatrixView, event: Any) -> None:
        paint(self, event)
        if self.content is not None and len(self.content.columns.runs):
            note("drawn")
            QTimer.singleShot(0, QApplication.quit)

    setattr(Window, "showEvent", shown)  # noqa: B010 - the program's own classes are watched from outside
    setattr(MatrixView, "paintEvent", painted)  # noqa: B010


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
