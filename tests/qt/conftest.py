"""Every test of the window runs without a display, in folders of its own; a warning of Qt fails it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QSettings, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker

from metl_gui.engine.lanes import report
from metl_gui.errors import RunError
from metl_gui.packaged import sample_projects
from metl_gui.ui.jobs.jobs import Jobs, SynchronousJobs
from metl_gui.ui.kafka import sink_dialog, source_dialog
from metl_gui.ui.run import lane_commands
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder, add_waiting, build_project
from metl_gui.workbench.session import Workbench
from tests.qt.recorded_runs import keep_errors, keep_recorded

_PATIENCE_MS = 180_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/qt" in item.path.as_posix():
            item.add_marker(pytest.mark.qt_log_level_fail("WARNING"))
            item.add_marker(
                pytest.mark.qt_log_ignore(r"does not support (propagateSizeHints|raise|grabbing the keyboard)")
            )  # no screen, no manager


class PatientBot(QtBot):
    """Waits as long as a computer that has much else to do may need: it is a fault that waits in vain, not a load."""

    def waitSignal(self, *arguments: Any, timeout: int = _PATIENCE_MS, **others: Any) -> SignalBlocker:  # noqa: N802
        return super().waitSignal(*arguments, timeout=timeout, **others)

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = _PATIENCE_MS) -> None:  # noqa: N802
        super().waitUntil(callback, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:  # noqa: ARG001 - it is there first
    return PatientBot(request)


@pytest.fixture(scope="session", autouse=True)
def empty_clipboard() -> Iterator[None]:
    """Empty the clipboard at last: what Python put there Qt would delete after Python has ended, and crash."""
    yield
    if QGuiApplication.instance() is not None:
        QGuiApplication.clipboard().clear()


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("METL_USER", "Ada")


@pytest.fixture(autouse=True)
def no_unexpected_dialog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a question that a test does not answer fail it, where it would wait for ever."""

    def refuse(question: dialogs.QuestionDialog) -> int:
        raise AssertionError(f"nobody answers: {question.windowTitle()}")

    monkeypatch.setattr(dialogs.QuestionDialog, "exec", refuse)


def answer(monkeypatch: pytest.MonkeyPatch, id_: str) -> list[str]:
    """Let every question be answered so; the titles of those that were asked are returned."""
    asked: list[str] = []

    def execute(question: dialogs.QuestionDialog) -> int:
        asked.append(question.windowTitle())
        question.answer = id_
        return 0

    monkeypatch.setattr(dialogs.QuestionDialog, "exec", execute)
    return asked


@pytest.fixture(autouse=True)
def nothing_held() -> Iterator[None]:
    """Fail a test that leaves a mouse button down, a popup open or a timer running: the tests that follow meet none."""
    before, ticking = QGuiApplication.mouseButtons(), _running_timers()
    yield
    if QGuiApplication.keyboardModifiers():
        # After a click with Ctrl the key counts as held, and what selects without an event would add to a selection.
        QTest.keyClick(QWindow(), Qt.Key.Key_Shift)
    held, popup = QGuiApplication.mouseButtons(), QApplication.activePopupWidget()
    assert held in (Qt.MouseButton.NoButton, before), f"the test left {held} down"
    assert popup is None, f"the test left {popup} open"
    left = [f"{timer} of {timer.parent()}" for timer in _running_timers() if timer not in ticking]
    assert not left, f"the test left {left} running"


def _running_timers() -> list[QTimer]:
    return [each for each in shiboken6.getAllValidWrappers() if isinstance(each, QTimer) and each.isActive()]


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whoever asks servers hear at once that they do not answer: Kafka's library tries for long."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise RunError("127.0.0.1:29092 does not answer.")

    monkeypatch.setattr(lane_commands, "find_lane", refuse)
    monkeypatch.setattr(report, "lane_report", refuse)
    for dialog in (sink_dialog, source_dialog):
        monkeypatch.setattr(dialog, "list_topics", refuse)
    monkeypatch.setattr(source_dialog, "look_into", refuse)


