"""The Java runtime that Spark needs: where it is and how old it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from metl_gui.errors import SetupError
from metl_gui.values import Value

OLDEST_JAVA = 17
"""Spark 4 refuses anything older."""

_HINT = "Run `metl doctor --fix`, or install it yourself (Debian: `apt-get install openjdk-17-jre-headless`)."


class JavaHome(Value):
    """A Java installation.

    Args:
        path: the folder that holds ``bin/java``.
        version: the major version.
    """

    path: Path
    version: int


def find_java(
    environment: Mapping[str, str] | None = None, oldest: int = OLDEST_JAVA, first: Sequence[Path] = ()
) -> JavaHome:
    """Find a Java that is new enough: ``JAVA_HOME`` first, then ``PATH``, then where Debian puts it.

    Args:
        environment: by default that of this process.
        oldest: the oldest version that will do.
        first: folders to look in before all others.

    Raises:
        SetupError: there is none, or only older ones.
    """
    known = os.environ if environment is None else environment
    too_old: list[str] = []
    for home in (*first, *_candidates(known)):
        version = java_version(home)
        if version is not None and version >= oldest:
            return JavaHome(home, version)
        if version is not None:
            too_old.append(f"Java {version} in {home}")
    found = f"Found only {', '.join(too_old)}." if too_old else "No Java was found in JAVA_HOME or on PATH."
    raise SetupError(f"Java {oldest} or newer is missing.", f"Spark needs it. {found}", _HINT)


def java_version(home: Path) -> int | None:
    """Return the major version of the Java in a folder, or None when there is no Java that starts."""
    program = home / "bin" / "java"
    if not os.access(program, os.X_OK):
        return None
    release = home / "release"
    text = release.read_text(errors="replace") if release.is_file() else _ask(program)
    found = re.search(r'version[="\s]+(?:1\.)?(\d+)', text, re.IGNORECASE)
    return int(found.group(1)) if found else None


def _ask(program: Path) -> str:
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stderr + answer.stdout


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    system = Path(environment.get("METL_JVM_FOLDER", "/usr/lib/jvm"))
    if system.is_dir():
        yield from sorted(path for path in system.iterdir() if path.is_dir())
