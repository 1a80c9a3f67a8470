"""Write a file whole or not at all, so that a kill at any moment leaves the one before or the one after; read it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import msgspec

from metl_gui.errors import RunError
from metl_gui.own_files import open_file

_Value = TypeVar("_Value")


def read_whole(path: Path, kind: type[_Value]) -> _Value | None:
    """Read a file of a checkpoint; None when there is none.

    Raises:
        RunError: it cannot be read, or holds something else.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(
            "The checkpoint cannot be read.",
            f"{path}: {error.strerror or error}.",
            "Give a --checkpoint folder that you may write to, or mend its permissions.",
        ) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise damaged(path, str(error)) from error


def damaged(path: Path, why: str) -> RunError:
    """Say that a file of a checkpoint holds something else than a run wrote there."""
    return RunError(
        "The checkpoint is damaged.", f"{path}: {why}", "Start again with a new --checkpoint and a new --sink."
    )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file by way of another one beside it; on the disk when this returns.

    Raises:
        OSError: it cannot be written; the error names the file, and nothing of it is left.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open_file(partial, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        error.filename = str(path)  # a full disk is told without
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_file(path: Path) -> None:
    """Make sure that what others wrote into a file is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
