"""What holds for all tests: those that share servers stay on one worker, and on CI nothing is skipped unnoticed.

Files, and the tests of a file, come in an order drawn from a seed, and so do the examples of properties. On CI both are
fixed; elsewhere they are new each time, and ``--randomly-seed`` and the code that a failed property prints repeat them.
"""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.spark import class_archive
from metl_gui.threads import keep_libraries_from_threads
from tests.helpers.leftovers import LeftoverGuard
from tests.helpers.machine_code import kernel_cache
from tests.helpers.memory_folder import write_in_memory
from tests.helpers.skips import SkipGuard, is_strict

pytest_plugins = ["pytester", "tests.compatibility.fixtures", "tests.helpers.spark_fixtures"]

# How long one example takes says nothing about the code: the cores are shared with Spark and the window's tests.
settings.register_profile("metl", deadline=None, derandomize=is_strict(), print_blob=True)
settings.load_profile("metl")

_HERE = Path(__file__).parent
_SHARE_SERVERS = {"spark", "e2e", "live"}
"""Folders whose tests share Spark or other servers: those of one stay on one worker, which starts these once. A file
whose tests start servers of their own names a group of its own, so that a worker with nothing to do may take it."""
_CI_SEED = 20_011
_ID_LETTERS = 80
_LONG_SECONDS = 1800
"""How long a test may take that is the first to ask for servers, or that makes machine code or installs things."""


@pytest.hookimpl(tryfirst=True)  # before the seed is drawn
def pytest_configure(config: pytest.Config) -> None:
    if is_strict() and config.getoption("randomly_seed", "") == "default":
        config.option.randomly_seed = _CI_SEED
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    # Hundreds of programs of ours are started: each module is compiled once for all of them.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    write_in_memory()
    keep_libraries_from_threads()  # of tests' own programs too
    # A shell lets programs in its background ignore Ctrl+C, and what they start too; tests press it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Machine code takes a core for minutes: it is made once for all tests, whatever folders they name for the rest. So
    # is the archive of Spark's classes, by the doctor.
    os.environ.update(kernel_cache() | class_archive.named())
    config.pluginmanager.register(LeftoverGuard(alone="fast"), "leftover-guard")
    if hasattr(config, "workerinput"):
        return
    build.build_in_background()
    if is_strict():
        config.pluginmanager.register(SkipGuard(), "skip-guard")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by the beginning of a long text that it is given, and by what tells it from others that begin so."""
    if not isinstance(val, str | bytes) or len(val) <= _ID_LETTERS:
        return None
    text = val if isinstance(val, str) else val.decode("latin-1")
    kept = text[: _ID_LETTERS - 20].encode("unicode_escape").decode()
    return f"{kept}... {len(val)} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what the fast tests are not: to load it, and Spark for it, takes seconds."""
    is_other = collection_path.parent == _HERE and collection_path.name in _SHARE_SERVERS
    return True if is_other and config.option.markexpr == "fast" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Keep the collector of garbage from going again and again through what is loaded: all of it stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from going through all modules and tests again and again: they stay."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # what comes after xdist has read the groups is of no use
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        inside = item.path.relative_to(_HERE).parts if item.path.is_relative_to(_HERE) else ("",)
        shares, marks = inside[0] in _SHARE_SERVERS, {mark.name for mark in item.iter_markers()}
        if (shares or "spark" in marks) and "xdist_group" not in marks:
            item.add_marker(pytest.mark.xdist_group(inside[0] if shares else "spark"))
        if shares or marks & {"spark", "live", "slow"}:
            item.add_marker(pytest.mark.timeout(_LONG_SECONDS))
        else:
            item.add_marker(pytest.mark.fast)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("randomly_seed", None) is not None and config.option.verbose < 0:  # else the header says it
        terminalreporter.write_line(f"The order was that of --randomly-seed={config.option.randomly_seed}.")
