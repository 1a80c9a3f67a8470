"""The command ``warehouse``: models of a warehouse brought in, written out, changed and checked."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import (
    CANCELLED,
    DONE,
    FOUND,
    Commands,
    Run,
    common_options,
    keeps_session,
    spark_options,
    wrong_usage,
)
from metl_gui.cli.output import Output
from metl_gui.cli.warehouse import inputs
from metl_gui.cli.warehouse.followed_loads import add_policy, followed, refuse_policy
from metl_gui.core.counted import number_of

if TYPE_CHECKING:
    from metl_gui.core.search.problems import Problem
    from metl_gui.workbench.warehouse.models import ModelEdit

_SHOWN = 10
"""Of missing members so many are printed."""

_DRY_RUN = "only say what would be done"
_TARGET_HELP = "duckdb:FILE.duckdb, postgresql://user@host:port/database?schema=NAME, or @PROFILE?schema=NAME"


def register(commands: Commands) -> None:
    """Add ``warehouse``."""
    warehouse = commands.add(
        "warehouse",
        run_show,
        "declare dimensions and facts that canonical messages become",
        "A warehouse model is part of the project: edited, undone, published, compared and merged like the mapping. "
        "It is brought in and written out as one YAML file.",
    )
    actions = warehouse.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = partial(_action, actions)
    parsers = (*_add_model_actions(add), *_add_target_actions(add))
    for parser in parsers:
        parser.add_argument("--model", default="", metavar="NAME", help="which model, where a project has several")


def _add_model_actions(add: inputs.NewAction) -> tuple[argparse.ArgumentParser, ...]:
    """Add what is done with models, and return the parsers of what is done with one that is there."""
    bring = add("import", run_import, "read a model from a YAML file, in place of the one of its name")
    bring.add_argument("file", metavar="FILE", type=Path, help="the model")
    write = add("export", run_export, "write a model to a YAML file")
    write.add_argument("file", metavar="FILE", type=Path, help="the file, written whole or not at all")
    docs = add("docs", run_docs, "write the star diagram and the data dictionary as one HTML page")
    docs.add_argument("file", metavar="FILE.html", type=Path, help="the page, written whole or not at all")
    propose = add("propose", run_propose, "put a first model into the project, for a person to edit")
    show = add("show", run_show, "print a model as a file has it")
    check = add("check", run_check, "find what is wrong in models; ends with 3 at an error")
    check.add_argument(
        "--production", action="store_true", help="as for targets of production runs: all must be mapped and confirmed"
    )
    change = add("set", run_set, "give members of a table other values")
    change.add_argument("table", metavar="TABLE", help="name of the table")
    change.add_argument(
        "values",
        metavar="NAME=VALUE",
        nargs="+",
        help="on_delete=flag, columns.country.history=2; an empty value takes the default",
    )
    remove = add("remove", run_remove, "remove a model; what was loaded by it stays in its targets")
    plan = add("plan", run_plan, "print the statements of a load")
    plan.add_argument("--sql", choices=["duckdb", "postgres"], default="duckdb", help="dialect (default: duckdb)")
    take = add("add-columns", run_add_columns, "take attributes of its entity into a table")
    take.add_argument("table", metavar="TABLE", help="a dimension or a fact")
    take.add_argument("attributes", metavar="ATTRIBUTE", nargs="+", help="their paths; numbers of facts are measures")
    drop = add("drop-columns", run_drop_columns, "take columns, measures or references out of a table")
    drop.add_argument("table", metavar="TABLE", help="a dimension or a fact")
    drop.add_argument("columns", metavar="COLUMN", nargs="+", help="their names")
    for parser in (bring, propose, change, take, drop):
        parser.add_argument("--dry-run", action="store_true", help=_DRY_RUN)
    return write, docs, propose, show, check, change, take, drop, remove, plan


def _add_target_actions(add: inputs.NewAction) -> tuple[argparse.ArgumentParser, ...]:
    """Add what is done with targets, and return the parsers."""
    load = add("load", run_load, "load canonical messages that exist; ends with 3 where a test breaks")
    load.add_argument("--dry-run", action="store_true", help=_DRY_RUN)
    load.add_argument(
        "--source",
        required=True,
        metavar="S",
        help="JSON lines or Parquet, as a file, a folder or a pattern; or topics",
    )
    spark_options(load)
    load.add_argument("--follow", action="store_true", help="go on with what comes, until it is interrupted")
    add_policy(load)
    ask = add("ask", run_ask, "have whoever follows into a target with --when-asked load now")
    rebuild = add("rebuild", run_rebuild, "make the tables of a target anew from its histories")
    audit = add("audit", run_audit, "prove that a target is right; ends with 3 where it is not")
    status = add("status", run_status, "print the loads of a target, its rows, and what is open in it")
    why = add("why", run_why, "tell why a row is as it is: messages, cells of the matrix, and who set them")
    why.add_argument("table", metavar="TABLE", help="a dimension or a fact")
    why.add_argument("--key", required=True, metavar="JSON", help="the key of the row, an object of its parts")
    why.add_argument(
        "--at", default="", metavar="TIME", help="in which the version holds, in ISO 8601 (default: the last)"
    )
    close = add("close-snapshot", run_close, "delete the rows that the last snapshot of a schema lacks")
    close.add_argument("schema", metavar="SCHEMA", help="name of the schema whose snapshot is over")
    for parser in (load, rebuild, close):
        parser.add_argument(
            "--swap", action="store_true", help="write a copy of a DuckDB file beside it, and exchange the two"
        )
    of_one_mode = (load, rebuild, audit, close, *inputs.register(add))
    for parser in (*of_one_mode, ask, status, why):
        parser.add_argument("--target", required=True, metavar="T", help=_TARGET_HELP)
    for parser in of_one_mode:
        parser.add_argument(
            "--mode", choices=["test", "production"], default="test", help="of the runs it takes (default: test)"
        )
    return (*of_one_mode, ask, status, why)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, run: Run, sentence: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(
        name, help=sentence, description=f"{sentence[0].upper()}{sentence[1:]}.", allow_abbrev=False
    )
    parser.add_argument("project", metavar="PROJECT", help="the project file, NAME.metl")
    common_options(parser, json=argparse.SUPPRESS, debug=argparse.SUPPRESS)
    parser.set_defaults(run=run, parser=parser)
    return parser


def run_import(arguments: argparse.Namespace, out: Output) -> int:
    """Bring a model in."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import import_model

    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = import_model(workbench, arguments.file, dry_run=arguments.dry_run)
    return _told(done, out)


