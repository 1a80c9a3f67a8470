"""Write a project of a few lines, on which the tools that measure this one are tried."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.helpers.own_package import OwnPackage

WITHOUT_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
"""The variable that keeps pytest from loading what the tests of a toy do not need."""
_PROJECT = """\
[tool.hatch.build.targets.wheel]
packages = ["toy"]

[tool.pytest.ini_options]
addopts = ["--import-mode=importlib"]
"""


def write_toy(root: Path, files: Mapping[str, str]) -> OwnPackage:
    """Write the package ``toy`` and its tests.

    Args:
        root: where.
        files: texts, by path below it.
    """
    for path, text in {"pyproject.toml": _PROJECT, "toy/__init__.py": "", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return OwnPackage.of(root)
