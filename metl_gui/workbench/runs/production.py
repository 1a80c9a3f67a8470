"""Production runs as processes of their own: started, found, followed, stopped and gone on with.

Nothing is shared with them but files, in the run folder:

    order.json    what was asked
    plan.json     the published state, compiled
    process.json  the process: number, time of start, computer, heartbeat
    events.jsonl  what happens, for windows and command lines that attach
    stop          somebody wants it to end
    report.json   the report, at the end
    checkpoint/   where it goes on after a kill, unless it is elsewhere

Source: docs/guide/running.md, "Production over a folder"; docs/architecture/model.md, "States, publishing, being out of
step".
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.events import EngineEvent
from metl_gui.core.runs.kafka import KafkaAddress, is_kafka, parse_address
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import NOOP, KeptSpec, RunSpec
from metl_gui.engine.execution.preconditions import check_run
from metl_gui.engine.runs.event_log import EventTail
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.streaming.checkpoint import head_of
from metl_gui.engine.streaming.report import report_without_counts, stream_report
from metl_gui.errors import RunError, near_names
from metl_gui.own_files import make_folder, open_file, write_file
from metl_gui.values import Value
from metl_gui.workbench.profiles.saved_profiles import find_target
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest, pin, prepare_run, servers_of, with_whole_paths
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import (
    STOP,
    ProcessFacts,
    forget_old_runs,
    read_facts,
    request_stop,
    runs_folder,
    wait_until_over,
)

ORDER = "order.json"
PLAN = "plan.json"
LOG = "process.log"
_START_SECONDS = 60.0
_LOOK_SECONDS = 0.05
_ROOT = Path(__file__).resolve().parents[3]


class ProductionOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What the process of a production run is told.

    Args:
        kept: the run, without its plan, which lies beside.
        target: where Spark runs, as a person wrote it; a profile is looked up by the process itself.
        project: the project file, for newly published states and for the report.
        include_unconfirmed: as of the request.
        follows_published: take a newly published state between two batches.
    """

    kept: KeptSpec = msgspec.field(name="spec")
    target: str
    project: str
    include_unconfirmed: bool = False
    follows_published: bool = True

    @property
    def spec(self) -> RunSpec:
        """The run, without its plan and without secrets."""
        return self.kept.spec


class LiveRun(Value):
    """A production run whose process lives, or died.

    Args:
        run_id: the run.
        folder: its run folder.
        order: what was asked.
        process: what its process said last.
    """

    run_id: str
    folder: Path
    order: ProductionOrder
    process: ProcessFacts

    @property
    def is_alive(self) -> bool:
        """Whether its process lives now."""
        facts = read_facts(self.folder)
        return facts is not None and facts.lives

    def report(self) -> RunReport:
        """Return its report: the last word when it has ended, else what its batches put in place so far."""
        facts = read_facts(self.folder)
        if facts is None or facts.lives or facts.has_died:
            return report_so_far(self.order, has_died=facts is not None and facts.has_died)
        return RunFolder(self.folder).report() or report_of_batches(self.order, self.folder)


def start_production(
    workbench: Workbench,
    request: RunRequest,
    watch: Watch = UNWATCHED,
    environment: Mapping[str, str] | None = None,
) -> LiveRun:
    """Start a production run as a process of its own; it outlives this one.

    Args:
        workbench: the project; read only is enough.
        request: what to do; its mode is production whatever it says.
        watch: progress and cancel of the start.
        environment: variables of the process besides ours.

    Raises:
        UserError: nothing is published, or the run cannot start as it was asked.
        RunError: the process does not start; the error says its last words.
    """
    watch.step("Compiling the published state")
    forget_old_runs(workbench.project_id)
    request = replace(request, policy=msgspec.structs.replace(request.policy, mode=PRODUCTION))
    spec = prepare_run(workbench, request)
    if not spec.policy.checkpoint:
        policy = msgspec.structs.replace(spec.policy, checkpoint=str(Path(spec.policy.folder) / "checkpoint"))
        spec = msgspec.structs.replace(spec, policy=policy)
    target = find_target(request.spark)
    if target.secrets and not request.spark.startswith("@"):
        raise RunError(
            "A production run takes no secrets in its target.",
            "Its order is a file that stays.",
            "Save a profile with metl profile add, and name it as @NAME.",
        )
    _refuse_two(workbench.project_id, spec)
    check_run(spec, target)
    order = ProductionOrder(
        kept=with_whole_paths(spec).as_kept,
        target=request.spark,
        project=str(workbench.path.absolute()),
        include_unconfirmed=request.include_unconfirmed,
        follows_published=spec.source.follow and not spec.mapping.is_frozen,
    )
    return _started(order, spec.mapping.plan, watch, environment)