def run_export(arguments: argparse.Namespace, out: Output) -> int:
    """Write a model out."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import export_model

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        done = export_model(workbench, arguments.file, arguments.model)
    out.result(done.as_json(), [f"{done.path}: the warehouse model {done.model} of state {done.state}"])
    return DONE


def run_docs(arguments: argparse.Namespace, out: Output) -> int:
    """Write the page of a model."""
    from metl_gui.workbench.exports.warehouse_page import write_warehouse_page
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        done = write_warehouse_page(workbench.document, arguments.file, arguments.model, watch=watch)
    tables = number_of(done.tables, "table")
    out.result(done.as_json(), [f"{done.path}: {tables} of the warehouse model {done.model}, state {done.state}"])
    return DONE


def run_propose(arguments: argparse.Namespace, out: Output) -> int:
    """Propose a first model."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import propose_model

    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = propose_model(workbench, arguments.model, dry_run=arguments.dry_run)
    return _told(done, out)


def run_show(arguments: argparse.Namespace, out: Output) -> int:
    """Print a model."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import model_content

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        found = model_content(workbench, arguments.model)
    out.result(found.as_json(), found.text.splitlines())
    return DONE


def run_check(arguments: argparse.Namespace, out: Output) -> int:
    """Check models."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import check_models

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        found = check_models(workbench.document, arguments.model, production=arguments.production)
        state = workbench.document.state
    out.result(found.as_json(), [*_problem_lines(found.problems), f"State {state}: {found.summary}."])
    return FOUND if found.has_errors else DONE


