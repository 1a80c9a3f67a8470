"""The commands that map messages: ``run`` and ``replay``.

A production run can be followed on the command line; at its end the report of a run is printed in lines.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import (
    AT_FAULT,
    CANCELLED,
    DONE,
    FOUND,
    Commands,
    add_project,
    keeps_session,
    positive,
    seconds,
    spark_options,
    wrong_usage,
)
from metl_gui.cli.output import Output
from metl_gui.cli.warehouse.followed_loads import add_policy, followed, refuse_policy
from metl_gui.core.counted import number_of
from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.errors import BugError

if TYPE_CHECKING:
    from metl_gui.core.runs.report import RunReport
    from metl_gui.workbench.runs.mapping_run import RunRequest, RunResult
    from metl_gui.workbench.runs.production import LiveRun
    from metl_gui.workbench.session import Workbench


def report_lines(report: RunReport) -> Iterator[str]:
    """Describe in lines what became of the records."""
    yield (
        f"{'Replay' if report.is_replay else 'Run'} {report.run_id} of state {report.state} on {report.spark}: "
        f"{number_of(report.read, 'record')} in {report.seconds:.1f} s ({report.records_per_second:,.0f} a second)"
    )
    yield f"  mapped    {report.mapped:>9,}  into {number_of(report.messages_out, 'message')}{_named(report.by_entity)}"
    yield f"  filtered  {report.filtered:>9,}"
    yield f"  set aside {report.set_aside:>9,}{_named(report.by_reason)}"
    yield f"  skipped   {report.skipped:>9,}{_named(report.by_skip)}"
    if report.from_unreviewed:
        yield f"  from blocks that nobody has confirmed{_named(report.from_unreviewed)}"
    yield from (f"  note: {problem}" for problem in report.problems)
    if report.outputs:
        from metl_gui.core.runs.kafka import is_kafka  # loads what only runs need

        form = "" if is_kafka(report.outputs) else f" ({report.format})"
        yield f"Messages{form}: {report.outputs}"
    if report.errors:
        yield f"Set aside: {report.errors}"


def _named(counts: Mapping[str, int]) -> str:
    return f": {', '.join(f'{name} {count:,}' for name, count in sorted(counts.items()))}" if counts else ""


def attached(run: LiveRun, out: Output, *, is_stopped_by_interrupt: bool) -> RunReport | None:
    """Show the progress of a run until its end and return its report.

    Args:
        run: the run.
        out: where progress is shown.
        is_stopped_by_interrupt: Ctrl-C ends the run in order; else it ends only this.

    Returns:
        ``None`` when only the following ended.
    """
    from metl_gui.core.runs.events import (
        EngineEvent,
        LaneProgressed,
        LaneTroubled,
        RunFailed,
        SourceTroubled,
        StateChanged,
    )
    from metl_gui.workbench.runs.mapping_run import tell
    from metl_gui.workbench.runs.production import follow_events, stop_run

    with out.watching() as watch:
        is_asked, state = False, run.order.spec.mapping.state

        def take(event: EngineEvent) -> None:
            nonlocal state
            tell(watch, event)
            if isinstance(event, SourceTroubled | LaneTroubled):
                out.note(event.text)
            elif isinstance(event, LaneProgressed) and event.state != state:
                state = event.state
                out.note(f"The lane maps with state {state} now.")
            elif isinstance(event, StateChanged):
                out.note(f"State {event.state} was published; from batch {event.batch} on it is mapped with.")
            elif isinstance(event, RunFailed):
                out.note(f"{event.title} {event.text}".rstrip())

        def is_over() -> bool:
            nonlocal is_asked
            if watch.is_cancelled and is_stopped_by_interrupt and not is_asked:
                is_asked = True
                stop_run(run, 0)
            return watch.is_cancelled and not is_stopped_by_interrupt

        return follow_events(run, take, is_over)


def print_report(
    report: RunReport | None, out: Output, *, is_strict: bool = False, is_interrupted: bool = False
) -> int:
    """Print the report of a run that is over and return the exit code."""
    if report is None:
        raise BugError("a production run has ended and there is no report of it")
    out.result(report.as_json(), list(report_lines(report)))
    if report.failure:
        out.note(f"error: {report.failure}")
        return AT_FAULT
    if is_interrupted:
        return CANCELLED
    return FOUND if is_strict and report.set_aside else DONE


def register(commands: Commands) -> None:
    """Add ``run`` and ``replay``."""
    _register_run(commands)
    _register_replay(commands)


def _register_run(commands: Commands) -> None:
    parser = commands.add(
        "run",
        run_run,
        "map captured messages on Spark",
        "A test maps every block as it stands. Production uses the published state and its confirmed blocks; messages "
        "of a block that needs review are set aside. Ends with 0 although records were set aside, unless --strict is "
        "given; then with 3.",
    )
    add_project(parser)
    parser.add_argument(
        "--source",
        required=True,
        metavar="S",
        help="a file, a folder or a pattern; or topics: kafka://host:port/topic[,topic] or kafka://host:port/^pattern",
    )
    parser.add_argument(
        "--sink",
        required=True,
        metavar="T",
        help="a new or empty folder, topics: kafka://host:port/metl.{entity}, a warehouse: "
        "warehouse:duckdb:FILE.duckdb, warehouse:postgresql://user@host:port/database?schema=NAME, or noop",
    )
    parser.add_argument(
        "--model", default="", metavar="NAME", help="of a warehouse, where a project has several models"
    )
    add_policy(parser)
    _add_mapping(parser)
    parser.add_argument(
        "--errors",
        default="",
        metavar="PATH",
        help="folder for the records that were set aside, or a topic: kafka://host:port/metl.errors",
    )
    parser.add_argument("--strict", action="store_true", help="end with 3 when a record was set aside")
    parser.add_argument("--limit", type=positive, metavar="N", help="read at most N records")
    _add_batches(parser)
    _add_topics(parser)


def _add_topics(parser: argparse.ArgumentParser) -> None:
    topics = parser.add_argument_group(
        "with topics",
        "Topics are read up to what was committed when the run began, or for ever with --follow. "
        "kafka://@NAME/topic takes hosts, settings and secrets of a connection profile.",
    )
    topics.add_argument(
        "--start",
        default="",
        metavar="WHERE",
        help="where topics are read from: earliest (default), latest, a time like 2026-11-22T05:00:00Z, or "
        "topic/partition/offset with commas between",
    )
    topics.add_argument(
        "--create-topics", action="store_true", help="make the topics that are missing; what is made is printed first"
    )
    topics.add_argument(
        "--tombstones", action="store_true", help="send a null value after each delete, for compacted topics"
    )
    topics.add_argument(
        "--lane",
        choices=["batch", "fast"],
        default="batch",
        help="with --follow: batch after batch, at least once (default); or fast, record for record from topic to "
        "topic in transactions, exactly once",
    )
    topics.add_argument(
        "--group", default="", metavar="NAME", help="consumer group of a fast lane (default: one named after the run)"
    )
    topics.add_argument(
        "--wait",
        type=seconds,
        default=0.0,
        metavar="SECONDS",
        help="how long a partition of a fast lane waits for a version that nobody has published yet before its record "
        "is set aside (default: 0)",
    )


def _add_batches(parser: argparse.ArgumentParser) -> None:
    batches = parser.add_argument_group(
        "in batches",
        "With --follow or --checkpoint a run goes batch after batch: what is in place stays, and a run that was "
        "stopped or killed goes on where it was. In production it is a process of its own (metl runs).",
    )
    batches.add_argument(
        "--follow", action="store_true", help="go on when the source is exhausted: new files, and what files grow by"
    )
    batches.add_argument("--checkpoint", default="", metavar="PATH", help="folder from which the run goes on")
    batches.add_argument(
        "--freeze", action="store_true", help="stay with the state of the beginning, whatever is published meanwhile"
    )
    batches.add_argument(
        "--batch-bytes",
        type=positive,
        metavar="N",
        help="about how much of the source a batch reads at most (default: 256 MiB)",
    )
    batches.add_argument("--detach", action="store_true", help="start a production run and do not wait for its end")


def _register_replay(commands: Commands) -> None:
    parser = commands.add(
        "replay",
        run_replay,
        "map again what was set aside, after the mapping was mended",
        "Messages keep their position and time and say replayed. What was sent is marked in the error store and not "
        "sent twice; what cannot be mapped yet goes on waiting there. Ends with 3 with --strict when something does.",
    )
    add_project(parser)
    parser.add_argument("--errors", required=True, metavar="PATH", help="the error store, as the run's report names it")
    parser.add_argument(
        "--sink",
        default="",
        metavar="T",
        help="a new or empty folder, topics: kafka://host:port/metl.{entity}, or a warehouse: "
        "warehouse:duckdb:FILE.duckdb; noop only tries it",
    )
    parser.add_argument(
        "--model", default="", metavar="NAME", help="of a warehouse, where a project has several models"
    )
    parser.add_argument(
        "--messages", action="store_true", help="what waits are messages that metl warehouse load set aside"
    )
    _add_mapping(parser)
    parser.add_argument(
        "--reason", action="append", default=[], metavar="CODE", help="only this reason; may come again"
    )
    parser.add_argument(
        "--set-aside", default="", metavar="PATH", help="another folder or topic for what is set aside again"
    )
    parser.add_argument(
        "--tombstones", action="store_true", help="send a null value after each delete, for compacted topics"
    )
    parser.add_argument(
        "--create-topics", action="store_true", help="make the topics that are missing; what is made is printed first"
    )
    parser.add_argument("--again", action="store_true", help="everything that was set aside, also what was replayed")
    parser.add_argument("--strict", action="store_true", help="end with 3 when a record was set aside again")


def _add_mapping(parser: argparse.ArgumentParser) -> None:
    spark_options(parser)
    parser.add_argument("--mode", choices=["test", "production"], default="test", help="(default: test)")
    parser.add_argument(
        "--state",
        type=int,
        metavar="N",
        help="map with this state instead of the current one; in production another published one",
    )
    parser.add_argument(
        "--include-unconfirmed",
        action="store_true",
        help="map blocks that nobody has confirmed too; a test always does, and counts them",
    )
    parser.add_argument(
        "--format",
        choices=["jsonl", "parquet"],
        default="jsonl",
        help="messages as they are, or in typed columns that the CDM gives; what does not fit is set aside "
        "(default: jsonl)",
    )
    parser.add_argument(
        "--by-date", action="store_true", help="a folder date=YYYY-MM-DD for each day (UTC) below each entity"
    )
    parser.add_argument(
        "--max-record-bytes",
        type=positive,
        default=LIMIT_BYTES,
        metavar="N",
        help=f"set larger records aside as too_large (default: {LIMIT_BYTES}, which is {LIMIT_BYTES >> 20} MiB)",
    )


def _check_sink(arguments: argparse.Namespace) -> None:
    """Refuse what only folders have where the sink is a topic."""
    from metl_gui.core.runs.kafka import is_kafka

    if is_kafka(arguments.sink) and (arguments.format != "jsonl" or arguments.by_date):
        wrong_usage(arguments, "--format and --by-date are for folders: a topic takes messages as they are")


def run_run(arguments: argparse.Namespace, out: Output) -> int:
    """Map a source and print the report."""
    from metl_gui.core.runs.run_spec import BATCH_BYTES, WAREHOUSE, MappingSpec, RunPolicy, SinkSpec, SourceSpec
    from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest, run_mapping
    from metl_gui.workbench.session import Workbench

    if arguments.detach and arguments.mode != PRODUCTION:
        wrong_usage(arguments, "--detach is for --mode production: a test ends with its command")
    _check_sink(arguments)
    request = RunRequest(
        source=SourceSpec(
            address=arguments.source,
            start=arguments.start,
            limit=arguments.limit,
            max_record_bytes=arguments.max_record_bytes,
            follow=arguments.follow,
            batch_bytes=arguments.batch_bytes or BATCH_BYTES,
            group=arguments.group,
        ),
        sink=SinkSpec(
            address=arguments.sink,
            errors=arguments.errors,
            format=arguments.format,
            by_date=arguments.by_date,
            has_tombstones=arguments.tombstones,
        ),
        mapping=MappingSpec(is_frozen=arguments.freeze, wait_seconds=arguments.wait),
        policy=RunPolicy(mode=arguments.mode, lane=arguments.lane, checkpoint=arguments.checkpoint),
        spark=arguments.spark,
        state=arguments.state,
        include_unconfirmed=arguments.include_unconfirmed,
    )
    is_process = arguments.mode == PRODUCTION and (arguments.follow or arguments.checkpoint or arguments.detach)
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        if arguments.create_topics:
            _create_topics(workbench, request, out)
        if arguments.sink.startswith(WAREHOUSE):
            return _into_warehouse(workbench, request, arguments, out)
        refuse_policy(arguments)
        if is_process:
            return _in_process(workbench, request, arguments, out)
        with out.watching() as watch:
            done = run_mapping(workbench, request, watch=watch, keeps_session=keeps_session(arguments))
            is_interrupted = watch.is_cancelled and done.report.is_stopped
    code = _told(arguments, out, done)
    return CANCELLED if is_interrupted else code


def _into_warehouse(workbench: Workbench, request: RunRequest, arguments: argparse.Namespace, out: Output) -> int:
    """Map and load, and print the report of the run with that of the load."""
    from metl_gui.workbench.loads.warehouse_loads import load_lines, load_warehouse

    if arguments.format != "jsonl" or arguments.by_date or arguments.detach:
        wrong_usage(arguments, "--format, --by-date and --detach are not for a warehouse")
    if arguments.follow:
        done, is_interrupted = followed(workbench, request, arguments.sink, arguments, out)
        out.result(done.as_json(), [*report_lines(done.run.report), *load_lines(done.load)])
        return CANCELLED if is_interrupted else DONE
    refuse_policy(arguments)
    with out.watching() as watch:
        done = load_warehouse(
            workbench,
            request,
            arguments.sink,
            arguments.model,
            watch=watch,
            keeps_session=keeps_session(arguments),
        )
    out.result(done.as_json(), [*report_lines(done.run.report), *load_lines(done.load)])
    return FOUND if arguments.strict and done.run.report.set_aside + done.load.set_aside else DONE


def _create_topics(workbench: Workbench, request: RunRequest, out: Output) -> None:
    """Print the topics that are missing, then make them."""
    from metl_gui.workbench.runs.topics import make_topics, topics_wanted

    plans = topics_wanted(workbench, request)
    for plan in plans:
        out.note(f"Making topic {plan.text}")
    make_topics(request, plans)


def _in_process(workbench: Workbench, request: RunRequest, arguments: argparse.Namespace, out: Output) -> int:
    """Start a production run as a process of its own and follow it, unless it is left to itself."""
    from metl_gui.workbench.runs.production import start_production

    with out.watching() as watch:
        run = start_production(workbench, request, watch)
    again = f"metl runs {shlex.quote(str(arguments.project))} --attach {run.run_id}"
    if arguments.detach:
        out.result({"run_id": run.run_id, "folder": str(run.folder)}, [f"Run {run.run_id} has started.", again])
        return DONE
    out.note(f"Run {run.run_id} is a process of its own. Ctrl-C ends it in order; attach again with: {again}")
    report = attached(run, out, is_stopped_by_interrupt=True)
    is_interrupted = report is not None and report.is_stopped and out.was_interrupted
    return print_report(report, out, is_strict=arguments.strict, is_interrupted=is_interrupted)


def run_replay(arguments: argparse.Namespace, out: Output) -> int:
    """Map again what waits in an error store and print the report."""
    from msgspec import UNSET

    from metl_gui.core.runs.run_spec import WAREHOUSE, ReplayOrder, RunPolicy, SinkSpec, SourceSpec
    from metl_gui.workbench.runs.mapping_run import RunRequest
    from metl_gui.workbench.runs.replay import make_topics, replay
    from metl_gui.workbench.session import Workbench

    _check_sink(arguments)
    request = RunRequest(
        source=SourceSpec(
            address=arguments.errors,
            max_record_bytes=arguments.max_record_bytes,
            replay=ReplayOrder(tuple(arguments.reason), arguments.again),
            holds="messages" if arguments.messages else UNSET,
        ),
        sink=SinkSpec(
            address=arguments.sink,
            errors=arguments.set_aside,
            format=arguments.format,
            by_date=arguments.by_date,
            has_tombstones=arguments.tombstones,
        ),
        policy=RunPolicy(mode=arguments.mode),
        spark=arguments.spark,
        state=arguments.state,
        include_unconfirmed=arguments.include_unconfirmed,
    )
    if arguments.sink.startswith(WAREHOUSE):
        return _replay_into_warehouse(request, arguments, out)
    if arguments.messages or arguments.model:
        wrong_usage(arguments, "--messages and --model are for a warehouse")
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        if arguments.create_topics:
            make_topics(workbench, request, out.note)
        done = replay(workbench, request, watch=watch, keeps_session=keeps_session(arguments))
    return _told(arguments, out, done)


def _replay_into_warehouse(request: RunRequest, arguments: argparse.Namespace, out: Output) -> int:
    """Map again and load, and print the report of the replay with that of the load."""
    from metl_gui.workbench.loads.replayed_loads import replay_into_warehouse
    from metl_gui.workbench.loads.warehouse_loads import load_lines
    from metl_gui.workbench.session import Workbench

    if arguments.format != "jsonl" or arguments.by_date or arguments.create_topics or arguments.tombstones:
        wrong_usage(arguments, "--format, --by-date, --tombstones and --create-topics are not for a warehouse")
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        done = replay_into_warehouse(
            workbench, request, arguments.sink, arguments.model, watch=watch, keeps_session=keeps_session(arguments)
        )
    out.result(done.as_json(), [*report_lines(done.run.report), *load_lines(done.load)])
    return FOUND if arguments.strict and done.run.report.set_aside + done.load.set_aside else DONE


def _told(arguments: argparse.Namespace, out: Output, done: RunResult) -> int:
    found = [{"schema": task.schema, "seen": task.seen, "records": task.records} for task in done.version_tasks]
    lines = list(report_lines(done.report))
    if found:
        what = "a version that" if len(found) == 1 else f"{len(found):,} versions that"
        lines.append(
            f"Messages show {what} nobody has imported: metl review {shlex.quote(str(arguments.project))} --list"
        )
    out.result({**done.as_json(), "version_tasks": found}, lines)
    return FOUND if arguments.strict and done.report.set_aside else DONE
