"""Replay into a warehouse: what runs and loads set aside is mapped or staged again, and loaded.

The error store is held until the load stands, and says only then what was replayed: a load that fails leaves all as it
waits.

Source: docs/guide/warehouse.md, "When more comes".
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.models.grants import granted_roles
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sources.run_source import source_of
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.staged_loads import held_load, staged_again
from metl_gui.workbench.loads.warehouse_loads import (
    LoadedRun,
    load_staged,
    request_document,
    staging_request,
    target_tables,
    with_set_aside,
)
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest, run_prepared
from metl_gui.workbench.runs.replay import nothing_waits, prepare_replay, waits
from metl_gui.workbench.session import Workbench


def replay_into_warehouse(
    workbench: Workbench,
    request: RunRequest,
    target: str,
    model: str = "",
    spark: SparkProcess | None = None,
    watch: Watch = UNWATCHED,
    *,
    keeps_session: bool = False,
) -> LoadedRun:
    """Map again what waits in an error store, and load it.

    Args:
        workbench: the opened project; read only is enough.
        request: a replay; its sink is a folder of its own. Where its source ``holds`` messages, which loads set aside,
            these are staged as they are.
        target: see ``find_target``.
        model: name of the warehouse model; the only one by default.
        spark: see ``run_mapping``.
        watch: progress and cancel, between two steps of the load too.
        keeps_session: see ``run_mapping``.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: there is no such error store, another replay is at it, or the replay cannot go on.
        TargetError: the target refused the load; nothing of it is kept, and all waits as before.
    """
    document = request_document(workbench, request)
    found, tables = target_tables(document, target, model, production=request.mode == PRODUCTION)
    found.check(granted_roles(tables.model))
    request, tables = staging_request(workbench, replace(request, state=document.state), found, tables)
    watch.step("Looking at what waits")
    owner = Owner(project=workbench.project_id, mode=request.mode)

    def once(notes: tuple[str, ...]) -> LoadedRun:
        spec = prepare_replay(workbench, request)
        if not waits(spec, request):
            return LoadedRun(nothing_waits(spec, request), LoadReport(load=spec.run_id))
        with held_load(owner.project, spec, notes) as held, source_of(held, is_marked=True) as source:
            # What does not begin or is given up leaves nothing itself, and whatever stands where it was to write.
            run = run_prepared(workbench, held, request.spark, spark, watch=watch, keeps_session=keeps_session)
            with _dropped_unless_loaded(held):
                load = load_staged(found, tables, owner, run, watch)
            source.before_commit(Staging(held))
            source.after_commit()
        is_staged = request.source.holds == "messages"
        return LoadedRun(run, with_set_aside(load, run.report.set_aside) if is_staged else load)

    return staged_again(once, watch)


@contextmanager
def _dropped_unless_loaded(spec: RunSpec) -> Iterator[None]:
    """Drop what the run set aside again where its load fails: it waits where it was, in the store of before."""
    try:
        yield
    except BaseException:
        if not is_kafka(spec.sink.errors):
            shutil.rmtree(spec.errors_folder, ignore_errors=True)  # the run made it: it refuses one with data
        raise
