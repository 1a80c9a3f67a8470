"""The command ``runs``: what ran, what is running, and how to go on."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands, add_project, positive, wrong_usage
from metl_gui.cli.output import Output
from metl_gui.cli.runs import attached, print_report, report_lines
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from metl_gui.workbench.runs.history import FigureComparison, PastRun, RunComparison
    from metl_gui.workbench.runs.production import LiveRun
    from metl_gui.workbench.session import Workbench

_STOP_SECONDS = 30.0
"""A lane ends behind its transactions and tells what it did; whoever goes on with it next waits for that."""

_LISTED = 20
_FILL_RATES = 20


def register(commands: Commands) -> None:
    """Add ``runs``."""
    parser = commands.add(
        "runs",
        run_runs,
        "list the runs of a project, and attach to, stop, go on with or compare them",
        "Without an option the newest runs are listed. RUN is the id of a run or its beginning. Ctrl-C while attached "
        "only detaches: the run goes on.",
    )
    add_project(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", metavar="RUN", help="print the report of a run, so far when it is going on")
    what.add_argument("--compare", nargs=2, metavar=("A", "B"), help="print how two runs differ")
    what.add_argument("--attach", metavar="RUN", help="follow a production run that is going on, until its end")
    what.add_argument("--stop", metavar="RUN", help="end a production run between two batches; it can go on later")
    what.add_argument("--resume", metavar="RUN", help="go on with a production run that was stopped, failed or died")
    parser.add_argument("--detach", action="store_true", help="with --resume: do not wait for the end")
    parser.add_argument(
        "--limit", type=positive, default=_LISTED, metavar="N", help=f"list N runs (default: {_LISTED})"
    )


def run_runs(arguments: argparse.Namespace, out: Output) -> int:
    """Do what the options ask."""
    from metl_gui.workbench.session import Workbench

    if arguments.detach and arguments.resume is None:
        wrong_usage(arguments, "--detach is for --resume")
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        if arguments.show is not None:
            return _show(workbench, arguments.show, out)
        if arguments.compare is not None:
            return _compare(workbench, arguments.compare, out)
        if arguments.attach is not None:
            return _attach(workbench, arguments.attach, out)
        if arguments.stop is not None:
            return _stop(workbench, arguments.stop, out)
        if arguments.resume is not None:
            return _resume(workbench, arguments, out)
        return _list(workbench, arguments.limit, out)


def _list(workbench: Workbench, limit: int, out: Output) -> int:
    from metl_gui.workbench.runs.history import runs

    found = runs(workbench, limit)
    lines = [_row(run) for run in found] or [
        f"{workbench.path.name} has no runs yet: metl run {shlex.quote(workbench.path.name)}"
    ]
    out.result({"runs": [run.as_json() for run in found]}, lines)
    return DONE


def _row(run: PastRun) -> str:
    when = datetime.fromtimestamp(run.when_ms / 1000).astimezone()
    report = run.report
    return (
        f"{run.run_id}  {when:%Y-%m-%d %H:%M}  {run.status.value:<9}  {run.mode:<10}  state {run.state:<4}  "
        f"{report.read:>12,} read  {report.messages_out:>12,} sent  {report.set_aside:>9,} set aside"
    )


def _show(workbench: Workbench, run_id: str, out: Output) -> int:
    from metl_gui.workbench.runs.history import find_past

    run = find_past(workbench, run_id)
    lines = [*report_lines(run.report), f"It {_became(run)}."]
    if run.can_go_on:
        lines.append(f"Go on with: metl runs {shlex.quote(str(workbench.path))} --resume {run.run_id}")
    out.result(run.as_json(), lines)
    return DONE


def _became(run: PastRun) -> str:
    words = {
        "finished": "reached its end",
        "running": "is going on",
        "stopped": "was stopped",
        "failed": f"ended before its time: {run.report.failure.removesuffix('.')}",
        "died": "died: its process is gone",
        "cancelled": "was cancelled before its end",
        "killed": f"was killed before its end: {run.report.failure.removesuffix('.')}",
    }
    return words[run.status.value]


def _compare(workbench: Workbench, ids: list[str], out: Output) -> int:
    from metl_gui.workbench.runs.history import compare_runs, find_past

    found = compare_runs(find_past(workbench, ids[0]), find_past(workbench, ids[1]))
    out.result(found.as_json(), list(_comparison_lines(found)))
    return DONE


def _comparison_lines(found: RunComparison) -> Iterator[str]:
    yield f"{'':<40} {found.a.run_id:>22} {found.b.run_id:>22}"
    yield from map(_figure_line, found.rows)
    for title, figures in (
        ("messages by entity", found.by_entity),
        ("set aside by reason", found.by_reason),
        ("skipped", found.by_skip),
        ("records by version", found.by_version),
    ):
        if figures:
            yield f"{title}:"
            yield from (f"  {_figure_line(figure, 38)}" for figure in figures)
    rates = [each for each in found.fill_rates if each.change][:_FILL_RATES]
    if rates:
        yield "filled attributes, those that changed most:"
    for each in rates:
        shares = ["" if rate is None else f"{rate:.1%}" for rate in (each.rate_a, each.rate_b)]
        yield f"  {f'{each.entity} {each.path}':<38} {shares[0]:>22} {shares[1]:>22}"


def _figure_line(figure: FigureComparison, width: int = 40) -> str:
    a, b = ("" if value is None else f"{value:,}" for value in (figure.a, figure.b))
    return f"{figure.name:<{width}} {a:>22} {b:>22}{'' if figure.a == figure.b else '  *'}"


def _with_process(workbench: Workbench, run_id: str) -> LiveRun:
    """Find a run that is or was a process of its own.

    Raises:
        UserError: there is no such run, or it has nothing that could be attached to, stopped or gone on with.
    """
    from metl_gui.workbench.runs.history import find_past
    from metl_gui.workbench.runs.production import processes

    past = find_past(workbench, run_id)
    for run in processes(workbench.project_id):
        if run.run_id == past.run_id:
            return run
    raise RunError(
        f"Run {past.run_id} is no process of its own here.",
        "Only production runs in batches are, on the computer that they run on; a test ends with its command.",
        f"See it with: metl runs {shlex.quote(str(workbench.path))} --show {past.run_id}",
    )


def _attach(workbench: Workbench, run_id: str, out: Output) -> int:
    run = _with_process(workbench, run_id)
    report = attached(run, out, is_stopped_by_interrupt=False)
    if report is None:
        out.note(f"Detached. The run goes on: metl runs {shlex.quote(str(workbench.path))} --attach {run.run_id}")
        return DONE
    return print_report(report, out)


def _stop(workbench: Workbench, run_id: str, out: Output) -> int:
    from metl_gui.workbench.runs.production import stop_run

    run = _with_process(workbench, run_id)
    was_alive = run.is_alive
    has_ended = stop_run(run, _STOP_SECONDS) if was_alive else True
    said = "has ended" if has_ended else "is ending: its batch is left out or in place in a moment"
    if not was_alive:
        said = "was not going on"
    out.result({"run_id": run.run_id, "was_running": was_alive, "has_ended": has_ended}, [f"Run {run.run_id} {said}."])
    return DONE


def _resume(workbench: Workbench, arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.runs.production import resume_production

    with out.watching() as watch:
        run = resume_production(workbench, _with_process(workbench, arguments.resume).run_id, watch)
    if arguments.detach:
        out.result({"run_id": run.run_id, "folder": str(run.folder)}, [f"Run {run.run_id} goes on."])
        return DONE
    return print_report(attached(run, out, is_stopped_by_interrupt=True), out)
