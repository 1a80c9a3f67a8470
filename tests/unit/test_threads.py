"""Programs of ours have no threads of libraries that do nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import contextlib, os, sys
from {module} import main
sys.argv[1:] = ["--version"]
with contextlib.suppress(SystemExit):
    main()
import numpy
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system does not list the threads of a process")
@pytest.mark.parametrize("module", ["metl_gui.cli.main", "metl_gui.ui.main"])
def test_a_program_starts_with_one_thread(module: str) -> None:
    own = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    script = _SCRIPT.format(module=module)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=own)
    assert done.stdout.splitlines()[-1] == "1"


def test_a_number_of_threads_that_somebody_asks_for_stays() -> None:
    script = _SCRIPT.format(module="metl_gui.cli.main") + "print(os.environ['OPENBLAS_NUM_THREADS'])"
    asked = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=asked)
    assert done.stdout.splitlines()[-1] == "2"
