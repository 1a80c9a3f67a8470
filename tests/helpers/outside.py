"""Programs of others that exports are checked with, each in an environment of its own that stays in the user's cache.

They bring plugins and versions of libraries that have no place in ours.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from hashlib import sha256
from pathlib import Path

import pytest
from platformdirs import user_cache_path

_CACHE = user_cache_path("metl-tests", appauthor=False) / "environments"


def python_with(*requirements: str) -> Path:
    """Return a Python that has some packages, made once and kept.

    Args:
        requirements: as pip takes them; a change of them makes another environment.
    """
    digest = sha256("\n".join((sys.version, *requirements)).encode()).hexdigest()[:16]
    place, done = _CACHE / digest, _CACHE / digest / "is-whole"
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / f"{digest}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests of several processes may want it at once
        if not done.exists():
            shutil.rmtree(place, ignore_errors=True)
            # Our pip brings the packages, so that none is installed for each; of a package few modules are ever loaded.
            venv.create(place, with_pip=False)
            pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", place / "bin" / "python"]
            subprocess.run([*pip, "install", "--quiet", "--no-compile", *requirements], check=True, timeout=600)
            done.touch()
    return place / "bin" / "python"


def said_by(python: Path, program: str, *arguments: str | Path) -> str:
    """Run a program of a few lines there and return what it printed.

    Raises:
        AssertionError: it failed; with its traceback.
    """
    done = subprocess.run(
        [python, "-I", "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout


def dbt(project: Path, *arguments: str) -> str:
    """Run dbt on a project and return what it printed.

    Its version is the last one whose parts all come from the package registry.

    Raises:
        AssertionError: it failed; with what it said.
    """
    try:
        python = python_with("dbt-core==1.10.*", "dbt-postgres==1.9.*")
    except subprocess.CalledProcessError:
        pytest.skip("dbt is not in the user's cache and cannot be fetched.")
    done = subprocess.run(
        [python.parent / "dbt", "--no-use-colors", *arguments, "--project-dir", project],
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-2_000:]
    return done.stdout
