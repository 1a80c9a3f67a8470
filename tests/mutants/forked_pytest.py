"""A plugin of pytest that loads plugins and libraries once, and forks a process of its own for each list of tests.

What a run of pytest loads before its first test takes longer than most tests. What the project's own ``conftest.py``
loads of the package is told first, as a change of one of these modules would come too late here.

It is copied to a scratch copy of the project, beside ``mutated_import``.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import sys
import warnings
from pathlib import Path

import pytest

ORDERS = "FORKED_PYTEST_ORDERS"
"""The variable with the descriptor of the file to read: a line for each run, a JSON list of the tests."""
ANSWERS = "FORKED_PYTEST_ANSWERS"
"""The variable with the descriptor of the file to write: first a JSON list of the modules of the project that are
loaded, then for each run a line with the process and, when it has ended, a line with its exit code."""

_ROOT = Path(__file__).parent
_LIBRARIES = _ROOT / "libraries.json"
"""What the last run loaded from elsewhere, which the next one need not load again."""


@pytest.hookimpl(tryfirst=True)  # plugins and the first conftest.py are loaded, nothing is set up
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Fork for each order; each process goes on here as pytest with these tests."""
    with os.fdopen(int(os.environ.pop(ORDERS))) as orders, os.fdopen(int(os.environ.pop(ANSWERS)), "w") as answers:
        print(json.dumps(_own_modules()), file=answers, flush=True)
        for order in orders:
            process = os.fork()
            if not process:
                _become(config, json.loads(order))
                return None
            print(process, file=answers, flush=True)
            _, status = os.waitpid(process, 0)
            _load_libraries()
            print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    return 0


def pytest_sessionfinish() -> None:
    """Note what the next run may find loaded."""
    places = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
    names = [name for name, place in places if place and not Path(place).is_relative_to(_ROOT)]
    _LIBRARIES.write_text(json.dumps(names), encoding="utf-8")


def _become(config: pytest.Config, tests: list[str]) -> None:
    os.setsid()
    config.args = tests
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.read_global_capture()  # what the run before has left in the file that both share
    importlib.import_module("sitecustomize").install()


def _own_modules() -> list[str]:
    places = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return sorted(place for place in places if place and Path(place).is_relative_to(_ROOT))


def _load_libraries() -> None:
    if not _LIBRARIES.exists():
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in json.loads(_LIBRARIES.read_text(encoding="utf-8")):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    _LIBRARIES.unlink()
    gc.freeze()  # else the first collection in each process copies all of it
