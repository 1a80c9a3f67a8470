"""What a task writes messages into, whatever it is, what it says when it cannot, and the names of folders.

Any entity name gives a safe folder name, and different names give different folders. The folder of a day is that of the
``ts_ms`` of messages, in UTC; the clock of this computer has no part in it: a message lands in the folder of its own
time, whenever it is mapped.
"""

from __future__ import annotations

import errno
import hashlib
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.spark.task_errors import TaskError
from metl_gui.errors import RunError


class RejectedRecord(NamedTuple):
    """Why a sink does not take a record.

    Args:
        schema, version, position: of the record, as its messages say it.
        detail: the attribute, what it takes, and the value that it does not take.
        reason: what it is set aside for.
    """

    schema: str
    version: str
    position: str
    detail: str
    reason: str = "type_mismatch"


class Sink(Protocol):
    """The messages of one attempt of one task.

    Order: each part has the messages of its folder as they came.
    """

    def append(self, outcome: MappedBatch) -> dict[int, RejectedRecord]:
        """Take the messages of a batch; of a record that it refuses it takes none at all.

        Returns:
            Refused records by their number in the batch.

        Raises:
            TaskError: something cannot be written.
        """
        ...

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts.

        Raises:
            TaskError: something cannot be written.
        """
        ...


NOTHING_KEPT = "Nothing of this run was kept, and its source is as it was"


def unwritable(path: Path, error: OSError) -> TaskError:
    """Return why a part cannot be written; the run ends with it."""
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


_UNSAFE = re.compile(r"[^\w .@+-]|^[.\s_]|[.\s]$")
_LONGEST = 120


def folder_name(entity: str) -> str:
    """Return the name of an entity's folder, unsafe characters written as ``%XX``."""
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode()), entity) or "%"
    if len(safe.encode()) <= _LONGEST:
        return safe
    return f"{safe[: _LONGEST // 4]}%{hashlib.sha256(entity.encode()).hexdigest()[:16]}"


DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN = "date=unknown"


def date_folder(ts_ms: int | None) -> str:
    """Return ``date=YYYY-MM-DD``, ``date=unknown`` where there is no time or none that a calendar has."""
    return UNKNOWN if ts_ms is None else _of_day(ts_ms // DAY_MS)


@lru_cache(maxsize=65536)
def _of_day(day: int) -> str:
    try:
        return f"date={_EPOCH + timedelta(days=day):%Y-%m-%d}"
    except OverflowError:
        return UNKNOWN
