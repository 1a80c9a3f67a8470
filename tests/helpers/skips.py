"""A pytest plugin: on CI a skipped test fails the run, unless its reason is on a short list."""

from __future__ import annotations

import os

import pytest

ALLOWED: tuple[str, ...] = ()
"""Beginnings of the reasons for which a test may be skipped on CI."""


def is_strict() -> bool:
    """Whether skipped tests fail the run."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


class SkipGuard:
    """Collects the skips of a run and fails the run for those that nobody allowed."""

    def __init__(self, allowed: tuple[str, ...] = ALLOWED) -> None:
        self._allowed = allowed
        self._refused: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that was skipped; under xdist this is called where the reports come together."""
        if not hasattr(report, "wasxfail"):
            self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that was skipped whole."""
        self._note(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that would have passed."""
        if self._refused and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which skips failed the run."""
        for refused in self._refused:
            terminalreporter.write_line(f"SKIPPED, which fails this run: {refused}", red=True)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reason = reason.removeprefix("Skipped: ")
            if not reason.startswith(self._allowed or ("\0",)):
                self._refused.append(f"{report.nodeid}: {reason}")
