"""Makes the archive of Spark's Java classes: ``python -m metl_gui.engine.execution.class_archiving``.

A session does what every run does and is ended in order, whereupon Java writes down the classes that were used.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from pathlib import Path

from metl_gui.engine.spark.class_archive import archive_path, writing_options
from metl_gui.engine.spark.java import find_java
from metl_gui.engine.spark.sessions.local import QUICK_START, SparkRuntime
from metl_gui.errors import SetupError
from metl_gui.own_files import make_folder

_WRITING_SECONDS = 120.0
_KEPT_SECONDS = 60 * 24 * 3600.0


def make() -> Path:
    """Make the archive for the Java and the Spark that are here, and return it.

    Raises:
        SetupError: there is no Java or no Spark, Spark does not start, or Java wrote nothing.
        OSError: the cache cannot be written.
    """
    path = archive_path(find_java())
    if path is None:
        raise SetupError("Spark is missing.", "", "Run `pip install 'pyspark>=4.2,<4.3'`.")
    make_folder(path.parent)
    folder = Path(tempfile.mkdtemp(prefix="metl-classes-", dir=path.parent))
    try:
        part = folder / path.name
        runtime = SparkRuntime("local[1]", folder, f"{writing_options(part)} {QUICK_START}")
        try:
            runtime.warm_up()
        finally:
            runtime.end(_WRITING_SECONDS)
        if not part.is_file():
            raise SetupError("Java wrote no archive of Spark's classes.", "", "Spark runs without, it starts slower.")
        part.chmod(0o600)
        part.replace(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _forget_old(path)
    return path


def _forget_old(path: Path) -> None:
    """Remove archives of other Javas and Sparks that were made long ago."""
    for other in path.parent.glob(f"*{path.suffix}"):
        with contextlib.suppress(OSError):
            if other != path and time.time() - other.stat().st_mtime > _KEPT_SECONDS:
                other.unlink()


if __name__ == "__main__":
    make()
