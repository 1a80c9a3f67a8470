"""The process from which Spark forks its Python workers on this computer: PySpark's own, with what a task needs loaded.

PySpark's forks first and lets every worker load its modules, as a library may start threads that a fork would lose.
The two of ours that would (OpenBLAS, Arrow's allocator) are told not to, so that this is done once, not by each worker:
``load`` may import nothing that starts a thread. Spark starts it as a program, by ``spark.python.daemon.module``.

Spark has Python look for PySpark in an archive first, whose modules every process compiles anew: with PySpark installed
where it came from, that is most of a second for nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

_THREADLESS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
_KEPT_IN = ("pyspark", "python", "lib")
"""Where below its own folder an installed PySpark keeps the archives."""


def without_archives(path: Sequence[str]) -> list[str]:
    """Leave out of a search path the archives that an installed PySpark holds of itself and of its bridge to Java.

    Archives of another Spark stay, and so do those of a PySpark that would not be found without them.

    Args:
        path: where modules are looked for, in this order.
    """
    return [entry for entry in path if not _is_installed(Path(entry), path)]


def _is_installed(archive: Path, path: Sequence[str]) -> bool:
    package = archive.name.partition("-")[0].removesuffix(".zip")
    if archive.suffix != ".zip" or package not in ("pyspark", "py4j") or archive.parts[-4:-1] != _KEPT_IN:
        return False
    installed = archive.parents[3]
    return str(installed) in path and (installed / package / "__init__.py").is_file()


def load(worker: str) -> None:
    """Load what workers need.

    Args:
        worker: the module that a worker runs, as Spark names it.
    """
    os.environ.update(_THREADLESS)  # they are read when the libraries are loaded
    importlib.import_module(worker)
    importlib.import_module("metl_gui.engine.tasks.source_task")
    if worker == "pyspark.worker":
        _load_machine_code()


def _load_machine_code() -> None:
    from metl_gui.engine.kernel.compiled import build

    if build.is_ready():
        # What is wrong with it is told by the worker that meets it, which goes on without.
        with contextlib.suppress(Exception):
            from metl_gui.engine import all_machine_code
            from metl_gui.engine.kernel.compiled.precompile import precompile

            precompile()
            all_machine_code.load_rows()


def _load_in_silence(worker: str) -> None:
    """Load what workers need; what fails is met again by the worker, and what is said goes to standard error.

    Standard output is Spark's, which reads the number of the daemon's port from it.
    """
    sys.stdout.flush()
    spark = os.dup(1)
    os.dup2(2, 1)
    try:
        load(worker)
    except Exception:
        logging.getLogger(__name__).exception("the Python workers load by themselves")
    finally:
        sys.stdout.flush()
        os.dup2(spark, 1)
        os.close(spark)


if __name__ == "__main__":
    sys.path[:] = without_archives(sys.path)
    from pyspark import daemon

    _load_in_silence(sys.argv[1])
    daemon.manager()
