"""Unpack the shipped archive on an executor, once per computer, so that it is imported from files.

This text is also the beginning of ``metl_gui/__init__.py`` in the archive (see ``archive``): Python finds the package
in the archive, and from then on looks for its modules in the folder. Files give what an archive cannot: byte code and
compiled kernels that are kept for the next worker process. It runs before anything else is there, so it needs nothing
but Python and what needs no more.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from metl_gui.own_files import is_only_ours

KEPT_DAYS = 30
_PREFIX = "metl-shipped"
KERNELS = "kernels"
"""The folder with machine code, beside the package."""


def unpacked(archive: str, content: str) -> str | None:
    """Return the folder that the archive is unpacked in; ``None`` where it cannot be, and the archive itself must do.

    Args:
        archive: the file.
        content: the hash of what is in it, which names the folder.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"{_PREFIX}-{os.getuid()}-{content}"
        if not is_only_ours(folder):
            _forget_old(folder)
            _unpack(archive, folder)
        if not is_only_ours(folder):
            return None
        os.utime(folder)
    except (OSError, zipfile.BadZipFile):
        return None
    return str(folder)


def _unpack(archive: str, folder: Path) -> None:
    """Unpack beside and move in place: another process does the same at the same time, and one of them is first."""
    beside = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}-", dir=folder.parent))
    try:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(beside)
        for path in beside.rglob("*"):
            if path.is_dir():
                path.chmod(0o700)  # machine code is loaded only from where nobody else can put any
        try:
            beside.rename(folder)
        except OSError:
            if not is_only_ours(folder):
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _forget_old(folder: Path) -> None:
    """Remove what earlier versions of the program left here and no worker has used for a month."""
    oldest = time.time() - KEPT_DAYS * 24 * 3600
    for other in folder.parent.glob(f"{_PREFIX}-{os.getuid()}-*"):
        if is_only_ours(other) and other.stat().st_mtime < oldest:
            shutil.rmtree(other, ignore_errors=True)


def enter(archive: str, content: str, path: list[str]) -> list[str]:
    """Return where the package's modules are looked for from now on.

    Args:
        archive: the file that Python found the package in.
        content: its hash.
        path: where Python would look for them.
    """
    folder = unpacked(archive, content)
    if folder is None:
        return path
    # Machine code that came along is used where it fits; what is made here stays for the next worker.
    os.environ.setdefault("METL_KERNEL_CACHE", str(Path(folder) / KERNELS))
    sys.path.insert(0, folder)
    return [str(Path(folder) / "metl_gui")]
