"""Record which functions of the package are called, in all threads of all processes, while a phase lasts.

A copy of this file is the ``sitecustomize`` of every Python process that is started with it in ``PYTHONPATH``, so it
needs nothing but the standard library. Processes share one byte, the number of the phase; 0 records nothing. What is
called for the first time in a phase is appended to a file at once, so that a process may end as it likes.

Counted are functions, methods and lambdas. The bodies of modules and classes, and comprehensions, which are parts of
the function around them, are not; nor is generated code such as the ``__init__`` of a dataclass. Threads that neither
``threading`` nor the main program started are seen from Python 3.12 on.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

FOLDER = "FLOW_TRACE"
PACKAGE = "FLOW_PACKAGE"
_PHASE = "phase"
_FUNCTION_FLAGS = 0x1
"""CO_OPTIMIZED: the body of a function, not of a module or a class."""
_PARTS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_SPARK = "metl_gui.engine.tasks.worker_daemon"


@dataclass(frozen=True, order=True)
class Call:
    """A function that was called.

    Args:
        process: what kind of process called it.
        module: where it is, dotted, below the package.
        function: its qualified name.
        line: its first, which tells lambdas apart.
    """

    process: str
    module: str
    function: str
    line: int


class Recorder:
    """Notes calls in this process and in those that it forks.

    Args:
        folder: of the trace.
        package: folder of the package; what lies elsewhere is not noted.
    """

    def __init__(self, folder: Path, package: str) -> None:
        self._folder = folder
        self._prefix = package + os.sep
        self._phase = _shared_byte(folder)
        self._known: dict[tuple[int, int], CodeType] = {}
        self._file = -1

    def install(self) -> None:
        """Begin to listen, in all threads that begin from now on."""
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            monitoring.use_tool_id(monitoring.PROFILER_ID, "flows")
            for event in (monitoring.events.PY_START, monitoring.events.PY_RESUME):
                monitoring.register_callback(monitoring.PROFILER_ID, event, self.on_start)
            monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START | monitoring.events.PY_RESUME)
        else:
            threading.setprofile(self.on_profile)
            sys.setprofile(self.on_profile)

    def on_profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """Hear of a call, or of something else."""
        if event == "call" and self._phase[0]:
            self.note(self._phase[0], frame.f_code)

    def on_start(self, code: CodeType, _offset: int) -> None:
        """Hear of a call."""
        if self._phase[0]:
            self.note(self._phase[0], code)

    def note(self, phase: int, code: CodeType) -> None:
        """Write a function down, the first time in a phase."""
        key = (phase, id(code))
        if key in self._known:
            return
        self._known[key] = code  # held, so that no other code gets its number
        if code.co_filename.startswith(self._prefix) and _is_function(code):
            module = code.co_filename[len(self._prefix) :].removesuffix(".py").replace(os.sep, ".")
            self._write([phase, module.removesuffix(".__init__"), code.co_qualname, code.co_firstlineno])

    def _write(self, row: list[object]) -> None:
        if self._file < 0:
            flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY
            self._file = os.open(self._folder / f"{os.getpid()}.calls", flags, 0o600)  # shared with later forks
            os.write(self._file, json.dumps(_kind(sys.orig_argv, Path(self._prefix).name)).encode() + b"\n")
        os.write(self._file, json.dumps(row).encode() + b"\n")


@dataclass(frozen=True)
class Trace:
    """Lets what goes on in some processes be recorded.

    Args:
        folder: of the trace, with nothing of an earlier one in it.
        package: folder of the package.
    """

    folder: Path
    package: Path
    _bytes: list[mmap.mmap] = field(default_factory=list, init=False, repr=False, compare=False)

    def environment(self, roots: Sequence[Path] = ()) -> dict[str, str]:
        """Return what a process must be started with, and those that it starts.

        Args:
            roots: of modules, before those that are known.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "sitecustomize.py").write_bytes(Path(__file__).read_bytes())
        known = [str(self.folder), *map(str, roots), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        own = {FOLDER: str(self.folder), PACKAGE: str(self.package), "PYTHONPATH": os.pathsep.join(known)}
        return {**os.environ, **own}

    @contextmanager
    def phase(self, number: int) -> Iterator[None]:
        """Record under a number."""
        if not self._bytes:
            self._bytes.append(_shared_byte(self.folder))
        self._bytes[0][0] = number
        try:
            yield
        finally:
            self._bytes[0][0] = 0

    def wait_until_quiet(self, seconds: float, pause: Callable[[], object]) -> None:
        """Wait, in a phase, until nothing was called for the first time for a while.

        Args:
            seconds: the while.
            pause: what to do meanwhile, for some milliseconds.
        """
        size, since = self.size, time.monotonic()
        while time.monotonic() - since < seconds:
            pause()
            if self.size != size:
                size, since = self.size, time.monotonic()

    @property
    def size(self) -> int:
        """How much was recorded so far; as long as it stays, nothing new is called."""
        return sum(path.stat().st_size for path in self.folder.glob("*.calls"))

    def calls(self, number: int) -> set[Call]:
        """Return what was called in a phase."""
        found = set()
        for path in self.folder.glob("*.calls"):
            process, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            found |= {Call(process, *row[1:]) for row in rows if row[0] == number}
        return found


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & _FUNCTION_FLAGS) and code.co_name not in _PARTS


def _kind(arguments: Sequence[str], package: str) -> str:
    """Name a kind of process by the module that it runs."""
    if _SPARK in arguments:
        return "Spark worker"
    if "-m" in arguments[:-1]:
        module = arguments[arguments.index("-m") + 1]
        return module.removeprefix(f"{package}.") if module.startswith(f"{package}.") else module.rpartition(".")[2]
    return "worker process" if any("multiprocessing" in each for each in arguments) else "other"


def _shared_byte(folder: Path) -> mmap.mmap:
    path = folder / _PHASE
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        os.ftruncate(descriptor, 1)
        return mmap.mmap(descriptor, 1)
    finally:
        os.close(descriptor)


if __name__ == "sitecustomize" and os.environ.get(FOLDER):
    Recorder(Path(os.environ[FOLDER]), os.environ[PACKAGE]).install()
