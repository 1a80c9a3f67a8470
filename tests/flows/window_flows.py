"""Play a scenario of the window in a process of its own, and return what was called."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.flows.counting import Flow
from tests.flows.project import build
from tests.flows.tracing import Trace
from tests.flows.windows import AGAIN, FIRST, IDLE
from tests.helpers.own_package import ROOT, OwnPackage


def window_flow(scenario: str) -> Flow:
    """Play a scenario of ``tests.flows.windows``."""
    with tempfile.TemporaryDirectory(prefix="flow-") as name:
        folder = Path(name)
        project = build(folder)
        trace = Trace(folder / "trace", OwnPackage.of().folder)
        own = {key: str(folder / key.lower()) for key in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
        environment = {**trace.environment([ROOT]), **own, "QT_QPA_PLATFORM": "offscreen", "METL_USER": "Ada"}
        command = [sys.executable, "-m", "tests.flows.windows", scenario, str(project), str(folder)]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        return Flow(scenario, {"first": trace.calls(FIRST), "again": trace.calls(AGAIN), "idle": trace.calls(IDLE)})
