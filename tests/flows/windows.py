"""Scenarios in an open window, without a display: ``python -m tests.flows.windows SCENARIO PROJECT FOLDER``.

Run in a process of its own, which is traced from its start. What the scenario reads off the screen lies between the
phases, so that only the program's own answers to events are recorded.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from tests.flows import names
from tests.flows.project import SAMPLE
from tests.flows.tracing import FOLDER, PACKAGE, Trace
from tests.qt.user import CDM, EXTRACTION

FIRST, AGAIN, IDLE = 1, 2, 3
QUIET_SECONDS = 2.0
IDLE_SECONDS = 4.0
_PATIENCE_SECONDS = 180.0
_PAUSE_MS = 10


class Waiting:
    """Waits for the window."""

    def waitUntil(self, holds: Callable[[], bool | None]) -> None:  # noqa: N802 - as pytest-qt names it
        """Wait until something is so.

        Raises:
            TimeoutError: it does not come.
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError("what was waited for did not come")
            QTest.qWait(_PAUSE_MS)


class Painted(QObject):
    """Notes that a widget is painted."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__(watched)
        self.count = 0
        watched.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt decides its name
        """Count it."""
        self.count += event.type() is QEvent.Type.Paint
        return False


class Stage:
    """An open window with somebody before it.

    Args:
        project: that is open.
        folder: for what is written meanwhile.
        trace: what is recorded.
    """

    def __init__(self, project: Path, folder: Path, trace: Trace) -> None:
        self.folder = folder
        self.trace = trace
        self.window: QMainWindow = names.open_window(project, folder / "view.ini")
        self.user = names.user_of(self.window, Waiting())
        self.window.activateWindow()
        if not QTest.qWaitForWindowActive(self.window):
            raise RuntimeError("the window does not come to the front")
        self.user.until(lambda: "State" in self.user.status and not names.is_busy(self.window))
        self.rest()

    def rest(self) -> None:
        """Let everything happen that waits to, unrecorded."""
        QTest.qWait(round(1000 * QUIET_SECONDS))
        self.user.until(lambda: not names.is_busy(self.window))

    def idle(self) -> None:
        """Record what happens while nobody does anything."""
        with self.trace.phase(IDLE):
            QTest.qWait(round(1000 * IDLE_SECONDS))

    def record(self, number: int, act: Callable[[], object]) -> None:
        """Record an action until all has happened that it leads to."""
        with self.trace.phase(number):
            act()
        while True:
            with self.trace.phase(number):
                self.trace.wait_until_quiet(QUIET_SECONDS, lambda: QTest.qWait(_PAUSE_MS))
            if not names.is_busy(self.window):
                return

    def click(self, number: int, name: str) -> None:
        """Record a click on a button, and wait for the button first."""
        self.user.until(lambda: self.user.can(name))
        button = self.user.find(name, QWidget)
        self.record(number, lambda: self.user.click(button))


def click(stage: Stage) -> None:
    """Click on a cell that is free: it is committed, and the matrix is painted."""
    user = stage.user
    user.choose(EXTRACTION, ("customers", "person", "7"))
    user.choose(CDM, ("customer",))
    user.do("View", "Fit the selection")
    user.stand_on("fx.customers.person 7 address_lines", "customer 2.0.0 address.lines")
    plane, spot = user.find("Matrix", QWidget), names.pointer_of(user)
    painted = Painted(getattr(plane, "viewport", lambda: plane)())
    stage.rest()
    stage.idle()
    for number in (FIRST, AGAIN):
        painted.count = 0
        stage.record(number, lambda: user.click(plane, spot))
        _expect(user.undo_words == "Undo map address_lines to address.lines", "the cell was not set")
        _expect(painted.count > 0, "the matrix was not painted")
        user.undo()
        stage.rest()


def schema_import(stage: Stage) -> None:
    """Drop a file with a new version on the window, add it, and go to its review item."""
    first = stage.folder / "waiting.jsonl"
    again = stage.folder / "later.jsonl"
    shutil.copy(SAMPLE / "waiting" / "fx.payments.orders.jsonl", first)
    again.write_text(first.read_text(encoding="utf-8").replace("customer_ref", "customer_reference"), encoding="utf-8")
    stage.idle()
    for number, path in ((FIRST, first), (AGAIN, again)):
        stage.record(number, lambda path=path: _drop(stage.window, path))  # type: ignore[misc]
        stage.click(number, "Add ")
        stage.click(number, "Review now")
        shown = stage.user.rows("Waiting for a decision")
        _expect(any("orders" in row for row in shown), f"the review item is not shown: {shown}")
        stage.user.do("View", "Map")
        stage.rest()


def _drop(window: QMainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    at: QPoint = window.rect().center()
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(at, Qt.DropAction.CopyAction, data, buttons, keys))
    QApplication.sendEvent(window, QDropEvent(QPointF(at), Qt.DropAction.CopyAction, data, buttons, keys))


def _expect(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise RuntimeError(otherwise)


SCENARIOS: dict[str, Callable[[Stage], None]] = {"click": click, "import": schema_import}


def main() -> int:
    """Play one scenario."""
    scenario, project, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    app = QApplication(["metl-gui"])
    stage = Stage(project, folder, Trace(Path(os.environ[FOLDER]), Path(os.environ[PACKAGE])))
    SCENARIOS[scenario](stage)
    stage.window.close()
    app.processEvents()
    return 0


if __name__ == "__main__":
    sys.exit(main())
