"""The child process of the benchmark ``ui`` that imports real schemas in the window and says how long it stood still.

A timer that should fire every five milliseconds shows it: the longest time between two of its ticks is the longest time
for which the window could neither paint nor answer.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
from pathlib import Path

from tests.helpers.shared import ROOT

FOLDER = ROOT / "real-schemas"
_TICK_MS = 5
_WARM_SECONDS = 2.0


def main() -> int:
    """Import everything in the folder of real schemas into an empty project."""
    from PySide6.QtCore import QEventLoop, QSettings, Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from metl_gui.core.trees.nodes import Side
    from metl_gui.ui.shell.window import Window
    from metl_gui.ui.theming import theme as themes
    from metl_gui.ui.widgets import dialogs
    from metl_gui.workbench.session import Workbench

    app = QApplication(["metl-gui"])
    themes.apply(app, themes.load("light"))
    setattr(dialogs, "ask", lambda *_, **__: "")  # noqa: B010 - nobody is there to read what was refused
    gaps: list[float] = []
    last = [0.0]

    def tick() -> None:
        now = time.perf_counter()
        gaps.append(now - last[0])
        last[0] = now

    with tempfile.TemporaryDirectory() as name:
        window = Window(QSettings(str(Path(name) / "view.ini"), QSettings.Format.IniFormat), warms_up=False)
        window.resize(1600, 1000)
        window.show()
        window.show_project(Workbench.create(Path(name) / "real.metl"))
        window.jobs.worker.warm_up()
        _wait(_WARM_SECONDS)
        gc.freeze()  # as the program does
        timer = QTimer(window)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(tick)
        last[0] = time.perf_counter()
        timer.start(_TICK_MS)
        window.imports.import_schemas(Side.EXTRACTION, [FOLDER])
        while window.jobs.running:
            app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
        _wait(1.0)
        timer.stop()
        versions = window.project.value.extraction.base.version_id.size
        window.close()
    gaps.sort()
    found = {"longest_ms": gaps[-1] * 1000, "p99_ms": gaps[-1 - len(gaps) // 100] * 1000, "versions": versions}
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


def _wait(seconds: float) -> None:
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


if __name__ == "__main__":
    sys.exit(main())
