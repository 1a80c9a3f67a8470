"""Which folders lie on another computer, where SQLite's write-ahead log is not safe.

Source: sqlite.org, "Write-Ahead Logging", 1 (all processes must be on the same host).
"""

from __future__ import annotations

import re
from pathlib import Path

_KINDS = frozenset(
    {
        *("9p", "afp", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "orangefs", "pvfs2", "smb3", "smbfs"),
        *("fuse.davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs", "fuse.sshfs"),
    }
)
_OCTAL = re.compile(r"\\([0-7]{3})")


def is_on_network(path: Path, mounts: str | None = None) -> bool:
    """Whether a path lies on a network file system.

    Args:
        path: a file or folder.
        mounts: text of ``/proc/self/mounts``; read when not given. Where there is none, the answer is no.
    """
    return _kind_of_mount(path.resolve(), _read_mounts() if mounts is None else mounts) in _KINDS


def _kind_of_mount(path: Path, mounts: str) -> str:
    kinds: dict[Path, str] = {}
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            kinds[Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[1]))] = fields[2]
    return next((kinds[folder] for folder in (path, *path.parents) if folder in kinds), "")


def _read_mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text("utf-8", "replace")
    except OSError:
        return ""
