"""Runs that do not reach their end: put into the history with what was counted; what they left is removed.

While a run goes on, its folder says which project it is of, and a lock that the system releases whenever and however
its process ends says that it lives. Whoever looks at the history next finds what nobody holds any more and puts it
there. Production runs in batches are processes of their own and have files of their own (``runs.production``).

What killed runs left in their output folders is removed before the next run, and told. Nothing of a killed run was in
place, so nothing is lost: its source is as it was, and running it again reads it again.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import msgspec

from metl_gui.core.runs.events import EngineEvent, LaneProgressed, RunProgressed, RunStarted
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.report import RunReport, Tally, report_of
from metl_gui.core.runs.run_spec import NOOP, KeptSpec, RunSpec
from metl_gui.engine.runs.event_log import KEPT_POINTS, EventTail, bounded
from metl_gui.engine.runs.folder_lock import RunLock, drop_lock, owner_of, owner_of_run, run_of_dead
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.runs.staged_outputs import roll_back_moves, sweep
from metl_gui.engine.streaming.report import stream_report
from metl_gui.errors import ProjectError, RunCancelled, RunError, RunKilledError
from metl_gui.own_files import atomic_write, make_folder
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import runs_folder

CANCELLED: Final = "cancelled"
KILLED: Final = "killed"
_BEGUN = "begun.json"
_BEGAN = RunStarted | RunProgressed | LaneProgressed
_MOST_EVENTS = 4 * KEPT_POINTS
_GONE_SECONDS = 15.0
"""How long the Spark of a killed program may take to notice that it is alone, and to end."""

_LOOK_SECONDS = 0.05
_PROCESS_GONE = "The program that did the run was killed, or the computer was switched off."
_NOTHING_KEPT = "The counts are what had been counted until then; none of its messages was kept."
_SENT_STAYS = "The counts are what had been counted until then; what was sent by then stays in its topics."
_IN_PLACE = "Its messages are in place: it was killed after they were, before it had said so."
_log = logging.getLogger(__name__)


class _Begun(msgspec.Struct, frozen=True):
    """What the folder of a run that is not in its project yet says of it.

    Args:
        project: the project file.
        spark: where Spark runs, as people read it.
        spec: what was asked, without secrets.
    """

    project: str
    spark: str
    spec: KeptSpec


class RunRecord:
    """One run on its way into the history of its project, whatever becomes of it.

    As a context, around the whole run: a cancel and the death of Spark are kept before they are raised on.

    Args:
        workbench: the project; read only is enough.
        spec: the run.
        spark: where Spark runs, as people read it.
    """

    def __init__(self, workbench: Workbench, spec: RunSpec, spark: str) -> None:
        self._workbench, self._spec, self._spark = workbench, spec, spark
        self._folder = RunFolder(Path(spec.policy.folder))
        self._events: list[EngineEvent] = []
        self._owner: RunLock | None = None
        self._done: RunReport | None = None
        self._is_new = not self._folder.path.exists()

    def take(self, event: EngineEvent) -> None:
        """Note an event of the run; many are thinned out."""
        self._events.append(event)
        if len(self._events) > _MOST_EVENTS:
            self._events[:] = bounded(self._events)

    def settle(self, report: RunReport) -> None:
        """Note that the run has returned: whatever ends the rest of the way, this report is the one that is kept."""
        self._done = report

    def keep(self, report: RunReport) -> RunReport:
        """Write the run into the project; where that fails the report says so, because the run itself is done."""
        try:
            self._workbench.add_run(report.as_json(), list(bounded(self._events)), request_of(self._spec))
        except ProjectError as error:
            problem = f"The run is not in the project's list: {error}"
            return msgspec.structs.replace(report, problems=(*report.problems, problem))
        _forget(self._folder.path)
        return report

    def __enter__(self) -> Self:
        path = self._folder.path
        try:
            make_folder(path)
            self._owner = RunLock(owner_of(path / _BEGUN), self._spec.run_id)
            begun = _Begun(str(self._workbench.path.absolute()), self._spark, self._spec.as_kept)
            atomic_write(path / _BEGUN, msgspec.json.encode(begun))
        except OSError as error:  # the run itself says what is wrong with its folder
            _log.warning("run %s would not be found after a kill: %s", self._spec.run_id, error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, RunCancelled | KeyboardInterrupt):
                self._keep_unfinished(CANCELLED)
            elif isinstance(error, RunKilledError):
                self._keep_unfinished(KILLED, str(error))
            elif error is not None:
                _forget(self._folder.path)
        finally:
            if self._owner is not None:
                self._owner.release()

    def _keep_unfinished(self, outcome: Literal["cancelled", "killed"], failure: str = "") -> None:
        report = self._done or report_until(self._spec, self._spark, self._events, outcome, failure)
        if self.keep(report) is not report:
            with contextlib.suppress(OSError):
                self._folder.write_report(report)  # for whoever can write the project next
        elif self._is_new and not any(isinstance(event, _BEGAN) for event in self._events):
            shutil.rmtree(self._folder.path, ignore_errors=True)  # it says nothing that the project does not


def request_of(spec: RunSpec) -> dict[str, Any]:
    """Return what was asked of a run as the project keeps it: without the plan, which the state stands for."""
    document: dict[str, Any] = msgspec.to_builtins(spec.as_kept)
    return document


def report_until(
    spec: RunSpec,
    spark: str,
    events: Iterable[EngineEvent],
    outcome: Literal["cancelled", "killed"],
    failure: str = "",
) -> RunReport:
    """Return how far a run came that did not reach its end.

    Args:
        spec: the run.
        spark: where Spark ran, as people read it.
        events: what it told, in order.
        outcome: how it ended.
        failure: why, where it was not a person's wish.

    Returns:
        Of a run in batches what these put in place; else what was counted last, which is in no place.
    """
    is_in_batches = bool(spec.policy.checkpoint) and spec.policy.lane == "batch"
    report = _of_batches(spec, spark) if is_in_batches else None
    if report is None:
        report = _of_events(spec, spark, events, is_in_place=outcome == KILLED and _is_in_place(spec))
    return msgspec.structs.replace(report, outcome=outcome, failure=failure, is_stopped=True)


def _of_batches(spec: RunSpec, spark: str) -> RunReport | None:
    try:
        return stream_report(spec, spark)
    except RunError as error:
        _log.info("what %s put in place is not known: %s", spec.run_id, error)
        return None


def _of_events(spec: RunSpec, spark: str, events: Iterable[EngineEvent], *, is_in_place: bool) -> RunReport:
    last = next((e for e in reversed([*events]) if isinstance(e, RunProgressed | LaneProgressed)), None)
    tally, seconds = (last.tally, last.seconds) if last is not None else (Tally(), 0.0)
    is_sent = is_kafka(spec.sink.address)
    note = _SENT_STAYS if is_sent else _IN_PLACE if is_in_place else _NOTHING_KEPT
    report = report_of(spec, spark, tally, seconds, (note,))
    return msgspec.structs.replace(report, outputs=spec.sink.address if is_sent or is_in_place else "", errors="")


def _is_in_place(spec: RunSpec) -> bool:
    """Whether the messages of a run are where they were to go: in a folder that was free, and they come whole."""
    try:
        return spec.sink.address != NOOP and any(Path(spec.sink.address).expanduser().iterdir())
    except (OSError, RuntimeError):
        return False


def collect_unfinished(workbench: Workbench) -> tuple[str, ...]:
    """Put into the project what its runs left that were killed, or that could not be written into it when they ended.

    Returns:
        The ids of those runs.
    """
    try:
        folders = [path.parent for path in sorted(runs_folder(workbench.project_id).glob(f"*/{_BEGUN}"))]
    except OSError as error:
        _log.debug("unfinished runs are not looked for: %s", error)
        return ()
    return tuple(folder.name for folder in folders if _is_over(folder) and _collected(workbench, folder))


def _is_over(folder: Path) -> bool:
    """Whether the program that did a run is gone, and with it the Spark that it had, which may take a moment."""
    if run_of_dead(owner_of(folder / _BEGUN)) is None:
        return False
    spark, end = owner_of_run(folder), time.monotonic() + _GONE_SECONDS
    while spark.exists() and run_of_dead(spark) is None:
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def _collected(workbench: Workbench, folder: Path) -> bool:
    events = bounded(list(EventTail(folder / "events.jsonl").read()))
    try:
        begun = msgspec.json.decode((folder / _BEGUN).read_bytes(), type=_Begun)
        if Path(begun.project) != workbench.path.absolute() and Path(begun.project).exists():
            return False  # this one is a copy
        spec = begun.spec.spec
        report = RunFolder(folder).report() or report_until(spec, begun.spark, events, KILLED, _PROCESS_GONE)
        ended_ms = max(path.stat().st_mtime_ns for path in folder.iterdir()) // 1_000_000
        workbench.add_run(report.as_json(), list(events), request_of(spec), ended_ms)
    except (OSError, msgspec.MsgspecError, RecursionError, ProjectError) as error:
        _log.warning("the killed run %s is not in the project yet: %s", folder, error)
        return False
    _forget(folder)
    return True


def _forget(folder: Path) -> None:
    """Drop the signs that a run is not in its project yet, and its folder where there is nothing else in it."""
    with contextlib.suppress(OSError):  # the run itself is done, and in its project
        for path in (folder / _BEGUN, owner_of(folder / _BEGUN)):
            path.unlink(missing_ok=True)
        folder.rmdir()


class _RunOutputs(msgspec.Struct, frozen=True):
    """What the record of a run says of where it wrote."""

    sink: str
    errors: str = ""


def clear_killed_runs(project_id: str) -> tuple[str, ...]:
    """Remove what dead runs of a project left in their output folders; those of runs that live are not touched.

    Returns:
        What was removed, in words. Nothing where the folders cannot be looked into.
    """
    try:
        dead = [run for run in runs_folder(project_id).iterdir() if run_of_dead(owner_of_run(run))]
    except OSError as error:
        _log.debug("killed runs are not looked for: %s", error)
        return ()
    return tuple(line for run in dead for line in _cleared(run))


def _cleared(run: Path) -> tuple[str, ...]:
    try:
        places = msgspec.json.decode((run / "spec.json").read_bytes(), type=_RunOutputs)
        taken = roll_back_moves(run)
        named = [place for place in (places.sink, places.errors) if place not in ("", NOOP)]
        folders = [Path(place).expanduser().resolve() for place in named]
        said = sweep([run, *(folder.parent for folder in folders)])
        for folder in folders:
            drop_lock(folder, run.name)
    except (OSError, RuntimeError, msgspec.MsgspecError) as error:
        _log.warning("what the killed run %s left is not removed: %s", run, error)
        return ()
    owner_of_run(run).unlink(missing_ok=True)
    back = (f"{place} was taken back: run {run.name} was killed before its messages were in place." for place in taken)
    return (*back, *said)
