"""Load a warehouse: changes mapped, or messages that exist, staged on Spark and merged into a target.

Source: docs/guide/warehouse.md; docs/reference/warehouse-model.md, "A load".
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from metl_gui.core.dimensional.histories import entity_histories
from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.models.grants import granted_roles
from metl_gui.core.dimensional.models.masked_models import Masking, masked_history, masked_model, target_masks
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.sources.typed_addresses import holds_typed
from metl_gui.engine.staging.sink import staged_coverage, staged_parts
from metl_gui.errors import EditError, RunError, near_names
from metl_gui.formats.row_expressions import named_attributes, row_expression
from metl_gui.values import Value
from metl_gui.warehouse.audit import Finding, audit
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.missing_members import missing_members
from metl_gui.warehouse.plans.load_plan import whole_plan
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.plans.statements import Step
from metl_gui.warehouse.status import TargetStatus, mode_of, target_status
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.hidden_columns import shown_findings, shown_members
from metl_gui.workbench.loads.staged_loads import held_load, staged_again, without_errors_of_damaged
from metl_gui.workbench.loads.target_documents import document_of, find_any_target
from metl_gui.workbench.loads.target_secrets import mask_key_of, target_secret
from metl_gui.workbench.loads.targets import TargetAddress, find_target
from metl_gui.workbench.masked_messages import hidden_names
from metl_gui.workbench.publishing.publication import production_document
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest, RunResult, prepare_run, run_prepared
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import check_models, model_of


class LoadedRun(Value):
    """A run of which the messages went into a warehouse.

    Args:
        run: the run; its outputs are gone, as the target has them.
        load: what the load did.
    """

    run: RunResult
    load: LoadReport

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl run`` with the load in it."""
        return {**self.run.as_json(), "warehouse": self.load.as_json()}


