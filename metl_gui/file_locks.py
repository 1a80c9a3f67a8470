"""Locks on files and folders, which the system lets go of when their holder ends in any way.

A lock is on what is open, not on a name: whoever removes the file and makes another one has another lock. Needs nothing
but Python: it travels to executors with what uses it.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable
from typing import IO

_LOOK_SECONDS = 0.1


def lock(
    file: IO[bytes] | IO[str] | int,
    *,
    is_shared: bool = False,
    if_supported: bool = False,
    seconds: float = 0.0,
    waiting: Callable[[], None] | None = None,
) -> None:
    """Lock what is open, until it is closed.

    Args:
        file: a file, or the descriptor of a file or folder.
        is_shared: others may lock it too who share it.
        if_supported: leave it as it is where its file system knows no locks.
        seconds: how long to wait for who holds it.
        waiting: called while somebody does; what it raises ends the wait.

    Raises:
        BlockingIOError: somebody else holds it.
        OSError: its file system knows no locks, and should.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
        except OSError:
            if if_supported:
                return
            raise
        else:
            return
        if waiting is not None:
            waiting()
        time.sleep(_LOOK_SECONDS)