@pytest.fixture(scope="session")
def built_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sample folder with its project built once for all tests."""
    folder = tmp_path_factory.mktemp("sample") / "fx"
    shutil.copytree(sample_projects() / "fx", folder, ignore=shutil.ignore_patterns("making", "__pycache__"))
    build_project(SampleFolder(folder)).close()
    return folder


@pytest.fixture
def sample(built_sample: Path, tmp_path: Path) -> SampleFolder:
    """Return a copy of the sample that a test may change."""
    return SampleFolder(Path(shutil.copytree(built_sample, tmp_path / "fx")))


@pytest.fixture(scope="session")
def built_waiting(built_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sample folder to whose project the version that waits was added once for all tests, by Ada."""
    folder = Path(shutil.copytree(built_sample, tmp_path_factory.mktemp("waiting") / "fx"))
    sample = SampleFolder(folder)
    with pytest.MonkeyPatch.context() as patch, Workbench.open(sample.project) as workbench:
        patch.setenv("METL_USER", "Ada")
        add_waiting(workbench, sample)
    return folder


@pytest.fixture
def waiting_sample(sample: SampleFolder, built_waiting: Path) -> SampleFolder:
    """Return the sample with the version added that waits, so that decisions stand on the review list."""
    shutil.copyfile(SampleFolder(built_waiting).project, sample.project)
    return sample


@pytest.fixture
def dressed(qapp: QApplication) -> Iterator[QApplication]:
    themes.apply(qapp, themes.load("light"))
    yield qapp
    themes.apply(qapp, themes.load("light"))  # the scale of one test is not that of the next
    qapp.setStyleSheet("")


@pytest.fixture
def chosen(qapp: QApplication) -> Iterator[QApplication]:
    """The application before its first window, as the program has it: it is dressed once that is made."""
    themes.choose(qapp, themes.load("light"))
    yield qapp
    themes.choose(qapp, themes.load("light"))  # the scale of one test is not that of the next
    qapp.setStyleSheet("")


@pytest.fixture
def make_window(chosen: QApplication, tmp_path: Path) -> Iterator[Callable[[], Window]]:
    """Return a maker of windows whose jobs end at once; every window is closed after the test."""
    windows: list[Window] = []

    def make() -> Window:
        settings = QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat)
        window = Window(settings, SynchronousJobs(), warms_up=False)
        if not chosen.styleSheet():
            themes.dress(chosen)
        window.resize(1600, 1000)
        window.show()
        windows.append(window)
        return window

    yield make
    for window in windows:
        end(window)
    chosen.processEvents()


@pytest.fixture
def window(make_window: Callable[[], Window], waiting_sample: SampleFolder) -> Window:
    """Return a window on the sample with decisions to take."""
    made = make_window()
    made.show_project(Workbench.open(waiting_sample.project))
    return made


@pytest.fixture
def ran(make_window: Callable[[], Window], sample: SampleFolder, tmp_path: Path) -> Window:
    """Show a project with three runs: a test, a later one that set more aside, and one that failed."""
    errors = keep_errors(tmp_path / "errors", {"malformed": 3, "unknown_version": 2})
    with Workbench.open(sample.project) as workbench:
        keep_recorded(workbench, "r1", 20)
        keep_recorded(workbench, "r2", 30, errors=str(errors), state=3)
        keep_recorded(workbench, "r3", 4, mode="production", failure="The disk is full. Free space and go on.",
                      checkpoint="/somewhere", is_stopped=True)  # fmt: skip
    window = make_window()
    activate(window)
    window.show_project(Workbench.open(sample.project))
    window.show_page(2)
    return window


@pytest.fixture
def threaded(chosen: QApplication, sample: SampleFolder, tmp_path: Path) -> Iterator[Window]:
    """Return a window with real threads on the sample."""
    settings = QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat)
    window = Window(settings, Jobs(), warms_up=False)
    themes.dress(chosen)
    window.resize(1600, 1000)
    window.show()
    window.show_project(Workbench.open(sample.project))
    yield window
    end(window)


def end(window: Window) -> None:
    """Close a window and have it deleted."""
    window.close()
    window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # outside a loop Qt leaves this to nobody
    QApplication.processEvents()


def activate(window: Window) -> None:
    """Give the keyboard to a window, as its manager would."""
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
