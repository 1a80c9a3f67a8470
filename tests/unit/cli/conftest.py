"""The sample as the commands make it, built once for the tests that only begin with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.packaged import sample_projects


def carry_out(*arguments: object) -> None:
    """Do a command that must succeed."""
    assert main([str(argument) for argument in arguments]) == 0, arguments


@pytest.fixture(scope="session")
def built_trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with the trees of the sample, nothing mapped."""
    path, fx = tmp_path_factory.mktemp("trees") / "fx.metl", sample_projects() / "fx"
    carry_out("new", path)
    carry_out("import", path, "--tree", "extraction", fx / "schemas")
    carry_out("import", path, "--tree", "cdm", fx / "cdm")
    return path


@pytest.fixture(scope="session")
def built_mapped(built_trees: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with the mapping of the sample too."""
    path = Path(shutil.copy(built_trees, tmp_path_factory.mktemp("mapped")))
    carry_out("map", path, "--csv", sample_projects() / "fx" / "mapping.csv")
    return path


@pytest.fixture
def trees(built_trees: Path, tmp_path: Path) -> Path:
    """Return a copy of the trees that a test may change."""
    return Path(shutil.copy(built_trees, tmp_path))


@pytest.fixture
def mapped(built_mapped: Path, tmp_path: Path) -> Path:
    """Return a copy of the mapped sample that a test may change."""
    return Path(shutil.copy(built_mapped, tmp_path))
