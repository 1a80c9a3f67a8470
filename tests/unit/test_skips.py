from __future__ import annotations

import pytest

from tests.helpers.skips import SkipGuard

SOURCE = """
import pytest

def test_a(): pass

@pytest.mark.skip(reason="the shared data lies nowhere")
def test_b(): pass

@pytest.mark.xfail
def test_c(): assert False
"""


def test_a_skip_that_nobody_allowed_fails_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SOURCE)
    result = pytester.inline_run("-p", "no:xdist", plugins=[SkipGuard(())])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_allowed_skip_and_an_expected_failure_pass(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SOURCE)
    result = pytester.inline_run("-p", "no:xdist", plugins=[SkipGuard(("the shared data",))])
    assert result.ret == pytest.ExitCode.OK


def test_a_file_skipped_whole_fails_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\npytest.importorskip('metl_has_no_such')\n")
    result = pytester.inline_run("-p", "no:xdist", plugins=[SkipGuard(())])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
