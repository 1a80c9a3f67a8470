"""A plugin of pytest that tells coverage.py which test runs, in this process and in those that the test starts.

The names are pytest's own, with the parameters of a test, as ``tests.mutants`` hands them back to pytest; the functions
that coverage.py's ``dynamic_context`` would name cannot be told from one another there, and leave fixtures out.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest
from coverage import Coverage

TEST = "COVERAGE_TEST"
"""The variable that names the test in which a process was started."""
DURATIONS = "COVERAGE_DURATIONS"
"""The variable that names the file for how long each test took, where contexts are recorded."""

_seconds: defaultdict[str, float] = defaultdict(float)
_failed: set[str] = set()


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around the fixtures too, and around what compares the environment
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Name the test while it runs."""
    _enter(item.nodeid)
    try:
        return (yield)
    finally:
        _enter("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up how long each test took."""
    _seconds[report.nodeid] += report.duration
    if report.outcome != "passed":
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep how long each test took that passed; of several processes the one that hears of all tests does."""
    if not hasattr(session.config, "workerinput"):
        passed = {test: round(seconds, 4) for test, seconds in _seconds.items() if test not in _failed}
        Path(os.environ[DURATIONS]).write_text(json.dumps(passed), encoding="utf-8")


def _enter(test: str) -> None:
    os.environ[TEST] = test
    measuring = Coverage.current()
    if measuring is not None:
        measuring.switch_context(test)
