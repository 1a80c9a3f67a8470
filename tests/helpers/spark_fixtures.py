"""Fixtures of real Spark, for the tests of all folders: a session here, and servers whose Pythons lack our package."""

from __future__ import annotations

import sysconfig
import venv
from collections.abc import Collection, Iterator
from contextlib import chdir, contextmanager, nullcontext
from pathlib import Path

import pytest

from metl_gui.engine.execution.client import SparkProcess
from metl_gui.stack.spark import SparkConnect, SparkMaster
from tests.helpers.machine_code import kernel_cache

_OURS = ("metl_gui", "_editable_impl_metl", "__editable__")


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where ``spark`` is at home: the sources and sinks of its runs that are named without a folder lie here."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(spark_folder: Path) -> Iterator[SparkProcess]:
    """The session of all tests on this computer that need nothing special of it."""
    process = SparkProcess("local[2]")
    with chdir(spark_folder):
        process.start()
    with process:
        yield process


@contextmanager
def commands_on(process: SparkProcess) -> Iterator[None]:
    """Let commands and the demo of this process run on a session that is there, where each would start its own.

    Places that a run names without a folder are looked for where the process of the session is at home.
    """
    from metl_gui.workbench.demo import sample
    from metl_gui.workbench.runs import mapping_run

    with pytest.MonkeyPatch.context() as patch:
        for module in (mapping_run, sample):
            patch.setattr(module, "SparkProcess", lambda *_, **__: nullcontext(process))
        yield


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
