"""The process that Spark's Python workers are forked from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.sinks import column_code
from metl_gui.engine.staging import place_code
from metl_gui.engine.tasks.worker_daemon import without_archives

_LOAD = """
import os, sys
from metl_gui.engine.tasks.worker_daemon import load
load("pyspark.worker")
assert "metl_gui.engine.tasks.source_task" in sys.modules
print(len(os.listdir("/proc/self/task")))
"""
_LOADED = """
from metl_gui.engine.sinks import column_code
from metl_gui.engine.staging import place_code
from metl_gui.engine.tasks.worker_daemon import load
load("pyspark.worker")
print(*(code.MACHINE.loaded is not None for code in (column_code, place_code)))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux tells the threads of a process so")
def test_what_workers_are_forked_from_has_no_thread_that_they_would_lose() -> None:
    done = subprocess.run([sys.executable, "-c", _LOAD], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def test_machine_code_that_lies_there_is_loaded_once_for_all_workers() -> None:
    build.build()
    for code in (column_code, place_code):
        code.MACHINE.now()
    done = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_what_an_installed_pyspark_holds_as_archives_is_not_looked_in() -> None:
    installed = Path(pyspark.__file__).parent
    archives = [str(path) for path in (installed / "python" / "lib").glob("*.zip")]
    assert len(archives) == 2
    others = ["/somewhere", "metl.zip", str(installed.parent)]
    assert without_archives([*archives, *others]) == others


def test_archives_stay_of_another_spark_and_where_nothing_else_has_what_is_in_them(tmp_path: Path) -> None:
    of_another, alone = tmp_path / "spark" / "python" / "lib", tmp_path / "pyspark" / "python" / "lib"
    path = [str(folder / name) for folder in (of_another, alone) for name in ("pyspark.zip", "py4j-0.10-src.zip")]
    assert without_archives([*path, str(tmp_path)]) == [*path, str(tmp_path)]
