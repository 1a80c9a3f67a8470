"""Every test of the window runs without a display, and a warning of Qt fails it."""

from __future__ import annotations

import os

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/qt" in item.path.as_posix():
            item.add_marker(pytest.mark.qt_log_level_fail("WARNING"))
