"""The command that merges two sides of a project or an export: ``merge``."""

from __future__ import annotations

import argparse
from pathlib import Path

from metl_gui.cli.commands import DONE, FOUND, Commands
from metl_gui.cli.output import Output


def register(commands: Commands) -> None:
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
    from metl_gui.workbench.merging import merge_files

    output = Path(arguments.output) if arguments.output else None
    base, ours, theirs = Path(arguments.base), Path(arguments.ours), Path(arguments.theirs)
    found = merge_files(base, ours, theirs, output, arguments.name)
    out.result(found.as_json(), list(found.lines()))
    return FOUND if found.conflicts else DONE
