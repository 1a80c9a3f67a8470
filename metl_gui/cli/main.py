"""The program `metl`: reads the arguments, runs one command, turns its outcome into an exit code."""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from itertools import islice

from metl_gui import __version__

_DESCRIPTION = "Map changing microservice schemas to one canonical data model and run the mapping on Spark."
_EXIT_CODES = """\
exit codes: 0 done, 1 something in your files or on this computer is at fault (the message says what to do),
2 wrong usage, 3 a check found something, 130 cancelled."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        argv: the arguments after the program's name; by default those of this process, which ends with the command.
    """
    _open_closed_streams()
    ends_process = argv is None
    try:
        return _run(argv, ends_process=ends_process)
    except KeyboardInterrupt:
        return 130  # before there is anything that could be cancelled in order
    finally:
        if ends_process:
            # What Python does until it ends is not to be broken off; it gives up handlers of ours before.
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(argv: Sequence[str] | None, *, ends_process: bool) -> int:
    from metl_gui.cli.commands import WrongUsageError, finished
    from metl_gui.cli.output import Output, PlainFormatter, StdoutClosedError

    if ends_process:
        from metl_gui.threads import keep_libraries_from_threads

        keep_libraries_from_threads()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A file name that is not UTF-8 must not break the output; written like this it is also valid JSON.
        sys.stdout.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:  # which says on stderr what goes wrong aside
        logging.lastResort.setFormatter(PlainFormatter())
    try:
        arguments = build_parser().parse_args(argv)
        from metl_gui.workbench.user_folders import close_to_others

        close_to_others()
        out = Output(arguments.json, sys.stdout, sys.stderr, ends_process=ends_process)
        return finished(lambda: int(arguments.run(arguments, out)), out, debug=arguments.debug)
    except WrongUsageError as wrong:
        if _asks_for_json(sys.argv[1:] if argv is None else argv):
            with contextlib.suppress(StdoutClosedError):
                Output(True, sys.stdout, sys.stderr).fail(wrong.error)
        raise


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether arguments that could not be read as a whole ask for a document; behind ``--`` stand names."""
    return "--json" in islice(arguments, arguments.index("--") if "--" in arguments else None)


def _open_closed_streams() -> None:
    """Put something behind standard streams that the caller closed, before a project file gets their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the program and of all its commands, in the order of the help."""
    # Loaded here rather than above, so that whoever changes their mind at once meets no traceback.
    from metl_gui.cli import (
        comparison,
        demo,
        environment,
        exports,
        lanes,
        mappings,
        owners,
        past_runs,
        reviews,
        runs,
        samples,
        schemas,
        states,
        todo,
    )
    from metl_gui.cli.commands import Commands, Parser, common_options
    from metl_gui.cli.warehouse import commands as warehouse

    registrations = (
        environment.register_doctor,
        demo.register,
        schemas.register,
        schemas.register_watch,
        owners.register,
        mappings.register,
        mappings.register_suggest,
        todo.register,
        reviews.register,
        states.register,
        states.register_publish,
        warehouse.register,
        exports.register,
        comparison.register_diff,
        comparison.register_merge,
        runs.register,
        samples.register,
        samples.register_why,
        past_runs.register,
        lanes.register_lane,
        lanes.register_load,
        environment.register_profile,
    )
    parser: argparse.ArgumentParser = Parser(
        prog="metl",
        description=_DESCRIPTION,
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"metl {__version__}")
    common_options(parser, json=False, debug=False)
    commands = Commands(parser.add_subparsers(dest="command", metavar="COMMAND", required=True))
    for register in registrations:
        register(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
