"""The runs of a project: those it keeps, those that are going on, and those that were killed; and two compared.

``PastRun`` is one run as the history of a project knows it. ``compare_runs`` puts two side by side: what they read,
what became of it, how full each attribute is, and what was set aside. Source: docs/guide/running.md, "The Run page"
(two runs can be compared); docs/reference/commands.md, "metl runs".
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from metl_gui.core.progress import UNWATCHED, run_inline
from metl_gui.core.runs.events import EngineEvent
from metl_gui.core.runs.report import RunReport
from metl_gui.engine.runs.event_log import EventTail, bounded
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.errors import ProjectError, near_names
from metl_gui.own_files import open_file
from metl_gui.store.repositories.runs import LoggedRun
from metl_gui.values import Value
from metl_gui.workbench.runs.mapping_run import looked_into
from metl_gui.workbench.runs.production import LiveRun, ProductionOrder, died_runs, ended_runs, live_runs
from metl_gui.workbench.runs.unfinished_runs import collect_unfinished, request_of
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import run_folder


class RunStatus(StrEnum):
    """What became of a run.

    One that stopped or died ran in batches and can go on; of one that was cancelled or killed there are only counts.
    """

    FINISHED = "finished"
    RUNNING = "running"
    STOPPED = "stopped"
    FAILED = "failed"
    DIED = "died"
    CANCELLED = "cancelled"
    KILLED = "killed"


_OUTCOMES = {RunStatus.STOPPED: RunStatus.CANCELLED, RunStatus.DIED: RunStatus.KILLED}


class PastRun(Value):
    """One run of a project.

    Args:
        run_id: its id.
        status: what became of it.
        when_ms: when its report was written, or when it began (milliseconds since 1970).
        report: its counts; of one that is going on, what its batches put in place so far; of one that was cancelled or
            killed, what had been counted until then.
        spec: what was asked, where that is known.
        folder: its run folder; it may be gone by now.
    """

    run_id: str
    status: RunStatus
    when_ms: int
    report: RunReport
    spec: Mapping[str, Any]
    folder: Path

    @property
    def mode(self) -> str:
        """``test`` or ``production``."""
        return self.report.mode

    @property
    def state(self) -> int:
        """The state it mapped with, the last one where there were more."""
        return self.report.state

    @property
    def problems(self) -> tuple[str, ...]:
        """What a person should know of it; why it ended before its time comes first."""
        return (*filter(None, (self.report.failure,)), *self.report.problems)

    @property
    def outcome(self) -> RunStatus:
        """How it ended, whether or not it can go on: ``stopped`` is ``cancelled`` too, and ``died`` is ``killed``."""
        return _OUTCOMES.get(self.status, self.status)

    @property
    def can_go_on(self) -> bool:
        """Whether it can be resumed: it ran in batches, and did not reach its end; a warehouse knows where to go on."""
        return (
            bool(self.report.checkpoint)
            and self.report.format != "stage"
            and self.status in {RunStatus.STOPPED, RunStatus.FAILED, RunStatus.DIED}
        )

    def as_json(self) -> dict[str, Any]:
        """Return one row of ``metl runs --json``."""
        return {
            "run_id": self.run_id,
            "status": self.status.value,
            "outcome": self.outcome.value,
            "when_ms": self.when_ms,
            "can_go_on": self.can_go_on,
            "folder": str(self.folder),
            "report": self.report.as_json(),
            "spec": dict(self.spec),
        }


class FigureComparison(Value):
    """One figure of two runs.

    Args:
        name: what it is.
        a, b: of the first and of the second run; ``None`` where a run has none.
    """

    name: str
    a: float | None
    b: float | None

    @property
    def change(self) -> float | None:
        """How much more the second has, ``None`` where one has none."""
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def differs(self) -> bool:
        """Whether they are not the same."""
        return self.a != self.b


class FillRate(Value):
    """How often an attribute is filled in the messages of an entity version, in two runs.

    Args:
        entity: ``entity@version``.
        path: the CDM attribute.
        filled_a, filled_b: messages in which it is not null.
        messages_a, messages_b: messages of the entity, of all its versions.
    """

    entity: str
    path: str
    filled_a: int
    filled_b: int
    messages_a: int
    messages_b: int

    @property
    def rate_a(self) -> float | None:
        """Share of the first run's messages, ``None`` where it has none of the entity."""
        return self.filled_a / self.messages_a if self.messages_a else None

    @property
    def rate_b(self) -> float | None:
        """Share of the second run's messages, ``None`` where it has none of the entity."""
        return self.filled_b / self.messages_b if self.messages_b else None

    @property
    def change(self) -> float:
        """By how much the share grew; an entity without messages counts as never filled."""
        return (self.rate_b or 0.0) - (self.rate_a or 0.0)


