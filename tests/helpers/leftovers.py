"""A pytest plugin: a test that leaves its process other than it found it fails, by the name of what it changed.

So does one that leaves a thread or a process running, and one in which the program logs a warning that nobody looks at.
What is left on the screen is looked for where Qt is (``tests/qt/conftest.py``).
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

_OF_PYTEST = "PYTEST_CURRENT_TEST"
"""Changes with every phase of every test."""

_END_SECONDS = 20.0
"""How long a thread or a process that was told to end may take."""

_FOR_GOOD = ("multiprocessing.resource_tracker", "stack/guard.py")
"""Processes that Python, and what ends servers, start with the first need and that end with this one."""

_PROGRAM = "metl_gui"
"""The logger of the program."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Surroundings:
    """What all tests of a process share, and what their child processes inherit."""

    environment: dict[str, str]
    folder: str
    temporary: str | None
    umask: str
    path: tuple[str, ...]
    handlers: tuple[object, ...]
    threads: frozenset[threading.Thread]
    processes: frozenset[int]

    @classmethod
    def now(cls) -> Surroundings:
        """Look at this process."""
        return cls(
            environment={name: value for name, value in os.environ.items() if name != _OF_PYTEST},
            folder=_folder(),
            temporary=tempfile.tempdir,
            umask=_umask(),
            path=tuple(sys.path),
            handlers=tuple(map(signal.getsignal, _SIGNALS)),
            threads=frozenset(thread for thread in threading.enumerate() if not thread.daemon),
            processes=_children(),
        )

    def changes(self, after: Surroundings) -> list[str]:
        """Name what is other than it was."""
        names = sorted(self.environment.keys() | after.environment.keys())
        # Values are not shown: a variable may hold a secret.
        found = [name for name in names if self.environment.get(name) != after.environment.get(name)]
        if self.folder != after.folder:
            found.append(f"the working folder, now {after.folder}")
        if self.temporary != after.temporary:
            found.append(f"tempfile.tempdir, now {after.temporary}")
        if self.umask != after.umask:
            found.append(f"the umask, now {after.umask}")
        if self.path != after.path:
            found.append(f"sys.path, by {sorted({*self.path} ^ {*after.path}) or 'its order'}")
        pairs = zip(_SIGNALS, self.handlers, after.handlers, strict=True)
        found += [f"the handler of {number.name}" for number, one, other in pairs if one is not other]
        for thread in after.threads - self.threads:
            thread.join(_END_SECONDS)
        return found + [f"the thread {one.name}, which runs" for one in after.threads - self.threads if one.is_alive()]

    def restore(self) -> None:
        """Put all of it back, so that one test fails and not those after it."""
        for name in os.environ.keys() - self.environment.keys() - {_OF_PYTEST}:
            del os.environ[name]
        os.environ.update(self.environment)
        os.chdir(self.folder)
        tempfile.tempdir = self.temporary
        os.umask(int(self.umask, 8))
        sys.path[:] = self.path
        for number, handler in zip(_SIGNALS, self.handlers, strict=True):
            signal.signal(number, handler)  # type: ignore[arg-type]  # what getsignal returned


class LoggedWarnings(logging.Handler):
    """Keeps what the program warns of in its log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a text, with the logger that it came from."""
        self.texts.append(f"{record.name}: {record.getMessage()}")

    def unexpected(self, item: pytest.Item) -> list[str]:
        """Return the texts that a test neither looks at, by ``caplog``, nor foresees, by its marks ``logs``."""
        if "caplog" in getattr(item, "fixturenames", ()):
            return []
        foreseen = [str(mark.args[0]) for mark in item.iter_markers("logs")]
        return [text for text in self.texts if not any(re.search(pattern, text) for pattern in foreseen)]


class LeftoverGuard:
    """Compares what a test found, before its first fixture, with what it leaves behind its last.

    Args:
        alone: the mark of tests that share no servers. Others share processes, and the program may warn of servers that
            are slow on a computer with much to do.
    """

    def __init__(self, alone: str = "") -> None:
        tempfile.gettempdir()  # looked up once for all, not while a test names another
        self._before = Surroundings.now()
        self._shared: frozenset[int] = frozenset()
        self._alone = alone
        self._logged = LoggedWarnings()

    def pytest_configure(self) -> None:
        """Listen to the log of the program."""
        logging.getLogger(_PROGRAM).addHandler(self._logged)

    def pytest_unconfigure(self) -> None:
        """Listen no more."""
        logging.getLogger(_PROGRAM).removeHandler(self._logged)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None]:
        """Note the processes that several tests share."""
        if fixturedef.scope == "function":
            return (yield)
        before = _children()
        try:
            return (yield)
        finally:
            self._shared |= _children() - before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None]:
        """Note what the test finds."""
        self._before = Surroundings.now()
        self._logged.texts.clear()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        """Fail a test that left something changed, or that logged what it should not have."""
        try:
            return (yield)
        finally:
            after = Surroundings.now()
            changes = self._before.changes(after)
            is_alone = not self._alone or item.get_closest_marker(self._alone) is not None
            if is_alone:
                changes += running(after.processes - self._before.processes - self._shared)
            if changes:
                self._before.restore()
                pytest.fail(f"The test left its process changed: {', '.join(changes)}.", pytrace=False)
            unexpected = self._logged.unexpected(item)
            if unexpected and is_alone:
                pytest.fail(f"The program logged what no mark of the test foresees: {unexpected}.", pytrace=False)


def running(processes: frozenset[int]) -> list[str]:
    """Name those of some child processes that do not end."""
    latest = time.monotonic() + _END_SECONDS
    while (found := [name for name in map(_command, processes) if name]) and time.monotonic() < latest:
        time.sleep(0.02)
    return [f"the process {name}, which runs" for name in sorted(found)]


def _children() -> frozenset[int]:
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found.update(map(int, (task / "children").read_text().split()))
        except OSError:  # the thread has ended
            continue
    return frozenset(found)


def _command(process: int) -> str:
    """Return the command line of a process, nothing for one that has ended or that stays by design."""
    folder = Path(f"/proc/{process}")
    try:
        state = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""
    return "" if state in "ZX" or any(name in words for name in _FOR_GOOD) else words or str(process)


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "a removed one"


def _umask() -> str:
    """Read the umask from the kernel: asking by setting another would be seen by other threads."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("Umask:"))