def resume_production(workbench: Workbench, run_id: str, watch: Watch = UNWATCHED) -> LiveRun:
    """Resume a production run that died, failed or was stopped, where its last batch ended.

    It maps with what is published now, unless it is frozen: then with the state that it had.

    Raises:
        RunError: there is no such run, it is going on, or it cannot go on.
    """
    watch.step("Looking for the run")
    found = find_run(workbench.project_id, run_id)
    if found.is_alive:
        raise RunError(f"Run {run_id} is going on.", hint=f"Attach to it: metl runs PROJECT --attach {run_id}")
    order = msgspec.structs.replace(found.order, project=str(workbench.path.absolute()))
    spec = order.spec
    mapping = msgspec.structs.replace(spec.mapping, plan=(found.folder / PLAN).read_bytes())
    if order.follows_published:
        newest = pin(workbench, PRODUCTION, None, order.include_unconfirmed).mapping
        mapping = msgspec.structs.replace(
            mapping, plan=newest.plan, state=newest.state, hash=newest.hash, publication=newest.publication
        )
    spec = msgspec.structs.replace(spec, mapping=mapping)
    order = msgspec.structs.replace(order, kept=spec.as_kept)
    _refuse_two(workbench.project_id, spec)
    # The order is a file without secrets and plan.
    servers = servers_of(spec.source.address, spec.sink.address, spec.sink.errors)
    check_run(msgspec.structs.replace(spec, servers=servers), find_target(order.target))
    for name in (STOP, "report.json"):
        (found.folder / name).unlink(missing_ok=True)
    return _started(order, mapping.plan, watch)


def live_runs(project_id: str) -> tuple[LiveRun, ...]:
    """Return the production runs of a project whose processes live, newest first."""
    return tuple(run for run in processes(project_id) if run.process.lives)


def died_runs(project_id: str) -> tuple[LiveRun, ...]:
    """Return the production runs of a project whose processes are gone without having ended, newest first."""
    return tuple(run for run in processes(project_id) if run.process.has_died)


def ended_runs(project_id: str) -> tuple[LiveRun, ...]:
    """Return the production runs of a project that have ended in order, newest first."""
    return tuple(run for run in processes(project_id) if not (run.process.lives or run.process.has_died))


def find_run(project_id: str, run_id: str) -> LiveRun:
    """Return a production run by its id, whatever became of its process.

    Raises:
        RunError: there is none on this computer.
    """
    runs = processes(project_id)
    for run in runs:
        if run.run_id == run_id:
            return run
    near = near_names(run_id, [run.run_id for run in runs])
    raise RunError(
        f"There is no production run {run_id} here.",
        f"Run folders are looked for in {runs_folder(project_id)}.",
        near or "See metl runs PROJECT for what there is.",
    )


class EventFollower:
    """Reads what a run tells, from its beginning; the run does not notice.

    Args:
        run: the run.
    """

    def __init__(self, run: LiveRun) -> None:
        self.run = run
        self.is_over = False
        self._tail = EventTail(run.folder / "events.jsonl")

    def read(self) -> Iterator[EngineEvent]:
        """Yield what it told since the last time; after its last event ``is_over`` is true."""
        goes_on = self.run.is_alive  # asked first: what it tells at its end is read then
        yield from self._tail.read()
        self.is_over = not goes_on

    def close(self) -> None:
        """Read no more."""
        self._tail.close()


def follow_events(
    run: LiveRun, on_event: Callable[[EngineEvent], None], is_over: Callable[[], bool] | None = None
) -> RunReport | None:
    """Give on every event of a run, those that happened before included, until it is over.

    Args:
        run: the run; it does not notice.
        on_event: takes the events, on the calling thread.
        is_over: asked several times a second; once it says yes the following ends, and the run goes on.

    Returns:
        The report when the run is over, ``None`` when only the following is.
    """
    follower = EventFollower(run)
    while True:
        for event in follower.read():
            on_event(event)
        if follower.is_over:
            return run.report()
        if is_over is not None and is_over():
            return None
        time.sleep(_LOOK_SECONDS)


def stop_run(run: LiveRun, seconds: float = 0.5) -> bool:
    """Ask a run to end in order, between two batches; what is in place stays and it can go on.

    Args:
        run: the run.
        seconds: how long to wait for its end.

    Returns:
        Whether it has ended by then; if not it is about to.

    Raises:
        RunError: the run folder cannot be written.
    """
    try:
        request_stop(run.folder)
    except OSError as error:
        raise RunError(
            "The run cannot be told to stop.", f"{run.folder}: {error.strerror}.", "Stop it as the user who started it."
        ) from error
    return wait_until_over(run.folder, seconds)


def report_so_far(order: ProductionOrder, *, has_died: bool = False) -> RunReport:
    """Return what the batches or transactions of a run put in place, whatever became of its process and checkpoint."""
    try:
        report = _counted(order.spec, order.target, has_died)
    except RunError as error:
        return report_without_counts(order.spec, order.target, str(error))
    if not has_died:
        return report
    return msgspec.structs.replace(
        report,
        failure="The process of the run is gone: it was killed, or the computer was switched off. "
        f"Nothing is lost; go on with: metl runs {shlex.quote(order.project)} --resume {report.run_id}",
    )


