"""What a task says when it cannot write."""

from __future__ import annotations

import errno
from pathlib import Path

from metl_gui.engine.failures import TaskError
from metl_gui.errors import RunError

NOTHING_KEPT = "Nothing of this run was kept, and its source is as it was"


def unwritable(path: Path, error: OSError) -> TaskError:
    """Say why a part cannot be written; the run ends with it."""
    return TaskError(_in_words(path, error))


def _in_words(path: Path, error: OSError) -> RunError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunError(
            "The disk is full: the outputs do not fit.",
            f"{path}. {NOTHING_KEPT}.",
            "Free some space there, or choose a folder on another disk, then run again.",
        )
    if isinstance(error, FileNotFoundError):
        return RunError(
            "Outputs were removed during the run.",
            f"{path} is gone or was changed. {NOTHING_KEPT}.",
            "Run again, and leave folders that end in .partial alone until it has ended.",
        )
    return RunError(
        "A part of the outputs cannot be written.",
        f"{path}: {error.strerror or error}. {NOTHING_KEPT}.",
        "Look whether the folder is yours to write and its disk is writable, then run again.",
    )
