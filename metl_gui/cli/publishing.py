"""The command that makes a state the one production uses: ``publish``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands, add_project, wrong_usage
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.core.differences.document_difference import Difference
    from metl_gui.workbench.publishing import Published

_SHOWN, _LINES = 10, 60


def register(commands: Commands) -> None:
    """Add ``publish``."""
    parser = commands.add(
        "publish",
        run_publish,
        "make a state the one that production runs and exports use",
        "The checks come first: an error refuses it, warnings and notes are told. Publishing an older state takes "
        "production back to it.",
    )
    add_project(parser)
    parser.add_argument("--state", type=int, metavar="N", help="this state instead of the current one")
    parser.add_argument(
        "--announce",
        default="",
        metavar="KAFKA",
        help="tell the fast lanes on these servers too that see no project file, as kafka://host:port or kafka://@NAME",
    )
    parser.add_argument("--name", default="", metavar="TEXT", help="a name for the state, as the history shows it")


def run_publish(arguments: argparse.Namespace, out: Output) -> int:
    """Publish a state and say what that changes in production."""
    from metl_gui.engine.kafka.servers import is_kafka
    from metl_gui.workbench.lanes import announce_live, following
    from metl_gui.workbench.publishing import publish
    from metl_gui.workbench.session import Workbench

    if arguments.announce and not is_kafka(arguments.announce):
        wrong_usage(arguments, "--announce takes kafka://host:port or kafka://@NAME")
    with Workbench.open(Path(arguments.project)) as workbench:
        done = publish(workbench, arguments.state, arguments.name)
        lanes = following(workbench)
        is_announced = announce_live(workbench, arguments.announce) if arguments.announce else None
    lines = [*_lines(done), *_lane_lines(arguments.project, done, lanes, is_announced)]
    out.result(done.as_json() | {"lanes": list(lanes), "announced": is_announced}, lines)
    return DONE


def _lane_lines(project: str, done: Published, lanes: tuple[str, ...], is_announced: bool | None) -> Iterator[str]:
    path = shlex.quote(project)
    if lanes and done.is_new:
        named = f"{len(lanes)} fast lane{'s' * (len(lanes) != 1)}"
        yield f"  {named} will take it up; wait for it: metl lane wait {path} --state {done.state}"
    elif lanes:
        yield f"  lanes that were taken back from it go forward by: metl lane roll-back {path} --state {done.state}"
    if is_announced is not None:
        yield "  announced to all lanes there" if is_announced else "  not taken up there: lanes know something newer"


def _lines(done: Published) -> Iterator[str]:
    named = f" [{done.name}]" if done.name else ""
    if not done.is_new:
        yield f"State {done.state}{named} is live already."
        return
    told = [problem for problem in done.problems if problem.severity.value != "note"]
    for problem in told[:_SHOWN]:
        yield f"{problem.severity.value} {problem.code} {problem.place}: {problem.message}"
    if len(told) > _SHOWN:
        yield f"and {len(told) - _SHOWN} more: see metl check"
    if done.difference is not None:
        yield from _difference_lines(done.difference, done.was_live)
    before = f"; before it state {done.was_live} was" if done.was_live is not None else ""
    yield f"State {done.state}{named} is live{before}."
    yield f"  {_count(done.blocks)} used"
    if done.held:
        yield f"  {_count(done.held)} held: their messages wait until somebody has decided (metl review --list)"
    if done.unconfirmed:
        yield f"  {_count(done.unconfirmed)} left out: nobody has confirmed {'it' if done.unconfirmed == 1 else 'them'}"


def _difference_lines(difference: Difference, was_live: int | None) -> Iterator[str]:
    from metl_gui.workbench.difference_text import difference_lines, difference_summary

    lines = difference_lines(difference)
    yield from islice(lines, _LINES)
    more = sum(1 for _ in lines)
    if more:
        yield f"and {more:,} lines more: see metl diff PROJECT@{was_live} PROJECT"
    yield difference_summary(difference)


def _count(number: int) -> str:
    return f"{number:,} block{'' if number == 1 else 's'}"
