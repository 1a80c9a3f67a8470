"""A mapping run: a state compiled, run on Spark, counted, and kept with the project.

A test maps every block as it stands. Production maps with a published state: blocks that somebody confirmed, and those
that need review as their schemas say, held or mapped with what is left.
Source: docs/guide/running.md, "A run"; docs/architecture/model.md, "States, publishing, being out of step" (a run is
pinned to one state and its hash); docs/architecture/model.md, "Algorithms" (A6, whole or not at all).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from metl_gui.core.dimensional.histories import entity_histories
from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.core.matrix.canonical import is_carried, state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, TaskRunner, Watch, run_inline
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.runs.events import EngineEvent, LaneProgressed, RunProgressed, RunStarted
from metl_gui.core.runs.kafka import KafkaServers, is_kafka
from metl_gui.core.runs.records import MappedRecord, SetAsideRecord
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import (
    NOOP,
    MappingSpec,
    Mode,
    RunPolicy,
    RunSpec,
    SinkSpec,
    SourceSpec,
)
from metl_gui.core.runs.target import LOCAL_TARGET, Target
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.execution.preconditions import check_run
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.mapping.plan_compiler import compile_plan, staging_plan
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.engine.streaming.report import stream_report
from metl_gui.errors import ProjectError, RunCancelled, RunError
from metl_gui.values import Value
from metl_gui.workbench.addresses import known_block_name
from metl_gui.workbench.importing.version_tasks import REASONS, collect_tasks
from metl_gui.workbench.profiles.saved_profiles import find_target, kafka_servers, shared_folder
from metl_gui.workbench.publishing.publication import production_document
from metl_gui.workbench.runs.unfinished_runs import RunRecord, clear_killed_runs, collect_unfinished
from metl_gui.workbench.samples import run_records
from metl_gui.workbench.samples.kept_samples import keep_run_samples
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import FRAMING, project_settings
from metl_gui.workbench.user_folders import KEPT_DAYS, forget_old_runs, run_folder

EventSink = Callable[[EngineEvent], None]
Reaction = Callable[[EngineEvent], Iterable[EngineEvent]]
"""What is done on this side when an event of a run comes; returns events that are the run's too."""

_LOOK_SECONDS = 0.05
TEST: Final = "test"
PRODUCTION: Final = "production"
_NAMED = 3


class RunRequest(Value):
    """What a person asks of a run.

    Args:
        source: what is to be read; with ``replay`` an error store, whose records are mapped again.
        sink: where to write; with an empty address into a folder of the run's own in the user's cache.
        mapping: whether it stays with the state of the beginning, and how long it waits; the state itself is chosen
            when the run is prepared. A following run in production that is not frozen takes what is published.
        policy: how it is done, but for the folder. As ``test`` every block is mapped as it stands, those that nobody
            confirmed counted by entity; in ``production`` a published state and its confirmed blocks, what needs review
            held.
        spark: where Spark runs: a target as ``core.runs.target`` knows it, or ``@`` and the name of a profile.
        state: run an earlier state instead of the current one; in production another published one than what is live.
        include_unconfirmed: let production map blocks that nobody has confirmed too.
        mask_key: of the hashes that the histories of the sink keep.
    """

    source: SourceSpec
    sink: SinkSpec = msgspec.field(default_factory=SinkSpec)
    mapping: MappingSpec = msgspec.field(default_factory=MappingSpec)
    policy: RunPolicy = msgspec.field(default_factory=RunPolicy)
    spark: str = LOCAL_TARGET
    state: int | None = None
    include_unconfirmed: bool = False
    mask_key: MaskKey | None = None

    @property
    def mode(self) -> Mode:
        """``test`` or ``production``."""
        return self.policy.mode

    @property
    def is_replay(self) -> bool:
        """Whether it reads what was set aside before."""
        return self.source.replay is not None

    @property
    def in_batches(self) -> bool:
        """Whether what it puts in place is put there batch after batch."""
        return bool(self.source.follow or self.policy.checkpoint)


