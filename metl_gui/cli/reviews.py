"""The command about what waits for a person: ``review``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands, add_project, wrong_usage
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.workbench.reviewing import Decision, ReviewEntry, ReviewList
    from metl_gui.workbench.session import Workbench


def register(commands: Commands) -> None:
    """Add ``review``."""
    parser = commands.add(
        "review",
        run_review,
        "list what needs review, or decide it",
        "A BLOCK is written schema@version:entity@version. A decision also settles the later versions of its chain.",
    )
    add_project(parser)
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument("--list", action="store_true", help="show what waits (so it does without a decision)")
    decision.add_argument("--confirm", nargs="+", metavar="BLOCK", help="accept blocks as they stand")
    decision.add_argument("--confirm-all", metavar="VERDICT", help="accept all of a verdict: same, smaller, emptied")
    decision.add_argument(
        "--rename", nargs="+", metavar=("BLOCK", "LOST=NEW"), help="say that a lost attribute has a new name"
    )
    decision.add_argument(
        "--accept-loss", nargs="+", metavar=("BLOCK", "ATTRIBUTE"), help="accept the loss of some elements"
    )
    decision.add_argument("--retire", metavar="BLOCK", help="say that the schema feeds this entity no more")
    decision.add_argument("--later", metavar="BLOCK", help="put it at the end of the list")
    parser.add_argument("--comment", default="", metavar="TEXT", help="kept with the decision")


def run_review(arguments: argparse.Namespace, out: Output) -> int:
    """List what needs review, or decide it."""
    from metl_gui.workbench.reviewing import review_list
    from metl_gui.workbench.session import Workbench

    path = Path(arguments.project)
    for option, given in (("--rename", arguments.rename), ("--accept-loss", arguments.accept_loss)):
        if given is not None and len(given) == 1:
            wrong_usage(arguments, f"{option} needs a BLOCK and what is to be decided in it")
    if not _is_decision(arguments):
        with Workbench.open(path, for_editing=False) as workbench:
            waiting = review_list(workbench.document, workbench.refused_proposals())
        out.result(waiting.as_json(), list(review_lines(waiting)))
        return DONE
    with Workbench.open(path) as workbench:
        done = _decide(arguments, workbench)
    what = done.title or "There was nothing left to decide"
    out.result(done.as_json(), [f"{what}; {done.left} still need review; state {done.state}"])
    return DONE


def _is_decision(arguments: argparse.Namespace) -> bool:
    names = ("confirm", "confirm_all", "rename", "accept_loss", "retire", "later")
    return any(getattr(arguments, name) is not None for name in names)


def _decide(arguments: argparse.Namespace, workbench: Workbench) -> Decision:
    from metl_gui.workbench import reviewing

    comment = arguments.comment
    if arguments.confirm is not None:
        return reviewing.confirm(workbench, arguments.confirm, comment)
    if arguments.confirm_all is not None:
        return reviewing.confirm_all(workbench, arguments.confirm_all, comment)
    if arguments.rename is not None:
        return reviewing.rename(workbench, arguments.rename[0], arguments.rename[1:], comment)
    if arguments.accept_loss is not None:
        return reviewing.accept_losses(workbench, arguments.accept_loss[0], arguments.accept_loss[1:], comment)
    if arguments.retire is not None:
        return reviewing.retire(workbench, arguments.retire, comment)
    return reviewing.postpone(workbench, arguments.later, comment)


def review_lines(waiting: ReviewList) -> Iterator[str]:
    """Say in lines what needs review."""
    for item in waiting.items:
        yield from _entry_lines(item)
    count = len(waiting.items)
    yield f"State {waiting.state}: {count} {'needs' if count == 1 else 'need'} review."


def _entry_lines(item: ReviewEntry) -> Iterator[str]:
    later = ", put off" if item.postponed else ""
    came_from = f", from {item.came_from}" if item.came_from else ""
    yield f"{item.block}  {item.verdict}{later}{came_from}"
    yield f"  keeps {len(item.kept)} elements"
    for lost in item.lost:
        yield f"  lost {lost.element.from_path} -> {lost.element.to_path}: {lost.reason}"
    for proposal in item.proposals:
        yield f"  perhaps {proposal.lost}={proposal.candidate} ({proposal.score:.2f}, {proposal.reason})"
    for change in item.type_changes:
        weight = "compatible" if change.is_compatible else "not compatible"
        yield f"  {change.path} was {change.before}, is {change.after} ({weight})"
    if item.new_attributes:
        yield f"  new: {', '.join(item.new_attributes)}"
    if item.also:
        yield f"  also decides {', '.join(str(block) for block in item.also)}"
    if item.comment:
        yield f"  comment: {item.comment}"
