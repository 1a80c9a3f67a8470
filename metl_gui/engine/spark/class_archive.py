"""Spark's Java classes as one file, read and checked once, so that Java starts in less than half the time.

Java 13 and newer write the classes that a program used to an archive when it ends (application class-data sharing) and
map that into memory the next time, without reading jars and without verifying code again. The archive is good for one
Java and one set of jars, which Java checks itself; where it is missing or of another, Java starts as it does without.

What is mapped from it runs, so an archive is used only where nobody else could have put it. Java ends when it maps one
that was cut short: its size stands in its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
from pathlib import Path

from metl_gui.engine.spark.java import JavaHome
from metl_gui.own_files import cache_folder, is_only_ours

SUFFIX = ".jsa"
_FOLDER = "java-classes"
_NAMED = "METL_JAVA_CLASSES"
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
"""A class that Java does not archive, or an archive that it does not take, is no news for anybody."""
_UNQUOTABLE = frozenset("\"'\\")


def spark_home() -> Path | None:
    """Return the folder of the Spark that a session here runs: one that is named, else the one installed with us."""
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    spec = importlib.util.find_spec("pyspark")
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def archive_folder() -> Path:
    """Return the folder of all archives."""
    return Path(os.environ.get(_NAMED) or cache_folder() / _FOLDER)


def named() -> dict[str, str]:
    """Return what names the folder to processes that have a cache folder of their own."""
    return {_NAMED: str(archive_folder())}


def archive_key(java: JavaHome) -> str:
    """Return what tells the archive of one Java and one Spark from others; empty when there is no Spark."""
    home = spark_home()
    if home is None:
        return ""
    java_path, jars = java.path.resolve(), (home / "jars").resolve()
    mixed = hashlib.sha256(f"{java_path} {java.version} {jars}".encode())
    for part in (java_path / "release", java_path / "lib" / "server" / "libjvm.so", jars):
        with contextlib.suppress(OSError):
            found = part.stat()
            mixed.update(f"{found.st_size} {found.st_mtime_ns}".encode())
    return mixed.hexdigest()[:20]


def archive_name(key: str, size_bytes: int) -> str:
    """Return the name of the file of an archive."""
    return f"{key}-{size_bytes}{SUFFIX}"


def find_archive(java: JavaHome) -> Path | None:
    """Return the archive for a Java, whole and where nobody else could have put it; None when there is none."""
    key, folder = archive_key(java), archive_folder()
    with contextlib.suppress(OSError):
        if key and is_only_ours(folder):
            return next((path for path in sorted(folder.glob(f"{key}-*{SUFFIX}")) if _is_whole(path, key)), None)
    return None


def _is_whole(path: Path, key: str) -> bool:
    found = path.lstat()
    return path.is_file() and not path.is_symlink() and path.name == archive_name(key, found.st_size)


def archive_options(archive: Path | None) -> str:
    """Return the options with which a Java of Spark uses an archive; none where there is none."""
    if archive is None or _UNQUOTABLE & set(str(archive)):
        return ""
    with contextlib.suppress(OSError):
        os.utime(archive)  # those that nobody uses are forgotten
    return f'"-XX:SharedArchiveFile={archive}" {_QUIET}'


def writing_options(path: Path) -> str:
    """Return the options with which a Java that ends in order writes the archive to a path."""
    return f'"-XX:ArchiveClassesAtExit={path}" {_QUIET}'
