"""The commands about the states of a project: ``history``, ``undo``, ``redo`` and ``show``."""

from __future__ import annotations

import argparse
from pathlib import Path

from metl_gui.cli.commands import DONE, Commands, add_project, positive, wrong_usage
from metl_gui.cli.output import Output


def register(commands: Commands) -> None:
    """Add ``history``, ``undo``, ``redo`` and ``show``."""
    history = commands.add(
        "history",
        run_history,
        "list the states of a project, or what was done to one thing",
        "The newest first. With --of a BLOCK (schema@version:entity@version) it tells for each element which state set "
        "it, who did and why, and what was done to the block; with --of BLOCK FROM=TO all about that element, through "
        "the versions it was taken over from; with --of SCHEMA.ATTRIBUTE (or ENTITY.ATTRIBUTE) all about that one.",
    )
    add_project(history)
    history.add_argument("--of", nargs="+", metavar=("WHAT", "FROM=TO"), help="only what was done to this")
    history.add_argument("--limit", type=positive, metavar="N", help="the newest N only")
    history.add_argument(
        "--compact",
        action="store_true",
        help="merge the log between the states that were named, published, exported or run; the newest edits stay",
    )
    undo = commands.add("undo", run_undo, "take back the newest edit, as a new state")
    add_project(undo)
    undo.add_argument("--state", type=positive, metavar="N", help="take back what made this state instead")
    add_project(commands.add("redo", run_redo, "bring the newest undone edit again, as a new state"))
    show = commands.add("show", run_show, "summarise a state in numbers")
    add_project(show)
    show.add_argument("--state", type=int, metavar="N", help="this state instead of the current one")


def run_history(arguments: argparse.Namespace, out: Output) -> int:
    """List the states of a project, or compact its log."""
    if arguments.compact:
        if arguments.of is not None or arguments.limit is not None:
            wrong_usage(arguments, "--compact takes the whole log, so neither --of nor --limit")
        return _compact(arguments, out)
    from metl_gui.workbench.history import history
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        if arguments.of is not None:
            from metl_gui.cli.blaming import history_of

            out.result(*history_of(workbench, arguments.of))
            return DONE
        found = history(workbench, arguments.limit)
    lines = []
    for entry in found.states:
        marks = f" [{entry.named}]" if entry.named else ""
        marks += " published" if entry.published else ""
        marks += " exported" if entry.exported else ""
        marks += f" run {len(entry.runs):,} time{'' if len(entry.runs) == 1 else 's'}" if entry.runs else ""
        marks += f" ({entry.states:,} states merged)" if entry.states > 1 else ""
        lines.append(f"{entry.state:>6}  {entry.when}  {entry.who}  {entry.title}{marks}")
    lines.append(f"State {found.state}. Undo: {found.undo or 'nothing'}. Redo: {found.redo or 'nothing'}.")
    out.result(found.as_json(), lines)
    return DONE


def _compact(arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.history import compact
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project)) as workbench, out.watching() as watch:
        done = compact(workbench, watch)
    sizes = f"{done.before_bytes:,} bytes before, {done.after_bytes:,} now"
    out.result(done.as_json(), [f"{done.merged:,} entries of the log merged, {done.left:,} left; {sizes}"])
    return DONE


def run_undo(arguments: argparse.Namespace, out: Output) -> int:
    """Take back the newest edit."""
    return _step(arguments, out, back=True)


def run_redo(arguments: argparse.Namespace, out: Output) -> int:
    """Bring the newest undone edit again."""
    return _step(arguments, out, back=False)


def _step(arguments: argparse.Namespace, out: Output, *, back: bool) -> int:
    from metl_gui.workbench import history
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project)) as workbench:
        if back and arguments.state is not None:
            done = history.undo_state(workbench, arguments.state)
        else:
            done = history.undo(workbench) if back else history.redo(workbench)
    out.result(done.as_json(), [f"{done.title}; {done.needs_review} need review; state {done.state}"])
    return DONE


def run_show(arguments: argparse.Namespace, out: Output) -> int:
    """Summarise one state."""
    from metl_gui.workbench.history import show
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        summary = show(workbench, arguments.state)
    out.result(
        summary.as_json(),
        [
            f"State {summary.state}: {summary.title or 'the empty project'}",
            f"  {summary.schemas} schemas in {summary.versions} versions",
            f"  {summary.entities} entities in {summary.entity_versions} versions",
            f"  {summary.elements} elements in {summary.blocks} blocks, {summary.needs_review} need review",
            f"  {summary.hash}",
        ],
    )
    return DONE
