"""A replay: what runs set aside is mapped again, after the mapping was mended.

What was read is marked in the error store, so a second replay goes on where the first one ended; what cannot be mapped
yet waits there again. Source: contract.md §1 (``metl replay``) and §5 (replayed messages).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from metl_gui.core.framing import LIMIT_BYTES
from metl_gui.engine.client import SparkProcess
from metl_gui.engine.report import RunReport, Tally
from metl_gui.engine.runs import LOCAL_TARGET, NOOP, Format, ReplayOrder, RunSpec, new_run_id
from metl_gui.engine.sources.error_store import ErrorStore
from metl_gui.errors import RunError
from metl_gui.workbench.places import run_folder
from metl_gui.workbench.profiles import find_target
from metl_gui.workbench.progress import UNWATCHED, Aside, Watch, do_here
from metl_gui.workbench.running import PRODUCTION, TEST, EventSink, Mode, RunResult, pin, run_prepared
from metl_gui.workbench.session import Workbench


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What a person asks of a replay.

    Args:
        errors: the error store, one ``reason=`` folder of it, or what one replay set aside again.
        sink: a folder that is new or empty, or ``noop`` to try it: then nothing is marked. Empty for a folder of the
            replay's own in the user's cache, in tests only.
        spark: the Spark target.
        mode: as of a run; tests and production are marked apart.
        reasons: only what was set aside for these; all when empty.
        set_aside: folder for what is set aside again; empty for one within the error store, where it goes on waiting.
        state: the state to map with, as of a run.
        include_unconfirmed: as of a run.
        is_again: everything that the run itself set aside, also what was replayed already.
        format, by_date, max_record_bytes: as of a run.
    """

    errors: str
    sink: str = ""
    spark: str = LOCAL_TARGET
    mode: Mode = TEST
    reasons: tuple[str, ...] = ()
    set_aside: str = ""
    state: int | None = None
    include_unconfirmed: bool = False
    is_again: bool = False
    format: Format = "jsonl"
    by_date: bool = False
    max_record_bytes: int = LIMIT_BYTES


@dataclass(frozen=True, slots=True)
class StillWaiting:
    """What a replay would find in an error store.

    Args:
        reasons: what its records were set aside for.
        is_untouched: nothing of it was replayed yet, so all that the run set aside waits.
    """

    reasons: tuple[str, ...] = ()
    is_untouched: bool = False


def what_waits(errors: str | Path, mode: Mode = TEST) -> StillWaiting:
    """Look what a replay of a mode would find in an error store; costs a look at each of its parts.

    Nothing waits in a store that is gone or cannot be read.
    """
    try:
        store = ErrorStore.at(errors)
        parts = store.waiting(mode)
        behind = {name for mark in store.marks(mode) for name in mark.read_to}
    except RunError:
        return StillWaiting()
    is_untouched = not any(part.name in behind for part in store.meant())
    return StillWaiting(tuple(sorted({part.reason for part in parts})), is_untouched and bool(parts))


def prepare_replay(workbench: Workbench, request: ReplayRequest) -> RunSpec:
    """Compile a state and find the error store; nothing is written yet.

    Raises:
        RunError: there is no such error store or reason, or production has no sink.
        ProjectError: there is no such state.
        UserError: production is asked for and nothing is published, or not this state.
    """
    _check(request)
    store = ErrorStore.at(request.errors, request.reasons, request.max_record_bytes)
    pinned = pin(workbench, request.mode, request.state, request.include_unconfirmed)
    run_id = new_run_id()
    folder = run_folder(workbench.project_id, run_id)
    is_trial = request.sink == NOOP
    own = folder / "errors" if is_trial else store.again_folder(run_id)
    return RunSpec(
        run_id=run_id,
        plan=pinned.plan,
        source=str(Path(request.errors).expanduser().resolve()),
        sink=request.sink or str(folder / "messages"),
        folder=str(folder),
        errors=request.set_aside or str(own),
        mode=request.mode,
        state=pinned.document.state,
        hash=pinned.hash,
        replay=ReplayOrder(request.reasons, request.is_again),
        format=request.format,
        by_date=request.by_date,
        max_record_bytes=request.max_record_bytes,
        notes=pinned.notes,
    )


def replay(
    workbench: Workbench,
    request: ReplayRequest,
    spark: SparkProcess | None = None,
    on_event: EventSink | None = None,
    watch: Watch = UNWATCHED,
    aside: Aside = do_here,
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

    Raises:
        RunError: there is no such error store, it is damaged, or the replay cannot go on; then all waits as before.
        SetupError: Spark does not start on this computer.
        RunCancelled: it was cancelled; then all waits as before.
    """
    watch.step("Looking at what waits")
    spec = prepare_replay(workbench, request)
    store = ErrorStore.at(request.errors, request.reasons, request.max_record_bytes)
    if not store.waiting(request.mode, request.is_again):
        return _nothing(spec, request)
    return run_prepared(workbench, spec, request.spark, spark, on_event, watch, aside)


def _check(request: ReplayRequest) -> None:
    if request.mode == PRODUCTION and not request.sink:
        raise RunError(
            "A replay in production needs to know where its messages go.",
            "No sink is given.",
            "Name a new or empty folder with --sink, or noop to try it.",
        )
    if request.is_again and request.reasons:
        raise RunError(
            "Everything again is not for single reasons.",
            "What one reason set aside may wait for another reason since its last replay.",
            "Leave the reasons out, or replay only what waits.",
        )


def _nothing(spec: RunSpec, request: ReplayRequest) -> RunResult:
    report = RunReport(
        run_id=spec.run_id,
        mode=spec.mode,
        spark=find_target(request.spark).shown,
        state=spec.state,
        hash=spec.hash,
        seconds=0.0,
        records_per_second=0.0,
        source=spec.source,
        is_replay=True,
        problems=("Nothing waits here: what was set aside has been replayed already, if there was anything.",),
        **{name: getattr(Tally(), name) for name in Tally.__struct_fields__},
    )
    return RunResult(report, Path(spec.folder), spec.samples_folder)
