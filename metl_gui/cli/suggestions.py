"""The command about what may be mapped: ``suggest``."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands, add_project, wrong_usage
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.workbench.suggesting import Suggestions


_LEAST_SHOWN = 0.05
"""Less likely ones are in the JSON document only."""


def register(commands: Commands) -> None:
    """Add ``suggest``."""
    parser = commands.add(
        "suggest",
        run_suggest,
        "propose elements for what is unmapped, with scores and reasons",
        "Sets nothing unless told to by --accept-best. Without an entity, the entities that a schema is most alike are "
        "looked at; without a schema, the newest version of each.",
    )
    add_project(parser)
    parser.add_argument("--schema", metavar="S", help="for this schema only")
    parser.add_argument("--entity", metavar="E", help="for this entity only")
    parser.add_argument("--version", metavar="V", help="for this version of the schema instead of the newest")
    parser.add_argument(
        "--accept-best",
        type=score,
        metavar="N",
        help="set those of the best 1:1 sets scored N or more (0 to 1), unconfirmed, as one undo step",
    )


def score(text: str) -> float:
    """Read a score: more than 0, at most 1."""
    try:
        number = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
    if math.isnan(number) or not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a score: more than 0, at most 1, 0.9 for example")
    return number


def run_suggest(arguments: argparse.Namespace, out: Output) -> int:
    """Propose elements, and set the best where that was asked for."""
    from metl_gui.workbench.sample_shelf import SampleShelf
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.suggesting import Asked, accept_best, suggest

    if arguments.version is not None and arguments.schema is None:
        wrong_usage(arguments, "--version needs the --schema that it is a version of")
    asked = Asked(arguments.schema, arguments.entity, arguments.version)
    least: float | None = arguments.accept_best
    with Workbench.open(Path(arguments.project), for_editing=least is not None) as workbench, out.watching() as watch:
        document, shelf = workbench.document, SampleShelf(workbench)
        refused = workbench.kept.refused_suggestions.all()
        found = suggest(document, asked, refused, watch, lambda key: shelf.alike(document, document, key))
        if least is not None:
            found = accept_best(workbench, found, least)
    out.result(found.as_json(), list(_lines(found, least)))
    return DONE


def _lines(found: Suggestions, least: float | None) -> Iterator[str]:
    for block, suggestions in groupby(found.suggestions, key=lambda each: each.block):
        yield str(block)
        for each in (each for each in suggestions if each.is_best or each.score >= _LEAST_SHOWN):
            mark = "*" if each.is_best else " "
            yield f"  {each.score:.2f} {mark} {each.names.from_path} -> {each.names.to_path}  ({each.reason})"
    if not found.suggestions:
        yield "Nothing that is unmapped looks alike."
    if least is not None:
        was = f"; {found.unconfirmed} blocks that were confirmed are not any more" if found.unconfirmed else ""
        yield f"{found.set} elements set, unconfirmed{was}; state {found.state}"
    elif found.suggestions:
        yield "* is in the best 1:1 set of its block. Nothing was set; --accept-best 0.9 sets those scored 0.9 or more."
