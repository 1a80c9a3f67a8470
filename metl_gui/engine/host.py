"""The process that holds the Spark session: commands in on standard input, events out on standard output.

One JSON line each. It ends when its standard input closes, and takes the JVM and its temporary folder with it.
Started by ``execution.client`` as ``python -m metl_gui.engine.host FOLDER PRIORITY``; the first command names the
target.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

import msgspec

from metl_gui.core.runs.events import (
    EngineEvent,
    RunFailed,
    RunFinished,
    RunProgressed,
    RunStopped,
    SessionFailed,
    SessionReady,
    SessionStarting,
    encode_event,
)
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.core.runs.target import Target
from metl_gui.engine.execution.driver import Strategy, drive
from metl_gui.engine.execution.once import OnceStrategy
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.lanes.strategy import TransactionStrategy
from metl_gui.engine.runs.commands import CancelRun, Command, StartRun, StartSession
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.sessions.runtime import Runtime, start_runtime
from metl_gui.engine.spark.target_check import check_target
from metl_gui.engine.streaming.strategy import BatchStrategy
from metl_gui.errors import RunCancelled, SetupError, UserError

_log = logging.getLogger(__name__)

_LAST_WORDS_SECONDS = 2.0
"""How long a run may take to notice by itself that the JVM is gone."""


class ActiveRun:
    """The one run that is going on.

    Args:
        spec: what it does.
    """

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.started = time.monotonic()
        self.is_cancelled = threading.Event()
        self.is_told = threading.Event()


class Host:
    """The session and the run of this process.

    Args:
        folder: everything temporary.
        events: where event lines go.
    """

    def __init__(self, folder: Path, events: BinaryIO) -> None:
        self.folder = folder
        self.events = events
        self.runtime: Runtime | None = None
        self.refusal: SessionFailed | None = None
        self.is_decided = threading.Event()
        self.active: ActiveRun | None = None
        self.is_ending = threading.Event()
        self._writing = threading.Lock()

    def serve(self, commands: BinaryIO) -> None:
        """Obey until the commands end."""
        decoder = msgspec.json.Decoder(Command)
        for line in commands:
            match decoder.decode(line):
                case StartSession(target=target):
                    threading.Thread(target=self._start_session, args=(target,), name="session", daemon=True).start()
                case StartRun(spec=spec):
                    self.active = ActiveRun(spec)
                    threading.Thread(target=self._run, args=(self.active,), name="run", daemon=True).start()
                case CancelRun(run_id=run_id):
                    self._cancel(run_id)

    def quit(self) -> None:
        """Take the session down and end this process."""
        self.is_ending.set()
        if self.active is not None:
            self.active.is_cancelled.set()
        if self.runtime is not None:
            self.runtime.end()
        _end_children()
        shutil.rmtree(self.folder, ignore_errors=True)
        # Threads that wait for a JVM which is gone must not keep the process.
        os._exit(0)

    def emit(self, event: EngineEvent) -> None:
        """Send an event; those of a run are also kept in its folder."""
        line = encode_event(event)
        with self._writing:
            try:
                self.events.write(line + b"\n")
                self.events.flush()
            except OSError:
                _log.info("the client is gone, an event was not delivered")

    def _start_session(self, target: Target) -> None:
        started = time.monotonic()
        self.emit(SessionStarting(target.shown))
        build.build_in_background()
        try:
            check_target(target)
            self.runtime = start_runtime(target, self.folder)
            seconds = round(time.monotonic() - started, 3)
            workers = tuple(self.runtime.workers)
            self.emit(SessionReady(target.shown, self.runtime.version, seconds, workers, self.runtime.protection))
        except UserError as error:
            self._refuse(error)
        except Exception as error:  # noqa: BLE001 - the edge of a thread, logged
            _log.exception("the session did not start")
            self._refuse(SetupError("Spark does not start.", str(error)[:500], "Run `metl doctor`."))
        finally:
            self.is_decided.set()
        if self.runtime is not None:
            threading.Thread(target=self._watch_session, args=(self.runtime,), name="watch", daemon=True).start()
            if self.active is None:
                self._warm_up(self.runtime)

    def _watch_session(self, runtime: Runtime) -> None:
        """End this process when its session has ended by itself; the client starts a new one for its next run."""
        runtime.wait()
        if self.is_ending.is_set():
            return
        _log.error("the Spark session ended by itself")
        active = self.active
        if active is not None and not active.is_told.wait(_LAST_WORDS_SECONDS):
            error = runtime.died()
            self.emit(RunFailed.of(active.spec.run_id, error))
        self.quit()

    def _warm_up(self, runtime: Runtime) -> None:
        try:
            runtime.warm_up()
        except Exception:  # noqa: BLE001 - the edge of a thread; a run will say what is wrong
            _log.warning("the warm-up did not finish", exc_info=True)

    def _refuse(self, error: UserError) -> None:
        self.refusal = SessionFailed(error.title, error.text, error.hint, isinstance(error, SetupError))
        self.emit(self.refusal)

    def _run(self, active: ActiveRun) -> None:
        while not self.is_decided.wait(0.05):
            if active.is_cancelled.is_set():
                break
        if self.runtime is not None and not self.runtime.answers():
            active.is_told.set()
            return  # this process is about to end, and the client begins again with another
        event = self._outcome(active)
        if self.active is active:
            self.active = None
        self._keep(active.spec, event)
        self.emit(event)
        active.is_told.set()

    def _outcome(self, active: ActiveRun) -> RunFinished | RunFailed | RunStopped:
        run_id = active.spec.run_id
        try:
            if active.is_cancelled.is_set():
                raise RunCancelled("the run was cancelled before it began")
            if self.runtime is None:
                refusal = self.refusal or SessionFailed("Spark did not start.", "", "")
                return RunFailed(run_id, refusal.title, refusal.text, refusal.hint, refusal.is_setup)
            return RunFinished(run_id, self._execute(self.runtime, active))
        except RunCancelled:
            return RunStopped(run_id, round(time.monotonic() - active.started, 3))
        except UserError as error:
            return RunFailed.of(run_id, error)
        except Exception as error:  # noqa: BLE001 - the edge of a thread, logged
            _log.exception("run %s ended in a fault of the program", run_id)
            return RunFailed(
                run_id,
                "The run ended in a fault of the program.",
                f"{type(error).__name__}: {error}"[:500],
                "Nothing was written. Please report this with the log.",
            )

    def _execute(self, runtime: Runtime, active: ActiveRun) -> RunReport:
        def emit(event: EngineEvent) -> None:
            if not isinstance(event, RunProgressed) or not active.is_cancelled.is_set():
                self._keep(active.spec, event)
                self.emit(event)

        run = RunContext(runtime, active.spec, emit, active.is_cancelled)
        return drive(strategy_of(run))

    def _keep(self, spec: RunSpec, event: EngineEvent) -> None:
        try:
            RunFolder(Path(spec.policy.folder)).append_event(encode_event(event))
        except OSError as error:
            _log.warning("an event was not kept: %s", error)

    def _cancel(self, run_id: str) -> None:
        active = self.active
        if active is not None and active.spec.run_id == run_id:
            active.is_cancelled.set()


def strategy_of(run: RunContext) -> Strategy:
    """Choose how a run is done."""
    if run.spec.is_lane:
        return TransactionStrategy(run)
    return BatchStrategy(run) if run.spec.policy.checkpoint else OnceStrategy(run)


def _end_children() -> None:
    """End what is left: a JVM that is still starting looks at no pipe and would stay for ever."""
    for list_ in Path("/proc/self/task").glob("*/children"):
        for child in map(int, list_.read_text().split()):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def main(arguments: list[str]) -> None:
    """Serve one client until it closes the pipe."""
    folder, priority = Path(arguments[0]), int(arguments[1])
    if priority:
        os.nice(priority)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    # Java and Python workers inherit standard output; only events may go into the client's pipe.
    events = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    host = Host(folder, events)
    try:
        host.serve(sys.stdin.buffer)
    finally:
        host.quit()


if __name__ == "__main__":
    main(sys.argv[1:])