class RunResult(Value):
    """A run that finished.

    Args:
        report: its counts, as docs/reference/report.md has them, with ``outputs`` and ``errors``.
        folder: the run folder: ``spec.json``, ``events.jsonl``, ``report.json``.
        samples: folder of records kept beside their messages.
        version_tasks: versions that its records showed and the project does not have.
    """

    report: RunReport
    folder: Path
    samples: Path
    version_tasks: tuple[VersionTask, ...] = ()

    def first_results(self, count: int, entity: str = "") -> list[MappedRecord]:
        """Return records beside the messages they became, for people to look at: of one entity, or of all."""
        return run_records.first_results(self.samples, count, entity)

    def first_set_aside(self, count: int, reason: str = "") -> list[SetAsideRecord]:
        """Return records that were set aside: for one reason, or for all in turn."""
        return run_records.first_set_aside(Path(self.report.errors), count, reason) if self.report.errors else []

    def as_json(self) -> dict[str, object]:
        """Return the document of ``metl run``."""
        return self.report.as_json()


class PinnedState(Value):
    """What a run maps with, to its end.

    Args:
        document: the state.
        mapping: it compiled.
        notes: what a person should know of it.
    """

    document: Document
    mapping: MappingSpec
    notes: tuple[str, ...] = ()


def pin(workbench: Workbench, mode: Mode, state: int | None = None, include_unconfirmed: bool = False) -> PinnedState:
    """Choose the state of a run and compile it.

    Cost: linear in the matrix and the trees, for the plan and the hash.

    Raises:
        ProjectError: there is no such state.
        UserError: production is asked for and nothing is published, or not this state.
    """
    is_production = mode == PRODUCTION
    # Before the state: what is published in between must not lend its number to what was published before it.
    publication = workbench.kept.states.publication() if is_production else 0
    document = production_document(workbench, state) if is_production else workbench.at_state(state)
    is_whole = include_unconfirmed or not is_production
    hash_ = state_hash(document)
    wire, framing = workbench.kept.writer_schemas.all(), project_settings(workbench).settings[FRAMING]
    plan = plans.encode(compile_plan(document, hash_, is_whole, wire, framing))
    notes = () if is_whole else _left_out(document)
    mapping = MappingSpec(
        plan=plan, state=document.state, hash=hash_, publication=publication, matrix=workbench.project_id
    )
    return PinnedState(document, mapping, notes)


def _left_out(document: Document) -> tuple[str, ...]:
    """Describe which blocks production does without, so that nobody wonders where their messages are."""
    blocks = [block for block in document.matrix.blocks() if block.elements and not is_carried(block)]
    if not blocks:
        return ()
    named = ", ".join(str(known_block_name(document, block.key)) for block in blocks[:_NAMED])
    more = f" and {len(blocks) - _NAMED} more" if len(blocks) > _NAMED else ""
    what = "block that nobody has confirmed was" if len(blocks) == 1 else "blocks that nobody has confirmed were"
    return (f"{len(blocks)} {what} left out: {named}{more}. Confirm and publish, or ask to include them.",)


def prepare_run(workbench: Workbench, request: RunRequest) -> RunSpec:
    """Compile a state and decide on the folders; nothing is written yet.

    Cost: linear in the matrix and the trees, for the plan and the hash.

    Raises:
        ProjectError: there is no such state.
        UserError: production is asked for and nothing is published, or not this state.
        RunError: the limit reads nothing.
    """
    limit = request.source.limit
    if limit is not None and limit < 1:
        raise RunError(f"A limit of {limit} records reads nothing.", hint="Give 1 or more, or leave it out.")
    if limit is not None and request.in_batches:
        raise RunError("A run in batches has no limit.", hint="Leave the limit out, or --follow and --checkpoint.")
    _check_topics(request)
    pinned = pin(workbench, request.mode, request.state, request.include_unconfirmed)
    run_id = new_run_id()
    folder = run_folder(workbench.project_id, run_id)
    asked, sink = request.policy.checkpoint, request.sink
    mapping = pinned.mapping
    if request.source.holds == "messages":
        mapping = with_staging_plan(pinned, request)
    histories = entity_histories(pinned.document) if sink.format == "stage" and not sink.histories else sink.histories
    checkpoint = asked or (str(folder / "checkpoint") if request.source.follow else "")
    return RunSpec(
        run_id=run_id,
        source=request.source,
        sink=msgspec.structs.replace(
            sink,
            address=sink.address or str(_own_sink(request.spark, run_id) or folder / "messages"),
            errors=sink.errors or (str(Path(checkpoint) / "errors") if asked else ""),
            histories=histories,
        ),
        mapping=msgspec.structs.replace(
            mapping,
            # Histories are those of one state.
            is_frozen=request.mapping.is_frozen or request.state is not None or sink.format == "stage",
            wait_seconds=request.mapping.wait_seconds,
        ),
        policy=msgspec.structs.replace(
            request.policy,
            folder=str(folder),
            checkpoint=checkpoint,
            notes=(*pinned.notes, *_kept_how_long(request)),
        ),
        servers=servers_of(request.source.address, sink.address, sink.errors),
        mask_key=request.mask_key,
    )


