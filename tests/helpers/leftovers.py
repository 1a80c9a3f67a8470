"""A pytest plugin: a test that leaves its process other than it found it fails, by the name of what it changed."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

_OF_PYTEST = "PYTEST_CURRENT_TEST"
"""Changes with every phase of every test."""

_THREAD_SECONDS = 20.0
"""How long a thread that was told to end may take."""

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
            thread.join(_THREAD_SECONDS)
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


class LeftoverGuard:
    """Compares what a test found, before its first fixture, with what it leaves behind its last."""

    def __init__(self) -> None:
        tempfile.gettempdir()  # looked up once for all, not while a test names another
        self._before = Surroundings.now()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None]:
        """Note what the test finds."""
        self._before = Surroundings.now()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None]:
        """Fail a test that left something changed."""
        try:
            return (yield)
        finally:
            changes = self._before.changes(Surroundings.now())
            if changes:
                self._before.restore()
                pytest.fail(f"The test left its process changed: {', '.join(changes)}.", pytrace=False)


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "a removed one"


def _umask() -> str:
    """Read the umask from the kernel: asking by setting another would be seen by other threads."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("Umask:"))