def run_set(arguments: argparse.Namespace, out: Output) -> int:
    """Change a table."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import set_values

    if unset := [text for text in arguments.values if "=" not in text]:
        wrong_usage(arguments, f"{unset[0]} is not NAME=VALUE")
    values = [(name, value) for name, _, value in (text.partition("=") for text in arguments.values)]
    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = set_values(workbench, arguments.table, values, arguments.model, dry_run=arguments.dry_run)
    return _told(done, out)


def run_add_columns(arguments: argparse.Namespace, out: Output) -> int:
    """Take attributes into a table."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import add_columns

    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = add_columns(workbench, arguments.table, arguments.attributes, arguments.model, dry_run=arguments.dry_run)
    return _told(done, out)


def run_drop_columns(arguments: argparse.Namespace, out: Output) -> int:
    """Take columns out of a table."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import drop_columns

    with Workbench.open(Path(arguments.project), for_editing=not arguments.dry_run) as workbench:
        done = drop_columns(workbench, arguments.table, arguments.columns, arguments.model, dry_run=arguments.dry_run)
    return _told(done, out)


def run_remove(arguments: argparse.Namespace, out: Output) -> int:
    """Remove a model."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.warehouse.models import remove_model

    with Workbench.open(Path(arguments.project)) as workbench:
        done = remove_model(workbench, arguments.model)
    return _told(done, out)


def run_load(arguments: argparse.Namespace, out: Output) -> int:
    """Load messages."""
    from metl_gui.core.runs.run_spec import RunPolicy, SourceSpec
    from metl_gui.workbench.loads.warehouse_loads import load_lines, load_warehouse
    from metl_gui.workbench.runs.mapping_run import RunRequest
    from metl_gui.workbench.session import Workbench

    request = RunRequest(
        source=SourceSpec(address=arguments.source, holds="messages", follow=arguments.follow),
        policy=RunPolicy(mode=arguments.mode),
        spark=arguments.spark,
    )
    project = Path(arguments.project)
    if arguments.follow:
        if arguments.dry_run:
            wrong_usage(arguments, "--dry-run is not for --follow")
        with Workbench.open(project, for_editing=False) as workbench:
            followed_load, is_interrupted = followed(workbench, request, _target(arguments), arguments, out)
        out.result(followed_load.load.as_json(), load_lines(followed_load.load))
        return CANCELLED if is_interrupted else FOUND if followed_load.load.tests else DONE
    refuse_policy(arguments)
    with Workbench.open(project, for_editing=False) as workbench, out.watching() as watch:
        done = load_warehouse(
            workbench,
            request,
            _target(arguments),
            arguments.model,
            watch=watch,
            is_dry=arguments.dry_run,
            keeps_session=keeps_session(arguments),
        )
    out.result(done.load.as_json(), load_lines(done.load))
    return FOUND if done.load.tests else DONE


def run_ask(arguments: argparse.Namespace, out: Output) -> int:
    """Ask for a load."""
    from metl_gui.workbench.loads.load_requests import ask_for_load
    from metl_gui.workbench.loads.target_documents import find_any_target
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        ask_for_load(find_any_target(workbench, arguments.target, arguments.model))
    out.result({"target": arguments.target}, [f"Whoever follows into {arguments.target} loads within a second or two."])
    return DONE


def run_plan(arguments: argparse.Namespace, out: Output) -> int:
    """Print the statements of a load."""
    from metl_gui.workbench.loads.warehouse_loads import plan_sql
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        lines = plan_sql(workbench.document, arguments.model, arguments.sql)
    out.result({"sql": lines}, lines)
    return DONE


def run_rebuild(arguments: argparse.Namespace, out: Output) -> int:
    """Make the tables anew."""
    from metl_gui.workbench.loads.warehouse_loads import load_lines, rebuild_warehouse
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        done = rebuild_warehouse(workbench, _target(arguments), arguments.model, watch, arguments.mode)
    out.result(done.as_json(), load_lines(done))
    return DONE


