"""Where tests write: in memory, where this computer has plenty of it.

Tests make and throw away tens of thousands of small files, of projects and of databases, and nobody needs one of them
after a power cut. On a disk a fifth of all their time goes by with that.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system, below which every folder has a name of its own
_LEAST_ROOM_BYTES = 8 << 30
_LEAST_FREE_BYTES = 14 << 30
"""So much memory has to be free: servers and Spark need some, too."""


def write_in_memory() -> None:
    """Have this process and what it starts make temporary folders in memory, unless it is told where to."""
    if "TMPDIR" not in os.environ and _has_room():
        os.environ["TMPDIR"] = str(_IN_MEMORY)
        tempfile.tempdir = None  # it is looked up again


def _has_room() -> bool:
    try:
        found = os.statvfs(_IN_MEMORY)
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return False
    is_usable = os.access(_IN_MEMORY, os.W_OK) and not found.f_flag & os.ST_NOEXEC
    kibibytes = next((int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), 0)
    return is_usable and found.f_bavail * found.f_frsize >= _LEAST_ROOM_BYTES and kibibytes << 10 >= _LEAST_FREE_BYTES
