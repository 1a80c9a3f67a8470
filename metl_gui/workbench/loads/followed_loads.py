"""Follow a source into a warehouse: Spark stages batch after batch, and loads take up by a policy what is staged.

Where the next load begins is kept in the target alone (``warehouse.read_progress``), so that a run that was stopped or
killed is begun again without anything left of it.

Source: docs/guide/warehouse.md, "Loading what comes".
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial, reduce
from pathlib import Path

import msgspec
from msgspec.structs import replace

from metl_gui.core.dimensional.loads.load_policy import LoadPolicy
from metl_gui.core.dimensional.loads.load_report import KeyCounts, LoadReport, TableCounts
from metl_gui.core.dimensional.loads.read_progress import ReadProgress
from metl_gui.core.dimensional.models.grants import granted_roles
from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.events import BatchCommitted, EngineEvent, LoadCommitted, RunProgressed, SourceTroubled
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.staging.sink import part_at
from metl_gui.engine.streaming.checkpoint import Checkpoint, head_of
from metl_gui.engine.streaming.staged_batches import StagedBatchFile, begin_after, drop_staged, staged_batches
from metl_gui.errors import RunCancelled, RunError, UserError
from metl_gui.values import Value
from metl_gui.warehouse.databases.target import CommitUnknownError, ConnectionLostError, TargetError
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.read_progress import stored_progress
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.load_requests import take_request
from metl_gui.workbench.loads.staged_loads import held_load, staged_again
from metl_gui.workbench.loads.target_secrets import target_secret
from metl_gui.workbench.loads.targets import TargetAddress
from metl_gui.workbench.loads.warehouse_loads import (
    LoadedRun,
    request_document,
    staging_request,
    target_tables,
    told_steps,
    with_set_aside,
)
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest, prepare_run, run_prepared
from metl_gui.workbench.session import Workbench

OnLoad = Callable[[LoadReport], None]
"""Told of each load."""

_LOST_SECONDS = 10.0
"""How long a load waits within which the connection was lost, before it is done again."""

_MOST_LOST = 5
"""Loads in a row within which the connection may be lost: more of them are no restart, and may be its cause."""

_ASK_SECONDS = 1.0
"""How often a target is asked whether somebody wants a load, and whether it can be opened after it could not."""


class Following(Value):
    """How a source is followed.

    Args:
        policy: when a load is due.
        on_load: told of each load.
    """

    policy: LoadPolicy = msgspec.field(default_factory=LoadPolicy)
    on_load: OnLoad | None = None


_BY_DEFAULT = Following()


def follow_warehouse(
    workbench: Workbench,
    request: RunRequest,
    target: str,
    model: str = "",
    following: Following = _BY_DEFAULT,
    spark: SparkProcess | None = None,
    watch: Watch = UNWATCHED,
    *,
    keeps_session: bool = False,
) -> LoadedRun:
    """Load what a source has and what comes, until somebody stops it; then what was not loaded is read again next time.

    Args:
        workbench: the opened project; read only is enough.
        request: what to do, with ``follow``; its sink is a folder of the run's own.
        target: see ``find_target``.
        model: name of the warehouse model; the only one by default.
        following: how.
        spark: see ``run_mapping``.
        watch: progress and stop, between two steps of a load too.
        keeps_session: see ``run_mapping``.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: the run cannot be done or go on.
        TargetError: the target refused a load, or another loader follows the source; what was loaded before stays.
    """
    if request.policy.checkpoint:
        raise RunError("A warehouse knows how far it was loaded.", hint="Leave --checkpoint out.")
    document = request_document(workbench, request)
    found, tables = target_tables(document, target, model, production=request.mode == PRODUCTION)
    found.check(granted_roles(tables.model))
    staging, tables = staging_request(workbench, replace(request, state=document.state), found, tables)
    owner = Owner(project=workbench.project_id, mode=request.mode)
    done: list[LoadReport] = []

    def once(notes: tuple[str, ...]) -> LoadedRun:
        loads = BatchLoads(found, tables, owner, prepare_run(workbench, staging), following, watch)
        loads.begin()
        try:
            with held_load(owner.project, loads.spec, notes) as held:
                run = run_prepared(
                    workbench, held, request.spark, spark, loads.react, loads.watch, keeps_session=keeps_session
                )
        except RunCancelled:
            loads.check()
            raise
        finally:
            loads.leave_nothing()
            done.append(loads.sum)
        loads.check()
        # What was staged is in the target, or is read again.
        report = msgspec.structs.replace(run.report, outputs="", checkpoint="")
        return LoadedRun(replace(run, report=report), reduce(added, done))

    return staged_again(once, watch)


class BatchLoads:
    """The loads of one run that follows.

    Args:
        target: where they go.
        tables: of the model.
        owner: whose the target must be.
        spec: the run.
        following: how the source is followed.
        watch: of the run.
        clock: seconds, ever growing.

    ``sum`` is what all of them did, ``fault`` why the run has to end before its time.
    """

    def __init__(
        self,
        target: TargetAddress,
        tables: TableShapes,
        owner: Owner,
        spec: RunSpec,
        following: Following,
        watch: Watch = UNWATCHED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.target, self.tables, self.owner, self.spec = target, tables, owner, spec
        self.policy, self.on_load = following.policy, following.on_load
        self.sum = LoadReport(load=spec.run_id)
        self.fault: UserError | None = None
        # A run is stopped through its process, never from within an event.
        self.watch = Watch(
            lambda progress: watch.tell(progress.text, progress.done, progress.total),
            lambda: self.fault is not None or watch.is_cancelled,
        )
        self._checkpoint = Checkpoint(Path(spec.policy.checkpoint).expanduser().absolute())
        self._clock = clock
        self._loaded_at = float("-inf")
        self._looked_at = float("-inf")
        self._progress = ReadProgress(head_of(spec).source)
        self._was_asked = False
        self._troubles: set[str] = set()
        self._lost: list[StagedBatchFile] = []
        self._lost_in_a_row = 0

    def begin(self) -> None:
        """Go on where the target is.

        Raises:
            TargetError: it cannot be opened.
            RunError: what it says of the source cannot be read.
        """
        self._was_asked = self.target.is_new
        if not self.target.is_new:
            with self.target.open() as opened:
                # Nobody can ask for the first load: there is no target yet that they could name.
                self._was_asked = not opened.has_table("metl_loads")
                self._progress = stored_progress(opened, self._progress.source)
        begin_after(self._checkpoint, self._progress.places, is_topics=is_kafka(self._progress.source))

    def check(self) -> None:
        """Raise why the run had to end, if it had to.

        Raises:
            UserError: a load failed.
        """
        if self.fault is not None:
            raise self.fault from None

    def leave_nothing(self) -> None:
        """Remove what was staged, and how far the run was: the target knows it."""
        shutil.rmtree(self.spec.sink.address, ignore_errors=True)
        shutil.rmtree(self.spec.policy.checkpoint, ignore_errors=True)

    def react(self, event: EngineEvent) -> Iterator[EngineEvent]:
        """Load if it is time to, and return what the run is to tell of it."""
        if isinstance(event, BatchCommitted | RunProgressed) and not self.watch.is_cancelled and self._may_look():
            yield from self._load_if_due()

    def _may_look(self) -> bool:
        """Return whether it is not a moment since the last look, which costs one at the folder."""
        now = self._clock()
        if now - self._looked_at < _ASK_SECONDS:
            return False
        self._looked_at = now
        return True

    def _load_if_due(self) -> Iterator[EngineEvent]:
        # A load within which the connection was lost is done again as it was: if it stands, its name is known.
        staged = self._lost or staged_batches(self._checkpoint)
        waiting = sum(batch.messages for batch in staged)
        seconds = self._clock() - self._loaded_at
        if not staged or not self.policy.is_due(waiting, seconds, is_asked=self._is_asked()):
            return
        try:
            yield from self._load(staged)
        except RunCancelled:
            return  # what is staged is read again
        except UserError as error:
            self.fault = error

    def _is_asked(self) -> bool:
        """Return whether somebody asked since the last load; who asks while one goes on wants another."""
        if self.policy.when_asked and not self._was_asked:
            self._was_asked = take_request(self.target)
        return self._was_asked

    def _load(self, staged: list[StagedBatchFile]) -> Iterator[EngineEvent]:
        began = self._clock()
        try:
            opened = self.target.open()
        except TargetError as error:
            yield from self._troubled(error)
            return
        places = {place: known for batch in staged for place, known in batch.places.items()}
        progress = ReadProgress(self._progress.source, self._progress.after, places)
        name = f"{self.spec.run_id}-{staged[-1].number:09d}"
        try:
            with opened:
                secret = partial(target_secret, self.owner.project)
                loader = Loader(opened, self.tables, self.owner, told_steps(self.watch), secret)
                parts = [part_at(path, mark) for batch in staged for path, mark in batch.parts.items()]
                report = loader.load(parts, name, _coverage(staged), progress=progress)
        except (ConnectionLostError, CommitUnknownError) as error:
            self._lost, self._lost_in_a_row = staged, self._lost_in_a_row + 1
            if self._lost_in_a_row > _MOST_LOST:
                raise
            self._looked_at = self._clock() + _LOST_SECONDS
            yield from self._troubled(error)
            return
        self._troubles.clear()
        self._lost, self._lost_in_a_row = [], 0
        self._progress = ReadProgress(self._progress.source, name)
        for batch in staged:
            drop_staged(self._checkpoint, batch)
        self._loaded_at, self._was_asked = self._clock(), False
        if self.spec.source.holds == "messages":
            report = with_set_aside(report, sum(batch.set_aside for batch in staged))
        self.sum = added(self.sum, report)
        if self.on_load is not None:
            self.on_load(report)
        yield _event(self.spec.run_id, staged[-1].number, report, self._loaded_at - began)

    def _troubled(self, error: TargetError) -> Iterator[EngineEvent]:
        """Say once that the target is away: who follows outlives servers, and readers of a file."""
        text = f"{error} What is staged waits."
        if text not in self._troubles:
            self._troubles.add(text)
            yield SourceTroubled(self.spec.run_id, text)
        self.watch.tell(text)


def _coverage(staged: list[StagedBatchFile]) -> Coverage:
    """Return what batches read whole; they are of one state."""
    ranges = tuple(one for batch in staged for one in batch.coverage.ranges)
    is_ordered = all(batch.coverage.is_ordered for batch in staged)
    return Coverage(staged[-1].coverage.publication, ranges, is_ordered)


def _event(run_id: str, batch: int, report: LoadReport, seconds: float) -> LoadCommitted:
    return LoadCommitted(
        run_id=run_id,
        load=report.load,
        batch=batch,
        seconds=round(seconds, 3),
        messages=report.messages,
        appended=report.appended,
        repeated=report.repeated,
        void=report.void,
        set_aside=report.set_aside,
        waiting=report.waiting,
    )


def added(one: LoadReport, other: LoadReport) -> LoadReport:
    """Return what two loads did together, under the name of the first.

    What waits, and which tests are broken, is as after the second.
    """
    tables = {name: one.tables.get(name, TableCounts()) for name in {**one.tables, **other.tables}}
    return LoadReport(
        load=one.load,
        messages=one.messages + other.messages,
        appended=one.appended + other.appended,
        repeated=one.repeated + other.repeated,
        void=one.void + other.void,
        set_aside=one.set_aside + other.set_aside,
        keys=KeyCounts(changed=one.keys.changed + other.keys.changed, same=one.keys.same + other.keys.same),
        tables={name: _both(counts, other.tables.get(name, TableCounts())) for name, counts in tables.items()},
        waiting=other.waiting,
        tests=other.tests,
        forgotten=one.forgotten + other.forgotten,
        purged=one.purged + other.purged,
        no_business_key=_by_schema(one.no_business_key, other.no_business_key),
        ambiguous_order=_by_schema(one.ambiguous_order, other.ambiguous_order),
    )


def _by_schema(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return dict(Counter(one) + Counter(other))


def _both(one: TableCounts, other: TableCounts) -> TableCounts:
    return TableCounts(
        inserted=one.inserted + other.inserted,
        updated=one.updated + other.updated,
        closed=one.closed + other.closed,
        removed=one.removed + other.removed,
    )
