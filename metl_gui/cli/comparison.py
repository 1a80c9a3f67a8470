"""The commands over two sides: ``diff`` for projects, states and exports, ``merge`` for projects or exports."""

from __future__ import annotations

import argparse
from pathlib import Path

from metl_gui.cli.commands import DONE, FOUND, Commands, wrong_usage
from metl_gui.cli.output import Output


def register_diff(commands: Commands) -> None:
    """Add ``diff``."""
    diff = commands.add(
        "diff",
        run_diff,
        "say what differs between two projects, states or exports",
        "PROJECT is the current state of a project file, PROJECT@12 its state 12, PROJECT@live what production uses, "
        "PROJECT@NAME a named state; an export is a file of metl export --format json or dusb. PROJECT alone compares "
        "what is live with the current state.",
    )
    diff.add_argument("before", metavar="A", help="a project file, one of its states, or an export")
    diff.add_argument("after", metavar="B", nargs="?", help="the other one")
    diff.add_argument("--exit-code", action="store_true", help="end with 3 when something differs, for CI")
    diff.add_argument(
        "--textconv",
        action="store_true",
        help="print A as text, one element a line, for git's diff.metl.textconv (diff --textconv --)",
    )


def run_diff(arguments: argparse.Namespace, out: Output) -> int:
    """Compare two sides, or print one as text."""
    from metl_gui.workbench.comparison.diff import compared, whole_text

    if arguments.textconv:
        if arguments.after is not None or arguments.json:
            wrong_usage(arguments, "--textconv takes one file and prints text")
        # Names may hold what Python takes for an end of line, too.
        out.result({}, whole_text(Path(arguments.before)).removesuffix("\n").split("\n"))
        return DONE
    found = compared(arguments.before, arguments.after)
    out.result(found.as_json(), list(found.lines()))
    return FOUND if arguments.exit_code and not found.difference.is_empty else DONE


def register_merge(commands: Commands) -> None:
    """Add ``merge``."""
    merge = commands.add(
        "merge",
        run_merge,
        "merge what two sides changed since a common base",
        "Works on project files and on exports made with --format json. What only one side changed is taken; where "
        "both changed the same differently, ours is kept, the block needs review with both sides in its reason, and "
        "the exit code is 3. As git's merge driver: metl merge %O %A %B --name=%P.",
    )
    merge.add_argument("base", metavar="BASE", help="what both sides began with; may be empty")
    merge.add_argument("ours", metavar="OURS", help="our side; holds the result unless -o says otherwise")
    merge.add_argument("theirs", metavar="THEIRS", help="the other side")
    merge.add_argument("-o", "--output", metavar="PATH", help="write the result here and leave OURS as it is")
    merge.add_argument("--name", default="", metavar="TEXT", help="what THEIRS is called in the history")


def run_merge(arguments: argparse.Namespace, out: Output) -> int:
    """Merge, and say what came and what both changed differently."""
    from metl_gui.workbench.comparison.merge import merge_files

    output = Path(arguments.output) if arguments.output else None
    base, ours, theirs = Path(arguments.base), Path(arguments.ours), Path(arguments.theirs)
    found = merge_files(base, ours, theirs, output, arguments.name)
    out.result(found.as_json(), list(found.lines()))
    return FOUND if found.conflicts else DONE
