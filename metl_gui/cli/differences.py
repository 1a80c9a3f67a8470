"""The command that compares projects, states and exports: ``diff``."""

from __future__ import annotations

import argparse
from pathlib import Path

from metl_gui.cli.commands import DONE, FOUND, Commands, wrong_usage
from metl_gui.cli.output import Output


def register(commands: Commands) -> None:
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
    from metl_gui.workbench.comparing import compared, whole_text

    if arguments.textconv:
        if arguments.after is not None or arguments.json:
            wrong_usage(arguments, "--textconv takes one file and prints text")
        out.result({}, whole_text(Path(arguments.before)).splitlines())
        return DONE
    found = compared(arguments.before, arguments.after)
    out.result(found.as_json(), list(found.lines()))
    return FOUND if arguments.exit_code and not found.difference.is_empty else DONE
