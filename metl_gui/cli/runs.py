"""The commands that map messages: ``run`` and ``replay``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, FOUND, Commands, add_project, positive
from metl_gui.cli.output import Output
from metl_gui.core.framing import LIMIT_BYTES

if TYPE_CHECKING:
    from metl_gui.engine.report import RunReport
    from metl_gui.workbench.running import RunResult


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
    parser.add_argument("--source", required=True, metavar="S", help="a file, a folder or a pattern")
    parser.add_argument("--sink", required=True, metavar="T", help="a new or empty folder, or noop")
    _add_mapping(parser)
    parser.add_argument("--errors", default="", metavar="PATH", help="folder for the records that were set aside")
    parser.add_argument("--strict", action="store_true", help="end with 3 when a record was set aside")
    parser.add_argument("--limit", type=positive, metavar="N", help="read at most N records")


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
    parser.add_argument("--sink", default="", metavar="T", help="a new or empty folder; noop only tries it")
    _add_mapping(parser)
    parser.add_argument(
        "--reason", action="append", default=[], metavar="CODE", help="only this reason; may come again"
    )
    parser.add_argument("--set-aside", default="", metavar="PATH", help="another folder for what is set aside again")
    parser.add_argument("--again", action="store_true", help="everything that was set aside, also what was replayed")
    parser.add_argument("--strict", action="store_true", help="end with 3 when a record was set aside again")


def _add_mapping(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spark", default="local[*]", metavar="URL", help="where Spark runs (default: local[*])")
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


def run_run(arguments: argparse.Namespace, out: Output) -> int:
    """Map a source and print the report."""
    from metl_gui.workbench.running import RunRequest, run_mapping
    from metl_gui.workbench.session import Workbench

    request = RunRequest(
        source=arguments.source,
        sink=arguments.sink,
        spark=arguments.spark,
        mode=arguments.mode,
        errors=arguments.errors,
        limit=arguments.limit,
        state=arguments.state,
        include_unconfirmed=arguments.include_unconfirmed,
        format=arguments.format,
        by_date=arguments.by_date,
        max_record_bytes=arguments.max_record_bytes,
    )
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        done = run_mapping(workbench, request, watch=watch)
    return _told(arguments, out, done)


def run_replay(arguments: argparse.Namespace, out: Output) -> int:
    """Map again what waits in an error store and print the report."""
    from metl_gui.workbench.replaying import ReplayRequest, replay
    from metl_gui.workbench.session import Workbench

    request = ReplayRequest(
        errors=arguments.errors,
        sink=arguments.sink,
        spark=arguments.spark,
        mode=arguments.mode,
        reasons=tuple(arguments.reason),
        set_aside=arguments.set_aside,
        state=arguments.state,
        include_unconfirmed=arguments.include_unconfirmed,
        is_again=arguments.again,
        format=arguments.format,
        by_date=arguments.by_date,
        max_record_bytes=arguments.max_record_bytes,
    )
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        done = replay(workbench, request, watch=watch)
    return _told(arguments, out, done)


def _told(arguments: argparse.Namespace, out: Output, done: RunResult) -> int:
    found = [{"schema": task.schema, "seen": task.seen, "records": task.records} for task in done.version_tasks]
    lines = list(report_lines(done.report))
    if found:
        what = "a version that nobody has imported" if len(found) == 1 else f"{len(found)} versions nobody has imported"
        lines.append(f"Messages show {what}: metl review {shlex.quote(str(arguments.project))} --list")
    out.result({**done.as_json(), "version_tasks": found}, lines)
    return FOUND if arguments.strict and done.report.set_aside else DONE


def report_lines(report: RunReport) -> Iterator[str]:
    """Say in lines what became of the records."""
    yield (
        f"{'Replay' if report.is_replay else 'Run'} {report.run_id} of state {report.state} on {report.spark}: "
        f"{report.read:,} records in {report.seconds:.1f} s ({report.records_per_second:,.0f} a second)"
    )
    yield f"  mapped    {report.mapped:>9,}  into {report.messages_out:,} messages{_named(report.by_entity)}"
    yield f"  filtered  {report.filtered:>9,}"
    yield f"  set aside {report.set_aside:>9,}{_named(report.by_reason)}"
    yield f"  skipped   {report.skipped:>9,}{_named(report.by_skip)}"
    if report.from_unreviewed:
        yield f"  from blocks that nobody has confirmed{_named(report.from_unreviewed)}"
    yield from (f"  note: {problem}" for problem in report.problems)
    if report.outputs:
        yield f"Messages ({report.format}): {report.outputs}"
    if report.errors:
        yield f"Set aside: {report.errors}"


def _named(counts: Mapping[str, int]) -> str:
    return f": {', '.join(f'{name} {count:,}' for name, count in sorted(counts.items()))}" if counts else ""
