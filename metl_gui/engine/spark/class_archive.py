"""A program's Java classes as one file, read and checked once, so that Java starts in less than half the time.

Java 13 and newer write the classes that a program used to an archive when it ends (application class-data sharing) and
map that into memory the next time, without reading jars and without verifying code again. The archive is good for one
Java and one set of jars, which Java checks itself; where it is missing or of another, Java starts as it does without.

What is mapped from it runs, so an archive is used only where nobody else could have put it. Java ends when it maps one
that was cut short: its size stands in its name.

Spark has one here, and so have the servers of ``metl_gui.stack`` that are started for each try.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from metl_gui.engine.spark.java import JavaHome
from metl_gui.errors import SetupError
from metl_gui.own_files import cache_folder, is_only_ours, make_folder

SUFFIX = ".jsa"
_KEPT_SECONDS = 60 * 24 * 3600.0
_BROKEN_OFF_SECONDS = 3600.0
_PREFIX = "making-"
_FOLDER = "java-classes"
_NAMED = "METL_JAVA_CLASSES"
_QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")
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
    return program_key(java, home / "jars") if home is not None else ""


def program_key(java: JavaHome, jars: Path, main: str = "") -> str:
    """Return what tells the archive of one Java and one program from others.

    Args:
        java: what runs it.
        jars: the folder of its jars.
        main: the class that it starts with, where several programs have the same jars.
    """
    java_path, jars = java.path.resolve(), jars.resolve()
    mixed = hashlib.sha256(f"{java_path} {java.version} {jars}{main and ' '}{main}".encode())
    for part in (java_path / "release", java_path / "lib" / "server" / "libjvm.so", jars):
        with contextlib.suppress(OSError):
            found = part.stat()
            mixed.update(f"{found.st_size} {found.st_mtime_ns}".encode())
    return mixed.hexdigest()[:20]


def archive_name(key: str, size_bytes: int) -> str:
    """Return the name of the file of an archive."""
    return f"{key}-{size_bytes}{SUFFIX}"


def find_archive(java: JavaHome) -> Path | None:
    """Return Spark's archive for a Java, whole and where nobody else could have put it; None when there is none."""
    return archive_of(archive_key(java))


def archive_of(key: str) -> Path | None:
    """Return the archive with a key, whole and where nobody else could have put it; None when there is none."""
    folder = archive_folder()
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
    option, *quiet = archive_arguments(archive)
    return " ".join([f'"{option}"', *quiet])


def archive_arguments(archive: Path) -> list[str]:
    """Return the arguments with which a Java uses an archive."""
    with contextlib.suppress(OSError):
        os.utime(archive)  # those that nobody uses are forgotten
    return [f"-XX:SharedArchiveFile={archive}", *_QUIET]


def writing_options(path: Path) -> str:
    """Return the options with which a Java of Spark that ends in order writes the archive to a path."""
    option, *quiet = writing_arguments(path)
    return " ".join([f'"{option}"', *quiet])


def writing_arguments(path: Path) -> list[str]:
    """Return the arguments with which a Java that ends in order writes the archive to a path."""
    return [f"-XX:ArchiveClassesAtExit={path}", *_QUIET]


def make_archive(key: str, write: Callable[[Path], None]) -> Path:
    """Make the archive with a key, also in place of one that is there, and return it.

    Args:
        key: of Java and program.
        write: has Java write the archive to a path.

    Raises:
        SetupError: Java wrote nothing, or others could change what it wrote.
        OSError: the cache cannot be written.
    """
    home = archive_folder()
    make_folder(home)
    if not is_only_ours(home):
        raise SetupError(
            "Java classes are not archived.",
            f"Others may write to {home} or to a folder above it.",
            "Take that right from them; programs run without an archive, they start slower.",
        )
    _sweep(home)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
    try:
        path = folder / f"classes{SUFFIX}"
        write(path)
        if not path.is_file():
            raise SetupError("Java wrote no archive of its classes.", "", "Programs run without, they start slower.")
        path.chmod(0o600)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        for other in home.glob(f"{key}-*{SUFFIX}"):
            other.unlink()
        return path.replace(home / archive_name(key, path.stat().st_size))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
