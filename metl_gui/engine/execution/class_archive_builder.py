"""Makes the archive of Spark's Java classes: ``python -m metl_gui.engine.execution.class_archive_builder``.

A session does what every run does and is ended in order, whereupon Java writes down the classes that were used.
"""

from __future__ import annotations

import sys
from pathlib import Path

from metl_gui.engine.sessions.jobs import do_nothing, run_tasks_by_sql
from metl_gui.engine.sessions.local import QUICK_START, SparkRuntime
from metl_gui.engine.spark.class_archive import archive_key, make_archive, writing_options
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import SetupError, UserError

_WRITING_SECONDS = 120.0


def make() -> Path:
    """Make the archive for the Java and the Spark that are here, also in place of one that is there, and return it.

    Raises:
        SetupError: there is no Java or no Spark, Spark does not start, Java wrote nothing, or others could change it.
        OSError: the cache cannot be written.
    """
    key = archive_key(find_java())
    if not key:
        raise SetupError("Spark is missing.", "", "Run `pip install 'pyspark>=4.2,<4.3'`.")
    return make_archive(key, _write)


def _write(path: Path) -> None:
    """Have Java write an archive to a path."""
    runtime = SparkRuntime("local[1]", path.parent, f"{writing_options(path)} {QUICK_START}", uses_archive=False)
    try:
        runtime.warm_up()
        run_tasks_by_sql(runtime.spark, do_nothing, 1)  # loads of rows from a database need these classes too
        runtime.end(_WRITING_SECONDS)
    finally:
        runtime.end(0.0)  # what failed or was broken off is not waited for
    if not runtime.has_ended_in_order:
        raise SetupError("Java wrote no archive of its classes.", "", "Spark runs without, it starts slower.")


if __name__ == "__main__":
    try:
        make()
    except (UserError, OSError) as error:
        sys.exit(str(error))
