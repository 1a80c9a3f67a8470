"""A window as a process of its own that starts a lane: ``python -m tests.live.window_on_a_lane ORDER``, ORDER in JSON.

It prints a line with the run's id once the Lane view shows that all records are read, and stays open: whoever
started it kills it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from PySide6.QtCore import QSettings, QTimer
from PySide6.QtWidgets import QApplication

from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.kafka.sink_dialog import TopicSinkChoice
from metl_gui.ui.kafka.source_dialog import TopicSourceChoice
from metl_gui.ui.run.head import LANE
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.runs.mapping_run import PRODUCTION
from metl_gui.workbench.session import Workbench

_LOOK_MS = 100


class WindowOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What the window is told.

    Args:
        project, settings: files.
        source, sink, errors: addresses of topics.
        records: that are in the source.
    """

    project: str
    settings: str
    source: str
    sink: str
    errors: str
    records: int


def main(order: WindowOrder) -> int:
    """Show the project, start its lane as the buttons do, and stay."""
    app = QApplication(sys.argv[:1])
    themes.apply(app, themes.load("light"))
    dialogs.ask = lambda _title, _text, answers, *_rest: answers[0][0]  # nobody is there
    window = Window(QSettings(order.settings, QSettings.Format.IniFormat), Jobs(), warms_up=True)
    window.show()
    window.show_project(Workbench.open(Path(order.project)))
    page = window.run_page
    page.setup.places.take_source(TopicSourceChoice(order.source, "earliest"))
    page.setup.places.take_sink(TopicSinkChoice(order.sink, order.errors))
    page.setup.mode.choose(PRODUCTION)
    page.setup.target.choose("local[2]")
    page.run_chosen()
    looking = QTimer(window, interval=_LOOK_MS)

    def look() -> None:
        progress = page.views.lane.lane.progress
        if page.views.currentIndex() == LANE and progress is not None and progress.tally.read == order.records:
            looking.stop()
            print(page.production.live[0].run_id, flush=True)  # noqa: T201

    looking.timeout.connect(look)
    looking.start()
    return app.exec()


if __name__ == "__main__":
    sys.exit(main(msgspec.json.decode(sys.argv[1], type=WindowOrder)))