class AuditReport(Value):
    """What an audit found.

    Args:
        target: what was audited.
        problems: what is not as it must be.
    """

    target: str
    problems: tuple[Finding, ...] = msgspec.field(default=())

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl warehouse audit``."""
        return {"target": self.target, "problems": [msgspec.to_builtins(one) for one in self.problems]}


def load_warehouse(
    workbench: Workbench,
    request: RunRequest,
    target: str,
    model: str = "",
    spark: SparkProcess | None = None,
    watch: Watch = UNWATCHED,
    *,
    is_dry: bool = False,
    keeps_session: bool = False,
) -> LoadedRun:
    """Map a source, or take messages that exist, and load what came of it into a target.

    Args:
        workbench: the opened project; read only is enough.
        request: what to do; its sink is a folder of the run's own.
        target: see ``find_target``.
        model: name of the warehouse model; the only one by default.
        spark: see ``run_mapping``.
        watch: progress, and cancel: between two steps of the load too.
        is_dry: only find out what the load would do.
        keeps_session: see ``run_mapping``.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: the run cannot be done; nothing of it is in the target.
        TargetError: the target refused the load; nothing of it is kept.
    """
    if request.in_batches:
        raise RunError("This load has an end.", hint="Leave --checkpoint out; a source is followed with --follow.")
    document = request_document(workbench, request)
    found, tables = target_tables(document, target, model, production=request.mode == PRODUCTION)
    found.check(granted_roles(tables.model))
    # By the state whose tables are loaded, whatever is published or edited meanwhile.
    pinned, tables = staging_request(workbench, replace(request, state=document.state), found, tables)
    watch.step("Compiling the matrix")
    owner = Owner(project=workbench.project_id, mode=request.mode)

    def once(notes: tuple[str, ...]) -> LoadedRun:
        with held_load(owner.project, prepare_run(workbench, pinned), notes) as spec:
            run = run_prepared(workbench, spec, request.spark, spark, watch=watch, keeps_session=keeps_session)
            with without_errors_of_damaged(spec):
                return LoadedRun(run, load_staged(found, tables, owner, run, watch, is_dry=is_dry))

    loaded = staged_again(once, watch)
    if request.source.holds != "messages":
        return loaded
    return replace(loaded, load=with_set_aside(loaded.load, loaded.run.report.set_aside))


def staging_request(
    workbench: Workbench, request: RunRequest, found: TargetAddress, tables: TableShapes
) -> tuple[RunRequest, TableShapes]:
    """Return a request whose run stages for a target, and the tables, which know the key of its hashes then.

    Raises:
        RunError: the target holds hashes of masked values, and there is no secret for them; or what is set aside would
            be plain.
    """
    sink = msgspec.structs.replace(request.sink, address="", format="stage", histories=tuple(tables.histories.values()))
    names = hidden_names(workbench.at_state(request.state)) if tables.masks.masking != "plain" else ()
    if names:
        if is_kafka(sink.errors):
            text = "Attributes are masked, and a topic holds what is set aside as it came."
            raise RunError("What is set aside would be plain.", text, "Give a folder with --errors, or leave it out.")
        sink = msgspec.structs.replace(sink, hidden=tuple(sorted(names)))
    request = replace(request, sink=sink)
    if names or tables.masks.masking == "hash":
        # Samples would be kept as they are.
        request = replace(request, policy=msgspec.structs.replace(request.policy, samples=0))
    if tables.masks.masking != "hash":
        return request, tables
    # A new secret only for hashes that are new: others would never be equal to those that are there.
    mask_key = mask_key_of(workbench.project_id, makes=not found.has_mask_key())
    masks = msgspec.structs.replace(tables.masks, fingerprint=mask_key.fingerprint)
    return replace(request, mask_key=mask_key), msgspec.structs.replace(tables, masks=masks)


def load_staged(
    found: TargetAddress, tables: TableShapes, owner: Owner, run: RunResult, watch: Watch, *, is_dry: bool = False
) -> LoadReport:
    """Load what a run has staged, which goes then, whatever became of the load.

    Raises:
        RunCancelled: it was cancelled; nothing of it is in the target.
        TargetError: the target refused the load; nothing of it is kept.
    """
    folder, is_left_out = Path(run.report.outputs), is_dry and found.is_new
    try:
        watch.step("Loading the warehouse")
        with found.open() as opened:
            loader = Loader(opened, tables, owner, told_steps(watch), partial(target_secret, owner.project))
            put = loader.planned if is_dry else loader.load
            return put(staged_parts(folder), run.report.run_id, staged_coverage(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if is_left_out:
            found.path.unlink(missing_ok=True)


def with_set_aside(load: LoadReport, set_aside: int) -> LoadReport:
    """Count messages too that were set aside before they were staged."""
    return msgspec.structs.replace(load, messages=load.messages + set_aside, set_aside=load.set_aside + set_aside)


def rebuild_warehouse(
    workbench: Workbench, target: str, model: str = "", watch: Watch = UNWATCHED, mode: str = "test"
) -> LoadReport:
    """Make the tables of a target anew from its histories, after its model was changed.

    Raises:
        EditError: there is no such model, or it has errors.
        TargetError: the target refused it; it is as before.
    """
    found, tables = target_tables(document_of(workbench, mode), target, model)
    with found.open_known() as opened:
        return Loader(opened, tables, Owner(project=workbench.project_id, mode=mode), told_steps(watch)).rebuild()


def close_snapshot(
    workbench: Workbench, target: str, schema: str, model: str = "", mode: str = "test", watch: Watch = UNWATCHED
) -> LoadReport:
    """Delete the rows of a schema that its last snapshot does not have.

    Raises:
        EditError: there is no such model or schema, or the model has errors.
        TargetError: the target refused it; it is as before.
    """
    document = document_of(workbench, mode)
    check_schema(document, schema)
    found, tables = target_tables(document, target, model)
    with found.open_known() as opened:
        owner = Owner(project=workbench.project_id, mode=mode)
        return Loader(opened, tables, owner, told_steps(watch)).close_snapshot(schema)


def check_schema(document: Document, schema: str) -> None:
    """Refuse a schema that there is not.

    Raises:
        EditError: there is no such schema.
    """
    known = [one.name for one in document.extraction.schemas()]
    if schema not in known:
        raise EditError(f"There is no schema {schema} in the project.", hint=near_names(schema, known))


def audit_warehouse(workbench: Workbench, target: str, model: str = "", mode: str = "test") -> AuditReport:
    """Prove that a target is right.

    Raises:
        EditError: there is no such model, or it has errors.
        TargetError: the target is somebody else's, or made by another model.
    """
    document = document_of(workbench, mode)
    found, tables = target_tables(document, target, model)
    with found.open_known() as opened:
        problems = audit(opened, tables, Owner(project=workbench.project_id, mode=mode))
        return AuditReport(target, tuple(shown_findings(document, tables, problems)))


def warehouse_status(workbench: Workbench, target: str, model: str = "") -> TargetStatus:
    """Return what a target says of itself; it goes by the state that its runs do.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: nothing was loaded into it yet.
        TargetError: it is not there, or cannot be opened.
    """
    with find_any_target(workbench, target, model).read() as opened:
        mode = mode_of(opened)
    if mode is None:
        hint = "Load it with metl run --sink warehouse:TARGET."
        raise RunError(f"Nothing was loaded into {target} yet.", hint=hint)
    document = document_of(workbench, mode)
    place, tables = target_tables(document, target, model)
    with place.read() as opened:
        found = target_status(opened, tables)
        missing = shown_members(document, tables, missing_members(opened, tables))
        return msgspec.structs.replace(found, missing=tuple(missing))


def target_tables(
    document: Document, target: str, model: str = "", *, production: bool = False
) -> tuple[TargetAddress, TableShapes]:
    """Return where a target is, and the tables of a model as it holds them; see ``model_shapes``.

    Raises:
        EditError: there is no such model, it has errors, or cannot do without what is masked.
        UserError: it is no target.
        TargetError: it cannot be opened.
    """
    found = find_target(target, model_of(document, model).name)
    return found, model_shapes(document, model, found.masking(), production=production)


def model_shapes(
    document: Document, name: str = "", masking: Masking = "omit", *, production: bool = False
) -> TableShapes:
    """Return the tables of a model of a document.

    Args:
        document: the state.
        name: of the model; the only one by default.
        masking: what the target holds of masked attributes.
        production: what no published block maps is an error.

    Raises:
        EditError: there is no such model, or it has errors.
    """
    model = model_of(document, name)
    found = check_models(document, model.name, production=production)
    errors = [one for one in found.problems if one.severity == "error"]
    if errors:
        hint = "See “metl warehouse check”."
        raise EditError(f"The warehouse model {model.name} has {len(errors)} errors: {errors[0].message}", hint=hint)
    histories = entity_histories(document, model.entities)
    masks = target_masks(document, histories, masking)
    kept = tuple(masked_history(one, masks) for one in histories)
    masked = masked_model(document, model, masks, named_attributes)
    return msgspec.structs.replace(shapes(masked, kept, row_expression), masks=masks)


def request_document(workbench: Workbench, request: RunRequest) -> Document:
    """Return the state that a run maps with.

    Raises:
        RunError: it is to follow messages in Parquet.
    """
    source = request.source
    if source.follow and source.holds == "messages" and holds_typed(source.address):
        raise RunError(
            "Messages in Parquet are not followed.",
            f"{source.address} has files that are written once and whole.",
            "Load it without --follow, again when there are more: what was loaded already changes nothing.",
        )
    if request.mode == PRODUCTION:
        return production_document(workbench, request.state)
    return workbench.at_state(request.state)


def told_steps(watch: Watch) -> Callable[[Step, int], None]:
    """Return what tells of the steps of a load, and ends it between two of them."""

    def hear(step: Step, _rows: int) -> None:
        if step.table:
            watch.step(f"Loading the warehouse: {step.title}")
        elif watch.is_cancelled:
            watch.step(step.title)

    return hear


def plan_sql(document: Document, model: str = "", dialect: str = "duckdb") -> list[str]:
    """Return the statements of a load, as people read them, for messages that have everything in them.

    Raises:
        EditError: there is no such model, or it has errors.
    """
    tables = model_shapes(document, model)
    found = []
    for step in whole_plan(tables):
        found += [f"-- {step.title}", *f"{step.readable(dialect)};".splitlines(), ""]
    return found


def load_lines(load: LoadReport) -> list[str]:
    """Return a load for people to read."""
    if load.is_repeated:
        return [f"Load {load.load} was done before."]
    counts = f"{load.appended:,} new, {load.repeated:,} known, {load.void:,} void, {load.set_aside:,} set aside"
    return [f"{load.messages:,} messages: {counts}.", *table_lines(load), *load.notes]


def table_lines(load: LoadReport) -> list[str]:
    """Return what a load did to each table, for people to read."""
    return [f"{table}: {counts.words}" for table, counts in load.tables.items()]
