"""The process that Spark's Python workers are forked from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_LOAD = """
import os, sys
from metl_gui.engine.tasks.worker_daemon import load
load("pyspark.worker")
assert "metl_gui.engine.tasks.source_task" in sys.modules
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux tells the threads of a process so")
def test_what_workers_are_forked_from_has_no_thread_that_they_would_lose() -> None:
    done = subprocess.run([sys.executable, "-c", _LOAD], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]
