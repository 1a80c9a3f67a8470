"""How a command ends: every exception becomes a sentence on stderr and an exit code."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Callable

from metl_gui.cli.commands import AT_FAULT, DONE
from metl_gui.cli.output import Output, SpeechError
from metl_gui.errors import RunCancelled, UserError

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
    except BrokenPipeError:
        # Whoever read our words has read enough.
        _say_no_more()
        return DONE
    except UserError as error:
        if isinstance(error, SpeechError):
            _say_no_more()
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
    except (BrokenPipeError, SpeechError):
        _say_no_more()


def _say_no_more() -> None:
    """Lead standard output to nowhere, so that Python does not complain about it again at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _broken(error: Exception, *, debug: bool) -> UserError:
    said = " ".join(str(error).split())[:300]
    hint = "Report it with the traceback above." if debug else "Run again with --debug to see where it happened."
    return UserError("Something broke inside the program.", f"{type(error).__name__}: {said}".rstrip(": "), hint)
