"""A test that waits for ever fails with the stacks of all threads, and the tests after it run."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.helpers.documents import ROOT

HANGING = """
import signal
import threading

def wait_for_nobody():
    threading.Event().wait(600)

def test_a():
    pass

def test_b():
    threading.Thread(target=wait_for_nobody, daemon=True).start()
    {deaf}
    threading.Event().wait(600)

def test_c():
    pass
"""
DEAF = "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})"


def settings() -> dict[str, Any]:
    options: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    return {name: value for name, value in options.items() if name.startswith(("timeout", "faulthandler"))}


def played(pytester: pytest.Pytester, source: str, *arguments: str, **limits: int) -> pytest.RunResult:
    """Run tests under the project's own settings, but for how long they may take."""
    lines = [f"{name} = {value}" for name, value in (settings() | limits).items()]
    pytester.makeini("\n".join(["[pytest]", *lines]))
    pytester.makepyfile(source)
    return pytester.runpytest_subprocess("-p", "no:randomly", *arguments)


@pytest.mark.parametrize("arguments", [["-p", "no:xdist"], ["-n", "1"]], ids=["alone", "on a worker"])
def test_a_test_that_waits_for_ever_fails_with_the_stacks_of_all_threads_and_the_rest_goes_on(
    pytester: pytest.Pytester, arguments: list[str]
) -> None:
    result = played(pytester, HANGING.format(deaf=""), *arguments, timeout=2)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*Failed: Timeout*", "*in wait_for_nobody*"])


def test_a_worker_whose_test_hears_no_signal_ends_with_all_stacks_and_another_runs_the_rest(
    pytester: pytest.Pytester,
) -> None:
    result = played(pytester, HANGING.format(deaf=DEAF), "-n", "1", timeout=1, faulthandler_timeout=2)
    result.assert_outcomes(passed=2, failed=1)
    result.stderr.fnmatch_lines(["*in wait_for_nobody", "*in test_b"])
    result.stdout.fnmatch_lines(["worker 'gw0' crashed while running '*::test_b'"])


def test_every_test_has_a_limit_and_no_process_is_ended_before_it(request: pytest.FixtureRequest) -> None:
    known = settings()
    limits = {mark.args[0] for item in request.session.items for mark in item.iter_markers("timeout")}
    assert 0 < known["timeout"] < known["faulthandler_timeout"]
    assert all(known["timeout"] < limit < known["faulthandler_timeout"] for limit in limits)
