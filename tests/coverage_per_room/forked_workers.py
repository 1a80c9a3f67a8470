"""A plugin of coverage.py that saves what a Python worker of Spark ran before Spark ends it.

Spark forks its workers from a daemon and ends them by a signal whose handling they have just set back to the default.
Here that is ending in order. It is copied to where tests are measured, as ``contexts``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from types import FrameType
from typing import Any

from coverage.plugin_support import Plugins

_ENDING = (signal.SIGHUP, signal.SIGTERM)
_loaded_in: list[int] = []
"""The processes that loaded this, from the first on down to this one: a worker is no longer the first."""


def coverage_init(_registry: Plugins, _options: Mapping[str, str]) -> None:
    """Let a forked process end in order; coverage.py calls this again in each."""
    process = os.getpid()
    if _loaded_in and process not in _loaded_in:
        _end_in_order()
    _loaded_in.append(process)


def _end_in_order() -> None:
    set_handler = signal.signal

    def set_saving(number: int, handler: Any) -> Any:
        is_ending = number in _ENDING and handler is signal.SIG_DFL
        return set_handler(number, _end if is_ending else handler)

    setattr(signal, "signal", set_saving)  # noqa: B010 - a type checker knows it by another type


def _end(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)  # which coverage.py has patched to save first
