"""Makes the archive of Spark's Java classes: ``python -m metl_gui.engine.execution.class_archive_builder``.

A session does what every run does and is ended in order, whereupon Java writes down the classes that were used.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from metl_gui.engine.sessions.jobs import do_nothing, run_tasks_by_sql
from metl_gui.engine.sessions.local import QUICK_START, SparkRuntime
from metl_gui.engine.spark.class_archive import SUFFIX, archive_folder, archive_key, archive_name, writing_options
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import SetupError, UserError
from metl_gui.own_files import is_only_ours, make_folder

_WRITING_SECONDS = 120.0
_KEPT_SECONDS = 60 * 24 * 3600.0
_BROKEN_OFF_SECONDS = 3600.0
_PREFIX = "making-"


def make() -> Path:
    """Make the archive for the Java and the Spark that are here, also in place of one that is there, and return it.

    Raises:
        SetupError: there is no Java or no Spark, Spark does not start, Java wrote nothing, or others could change it.
        OSError: the cache cannot be written.
    """
    key, home = archive_key(find_java()), archive_folder()
    if not key:
        raise SetupError("Spark is missing.", "", "Run `pip install 'pyspark>=4.2,<4.3'`.")
    make_folder(home)
    if not is_only_ours(home):
        raise SetupError(
            "Spark's Java classes are not archived.",
            f"Others may write to {home} or to a folder above it.",
            "Take that right from them; Spark runs without an archive, it starts slower.",
        )
    _sweep(home)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
    try:
        written = _written(folder)
        for other in home.glob(f"{key}-*{SUFFIX}"):
            other.unlink()
        return written.replace(home / archive_name(key, written.stat().st_size))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _written(folder: Path) -> Path:
    """Have Java write an archive below a folder."""
    path = folder / f"classes{SUFFIX}"
    runtime = SparkRuntime("local[1]", folder, f"{writing_options(path)} {QUICK_START}", uses_archive=False)
    try:
        runtime.warm_up()
        run_tasks_by_sql(runtime.spark, do_nothing, 1)  # runs in batches need these classes too
        runtime.end(_WRITING_SECONDS)
    finally:
        runtime.end(0.0)  # what failed or was broken off is not waited for
    if not runtime.has_ended_in_order or not path.is_file():
        raise SetupError("Java wrote no archive of Spark's classes.", "", "Spark runs without, it starts slower.")
    path.chmod(0o600)
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return path


def _sweep(home: Path) -> None:
    """Remove archives that nobody has used for long, and what was left by one that was broken off."""
    now = time.time()
    for entry in home.iterdir():
        with contextlib.suppress(OSError):
            age_seconds = now - entry.stat().st_mtime
            if entry.suffix == SUFFIX and age_seconds > _KEPT_SECONDS:
                entry.unlink()
            elif entry.name.startswith(_PREFIX) and age_seconds > _BROKEN_OFF_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)


if __name__ == "__main__":
    try:
        make()
    except (UserError, OSError) as error:
        sys.exit(str(error))
