"""How a command is added to the program, and how it ends.

A command has a name, a sentence, arguments and the function that runs it. Every exception becomes a sentence on stderr
and an exit code (``finished``).
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from metl_gui.cli.output import Output, StdoutClosedError, printable
from metl_gui.errors import RunCancelled, UserError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


Run = Callable[[argparse.Namespace, Output], int]
"""What a command does: reads the parsed arguments, says things through the output, returns the exit code."""

DONE = 0
AT_FAULT = 1
FOUND = 3
"""Exit codes; 2 is argparse's own, 130 that of a cancelled command."""


_LARGEST = 2**63 - 1
_DAY_SECONDS = 24 * 3600


class WrongUsageError(SystemExit):
    """A command was called wrongly, which stderr says already; ends the program with exit code 2.

    Args:
        error: the same for the document of ``--json``.
    """

    def __init__(self, error: UserError) -> None:
        super().__init__(2)
        self.error = error


class Parser(argparse.ArgumentParser):
    """Reads the arguments; what it says of wrong ones is safe for a terminal, whatever they hold."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Read options wherever they stand, also between a command's project and names of which there may be none.

        Python's own reading takes such names for missing where an option stands before them, and refuses them then.
        """
        namespace, left = super().parse_known_args(args, namespace)
        several = next((each for each in self._get_positional_actions() if each.nargs == "*"), None)
        cut = left.index("--") if "--" in left else len(left)  # what stands behind it is a name, whatever it looks like
        if several is None or any(each.startswith("-") for each in left[:cut]):
            return namespace, left
        setattr(namespace, several.dest, [*(getattr(namespace, several.dest) or ()), *left[:cut], *left[cut + 1 :]])
        return namespace, []

    def error(self, message: str) -> NoReturn:
        """End with exit code 2, the usage and a message.

        Raises:
            WrongUsageError: always.
        """
        try:
            super().error(printable(message))
        except SystemExit:
            raise WrongUsageError(UserError(message, hint=f"See {self.prog} --help.")) from None


class Commands:
    """The commands of the program, each with the options that all have in common."""

    def __init__(self, subparsers: Subparsers) -> None:
        self._subparsers = subparsers

    def add(self, name: str, run: Run, sentence: str, more: str = "") -> argparse.ArgumentParser:
        """Add a command.

        Args:
            name: what people type.
            run: what it does.
            sentence: what it does, in one sentence that begins with a verb.
            more: further help, shown with the command's own help only.
        """
        parser = self._subparsers.add_parser(
            name,
            help=sentence,
            description=f"{sentence[0].upper()}{sentence[1:]}.{' ' if more else ''}{more}",
            allow_abbrev=False,
        )
        common_options(parser, json=argparse.SUPPRESS, debug=argparse.SUPPRESS)
        parser.set_defaults(run=run, parser=parser)
        return parser


def common_options(parser: argparse.ArgumentParser, json: Any, debug: Any) -> None:
    """Add the options that may stand before and after the command's name.

    A command's own parser has no defaults for them, or it would overwrite what stood before the name.
    """
    common = parser.add_argument_group("everywhere")
    common.add_argument("--json", action="store_true", default=json, help="print one JSON document on stdout")
    common.add_argument("--debug", action="store_true", default=debug, help="show the traceback of an error")


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add the project file that nearly every command works on."""
    parser.add_argument("project", metavar="PROJECT", help="the project file, NAME.metl")


def wrong_usage(arguments: argparse.Namespace, message: str) -> NoReturn:
    """End with exit code 2, the command's usage and a message."""
    parser: argparse.ArgumentParser = arguments.parser
    parser.error(message)


def positive(text: str) -> int:
    """Read a number that must be 1 or more."""
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if not 1 <= number <= _LARGEST:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {_LARGEST}")
    return number


def seconds(text: str) -> float:
    """Read a time in seconds, up to a day."""
    try:
        number = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from error
    if not 0 <= number <= _DAY_SECONDS:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and {_DAY_SECONDS}")
    return number


_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def duration(text: str) -> float:
    """Read a time like 30s, 5min or 2h, in seconds; a number alone is seconds."""
    number = text.strip().rstrip("hmins")
    unit = _UNITS.get(text.strip()[len(number) :])
    if unit is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time like 30s, 5min or 2h")
    return seconds(str(unit * seconds(number)))


CANCELLED = 130
_log = logging.getLogger(__name__)


def finished(command: Callable[[], int], out: Output, *, debug: bool) -> int:
    """Run a command to its end and return the exit code, whatever it raises.

    Args:
        command: the command with its arguments.
        out: where it speaks.
        debug: whether tracebacks are shown.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr) if out.as_json else contextlib.nullcontext():
            return command()
    except (KeyboardInterrupt, RunCancelled) as stop:
        out.note(f"Cancelled. {stop}".rstrip())
        return CANCELLED
    except UserError as error:
        if isinstance(error, StdoutClosedError):
            out.detach()
        if debug:
            out.note(traceback.format_exc())
        _told(error, out)
        return AT_FAULT
    except Exception as error:  # noqa: BLE001 - this is the program's edge
        _log.debug("a command broke", exc_info=True)
        if debug:
            out.note(traceback.format_exc())
        _told(_broken(error, debug=debug), out)
        return AT_FAULT


def _told(error: UserError, out: Output) -> None:
    """Say an error; where even that cannot be said, the exit code is left to tell it."""
    try:
        out.error(error)
    except StdoutClosedError:
        out.detach()


def _broken(error: Exception, *, debug: bool) -> UserError:
    said = " ".join(str(error).split())[:300]
    hint = "Report it with the traceback above." if debug else "Run again with --debug to see where it happened."
    return UserError("Something broke inside the program.", f"{type(error).__name__}: {said}".rstrip(": "), hint)


def spark_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where Spark runs, and whether it stays."""
    parser.add_argument("--spark", default="local[*]", metavar="URL", help="where Spark runs (default: local[*])")
    parser.add_argument(
        "--keep-session",
        action="store_true",
        help="leave Spark running for the next command with this option, which then begins at once; it ends after ten "
        "minutes without one, or by `metl doctor --stop-session` (METL_KEEP_SESSION=1 says it for all commands)",
    )


def keeps_session(arguments: argparse.Namespace) -> bool:
    """Return whether Spark is to be left running for the next command."""
    return arguments.keep_session or os.environ.get("METL_KEEP_SESSION", "") not in {"", "0"}
