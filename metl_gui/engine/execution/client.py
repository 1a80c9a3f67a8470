"""The near end of the Spark process: start it, run on it, cancel, stop. Knows neither pyspark nor Qt.

A method that waits returns or raises whatever happens on the other side: when the process dies, the wait ends with
an error and the next run starts a new process.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Self, TypeVar

import msgspec

from metl_gui.core.runs.events import (
    BatchCommitted,
    EngineEvent,
    LaneProgressed,
    LaneTroubled,
    MembersChanged,
    RunFailed,
    RunFinished,
    RunProgressed,
    RunStarted,
    RunStopped,
    SessionFailed,
    SessionReady,
    SessionStarting,
    SourceTroubled,
    StateChanged,
    decode_event,
    failure,
)
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import RunSpec, what_stays
from metl_gui.core.runs.target import LOCAL_TARGET, Target, parse_target
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.runs.commands import CancelRun, Command, StartRun, StartSession
from metl_gui.engine.runs.staging import Staging
from metl_gui.errors import BugError, RunCancelled, RunError, RunKilledError

EventSink = Callable[[EngineEvent], None]
_Value = TypeVar("_Value")

CANCEL_SECONDS = 0.8
"""How long a run may take to stop by itself before its process is ended.

It waits for no job of Spark; in batches, 0.6 s for the batch that is going on.
"""

LANE_CANCEL_SECONDS = 15.0
"""The same of a fast lane, whose tasks end behind their transactions."""

STOP_SECONDS = 5.0
_LAST_CALL_SECONDS = 0.1
_LOOK_SECONDS = 0.05
LOW_PRIORITY = 10
_ROOT = Path(__file__).resolve().parents[3]


class SparkProcess:
    """A Spark session in a process of its own, started again when it has died.

    Args:
        target: where Spark runs.
        low_priority: let other programs go first (for a window that shares the computer with its runs).
        on_event: takes the events of the session; those of a run go to ``run``'s own. Called on its thread.

    Raises:
        RunError: the target is not known.
    """

    def __init__(
        self, target: Target | str = LOCAL_TARGET, *, low_priority: bool = False, on_event: EventSink | None = None
    ) -> None:
        self._target = parse_target(target) if isinstance(target, str) else target
        self.priority = LOW_PRIORITY if low_priority else 0
        self.on_event = on_event
        self._link: _Link | None = None
        self._running = threading.Lock()
        self._starting = threading.Lock()
        self._cancel_at: float | None = None
        self._cancel_seconds = CANCEL_SECONDS
        self._run_id = ""

    def start(self) -> Self:
        """Begin to start the session in the background; returns at once, does nothing when it is there."""
        with self._starting:
            # What refused a session may be mended by now: a server that was down, a package that was missing.
            if self._link is None or not self._link.is_alive or self._link.refusal is not None:
                if self._link is not None:
                    self._link.close()
                with uninterrupted():
                    self._link = _Link(self._target, self.priority, self.on_event)
        return self

    def use(self, target: Target) -> None:
        """Run elsewhere from now on; the session that is there is ended when it is of another target.

        Raises:
            RunError: a run is going on.
        """
        with self._starting:
            if target == self._target:
                return
            if self._run_id:
                raise _runs_already()
            if self._link is not None:
                self._link.close()
                self._link = None
            self._target = target

    @property
    def place(self) -> Target:
        """Where it runs."""
        return self._target

    @property
    def target(self) -> str:
        """Where it runs, as people read it."""
        return self._target.shown

    @property
    def is_ready(self) -> bool:
        """Whether the session takes runs without a wait."""
        return self._link is not None and self._link.is_alive and self._link.ready.is_set()

    @property
    def process_id(self) -> int | None:
        """The id of the process, None when there is none."""
        return self._link.process.pid if self._link is not None and self._link.is_alive else None

    @property
    def folder(self) -> Path | None:
        """The folder for everything temporary."""
        return self._link.folder if self._link is not None else None

    def wait_until_ready(self, timeout: float = 120.0) -> None:
        """Wait for the session.

        Raises:
            SetupError: it does not start.
            RunError: the process died, or the time is over.
        """
        link = _certain(self.start()._link)
        link.decided.wait(timeout)
        if link.refusal is not None:
            raise failure(link.refusal)
        if not link.ready.is_set():
            raise link.died()

    def run(self, spec: RunSpec, on_event: EventSink | None = None) -> RunReport:
        """Run and wait for the end.

        Args:
            spec: what to do.
            on_event: takes every event of the run, on the calling thread.

        Raises:
            RunError: the run failed, or another one is going on.
            SetupError: Spark does not start.
            RunCancelled: somebody called ``cancel``.
        """
        if not self._running.acquire(blocking=False):
            raise _runs_already()
        try:
            self._cancel_at, self._run_id = None, spec.run_id
            self._cancel_seconds = LANE_CANCEL_SECONDS if spec.is_lane else CANCEL_SECONDS
            take = on_event or (lambda _event: None)
            report = self._attempt(spec, take, is_last=False)
            return report if report is not None else _certain(self._attempt(spec, take, is_last=True))
        finally:
            self._run_id = ""
            self._running.release()

    def cancel(self) -> None:
        """Ask the run that is going on to stop; ``run`` raises ``RunCancelled`` within a second. Any thread may ask."""
        link, run_id = self._link, self._run_id
        if link is not None and run_id and self._cancel_at is None:
            self._cancel_at = time.monotonic() + self._cancel_seconds
            link.send(CancelRun(run_id))

    def stop(self) -> None:
        """End the process and everything it started."""
        with self._starting:
            if self._link is not None:
                self._link.close()
                self._link = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _attempt(self, spec: RunSpec, on_event: EventSink, *, is_last: bool) -> RunReport | None:
        """Run in the process that is there; None when it died before it had begun, as after the loss of its JVM."""
        link = _certain(self.start()._link)
        link.send(StartRun(spec))
        started = time.monotonic()
        is_begun = is_last
        while True:
            left = float("inf") if self._cancel_at is None else self._cancel_at - time.monotonic()
            event = link.next_event(max(0.0, min(left, _LOOK_SECONDS)))
            if event is None and left <= 0:
                link.kill()
                event = RunStopped(spec.run_id, round(time.monotonic() - started, 3))
            elif event is None and not link.is_alive:
                event = link.next_event(0)
                if event is None and not is_begun and not link.refusal:
                    return None
                event = event or link.failed_run(spec.run_id)
            if event is not None:
                is_begun = True
                if not link.is_alive and not spec.policy.checkpoint:
                    Staging(spec).discard()
                on_event(event)
                match event:
                    case RunFinished(report=report):
                        return report
                    case RunFailed():
                        raise failure(event)
                    case RunStopped():
                        raise RunCancelled(what_stays(spec.sink.address, in_batches=bool(spec.policy.checkpoint)))
                    case (
                        (SessionStarting() | SessionReady() | SessionFailed())
                        | (RunStarted() | RunProgressed() | BatchCommitted() | StateChanged() | SourceTroubled())
                        | (LaneProgressed() | LaneTroubled() | MembersChanged())
                    ):
                        continue


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl+C back until a short piece of work is done, which would leave something behind when broken off.

    Python answers signals on the main thread alone, so work elsewhere is not broken off anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held and callable(before):
            before(*held[0])


class _Link:
    """One started process: its pipes, and the thread that reads its events."""

    def __init__(self, target: Target, priority: int, on_event: EventSink | None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="metl-spark-"))
        self.log = self.folder / "host.log"
        self.on_event = on_event
        self.ready = threading.Event()
        self.decided = threading.Event()
        self.refusal: SessionFailed | None = None
        self._is_killed = False
        self._run_events: queue.Queue[EngineEvent] = queue.Queue()
        self._sending = threading.Lock()
        try:
            self.process = self._started(priority)
        except BaseException:  # a second Ctrl+C breaks off whatever is going on
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self._reader = threading.Thread(target=self._read, name="spark-events", daemon=True)
        self._reader.start()
        self.send(StartSession(target))

    def _started(self, priority: int) -> subprocess.Popen[bytes]:
        temporary = self.folder / "tmp"
        temporary.mkdir()
        known = [str(_ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "metl_gui.engine.host", str(self.folder), str(priority)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={
                    **build.named(),
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(dict.fromkeys(known)),
                    # What lies elsewhere stays when the process is ended while Java starts.
                    "TMPDIR": str(temporary),
                },
                # A Ctrl+C in the terminal is for the program, which cancels the run in order.
                start_new_session=True,
            )

    @property
    def is_alive(self) -> bool:
        return not self._is_killed and self._reader.is_alive() and self.process.poll() is None

    def send(self, command: Command) -> None:
        line = msgspec.json.encode(command) + b"\n"
        # A process that is gone, or is being ended by another thread, is noticed by who waits.
        with self._sending, contextlib.suppress(OSError, ValueError):
            _pipe(self.process.stdin).write(line)
            _pipe(self.process.stdin).flush()

    def next_event(self, timeout: float) -> EngineEvent | None:
        try:
            return self._run_events.get(timeout=timeout) if timeout else self._run_events.get_nowait()
        except queue.Empty:
            return None

    def died(self) -> RunKilledError:
        return RunKilledError(
            "The Spark process ended unexpectedly.",
            f"{self._last_words()} Nothing was written.".strip(),
            "Check that there is memory left on this computer, then run again: it starts anew.",
        )

    def failed_run(self, run_id: str) -> RunFailed:
        return RunFailed.of(run_id, self.died())

    def kill(self) -> None:
        """End the process and its JVM, and wait for no more than the last call that it may be in; ``close`` does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._is_killed = True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_LAST_CALL_SECONDS)

    def close(self) -> None:
        """End the process in order, or at once when it does not listen; nothing of it stays."""
        try:
            with self._sending, contextlib.suppress(OSError):
                _pipe(self.process.stdin).close()
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        finally:  # a second Ctrl+C breaks off the wait
            with uninterrupted():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)  # a JVM whose host was killed while it started
                self.process.wait()
                self._reader.join()
                _pipe(self.process.stdout).close()
                shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self) -> None:
        for line in _pipe(self.process.stdout):
            self._take(decode_event(line))
        self.process.wait()
        self.decided.set()

    def _take(self, event: EngineEvent) -> None:
        match event:
            case SessionReady():
                self.ready.set()
                self.decided.set()
            case SessionFailed():
                self.refusal = event
                self.decided.set()
            case SessionStarting() | RunStarted() | RunProgressed() | RunFinished() | RunFailed() | RunStopped():
                pass
            case BatchCommitted() | StateChanged() | SourceTroubled():
                pass
            case LaneProgressed() | LaneTroubled() | MembersChanged():
                pass
        if isinstance(event, SessionStarting | SessionReady | SessionFailed):
            if self.on_event is not None:
                self.on_event(event)
        else:
            self._run_events.put(event)

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self.log.read_text(errors="replace").splitlines()
            return next((line.strip()[:300] for line in reversed(lines) if "Error" in line or "Exception" in line), "")
        return ""


def _runs_already() -> RunError:
    return RunError("A run is going on already.", "One Spark session does one run at a time.", "Stop it first.")


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    return _certain(stream)


def _certain(value: _Value | None) -> _Value:
    """Return what the order of calls promises to be there."""
    if value is None:
        raise BugError("the Spark process was used before it was started")
    return value
