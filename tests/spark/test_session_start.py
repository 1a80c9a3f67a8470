"""What a session on this computer leaves out until somebody asks for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

_SESSION = """
import json
import sys
from pathlib import Path

from metl_gui.core.runs.target import Target
from metl_gui.engine.sessions.local import SparkRuntime

ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
target = Target(master="local[1]", settings=((ROWS, "77"),))
runtime = SparkRuntime(target, Path(sys.argv[1]))
loading = runtime.context._jvm.java.lang.management.ManagementFactory.getClassLoadingMXBean()
runtime.warm_up()
loaded = [loading.getLoadedClassCount()]
modules = [name for name in ("pandas", "pyspark.testing") if name in sys.modules]
counted = runtime.spark.range(5).count()
told = {
    "modules": modules,
    "counted": counted,
    "is one": runtime.spark is runtime.spark and runtime.spark.sparkContext is runtime.context,
    "rows": runtime.spark.conf.get(ROWS),
    "further classes": loading.getLoadedClassCount() - loaded[0],
    "version": [runtime.version, runtime.spark.version],
}
print(json.dumps(told), flush=True)
runtime.end()
"""


def test_a_session_has_no_sql_and_no_pandas_until_somebody_asks_for_it_and_then_with_its_settings(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", _SESSION, str(tmp_path / "session")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    told = json.loads(done.stdout)
    assert told["modules"] == []
    assert told["further classes"] > 1000
    assert (told["counted"], told["is one"], told["rows"]) == (5, True, "77")
    assert told["version"][0] == told["version"][1]
