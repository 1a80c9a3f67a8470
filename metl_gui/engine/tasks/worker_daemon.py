"""The process from which Spark forks its Python workers on this computer: PySpark's own, with what a task needs loaded.

PySpark's forks first and lets every worker load its modules, as a library may start threads that a fork would lose.
The two of ours that would (OpenBLAS, Arrow's allocator) are told not to, so that this is done once, not by each worker:
``load`` may import nothing that starts a thread. Spark starts it as a program, by ``spark.python.daemon.module``.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys

from pyspark import daemon

_THREADLESS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


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
            from metl_gui.engine.kernel.compiled.precompile import precompile

            precompile()


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
    _load_in_silence(sys.argv[1])
    daemon.manager()
