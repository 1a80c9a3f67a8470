"""A replay: what runs set aside is mapped again, after the mapping was mended.

What was read is marked in the error store, so a second replay goes on where the first one ended; what cannot be mapped
yet waits there again. Source: docs/reference/commands.md, "metl replay"; docs/reference/set-aside.md;
docs/reference/message.md.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from metl_gui.core.progress import UNWATCHED, TaskRunner, Watch, run_inline
from metl_gui.core.runs.kafka import is_kafka, parse_address
from metl_gui.core.runs.report import Tally, report_of
from metl_gui.core.runs.run_spec import NOOP, Mode, RunSpec, SourceSpec
from metl_gui.engine.checks.destinations import refuse_shared_places
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.engine.sources.error_store import ErrorStore
from metl_gui.errors import RunError
from metl_gui.values import Value
from metl_gui.workbench.profiles.saved_profiles import find_target, kafka_servers
from metl_gui.workbench.runs.mapping_run import (
    PRODUCTION,
    TEST,
    EventSink,
    RunRequest,
    RunResult,
    heard_by,
    pin,
    run_prepared,
    servers_of,
    with_staging_plan,
)
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import run_folder


class StillWaiting(Value):
    """What a replay would find in an error store.

    Args:
        reasons: what its records were set aside for.
        is_untouched: nothing of it was replayed yet, so all that the run set aside waits.
    """

    reasons: tuple[str, ...] = ()
    is_untouched: bool = False


def what_waits(errors: str | Path, mode: Mode = TEST) -> StillWaiting:
    """Look what a replay of a mode would find in an error store or topic; costs a look at each part, or at the newest.

    Nothing waits in a store that is gone or cannot be read.
    """
    if is_kafka(str(errors)):
        return _what_waits_in_topic(str(errors), mode)
    try:
        store = ErrorStore.at(errors)
        parts = store.waiting(mode)
        behind = {name for mark in store.marks(mode) for name in mark.read_to}
    except RunError:
        return StillWaiting()
    is_untouched = not any(part.name in behind for part in store.meant())
    return StillWaiting(tuple(sorted({part.reason for part in parts})), is_untouched and bool(parts))


def _what_waits_in_topic(errors: str, mode: Mode) -> StillWaiting:
    from metl_gui.engine.tasks.error_topic import what_waits_in_topic

    try:
        return StillWaiting(*what_waits_in_topic(kafka_servers(errors), errors, mode))
    except RunError:
        return StillWaiting()


def prepare_replay(workbench: Workbench, request: RunRequest) -> RunSpec:
    """Compile a state and find the error store; nothing is written yet.

    Args:
        workbench: the project.
        request: a replay. Its source is an error store, one ``reason=`` folder of it, or what one replay set aside
            again; or an error topic. Without a sink, in tests only, messages go into a folder of the replay's own in
            the user's cache; with ``noop`` it is only tried, and nothing is marked. Without a place for errors these go
            into one within the error store, or to the end of the error topic, where they go on waiting.

    Raises:
        RunError: there is no such error store or reason, or production has no sink.
        ProjectError: there is no such state.
        UserError: production is asked for and nothing is published, or not this state.
    """
    _check(request)
    address, is_topic = request.source.address, is_kafka(request.source.address)
    store = None if is_topic else _store_of(request.source)
    pinned = pin(workbench, request.mode, request.state, request.include_unconfirmed)
    run_id = new_run_id()
    folder = run_folder(workbench.project_id, run_id)
    if request.sink.address == NOOP:
        own = str(folder / "errors")
    else:
        own = str(store.again_folder(run_id)) if store is not None else address.strip()
    source = address.strip() if is_topic else str(Path(address).expanduser().resolve())
    sink, errors = request.sink.address or str(folder / "messages"), request.sink.errors or own
    mapping = pinned.mapping
    if request.source.holds == "messages":
        mapping = with_staging_plan(pinned, request)
    return RunSpec(
        run_id=run_id,
        source=msgspec.structs.replace(request.source, address=source),
        sink=msgspec.structs.replace(request.sink, address=sink, errors=errors),
        # No lane has to agree with a replay.
        mapping=msgspec.structs.replace(mapping, matrix=""),
        policy=msgspec.structs.replace(request.policy, folder=str(folder), notes=pinned.notes),
        servers=servers_of(source, sink, errors),
        mask_key=request.mask_key,
    )


def _store_of(source: SourceSpec) -> ErrorStore:
    reasons = source.replay.reasons if source.replay is not None else ()
    return ErrorStore.at(source.address, reasons, source.max_record_bytes)


def replay(
    workbench: Workbench,
    request: RunRequest,
    spark: SparkProcess | None = None,
    on_event: EventSink | None = None,
    watch: Watch = UNWATCHED,
    aside: TaskRunner = run_inline,
    *,
    keeps_session: bool = False,
) -> RunResult:
    """Map again what waits in an error store, and keep the report with the project.

    Where nothing waits, nothing is started, and the report says so.

    Args:
        workbench: the opened project; read only is enough.
        request: what to do.
        spark: a Spark process that is started already; by default one for this replay only.
        on_event: takes every event, on the calling thread.
        watch: progress and cancel.
        aside: as of a run.
        keeps_session: as of a run.

    Raises:
        RunError: there is no such error store, it is damaged, or the replay cannot go on; then all waits as before.
        SetupError: Spark does not start on this computer.
        RunCancelled: it was cancelled; then all waits as before.
    """
    watch.step("Looking at what waits")
    spec = prepare_replay(workbench, request)
    if not waits(spec, request):
        return nothing_waits(spec, request)
    react = heard_by(on_event)
    return run_prepared(workbench, spec, request.spark, spark, react, watch, aside, keeps_session=keeps_session)


def make_topics(workbench: Workbench, request: RunRequest, tell: Callable[[str], None]) -> None:
    """Make the topics that a replay writes to and that are missing, telling of each before any is made.

    Raises:
        UserError: the replay cannot be prepared, or servers do not answer or refuse.
    """
    from metl_gui.engine.checks.topic_checks import refuse_loop, topics_to_create
    from metl_gui.engine.kafka.topics import ERRORS, create_topics, why_of

    spec = prepare_replay(workbench, request)
    refuse_loop(spec)
    refuse_shared_places(spec)
    missing = topics_to_create(spec)
    for plan in missing:
        tell(f"Making topic {plan.text}")
    for servers, is_errors in ((spec.servers_of("sink"), False), (spec.servers_of("errors"), True)):
        if servers is not None:
            create_topics(servers, [plan for plan in missing if (plan.why == why_of(ERRORS)) is is_errors])


def waits(spec: RunSpec, request: RunRequest) -> bool:
    """Return whether anything may wait.

    Raises:
        RunError: the error store is damaged, or servers do not answer or refuse.
    """
    if is_kafka(spec.source.address):
        from metl_gui.engine.sources.topic_source import ErrorTopicSource

        return bool(ErrorTopicSource(spec).bytes_total)
    replay = request.source.replay
    return bool(_store_of(request.source).waiting(request.mode, replay is not None and replay.is_again))


def _check(request: RunRequest) -> None:
    source, sink, replay = request.source, request.sink, request.source.replay
    if is_kafka(source.address):
        address = parse_address(source.address)
        if len(address.topics) != 1:
            raise RunError(
                "A replay reads one error topic.",
                f"{source.address} names {'a pattern' if address.pattern else len(address.topics) or 'none'}.",
                "Name the topic that the run was given with --errors.",
            )
    if sink.has_tombstones and not is_kafka(sink.address):
        raise RunError("--tombstones is for a kafka:// sink.", hint="Leave --tombstones out, or give a kafka:// sink.")
    if request.mode == PRODUCTION and not sink.address and sink.format != "stage":
        raise RunError(
            "A replay in production needs to know where its messages go.",
            "No sink is given.",
            "Name a new or empty folder or topics with --sink, or noop to try it.",
        )
    if replay is not None and replay.is_again and replay.reasons:
        raise RunError(
            "Everything again is not for single reasons.",
            "What one reason set aside may wait for another reason since its last replay.",
            "Leave the reasons out, or replay only what waits.",
        )


def nothing_waits(spec: RunSpec, request: RunRequest) -> RunResult:
    """Return the result of a replay that had nothing to do."""
    nothing = "Nothing waits here: what was set aside has been replayed already, if there was anything."
    report = report_of(spec, find_target(request.spark).shown, Tally(), 0.0, (nothing,))
    report = msgspec.structs.replace(report, outputs="")
    return RunResult(report, Path(spec.policy.folder), spec.samples_folder)
