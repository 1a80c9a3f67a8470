"""The runs of a project: those it keeps, those that are going on, and those that were killed; and two compared.

Source: ux.md §5 (two runs can be compared) and §7 (reports of production runs).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from metl_gui.engine.event_log import bounded
from metl_gui.engine.event_tail import EventTail
from metl_gui.engine.events import EngineEvent
from metl_gui.engine.report import RunReport
from metl_gui.engine.runs import RunFolder
from metl_gui.errors import ProjectError, near_names
from metl_gui.own_files import open_file
from metl_gui.store.repositories.runs import LoggedRun
from metl_gui.workbench.past_run import PastRun, RunStatus
from metl_gui.workbench.places import run_folder
from metl_gui.workbench.production import (
    LiveRun,
    ProductionOrder,
    died_runs,
    ended_runs,
    live_runs,
)
from metl_gui.workbench.progress import UNWATCHED, do_here
from metl_gui.workbench.run_comparison import RunComparison, compare_runs
from metl_gui.workbench.running import looked_into
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.unfinished_runs import asked, collect_unfinished

__all__ = ["PastRun", "RunComparison", "RunStatus", "collect_ended", "compare_runs", "events_of", "find_past", "runs"]

_log = logging.getLogger(__name__)
_COLLECTED = "collected"
_ASKED_AT_ONCE = 8


def runs(workbench: Workbench, limit: int | None = None) -> tuple[PastRun, ...]:
    """Return the runs of a project, newest first; those that ended without being in it are put into it first.

    Args:
        workbench: the project; read only is enough.
        limit: how many at most.
    """
    collect_ended(workbench)
    collect_unfinished(workbench)
    live = _of_processes(live_runs(workbench.project_id), RunStatus.RUNNING)
    died = _of_processes(died_runs(workbench.project_id), RunStatus.DIED)
    above = {run.run_id for run in (*live, *died)}
    logged = [_of_logged(workbench, run) for run in workbench.kept.runs.newest(limit) if run.run_id not in above]
    found = sorted(
        (*live, *died, *_damaged(workbench), *logged), key=lambda run: (run.when_ms, run.run_id), reverse=True
    )
    return tuple(found[:limit])


def find_past(workbench: Workbench, run_id: str) -> PastRun:
    """Return one run by its id, or by the beginning of it where that is enough.

    Raises:
        ProjectError: there is none, there are more, or the id is empty.
    """
    if not run_id:
        raise ProjectError("No run is named.", hint=f"See metl runs {workbench.path.name} for what there is.")
    known = runs(workbench)
    found = [run for run in known if run.run_id == run_id] or [run for run in known if run.run_id.startswith(run_id)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ProjectError(
            f"{len(found)} runs begin with {run_id}.", ", ".join(run.run_id for run in found[:5]), "Write more of it."
        )
    raise ProjectError(
        f"{workbench.path.name} has no run {run_id}.",
        near_names(run_id, [run.run_id for run in known]),
        "See metl runs PROJECT for what there is.",
    )


def events_of(workbench: Workbench, run_id: str) -> tuple[EngineEvent, ...]:
    """Return the events of a run, for its charts: from the project, else from its run folder; empty when none are."""
    known = workbench.kept.runs.events(run_id)
    if known:
        return tuple(msgspec.convert(event, EngineEvent, str_keys=True) for event in known)
    return tuple(EventTail(run_folder(workbench.project_id, run_id) / "events.jsonl").read())


def collect_ended(workbench: Workbench) -> tuple[str, ...]:
    """Put the reports of production runs that have ended into the project, each once.

    Returns:
        The ids of those that were new to it.
    """
    new: list[str] = []
    for run in ended_runs(workbench.project_id):
        report = RunFolder(run.folder).report()
        if report is None or _mark(workbench, report) in _marks(run.folder):
            continue
        try:
            collect(workbench, run.order, report)
        except ProjectError as error:
            _log.info("run %s is not in the project yet: %s", run.run_id, error)
            continue
        new.append(run.run_id)
    return tuple(new)


def collect(workbench: Workbench, order: ProductionOrder, report: RunReport) -> None:
    """Put one report into the project, and find the versions that the run did not know.

    Raises:
        ProjectError: the project cannot be written.
    """
    folder = Path(order.spec.folder)
    report, _ = looked_into(workbench, report, UNWATCHED, do_here)
    events = bounded(list(EventTail(folder / "events.jsonl").read()))
    ended_ms = (folder / "report.json").stat().st_mtime_ns // 1_000_000
    workbench.add_run(report.as_json(), list(events), asked(order.spec), ended_ms)
    with open_file(folder / _COLLECTED, "ab") as marks:
        marks.write(f"{_mark(workbench, report)}\n".encode())


def _mark(workbench: Workbench, report: RunReport) -> str:
    """Name what is in a project: a run that was gone on with has another report than before."""
    return f"{report.seconds} {workbench.path.absolute()}"


def _marks(folder: Path) -> list[str]:
    try:
        return (folder / _COLLECTED).read_text().splitlines()
    except OSError:
        return []


def _of_processes(found: Sequence[LiveRun], status: RunStatus) -> list[PastRun]:
    """Ask all at once: the counts of lanes lie on servers, and those that are away let each one wait for seconds."""
    with ThreadPoolExecutor(_ASKED_AT_ONCE) as asking:
        return list(asking.map(lambda run: _of_process(run, status), found))


def _of_process(run: LiveRun, status: RunStatus) -> PastRun:
    report = run.report()
    return PastRun(run.run_id, status, run.process.holder.since_ms, report, asked(run.order.spec), run.folder)


def _damaged(workbench: Workbench) -> list[PastRun]:
    """Return the runs that have ended whose reports are neither in the project nor to be read."""
    found = [run for run in ended_runs(workbench.project_id) if RunFolder(run.folder).report() is None]
    known = {run.run_id for run in workbench.kept.runs.newest()} if found else set()
    return [_of_process(run, RunStatus.FAILED) for run in found if run.run_id not in known]


def _of_logged(workbench: Workbench, run: LoggedRun) -> PastRun:
    report = msgspec.convert(run.report, RunReport, str_keys=True)
    folder = run_folder(workbench.project_id, run.run_id)
    return PastRun(run.run_id, _status_of(report), run.when_ms, report, run.spec, folder)


def _status_of(report: RunReport) -> RunStatus:
    if report.outcome:
        return RunStatus(report.outcome)
    if report.failure:
        return RunStatus.FAILED
    return RunStatus.STOPPED if report.is_stopped else RunStatus.FINISHED