def run_close(arguments: argparse.Namespace, out: Output) -> int:
    """Delete what a snapshot lacks."""
    from metl_gui.workbench.loads.warehouse_loads import close_snapshot, load_lines
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        done = close_snapshot(
            workbench, _target(arguments), arguments.schema, arguments.model, arguments.mode, watch=watch
        )
    out.result(done.as_json(), load_lines(done))
    return DONE


def run_status(arguments: argparse.Namespace, out: Output) -> int:
    """Print what a target says of itself."""
    from metl_gui.workbench.loads.warehouse_loads import load_lines, warehouse_status
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        found = warehouse_status(workbench, arguments.target, arguments.model)
    lines = [f"{arguments.target}: the model {found.model}, {found.mode} runs"]
    lines += [f"  {table}: {number_of(rows, 'row')}" for table, rows in found.tables.items()]
    brought = "that no message has brought"
    lines += [f"  {table}: {number_of(rows, 'member')} {brought}" for table, rows in found.inferred.items() if rows]
    lines += [f"  {entity}: {number_of(rows, 'message')} set aside" for entity, rows in found.set_aside.items() if rows]
    lines += [f"  {number_of(found.waiting, 'fact waits', 'facts wait')} for their members"] if found.waiting else []
    lines += [f"  {one.dimension} {', '.join(one.key)}: {one.words}" for one in found.missing[:_SHOWN]]
    more = len(found.missing) - _SHOWN
    lines += [f"  and {more:,} more that are missing (--json has them)"] if more > 0 else []
    lines += [f"  {one.schema}: epoch {one.epoch} from {one.begins_at} on" for one in found.epochs]
    last = {entity: f", the last at {time:%Y-%m-%d %H:%M} UTC" for entity, time in found.forgotten_at.items()}
    lines += [
        f"  {entity}: {keys:,} keys are forgotten{last.get(entity, '')}" for entity, keys in found.forgotten.items()
    ]
    if found.compacted_before is not None:
        lines += [f"  compacted: of what came before {found.compacted_before:%Y-%m-%d %H:%M:%S}, one message a row"]
    if found.rebuild is not None:
        lines += [f"  The model has changed; metl warehouse rebuild makes {found.rebuild.words}:"]
        lines += [f"    {one.words}" for one in found.changes]
    for entry in found.loads:
        lines += [
            "",
            f"{entry.loaded_at:%Y-%m-%d %H:%M:%S} {entry.load}",
            *(f"  {line}" for line in load_lines(entry.report)),
        ]
    out.result(found.as_json(), lines)
    return DONE


def run_audit(arguments: argparse.Namespace, out: Output) -> int:
    """Prove that a target is right."""
    from metl_gui.workbench.loads.warehouse_loads import audit_warehouse
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        found = audit_warehouse(workbench, arguments.target, arguments.model, arguments.mode)
    lines = [f"{one.table}: {one.rows:,} rows break the rule: {one.rule}" for one in found.problems]
    out.result(found.as_json(), lines or [f"{arguments.target} is right."])
    return FOUND if found.problems else DONE


def run_why(arguments: argparse.Namespace, out: Output) -> int:
    """Tell why a row is as it is."""
    from metl_gui.workbench.loads.row_reasons import reason_lines, why_row
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        found = why_row(workbench, arguments.target, arguments.table, arguments.key, arguments.at, arguments.model)
    out.result(found.as_json(), list(reason_lines(found)))
    return DONE


def _target(arguments: argparse.Namespace) -> str:
    """Return the target, as one that is exchanged where that was asked for."""
    from metl_gui.workbench.loads.targets import swapped

    return swapped(arguments.target) if arguments.swap else str(arguments.target)


def _told(done: ModelEdit, out: Output) -> int:
    title = done.title if done.is_changed else "Nothing to do."
    tables = [f"Tables: {', '.join(done.tables)}"] if done.tables else []
    out.result(done.as_json(), [title, *tables, *_problem_lines(done.problems), f"State {done.state}"])
    return DONE


def _problem_lines(problems: tuple[Problem, ...]) -> list[str]:
    from metl_gui.cli.mappings import problem_line

    return [problem_line(problem) for problem in problems]