def _counted(spec: RunSpec, target: str, has_died: bool) -> RunReport:
    if not spec.is_lane:
        return stream_report(spec, target, is_stopped=has_died)
    from metl_gui.engine.lanes.report import lane_report  # loads the client of Kafka

    # The order is a file, so secrets are looked up here.
    servers = servers_of(spec.source.address, spec.sink.address, spec.sink.errors)
    return lane_report(msgspec.structs.replace(spec, servers=servers), target, is_stopped=has_died)


def report_of_batches(order: ProductionOrder, folder: Path) -> RunReport:
    """Say of a run that has ended what its batches put in place, where its report is gone or damaged."""
    report = report_so_far(order)
    path = folder / "report.json"
    failure = f"Its report cannot be read; the counts are those of its batches. The file is {path}."
    return msgspec.structs.replace(report, failure=report.failure or failure, is_stopped=True)


def read_order(folder: Path) -> ProductionOrder | None:
    """Read what the production run of a folder was asked, None when there is none."""
    try:
        return msgspec.json.decode((folder / ORDER).read_bytes(), type=ProductionOrder)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None


def processes(project_id: str) -> list[LiveRun]:
    """Return the production runs of a project on this computer, whatever became of their processes, newest first."""
    try:
        folders = sorted(runs_folder(project_id).iterdir(), reverse=True)
    except OSError:
        return []
    found = []
    for folder in folders:
        facts, order = read_facts(folder), read_order(folder)
        if facts is not None and order is not None:
            found.append(LiveRun(facts.run_id, folder, order, facts))
    return found


def _refuse_two(project_id: str, spec: RunSpec) -> None:
    """Refuse what another run that is going on already uses.

    Raises:
        RunError: it has the same checkpoint, the same outputs or the same consumer group; the error names it.
    """
    wanted = head_of(spec)
    for run in live_runs(project_id):
        other = head_of(run.order.spec)
        if spec.source.group and _group_of(spec) == _group_of(run.order.spec):
            raise RunError(
                f"Run {run.run_id} is going on in the same consumer group.",
                f"It is {spec.source.group}. Both would share the partitions, and neither report would hold what both "
                "count.",
                f"Follow it with metl runs PROJECT --attach {run.run_id}, stop it with --stop, or name another.",
            )
        for what, mine, theirs, place in (
            ("checkpoint", wanted.checkpoint, other.checkpoint, spec.policy.checkpoint),
            ("output folder", wanted.sink, other.sink, spec.sink.address),
            ("error store", wanted.errors, other.errors, spec.sink.errors),
        ):
            # Into topics many may write.
            if mine == theirs and mine != NOOP and not is_kafka(place):
                raise RunError(
                    f"Run {run.run_id} is going on with the same {what}.",
                    f"It is {mine}.",
                    f"Follow it with metl runs PROJECT --attach {run.run_id}, stop it with --stop, or name another.",
                )


def _group_of(spec: RunSpec) -> tuple[str, str, str]:
    address = parse_address(spec.source.address) if is_kafka(spec.source.address) else KafkaAddress()
    return spec.source.group, address.bootstrap, address.profile


def _started(
    order: ProductionOrder, plan: bytes, watch: Watch, environment: Mapping[str, str] | None = None
) -> LiveRun:
    folder = Path(order.spec.policy.folder)
    before = read_facts(folder)
    try:
        make_folder(folder)
        write_file(folder / PLAN, plan)
        write_file(folder / ORDER, msgspec.json.format(msgspec.json.encode(order)))
        open_file(folder / LOG, "ab").close()
        _spawn(folder, environment)
    except OSError as error:
        raise RunError(
            "The run folder cannot be written.", f"{folder}: {error.strerror}.", "Free space there or mend its rights."
        ) from error
    end = time.monotonic() + _START_SECONDS
    watch.step("Starting the process of the run")
    while time.monotonic() < end:
        facts = read_facts(folder)
        if facts is not None and (before is None or facts.holder.token != before.holder.token):
            return LiveRun(order.spec.run_id, folder, order, facts)
        time.sleep(_LOOK_SECONDS)
    raise RunError("The process of the run does not start.", _last_words(folder), "Run metl doctor.")


def _spawn(folder: Path, environment: Mapping[str, str] | None) -> None:
    """Start the process by way of a shell that ends at once, so that it is nobody's child and nobody waits for it."""
    known = [str(_ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    command = [sys.executable, "-m", "metl_gui.workbench.production_process", str(folder)]
    subprocess.run(
        ["/bin/sh", "-c", '"$@" </dev/null >>"$0" 2>&1 &', str(folder / LOG), *command],
        check=True,
        cwd="/",
        env={**os.environ, **(environment or {}), "PYTHONPATH": os.pathsep.join(dict.fromkeys(known))},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def _last_words(folder: Path) -> str:
    try:
        lines = (folder / LOG).read_text(errors="replace").splitlines()
    except OSError:
        return "It said nothing."
    return (lines[-1] if lines else "It said nothing.")[:300]
