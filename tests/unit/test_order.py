"""The order of the tests and the examples of properties are drawn anew each time, and fixed on CI."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys

import pytest

from tests.helpers.documents import ROOT

_FILES = 8
"""Enough for an order that is not met twice by chance."""


def said(ci: str, *command: str) -> str:
    """Return what a Python says where ``CI`` is so."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST"))}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment | {"CI": ci}, capture_output=True, text=True, check=True
    ).stdout


def order(ci: str, *arguments: str) -> tuple[list[str], str]:
    """Return the names of some of this folder's tests in the order in which they would run, and the seed of it."""
    files = sorted(map(str, (ROOT / "tests" / "unit").glob("test_*.py")))[:_FILES]
    lines = said(ci, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", *arguments, *files)
    return re.findall(r"^tests/.*::.*$", lines, re.MULTILINE), re.findall(r"--randomly-seed=(\d+)", lines)[-1]


def test_on_ci_the_order_is_the_same_each_time() -> None:
    assert order("true") == order("true")


def test_elsewhere_the_order_is_another_each_time_and_is_told() -> None:
    (first, seed), (second, other) = order(""), order("")
    assert first != second
    assert sorted(first) == sorted(second)
    assert seed != other
    assert order("", f"--randomly-seed={seed}") == (first, seed)


def test_the_tests_of_a_file_stay_together() -> None:
    files = [name.partition("::")[0] for name in order("")[0]]
    changes = sum(one != other for one, other in itertools.pairwise(files))
    assert changes == len(set(files)) - 1


@pytest.mark.parametrize(("ci", "fixed"), [("true", True), ("", False)])
def test_the_examples_of_properties_are_fixed_on_ci_alone_and_what_fails_can_be_repeated(ci: str, fixed: bool) -> None:
    ask = "import tests.conftest; from hypothesis import settings as s; print(s().derandomize, s().print_blob)"
    assert said(ci, "-c", ask).split() == [str(fixed), "True"]
