"""The child process of the benchmark ``ui`` that switches theme and size of a window on the sample, all panels open.

Each page was in front with all of its panels once, as after some hours of work; the Map page is in front then. A switch
lasts from the action until everything that is seen is painted; what is hidden is dressed after that, and timed apart.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from PySide6.QtCore import QEventLoop, QSettings
from PySide6.QtWidgets import QApplication

from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.jobs.jobs import SynchronousJobs
from metl_gui.ui.shell.layout import docks_of
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.workbench.demo.sample import fresh_copy
from metl_gui.workbench.session import Workbench
from tests.benchmarks.ui_edits import settle

SWITCHES = (("theme switched", "theme_dark", "theme_light"), ("size switched", "size_125", "normal_size"))
"""What is measured, with the actions that switch there and back."""


def main(rounds: int) -> int:
    """Switch there and back, and print milliseconds of the clock and of the processor by what was switched.

    The third figure of each switch is the processor's time for what is hidden.
    """
    with tempfile.TemporaryDirectory() as folder:
        app = QApplication(["benchmark"])
        themes.apply(app, themes.load("light"))
        settings = QSettings(str(Path(folder) / "view.ini"), QSettings.Format.IniFormat)
        window = Window(settings, SynchronousJobs(), warms_up=False)
        window.resize(1600, 1000)
        window.show()
        window.show_project(Workbench.open(fresh_copy().project))
        count = _open_everything(window)
        times = _switched(window, rounds)
        window.close()
    sys.stdout.write(json.dumps({"panels": count, "widgets": len(app.allWidgets()), "times": times}) + "\n")
    return 0


def _open_everything(window: Window) -> int:
    """Show every panel of every page, and return how many there are."""
    count = 0
    for page in reversed(range(len(PAGES))):
        window.show_page(page)
        for dock in docks_of(window.stack.currentWidget()):
            dock.show()
            count += 1
        settle()
    return count


def _switched(window: Window, rounds: int) -> dict[str, list[tuple[float, float, float]]]:
    times: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for name, there, back in SWITCHES:
        for action in (there, back) * (rounds + 1):
            gc.collect()
            start, processor = time.perf_counter(), time.process_time()
            window.actions_table[action].trigger()
            settle()
            seen, so_far = time.perf_counter(), time.process_time()
            while window.dressing.has_more_to_dress:
                QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            after = time.process_time()
            times[name].append(((seen - start) * 1e3, (so_far - processor) * 1e3, (after - so_far) * 1e3))
        del times[name][:2]  # the first ones fill what is kept of fonts and words
    return times


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
