"""Spark's Java classes as one file, read and checked once, so that Java starts in less than half the time.

Java 13 and newer write the classes that a program used to an archive when it ends (application class-data sharing) and
map that into memory the next time, without reading jars and without verifying code again. The archive is good for one
Java and one set of jars, which Java checks itself; where it is missing or of another, Java starts as it does without.

What is mapped from it runs, so an archive is used only where nobody else could have put it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
from pathlib import Path

from metl_gui.engine.spark.java import JavaHome
from metl_gui.own_files import cache_folder, is_only_ours

FOLDER = "java-classes"
_SUFFIX = ".jsa"
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
"""A class that Java does not archive, or an archive that it does not take, is no news for anybody."""


def archive_path(java: JavaHome) -> Path | None:
    """Return where the archive of Spark's classes lies for a Java, made or not; None when there is no Spark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    jars = Path(spec.origin).parent / "jars"
    mixed = hashlib.sha256(f"{java.path} {java.version} {jars}".encode())
    with contextlib.suppress(OSError):
        mixed.update((java.path / "release").read_bytes())
        mixed.update(str(jars.stat().st_mtime_ns).encode())
    return cache_folder() / FOLDER / f"{mixed.hexdigest()[:20]}{_SUFFIX}"


def is_ready(java: JavaHome) -> bool:
    """Say whether the archive for a Java is there, where nobody else could have put it."""
    path = archive_path(java)
    with contextlib.suppress(OSError):
        return path is not None and path.is_file() and is_only_ours(path.parent)
    return False


def java_options(java: JavaHome) -> str:
    """Return the options with which a Java of Spark uses the archive; none while there is none."""
    return f'"-XX:SharedArchiveFile={archive_path(java)}" {_QUIET}' if is_ready(java) else ""


def writing_options(path: Path) -> str:
    """Return the options with which a Java that ends in order writes the archive to a path."""
    return f'"-XX:ArchiveClassesAtExit={path}" {_QUIET}'
