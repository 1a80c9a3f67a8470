"""A plugin of pytest that writes down the name of the first test that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

_FILE = Path(__file__).with_name("first_failure.txt")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a failure, in the test or around it."""
    if report.failed and not _FILE.exists():
        _FILE.write_text(report.nodeid, encoding="utf-8")
