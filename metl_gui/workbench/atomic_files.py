"""Files and folders that are written whole or not at all.

Each is made beside its place and moved there in one step, so nobody ever reads a part of it, and what stood there
before stays until then. A folder is replaced only when it is an export of ours and nothing of anybody else's lies in
it: ``MANIFEST`` names what belongs to it.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metl_gui.errors import ProjectError
from metl_gui.own_files import atomic_file, sync
from metl_gui.store.sqlite.connection import SUFFIX as PROJECT_SUFFIX
from metl_gui.store.sqlite.connection import is_database

MANIFEST = "metl-export.json"
"""The file that says that a folder is an export of ours, of what, and which files belong to it."""

_FORMAT = "metl-export"
_SYSTEM = (Path("/dev"), Path("/proc"), Path("/sys"))
_MEMORY = Path("/dev/shm")  # noqa: S108 - people may keep files there
_MOST_LINKS = 40


def write_whole(path: Path, raw: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that nobody ever sees a part of it.

    Raises:
        ProjectError: it cannot be written, or is a project, which nothing of ours ever writes over.
    """
    with whole_file(path) as partial:
        partial.write_bytes(raw)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary file to write into; it takes its place when the block ends, and goes away when it fails.

    A link stays what it is: the file that it leads to is written.

    Raises:
        ProjectError: it cannot be written, or is a project, which nothing of ours ever writes over.
    """
    check_output(path)
    try:
        place = _linked_place(path)
        check_output(place)
        mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask()
        with atomic_file(place, mode=mode) as partial:
            yield partial
            sync(partial)  # a name must never lead to less than was written
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def whole_folder(path: Path, facts: dict[str, Any], leavings: Collection[str] = ()) -> Iterator[Path]:
    """Give an empty folder to write into; it takes its place when the block ends, and goes away when it fails.

    Between the moment when the old folder steps aside and the one when the new folder stands in its place there is
    no folder of that name; a program that is killed just then leaves both beside it, under hidden names.

    Args:
        path: the place; what stands there must be an export of ours, or an empty folder, or nothing.
        facts: what the manifest says beside the list of files.
        leavings: names of files and folders that the export's users make in it, which go with the old one.

    Raises:
        ProjectError: it cannot be written, or there is something that is not ours to replace.
    """
    check_output_folder(path, leavings)
    place = path.resolve()
    try:
        partial = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".partial", dir=place.parent))
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield partial
        _write_manifest(partial, facts)
        for each in _files(partial):
            sync(partial / each)
        partial.chmod(0o777 & ~_umask())
        _take_place(partial, place, leavings)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _linked_place(path: Path) -> Path:
    """Follow links to the place that they lead to in the end, which may be empty.

    Raises:
        ProjectError: it, or a link on the way, is the system's own: a file that somebody has open, or a device.
        OSError: a link cannot be read.
    """
    place = path
    for _ in range(_MOST_LINKS):
        place = Path(os.path.realpath(place.parent)) / place.name
        if any(place.is_relative_to(folder) for folder in _SYSTEM) and not place.is_relative_to(_MEMORY):
            raise ProjectError(
                f"{path} belongs to the system.", f"It is {place}, no file of yours.", "Name another file."
            )
        if not place.is_symlink():
            break
        place = place.parent / place.readlink()
    return place


def check_output(path: Path) -> None:
    """Refuse what nothing may be written over: projects, folders, devices, and names that no file can have.

    Raises:
        ProjectError: it is one of them.
    """
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise ProjectError(f"{path} is a folder.", hint="Name a file to write.")
    if mode is not None and not stat.S_ISREG(mode):
        # It would be replaced by a file: a pipe, or a device of the whole computer.
        raise ProjectError(f"{path} is no regular file.", hint="Name a file to write.")
    _check_no_project(path)


def check_output_folder(path: Path, leavings: Collection[str] = ()) -> None:
    """Refuse a folder that is not ours to replace: one with anything in it that our manifest does not name.

    Raises:
        ProjectError: it is a file, or holds something of somebody else's.
    """
    mode = _mode(path)
    if mode is None:
        _check_no_project(path)
        return
    if not stat.S_ISDIR(mode):
        raise ProjectError(f"{path} is a file.", "This format writes a folder.", "Name a folder.")
    try:
        found = _files(path)
        ours = _manifest_files(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    foreign = [name for name in found if name not in ours and name.split("/")[0] not in leavings]
    if foreign:
        several = f" and {len(foreign) - 1:,} more" if len(foreign) > 1 else ""
        raise ProjectError(
            f"{path} holds {foreign[0]}{several}, which no export put there.",
            "The whole folder would be replaced.",
            "Name another folder, or move away what is yours.",
        )


def _mode(path: Path) -> int | None:
    """Return what kind of thing stands at a place; ``None`` for nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # a name that is too long; one with a zero character
        raise _unwritable(path, error) from error


def _check_no_project(path: Path) -> None:
    if path.suffix == PROJECT_SUFFIX or _holds_project(path):
        raise ProjectError(
            f"{path} is the name of a project file.", "What is written would take its place.", "Name another file."
        )


def _holds_project(path: Path) -> bool:
    """Return whether a file is a database, whatever its name; an unreadable one is found out when it is written."""
    try:
        return is_database(path)
    except OSError:
        return False


def _take_place(partial: Path, place: Path, leavings: Collection[str]) -> None:
    """Put a finished folder in its place; the one that stood there goes once it does."""
    if not place.exists():
        partial.rename(place)
        return
    check_output_folder(place, leavings)  # it may have changed while the new one was written
    old = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".old", dir=place.parent))
    place.rename(old)
    try:
        partial.rename(place)
    except OSError:
        old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _write_manifest(folder: Path, facts: dict[str, Any]) -> None:
    content = {"format": _FORMAT, "version": 1, **facts, "files": [*_files(folder), MANIFEST]}
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    (folder / MANIFEST).write_bytes(text.encode("utf-8", "surrogatepass"))


def _manifest_files(folder: Path) -> frozenset[str]:
    """Return the files that belong to an export of ours; none for any other folder."""
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
    except (FileNotFoundError, ValueError):
        return frozenset()
    if not isinstance(content, dict) or content.get("format") != _FORMAT or not isinstance(content.get("files"), list):
        return frozenset()
    return frozenset(name for name in content["files"] if isinstance(name, str))


def _files(folder: Path) -> list[str]:
    """List what lies in a folder, deep, by path from it; a link counts as a file, whatever it leads to."""
    found = []
    for place, folders, files in os.walk(folder, onerror=_raise):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        found += [(Path(place) / name).relative_to(folder).as_posix() for name in (*files, *links)]
    return sorted(found)


def _raise(error: OSError) -> None:
    raise error


def _unwritable(path: Path, error: OSError | ValueError) -> ProjectError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return ProjectError(f"{path} cannot be written.", f"{reason}.", "Name a file in a folder that you can write to.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
