"""Have the machine code made, kept and found again: by whom, where, and whether it is there.

numba takes some ten seconds for the whole of it, once for each computer, version and processor; then it lies in a
folder of the user's cache. While it is missing, the reference maps, and another process makes it: the compiler would
hold up everything in this one. So the first batch never waits. ``METL_KERNEL_CACHE`` names another folder.

Nothing here imports numba: it takes half a second.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from metl_gui.own_files import is_only_ours, make_folder

PACKAGE = "metl_gui.engine.kernel.compiled"
MAKER = "metl_gui.engine.all_machine_code"
"""The program that makes it, and other machine code with it."""
_NAMED = "METL_KERNEL_CACHE"
_READY = "ready"
_TRIED = "tried"
_HALF_WRITTEN = ".tmp."
"""In the names of files that numba writes, until they are whole."""
_LOCK = "building"
_STALE_SECONDS = 300.0
_KEPT_SECONDS = 90 * 86_400.0
_started: list[subprocess.Popen[bytes]] = []
"""Held, so that Python does not complain of processes that nobody waits for."""


def is_possible() -> bool:
    """Return whether there is a compiler: numba is installed."""
    return importlib.util.find_spec("numba") is not None


@cache
def digest() -> str:
    """Return what tells one build from another: the sources, the compiler, Python and the machine."""
    import importlib.metadata  # the window starts without it

    mixed = hashlib.sha256()
    for name, source in sorted(sources_of(resources.files(PACKAGE))):
        mixed.update(name.encode() + b"\0" + source + b"\0")
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        mixed.update(f"{importlib.metadata.version('numba')} {importlib.metadata.version('llvmlite')}".encode())
    mixed.update(f"{sys.version} {platform.machine()} {_processor()}".encode())
    return mixed.hexdigest()[:20]


def sources_of(package: Traversable, path: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the path and text of every module below a package, packages inside it included, wherever they are.

    Args:
        package: a folder, or a folder in a zip.
        path: of the package itself, with a slash behind it.
    """
    for entry in package.iterdir():
        if entry.is_dir():
            yield from sources_of(entry, f"{path}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield path + entry.name, entry.read_bytes()


def _processor() -> str:
    """Return what the processor can do, as code for one may be none for another."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return platform.processor()


@cache
def folder() -> Path | None:
    """Return the folder of this build, made when it is missing; ``None`` when nothing can be kept anywhere.

    What is loaded from it runs, so nobody else may have had a hand in it: a folder that others could change is none.
    """
    named = os.environ.get(_NAMED)
    found = _made(Path(named)) if named else _made(_cache_home() / "metl-gui" / "kernel")
    return found if found is not None or named else _in_temporary_folder()


def named() -> dict[str, str]:
    """Return what names the folder to a process that has a temporary folder of its own."""
    found = folder()
    return {_NAMED: str(found.parent)} if found is not None else {}


def _made(place: Path) -> Path | None:
    with contextlib.suppress(OSError, RuntimeError):
        found = place / digest()
        make_folder(found)
        if is_only_ours(found) and os.access(found, os.W_OK | os.X_OK):
            return found
    return None


def _cache_home() -> Path:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if os.environ.get(name):
            return Path(os.environ[name])
    return Path.home() / ".cache"


def _in_temporary_folder() -> Path | None:
    """Find a folder that a process of ours has made there before, or make one under a name that nobody can foresee."""
    owner = os.getuid() if hasattr(os, "getuid") else 0
    prefix = f"metl-kernel-{owner}-"
    with contextlib.suppress(OSError):
        temporary = Path(tempfile.gettempdir())
        known = (place for place in sorted(temporary.glob(f"{prefix}*")) if is_only_ours(place))
        return _made(next(known, None) or Path(tempfile.mkdtemp(prefix=prefix)))
    return None


def is_ready() -> bool:
    """Return whether machine code for this very program lies there, so that using it takes no compiler."""
    found = folder() if is_possible() else None
    return found is not None and (found / _READY).exists()


def kept_files() -> tuple[Path, ...]:
    """Return the files of the machine code, for other computers of the same kind; none while it is missing."""
    found = folder() if is_ready() else None
    if found is None:
        return ()
    kept = (path for path in found.iterdir() if path.name != _LOCK and _HALF_WRITTEN not in path.name)
    return tuple(sorted(path for path in kept if path.is_file()))


def build() -> None:
    """Make the machine code in this process and keep it."""
    from metl_gui.engine.kernel.compiled.precompile import precompile

    precompile()
    found = folder()
    if found is not None:
        (found / _READY).touch(0o600)
        _forget_old(found.parent)


def _forget_old(home: Path) -> None:
    """Remove builds of programs, compilers or processors that were last made long ago."""
    for build_folder in home.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - (build_folder / _READY).stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(build_folder, ignore_errors=True)


def build_in_background() -> subprocess.Popen[bytes] | None:
    """Have another process make all machine code at low priority, unless one is at it or has come to its end before.

    Returns:
        The process, which ends by itself and may be ended at any time; ``None`` when there is none.
    """
    found = folder() if is_possible() else None
    if found is None or (is_ready() and (found / _TRIED).exists()) or not _locked(found / _LOCK):
        return None
    roots = [entry for entry in sys.path if entry]
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", MAKER],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(roots)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        (found / _LOCK).unlink(missing_ok=True)
        return None
    with contextlib.suppress(OSError):
        (found / _LOCK).write_text(str(process.pid))
    _started.append(process)
    return process


def note_tried() -> None:
    """Say that all machine code was made that can be; while nobody says so, the next program goes on making it."""
    found = folder()
    if found is not None:
        (found / _TRIED).touch(0o600)


def unlock() -> None:
    """Let others make it."""
    found = folder()
    if found is not None:
        (found / _LOCK).unlink(missing_ok=True)


def _locked(lock: Path) -> bool:
    """Take the lock of the one process that builds, which a process that was killed may have left."""
    with contextlib.suppress(OSError, ValueError):
        if not _is_alive(lock):
            lock.unlink()
    try:
        lock.touch(0o600, exist_ok=False)
    except OSError:
        return False
    return True


def _is_alive(lock: Path) -> bool:
    """Return whether the process that holds a lock is still at it."""
    if time.time() - lock.stat().st_mtime > _STALE_SECONDS:
        return False
    holder = lock.read_text()
    if not holder or os.name != "posix":
        return True
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return False
    return True


def why_not() -> str:
    """Describe in a sentence why only the reference maps here; empty when machine code is there or will be."""
    if not is_possible():
        return "numba is not installed, so records were mapped without machine code, at about a tenth of the speed."
    if folder() is None and (named := os.environ.get(_NAMED)):
        return (
            f"{named}, which {_NAMED} names, cannot be written or others can put code there, so records were mapped "
            "without machine code; name a folder that is yours alone."
        )
    if folder() is None:
        return f"No folder can keep machine code, so records were mapped without; {_NAMED} names another one."
    return ""
