"""The near end of the Spark process: start it, run on it, cancel, stop. Knows neither pyspark nor Qt.

A method that waits returns or raises whatever happens on the other side: when the process dies, the wait ends with
an error and the next run starts a new process.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Self, TypeVar

import msgspec

from metl_gui.core.runs.events import (
    BatchCommitted,
    EngineEvent,
    LaneProgressed,
    LaneTroubled,
    LoadCommitted,
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
from metl_gui.engine.execution.host_process import HostConnection, OwnProcess
from metl_gui.engine.execution.kept_session import connect_kept
from metl_gui.engine.runs.commands import CancelRun, Command, StartRun, StartSession
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.errors import BugError, RunCancelled, RunError, RunKilledError

EventSink = Callable[[EngineEvent], None]
_Value = TypeVar("_Value")

CANCEL_SECONDS = 0.8
"""How long a run may take to stop by itself before its process is ended.

It waits for no job of Spark; in batches, 0.6 s for the batch that is going on.
"""

LANE_CANCEL_SECONDS = 15.0
"""The same of a fast lane, whose tasks end behind their transactions."""

_LOOK_SECONDS = 0.05
LOW_PRIORITY = 10


class SparkProcess:
    """A Spark session in a process of its own, started again when it has died.

    Args:
        target: where Spark runs.
        low_priority: let other programs go first (for a window that shares the computer with its runs).
        is_kept: use the session of this computer that outlives its clients, which is started where there is none; one
            of its own where that has another client just now, or the target is elsewhere.
        on_event: takes the events of the session; those of a run go to ``run``'s own. Called on its thread.

    Raises:
        RunError: the target is not known.
    """

    def __init__(
        self,
        target: Target | str = LOCAL_TARGET,
        *,
        low_priority: bool = False,
        is_kept: bool = False,
        on_event: EventSink | None = None,
    ) -> None:
        self._target = parse_target(target) if isinstance(target, str) else target
        self.priority = LOW_PRIORITY if low_priority else 0
        self.is_kept = is_kept
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
                    self._link = _Link(self._connection(), self._target, self.on_event)
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
        return self._link.connection.process_id if self._link is not None and self._link.is_alive else None

    @property
    def folder(self) -> Path | None:
        """The folder for everything temporary."""
        return self._link.connection.folder if self._link is not None else None

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

    def _connection(self) -> HostConnection:
        kept = connect_kept(self._target) if self.is_kept else None
        return kept if kept is not None else OwnProcess(self.priority)

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
                        | (LoadCommitted() | LaneProgressed() | LaneTroubled() | MembersChanged())
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
    """A process with a session: what is sent to it, and the thread that reads its events."""

    def __init__(self, connection: HostConnection, target: Target, on_event: EventSink | None) -> None:
        self.connection = connection
        self.on_event = on_event
        self.ready = threading.Event()
        self.decided = threading.Event()
        self.refusal: SessionFailed | None = None
        self._is_killed = False
        self._run_events: queue.Queue[EngineEvent] = queue.Queue()
        self._sending = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="spark-events", daemon=True)
        self._reader.start()
        self.send(StartSession(target))

    @property
    def is_alive(self) -> bool:
        return not self._is_killed and self._reader.is_alive() and self.connection.is_running

    def send(self, command: Command) -> None:
        line = msgspec.json.encode(command) + b"\n"
        # A process that is gone, or is being ended by another thread, is noticed by who waits.
        with self._sending, contextlib.suppress(OSError, ValueError):
            self.connection.write(line)

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
        """End the process and its JVM; ``close`` waits for them."""
        self._is_killed = True
        self.connection.kill()

    def close(self) -> None:
        """End what is this client's of the process; nothing of that stays."""
        try:
            with self._sending:
                self.connection.end()
        except subprocess.TimeoutExpired:
            self.kill()
        finally:  # a second Ctrl+C breaks off the wait
            with uninterrupted():
                self.connection.clear(self._reader)

    def _read(self) -> None:
        for line in self.connection.lines():
            self._take(decode_event(line))
        self.connection.wait()
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
            case BatchCommitted() | LoadCommitted() | StateChanged() | SourceTroubled():
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
            lines = self.connection.log.read_text(errors="replace").splitlines()
            return next((line.strip()[:300] for line in reversed(lines) if "Error" in line or "Exception" in line), "")
        return ""


def _runs_already() -> RunError:
    return RunError("A run is going on already.", "One Spark session does one run at a time.", "Stop it first.")


def _certain(value: _Value | None) -> _Value:
    """Return what the order of calls promises to be there."""
    if value is None:
        raise BugError("the Spark process was used before it was started")
    return value
