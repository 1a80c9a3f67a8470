"""The sample project, made by commands, and how the program is started."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tests.helpers.own_package import ROOT

SAMPLE = ROOT / "sample_projects" / "fx"


def program() -> list[str]:
    """Return the command ``metl``, as a module of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, _ = project["project"]["scripts"]["metl"].partition(":")
    return [sys.executable, "-m", module]


def build(folder: Path) -> Path:
    """Make the sample project with its mapping and publish it; return its file."""
    project = folder / "fx.metl"
    for words in (
        ["new", project],
        ["import", project, "--tree", "cdm", SAMPLE / "cdm"],
        ["import", project, "--tree", "extraction", SAMPLE / "schemas"],
        ["map", project, "--csv", SAMPLE / "mapping.csv"],
        ["publish", project],
    ):
        metl(*words)
    return project


def metl(*words: object, environment: Mapping[str, str] | None = None) -> str:
    """Run a command to its end and return what it prints.

    Raises:
        RuntimeError: it ended badly.
    """
    command = [*program(), *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"metl {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}")
    return done.stdout
