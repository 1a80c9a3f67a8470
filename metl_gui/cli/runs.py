"""The command that maps messages: ``run``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, FOUND, Commands, add_project, positive
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.engine.report import RunReport


def register(commands: Commands) -> None:
    """Add ``run``."""
    parser = commands.add(
        "run",
        run_run,
        "map captured messages on Spark",
        "Ends with 0 although records were set aside, unless --strict is given; then with 3.",
    )
    add_project(parser)
    parser.add_argument("--source", required=True, metavar="S", help="a file, a folder or a pattern")
    parser.add_argument("--sink", required=True, metavar="T", help="a new or empty folder, or noop")
    parser.add_argument("--spark", default="local[*]", metavar="URL", help="where Spark runs (default: local[*])")
    parser.add_argument("--mode", choices=["test", "production"], default="test", help="(default: test)")
    parser.add_argument("--errors", default="", metavar="PATH", help="folder for the records that were set aside")
    parser.add_argument("--strict", action="store_true", help="end with 3 when a record was set aside")
    parser.add_argument("--state", type=int, metavar="N", help="map with this state instead of the current one")
    parser.add_argument("--limit", type=positive, metavar="N", help="read at most N records")
    parser.add_argument(
        "--include-unconfirmed",
        action="store_true",
        help="map blocks that nobody has confirmed too; a test always does, and counts them",
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
    )
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        done = run_mapping(workbench, request, watch=watch)
    out.result(done.as_json(), list(report_lines(done.report)))
    return FOUND if arguments.strict and done.report.set_aside else DONE


def report_lines(report: RunReport) -> Iterator[str]:
    """Say in lines what became of the records."""
    yield (
        f"Run {report.run_id} of state {report.state} on {report.spark}: {report.read:,} records in "
        f"{report.seconds:.1f} s ({report.records_per_second:,.0f} a second)"
    )
    yield f"  mapped    {report.mapped:>9,}  into {report.messages_out:,} messages{_named(report.by_entity)}"
    yield f"  filtered  {report.filtered:>9,}"
    yield f"  set aside {report.set_aside:>9,}{_named(report.by_reason)}"
    yield f"  skipped   {report.skipped:>9,}{_named(report.by_skip)}"
    if report.from_unreviewed:
        yield f"  from blocks that nobody has confirmed{_named(report.from_unreviewed)}"
    yield from (f"  note: {problem}" for problem in report.problems)
    if report.outputs:
        yield f"Messages: {report.outputs}"
    if report.errors:
        yield f"Set aside: {report.errors}"


def _named(counts: Mapping[str, int]) -> str:
    return f": {', '.join(f'{name} {count:,}' for name, count in sorted(counts.items()))}" if counts else ""