def with_staging_plan(pinned: PinnedState, request: RunRequest) -> MappingSpec:
    """Return a state with the plan by which messages that exist are staged."""
    is_whole = request.include_unconfirmed or request.mode == TEST
    plan = plans.encode(staging_plan(pinned.document, pinned.mapping.hash, is_whole))
    return msgspec.structs.replace(pinned.mapping, plan=plan)


def _check_topics(request: RunRequest) -> None:
    """Refuse what is asked of topics where there are none, so that no option does nothing.

    Raises:
        RunError: the error says what goes together.
    """
    source, sink, is_fast = request.source, request.sink, request.policy.lane == "fast"
    is_read, is_written = is_kafka(source.address), is_kafka(sink.address)
    if is_fast and not (is_read and is_written and source.follow):
        raise RunError(
            "A fast lane goes from topics to topics, and follows.",
            f"It was asked from {source.address} to {sink.address or 'a folder'}"
            f"{'' if source.follow else ', up to an end'}.",
            "Give a kafka:// source and sink and --follow, or leave --lane fast out.",
        )
    for name, is_asked, is_for in (
        ("--start", bool(source.start), is_read),
        ("--tombstones", sink.has_tombstones, is_written),
        ("--group", bool(source.group), is_fast),
        ("--wait", request.mapping.wait_seconds > 0, is_fast),
    ):
        if is_asked and not is_for:
            where = {"--start": "a kafka:// source", "--tombstones": "a kafka:// sink"}.get(name, "--lane fast")
            raise RunError(f"{name} is for {where}.", hint=f"Leave {name} out, or give {where}.")


def servers_of(*places: str) -> tuple[KafkaServers, ...]:
    """Look up the Kafka servers of those places that are topics, with their secrets.

    Raises:
        RunError: an address cannot be read, there is no such profile, or a secret cannot be read.
    """
    return tuple(kafka_servers(place) for place in places if is_kafka(place))


def _own_sink(target: str, run_id: str) -> Path | None:
    """Return a folder of the run's own that the workers of a profile see too; none where it names no such place."""
    shared = shared_folder(target)
    return Path(shared) / f"metl-{run_id}" / "messages" if shared else None


def _kept_how_long(request: RunRequest) -> tuple[str, ...]:
    if request.mode == TEST or request.sink.errors or request.policy.checkpoint:
        return ()
    return (f"What is set aside lies in your cache for {KEPT_DAYS} days; name a folder for it to keep it longer.",)


def background_spark(on_event: EventSink) -> SparkProcess:
    """Return Spark for a window, not started yet: runs on it let other programs go first.

    Args:
        on_event: takes the events of the session, on a thread of its own.
    """
    return SparkProcess(low_priority=True, on_event=on_event)


