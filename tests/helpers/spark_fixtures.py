"""Fixtures of real Spark servers whose Pythons lack our package, for the tests of all folders."""

from __future__ import annotations

import sysconfig
import venv
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from metl_gui.stack.spark import SparkConnect, SparkMaster
from tests.helpers.machine_code import kernel_cache

_OURS = ("metl_gui", "_editable_impl_metl", "__editable__")


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has what ours has, but our package."""
    return make_python(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="session")
def slow_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has what ours has, but our package and what makes machine code."""
    return make_python(tmp_path_factory.mktemp("slow"), without=["numba", "llvmlite"])


@pytest.fixture(scope="session")
def spark_master(bare_python: Path) -> Iterator[SparkMaster]:
    """A standalone master with two workers of one core; a session on it names ``bare_python`` for its workers."""
    with SparkMaster(python=bare_python, environment=kernel_cache()) as master:
        yield master


@pytest.fixture(scope="session")
def spark_connect(slow_python: Path) -> Iterator[SparkConnect]:
    """A Connect server with two cores, whose workers have no machine code."""
    with SparkConnect(python=slow_python, environment=kernel_cache()) as server:
        yield server


def make_python(folder: Path, without: Collection[str] = ()) -> Path:
    """Make a Python that has what ours has, but our package and whatever else it shall lack."""
    venv.create(folder, symlinks=True, with_pip=False)
    packages = next(folder.glob("lib/python3*/site-packages"))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        name = entry.name.partition("-")[0].partition(".")[0]
        if entry.suffix != ".pth" and name not in without and not entry.name.startswith((*_OURS, "__pycache__")):
            (packages / entry.name).symlink_to(entry)
    return folder / "bin" / "python"