class RunComparison(Value):
    """Two runs compared.

    Args:
        a, b: the runs.
        rows: what was read and what became of it, with bytes and rates.
        by_entity, by_reason, by_skip, by_version: messages, set-aside records, skipped ones and records, by name.
        fill_rates: of every attribute that one of them filled, those that changed most first.
    """

    a: PastRun
    b: PastRun
    rows: tuple[FigureComparison, ...]
    by_entity: tuple[FigureComparison, ...]
    by_reason: tuple[FigureComparison, ...]
    by_skip: tuple[FigureComparison, ...]
    by_version: tuple[FigureComparison, ...]
    fill_rates: tuple[FillRate, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl runs --compare``."""
        document: dict[str, Any] = {"a": self.a.as_json(), "b": self.b.as_json()}
        for part in ("rows", "by_entity", "by_reason", "by_skip", "by_version"):
            document[part] = [{"name": f.name, "a": f.a, "b": f.b, "change": f.change} for f in getattr(self, part)]
        document["fill_rates"] = [
            {
                "entity": each.entity,
                "path": each.path,
                "filled_a": each.filled_a,
                "filled_b": each.filled_b,
                "rate_a": each.rate_a,
                "rate_b": each.rate_b,
            }
            for each in self.fill_rates
        ]
        return document


_ROWS: tuple[tuple[str, Callable[[RunReport], float]], ...] = (
    ("read", lambda r: r.read),
    ("mapped", lambda r: r.mapped),
    ("filtered", lambda r: r.filtered),
    ("set aside", lambda r: r.set_aside),
    ("skipped", lambda r: r.skipped),
    ("messages", lambda r: r.messages_out),
    ("bytes in", lambda r: r.bytes_in),
    ("bytes out", lambda r: r.bytes_out),
    ("seconds", lambda r: r.seconds),
    ("records a second", lambda r: r.records_per_second),
    ("kernel ns a record", lambda r: round(r.kernel.mean_ns, 1)),
)


def compare_runs(a: PastRun, b: PastRun) -> RunComparison:
    """Compare two runs.

    Order: rows as a report has them; named figures by name; fill rates by how much they changed, then by name.
    """
    first, second = a.report, b.report
    return RunComparison(
        a,
        b,
        tuple(FigureComparison(name, of(first), of(second)) for name, of in _ROWS),
        _figures(first.by_entity, second.by_entity),
        _figures(first.by_reason, second.by_reason),
        _figures(first.by_skip, second.by_skip),
        _figures(first.by_version, second.by_version),
        tuple(sorted(_fill_rates(first, second), key=lambda each: (-abs(each.change), each.entity, each.path))),
    )


def _figures(a: Mapping[str, int], b: Mapping[str, int]) -> tuple[FigureComparison, ...]:
    return tuple(FigureComparison(name, a.get(name, 0), b.get(name, 0)) for name in sorted(a.keys() | b.keys()))


def _fill_rates(a: RunReport, b: RunReport) -> Iterator[FillRate]:
    for entity in sorted(a.by_attribute.keys() | b.by_attribute.keys()):
        in_a, in_b = a.by_attribute.get(entity, {}), b.by_attribute.get(entity, {})
        name = entity.rpartition("@")[0]
        for path in sorted(in_a.keys() | in_b.keys()):
            yield FillRate(
                entity, path, in_a.get(path, 0), in_b.get(path, 0), a.by_entity.get(name, 0), b.by_entity.get(name, 0)
            )


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
    folder = Path(order.spec.policy.folder)
    report, _ = looked_into(workbench, report, UNWATCHED, run_inline)
    events = bounded(list(EventTail(folder / "events.jsonl").read()))
    ended_ms = (folder / "report.json").stat().st_mtime_ns // 1_000_000
    workbench.add_run(report.as_json(), list(events), request_of(order.spec), ended_ms)
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
    return PastRun(run.run_id, status, run.process.holder.since_ms, report, request_of(run.order.spec), run.folder)


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