def run_mapping(
    workbench: Workbench,
    request: RunRequest,
    spark: SparkProcess | None = None,
    on_event: EventSink | None = None,
    watch: Watch = UNWATCHED,
    aside: TaskRunner = run_inline,
    *,
    keeps_session: bool = False,
) -> RunResult:
    """Map a source with a state of the project and keep the report with the project.

    Args:
        workbench: the opened project; read only is enough.
        request: what to do.
        spark: a Spark process that is started already or stays for the next run; by default one for this run only.
        on_event: takes every event of the run, on the calling thread.
        watch: progress in bytes, and cancel: it answers within a second.
        aside: where what was set aside for want of a version is looked into; a window has a process for it.
        keeps_session: where Spark runs here, leave the session to whoever runs next, and take the one that is left.

    Raises:
        RunError: the run cannot start or go on; then nothing is left of its outputs.
        SetupError: Spark does not start on this computer.
        RunKilledError: its Spark was killed; nothing is left of its outputs, and the project has it with its counts.
        RunCancelled: it was cancelled; likewise.
    """
    watch.step("Compiling the matrix")
    spec = prepare_run(workbench, request)
    react = heard_by(on_event)
    return run_prepared(workbench, spec, request.spark, spark, react, watch, aside, keeps_session=keeps_session)


def heard_by(on_event: EventSink | None) -> Reaction:
    """Return the reaction that has somebody hear of each event, whatever he returns, and adds none."""

    def hear(event: EngineEvent) -> Iterable[EngineEvent]:
        if on_event is not None:
            on_event(event)
        return ()

    return hear


def run_prepared(
    workbench: Workbench,
    spec: RunSpec,
    target: str = LOCAL_TARGET,
    spark: SparkProcess | None = None,
    react: Reaction | None = None,
    watch: Watch = UNWATCHED,
    aside: TaskRunner = run_inline,
    *,
    keeps_session: bool = False,
) -> RunResult:
    """Do a run that was prepared, and react to its events; see ``run_mapping``."""
    collect_unfinished(workbench)
    forget_old_runs(workbench.project_id)
    notes = (*spec.policy.notes, *clear_killed_runs(workbench.project_id))
    spec = msgspec.structs.replace(spec, policy=msgspec.structs.replace(spec.policy, notes=notes))
    where = find_target(target)
    spec = with_whole_paths(spec) if keeps_session else with_whole_outputs(spec)
    if spark is None:
        check_run(spec, where)
    with RunRecord(workbench, spec, where.shown) as record:

        def take(event: EngineEvent) -> None:
            record.take(event)
            tell(watch, event)
            for more in react(event) if react is not None else ():
                take(more)

        watch.step("Waiting for Spark")
        with _process(spark, where, keeps_session) as process, _cancelling(process, watch):
            report = _run(process, spec, take)
            record.settle(report)
        # Who stopped a run in batches still wants to know what it met.
        report, tasks = looked_into(workbench, report, UNWATCHED if report.is_stopped else watch, aside)
        report = record.keep(_sampled(workbench, spec, report))
    return RunResult(report, Path(spec.policy.folder), spec.samples_folder, tasks)


def with_whole_paths(spec: RunSpec) -> RunSpec:
    """Name every place whole: a process that outlives this one has another working folder."""
    source = msgspec.structs.replace(spec.source, address=_whole(spec.source.address))
    return msgspec.structs.replace(with_whole_outputs(spec), source=source)


def with_whole_outputs(spec: RunSpec) -> RunSpec:
    """Name every place that a run writes whole: who clears up after one that is killed has another working folder."""
    sink, policy = spec.sink, spec.policy
    address = sink.address if sink.address == NOOP else _whole(sink.address)
    return msgspec.structs.replace(
        spec,
        sink=msgspec.structs.replace(sink, address=address, errors=_whole(sink.errors)),
        policy=msgspec.structs.replace(policy, checkpoint=_whole(policy.checkpoint)),
    )


def _whole(text: str) -> str:
    """Name a folder or file whole; what is none stays as it is, so that the checks of a run refuse it by its name."""
    if not text or "://" in text:
        return text
    try:
        return str(Path(text).expanduser().absolute())
    except RuntimeError:  # the home folder of somebody unknown
        return text


def _run(process: SparkProcess, spec: RunSpec, take: EventSink) -> RunReport:
    """Run; one in batches that had to be broken off to stop it in time still has a report of what is in place."""
    try:
        return process.run(spec, take)
    except RunCancelled:
        if not spec.policy.checkpoint:
            raise
        return stream_report(spec, process.target, is_stopped=True)


