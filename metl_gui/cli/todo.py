"""The commands ``todo`` and ``ignore``: what is to do, and what is never to be mapped."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands, add_project, wrong_usage
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.workbench.mapping.todo import ToDoAttribute, ToDoList

_STATUSES = ("open", "suggested", "ignored", "mapped")


def register(commands: Commands) -> None:
    """Add ``todo`` and ``ignore``."""
    todo = commands.add(
        "todo",
        run_todo,
        "list which attributes are to be mapped, and how far schemas and entities are",
        "Attributes of the newest versions are looked at. What is never to be mapped counts as done.",
    )
    add_project(todo)
    todo.add_argument("names", metavar="NAME", nargs="*", help="schemas or entities, by default all")
    todo.add_argument("--tree", choices=["extraction", "cdm"], help="of this tree only")
    todo.add_argument(
        "--status",
        action="append",
        choices=_STATUSES,
        help="list attributes that stand so; may be given several times, by default open and suggested",
    )
    ignore = commands.add(
        "ignore",
        run_ignore,
        "mark attributes as never to be mapped, in any version, with a reason",
        "They are not suggested, and are no gaps. Mapping one takes its mark away. Lost elements of theirs that wait "
        "for a decision are accepted.",
    )
    add_project(ignore)
    ignore.add_argument(
        "names",
        metavar="ATTRIBUTE",
        nargs="+",
        help="SCHEMA.ATTRIBUTE or ENTITY.ATTRIBUTE, with @VERSION behind where needed",
    )
    ignore.add_argument("--reason", metavar="TEXT", help="why; needed but with --take-back")
    ignore.add_argument("--unmap", action="store_true", help="clear their elements too, in every version")
    ignore.add_argument("--take-back", action="store_true", help="let them be mapped again")
    ignore.add_argument("--tree", choices=["extraction", "cdm"], help="where to look, for a name in both trees")
    ignore.add_argument("--dry-run", action="store_true", help="only say what would change")


def run_todo(arguments: argparse.Namespace, out: Output) -> int:
    """List what is to do."""
    from metl_gui.core.search.todo import AttributeStatus
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.mapping.todo import TO_DO, ToDoQuery, to_do
    from metl_gui.workbench.samples.project_samples import ProjectSamples
    from metl_gui.workbench.session import Workbench

    wanted = tuple(AttributeStatus(each) for each in arguments.status or ()) or TO_DO
    sides = (Side(arguments.tree),) if arguments.tree else tuple(Side)
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        document, samples = workbench.document, ProjectSamples(workbench)
        refused = workbench.kept.refused_suggestions.all()
        asked = ToDoQuery(tuple(arguments.names), sides, wanted)
        found = to_do(document, asked, refused, watch, lambda key: samples.alike(document, document, key))
    out.result(found.as_json(), list(_lines(found, sides)))
    return DONE


def run_ignore(arguments: argparse.Namespace, out: Output) -> int:
    """Mark attributes as never to be mapped, or take that back."""
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.mapping.todo import NamedMarks, ignore, recall
    from metl_gui.workbench.session import Workbench

    if arguments.take_back and (arguments.reason is not None or arguments.unmap):
        wrong_usage(arguments, "--take-back takes neither --reason nor --unmap")
    if not arguments.take_back and arguments.reason is None:
        wrong_usage(arguments, "say why with --reason TEXT")
    marks = NamedMarks(tuple(arguments.names), Side(arguments.tree) if arguments.tree else None)
    dry_run: bool = arguments.dry_run
    with Workbench.open(Path(arguments.project), for_editing=not dry_run) as workbench:
        if arguments.take_back:
            done = recall(workbench, marks, dry_run=dry_run)
        else:
            done = ignore(workbench, marks, arguments.reason, unmaps=arguments.unmap, dry_run=dry_run)
    out.result(done.as_json(), [*done.lines(), f"{done.needs_review} need review; state {done.state}"])
    return DONE


def _lines(found: ToDoList, sides: tuple[str, ...]) -> Iterator[str]:
    far = {(each.tree, each.name): each.progress.words() for each in found.schemas}
    for key, listed in groupby(found.attributes, key=lambda each: (each.tree, each.name)):
        attributes = list(listed)
        yield f"{key[1]} version {attributes[0].version}: {far[key]}"
        yield from (f"  {_line(each)}" for each in attributes)
    if not found.attributes:
        yield "No attribute stands so."
    totals = (("extraction", "Schemas", found.extraction), ("cdm", "Entities", found.cdm))
    yield from (
        f"{words}: {progress.words()}" for side, words, progress in totals if side in sides and progress.attributes
    )
    yield f"State {found.state}."


def _line(each: ToDoAttribute) -> str:
    words = f"{each.path}: {each.type}{' required' if each.required else ''}, {each.status.value}"
    if each.suggestion is not None:
        return f"{words}: {each.suggestion.score:.2f} {each.suggestion.attribute}  ({each.suggestion.reason})"
    said = ", ".join(part for part in (each.who, each.when) if part)
    return f"{words}: {each.reason}{f'  ({said})' if said else ''}" if each.reason else words
