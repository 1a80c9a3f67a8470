"""What the file source is told on its way to the executors."""

from __future__ import annotations

import msgspec

from metl_gui.engine.sources.files import FileRange, SourceFile


class Reading(msgspec.Struct, frozen=True):
    """The files, the ranges of each task and the limit.

    Args:
        is_error_store: the files are parts of an error store, whose rows hold the records.
    """

    files: list[SourceFile]
    tasks: list[list[FileRange]]
    limit: int | None = None
    is_error_store: bool = False