def looked_into(
    workbench: Workbench, report: RunReport, watch: Watch, aside: TaskRunner
) -> tuple[RunReport, tuple[VersionTask, ...]]:
    """Find the versions that a run did not know; where that fails its report says so, for the run itself is done."""
    if not report.errors or not report.by_reason.keys() & set(REASONS):
        return report, ()
    try:
        return report, collect_tasks(workbench, report.errors, report.run_id, report, watch, aside)
    except (RunError, ProjectError, RunCancelled) as stop:
        problem = f"Which versions the messages show that nobody has imported was not found out: {stop}"
        return msgspec.structs.replace(report, problems=(*report.problems, problem)), ()


def _sampled(workbench: Workbench, spec: RunSpec, report: RunReport) -> RunReport:
    """Keep what a test showed as samples of its schemas; where that fails its report says so."""
    if spec.policy.mode != TEST or spec.is_replay:
        return report
    kept = keep_run_samples(workbench, spec.samples_folder, report.errors, report.run_id)
    if not kept.problem:
        return report
    problem = f"Its messages were not all kept as samples: {kept.problem}"
    return msgspec.structs.replace(report, problems=(*report.problems, problem))


def tell(watch: Watch, event: EngineEvent) -> None:
    """Tell the progress of a run; it is stopped through its process, never from within an event."""
    match event:
        case RunStarted(bytes_total=total, unit=unit):
            watch.tell(f"Mapping: {unit}" if total else "Waiting for the first batch", 0, total)
        case RunProgressed():
            watch.tell(f"Mapping: {_course(event)}; {event.unit}", event.bytes_read, event.bytes_total)
        case LaneProgressed():
            watch.tell(f"Mapping: {_lane_course(event)}; records", event.tally.read)
        case _:
            return


def _course(event: RunProgressed) -> str:
    """Describe how far a run is and how fast it goes."""
    rate = event.tally.read / event.seconds if event.seconds else 0.0
    parts = [f"{event.tally.read:,} records read, {event.tally.mapped:,} mapped, {rate:,.0f} a second"]
    if event.batch:
        parts.append(f"batch {event.batch}, {event.bytes_waiting:,} {event.unit} wait")
    if event.seconds_left:
        parts.append(f"about {duration(event.seconds_left)} left")
    return ", ".join(parts)


def _lane_course(event: LaneProgressed) -> str:
    """Describe how far a lane is, how far behind, and how long a record takes."""
    rate, lag = sum(one.rate for one in event.partitions), sum(one.lag for one in event.partitions)
    parts = [f"state {event.state}", f"{rate:,.0f} a second", f"lag {lag:,}"]
    if event.latency.p50 is not None and event.latency.p99 is not None:
        parts.append(f"{event.latency.p50:,.0f} ms, 99 % within {event.latency.p99:,.0f} ms")
    if event.tally.set_aside:
        parts.append(f"{event.tally.set_aside:,} set aside")
    if event.waiting:
        parts.append(f"{event.waiting:,} wait for a version")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Write a time that people wait."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    if whole < 6000:
        return f"{round(whole / 60)} min"
    return f"{whole / 3600:.1f} h"


@contextmanager
def _process(given: SparkProcess | None, target: Target, keeps_session: bool) -> Iterator[SparkProcess]:
    if given is not None:
        # The default is whatever session of this computer is there; any other target is meant to the letter.
        if not (target.master == LOCAL_TARGET and not target.profile and given.place.is_local):
            given.use(target)
        yield given
        return
    with SparkProcess(target, is_kept=keeps_session) as own:
        yield own


@contextmanager
def _cancelling(process: SparkProcess, watch: Watch) -> Iterator[None]:
    """Hand a person's wish to stop on to the run, also while no event comes."""
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(_LOOK_SECONDS):
            if watch.is_cancelled:
                process.cancel()

    looker = threading.Thread(target=look, name="run-cancel", daemon=True)
    looker.start()
    try:
        yield
    finally:
        is_over.set()
        looker.join()
