"""What holds for all tests: those that share servers stay on one worker, and on CI nothing is skipped unnoticed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from metl_gui.engine.kernel.compiled import build
from tests.helpers.machine_code import kernel_cache
from tests.helpers.skips import SkipGuard, is_strict

pytest_plugins = ["pytester", "tests.helpers.spark_fixtures"]

# How long one example takes says nothing about the code: the cores are shared with Spark and the window's tests.
settings.register_profile("metl", deadline=None)
settings.load_profile("metl")

_HERE = Path(__file__).parent
_SHARE_SERVERS = {"spark", "e2e", "live"}
"""Folders whose tests share Spark or other servers: those of one stay on one worker, which starts these once."""


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # A shell lets programs in its background ignore Ctrl+C, and what they start too; tests press it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Machine code takes a core for minutes: it is made once for all tests, whatever folders they name for the rest.
    os.environ.update(kernel_cache())
    if hasattr(config, "workerinput"):
        return
    build.build_in_background()
    if is_strict():
        config.pluginmanager.register(SkipGuard(), "skip-guard")


@pytest.hookimpl(tryfirst=True)  # what comes after xdist has read the groups is of no use
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        inside = item.path.relative_to(_HERE).parts if item.path.is_relative_to(_HERE) else ("",)
        if inside[0] in _SHARE_SERVERS or item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group(inside[0] if inside[0] in _SHARE_SERVERS else "spark"))
