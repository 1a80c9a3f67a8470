"""Folders and files that are this user's alone: where they lie, whether nobody else can touch them, how they are made.

Files are written whole or not at all by ``atomic_write`` and ``atomic_file``, so that whoever reads one finds what was
there before or what is there now, and a kill or a full disk leaves the former.

Raw records lie in the user's cache and data folders, so these are closed to everybody else, and so is what is made in a
closed folder. What goes where a person asked for it has the rights that the person's umask gives. Needs nothing but
Python: it travels to executors, where it is there before anything else.
"""

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Literal, TypeAlias

APPLICATION = "metl-gui"
_ROOT = 0
_OTHERS = 0o077
_MOST_LINKS = 40
_CHUNK_BYTES = 1 << 20
_PARTIAL = ".partial"

How: TypeAlias = Literal["wb", "ab", "xb", "a+b"]


def cache_folder() -> Path:
    """Return the folder of everything that may be deleted at any time."""
    from platformdirs import user_cache_path

    return user_cache_path(APPLICATION, appauthor=False)


def settings_folder() -> Path:
    """Return the folder of the user's settings."""
    from platformdirs import user_config_path

    return user_config_path(APPLICATION, appauthor=False)


def data_folder() -> Path:
    """Return the folder of what belongs to the user."""
    from platformdirs import user_data_path

    return user_data_path(APPLICATION, appauthor=False)


def is_own(place: Path) -> bool:
    """Return whether a place is below the user's cache or data folder, and not one that a person named."""
    try:
        folders = (cache_folder(), data_folder())
    except ImportError:  # a job that was exported, on a computer where nothing of ours is kept
        return False
    return any(place.resolve().is_relative_to(own.resolve()) for own in folders)


def is_only_ours(folder: Path) -> bool:
    """Return whether a folder is there and nobody else could have put something into it, or another one in its place.

    That is so when it is ours, and every folder on the way to it is ours or the system's, and others may write to none
    of them; a sticky one, such as the temporary folder, lets others add to it and take nothing away. A group that is
    ours alone, as where each user has one and files are made with a umask of 002, is no others. Links are followed one
    by one, and one that somebody else made leads nowhere.

    Raises:
        OSError: it cannot be found out.
    """
    if not hasattr(os, "getuid"):
        return folder.is_dir()
    place, left = Path("/"), list(reversed((Path.cwd() / folder).parts))
    links = 0
    while left:
        entry = place / left.pop()
        try:
            found = entry.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        if found.st_uid not in {_ROOT, os.getuid()}:
            return False
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > _MOST_LINKS:
                return False
            left += reversed(entry.readlink().parts)
        elif not stat.S_ISDIR(found.st_mode) or (_lets_others_write(found) and not found.st_mode & stat.S_ISVTX):
            return False
        else:
            place = entry
    found = place.lstat()
    return found.st_uid == os.getuid() and not _lets_others_write(found)


def _lets_others_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(number: int) -> bool:
    import grp
    import pwd

    try:
        own, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(number)
    except KeyError:  # nobody knows who is in it
        return False
    # Directory services do not tell who is in a group: one that is not named after its user counts as shared.
    is_alone = all(user.pw_name == own for user in pwd.getpwall() if user.pw_gid == number)
    return is_alone and group.gr_name == own and {own}.issuperset(group.gr_mem)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, all for their owner alone; one that is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def is_closed(folder: Path) -> bool:
    """Return whether a folder lets nobody but its owner in.

    Raises:
        OSError: it is not there.
    """
    return not folder.stat().st_mode & _OTHERS


def make_below(root: Path, names: Iterable[str]) -> Path:
    """Make folders in a folder that is there, as closed as that is, and return the last.

    Raises:
        OSError: it is gone, or cannot be written.
    """
    folder, mode = root, 0o700 if is_closed(root) else 0o777
    for name in names:
        folder /= name
        folder.mkdir(mode, exist_ok=True)
    return folder


def open_file(path: Path, how: How) -> IO[bytes]:
    """Open a file to write; one that is made in a closed folder is closed from the first moment.

    Raises:
        OSError: it cannot be written.
    """
    return open(path, how, opener=_closed if is_closed(path.parent) else None)


def write_file(path: Path, content: bytes) -> None:
    """Write a file; one that is made in a closed folder is closed from the first moment.

    Raises:
        OSError: it cannot be written.
    """
    with open_file(path, "wb") as file:
        file.write(content)


def atomic_write(
    path: Path, content: bytes, *, durable: bool = False, mode: int | None = None, is_new: bool = False
) -> None:
    """Write a file by way of another one beside it; arguments are those of ``atomic_file``.

    Raises:
        FileExistsError: the file is there, and should be new.
        OSError: it cannot be written; the error names the file.
    """
    try:
        with atomic_file(path, durable=durable, mode=mode, is_new=is_new) as partial:
            partial.write_bytes(content)
    except OSError as error:
        error.filename = str(path)  # a full disk is told without
        raise


@contextlib.contextmanager
def atomic_file(path: Path, *, durable: bool = False, mode: int | None = None, is_new: bool = False) -> Iterator[Path]:
    """Give an empty file beside a path to write into; it takes its place when the block ends, and goes when it fails.

    Args:
        path: the file.
        durable: it is on the disk when the block has ended, under its name.
        mode: what may be done with it, for its owner alone until then; by default as of ``open_file``.
        is_new: a file that is there is not replaced.

    Raises:
        FileExistsError: the file is there, and should be new.
        OSError: it cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.urandom(4).hex()}{_PARTIAL}")
    at_first = 0o600 if mode is not None or is_closed(path.parent) else 0o666
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, at_first))
    try:
        yield partial
        if mode is not None:
            partial.chmod(mode)
        if durable:
            sync(partial)
        if is_new:
            path.hardlink_to(partial)
            partial.unlink()
        else:
            partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
    if durable:
        sync(path.parent)


def drop_partials(path: Path) -> None:
    """Remove what killed writers of a file left beside it; nobody may be writing it now."""
    with contextlib.suppress(OSError):
        for beside in path.parent.iterdir():
            if beside.name.startswith(f".{path.name}.") and beside.suffix == _PARTIAL:
                beside.unlink()


def sync(place: Path) -> None:
    """Have the disk keep what a file holds, whoever wrote it, or the names in a folder.

    Raises:
        OSError: it cannot be opened, or the disk cannot keep it.
    """
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _closed(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def close_all(folder: Path) -> None:
    """Take from everybody else what they may do with a folder and all in it; links are left alone.

    What belongs to others stays as it is.

    Raises:
        OSError: it cannot be looked into.
    """
    for _, _, files, place in os.fwalk(folder, follow_symlinks=False):
        # The folder first: nobody can swap what lies in it from then on.
        if _is_open(os.fstat(place)):
            os.fchmod(place, os.fstat(place).st_mode & 0o700)
        for name in files:
            with contextlib.suppress(FileNotFoundError):  # of a program that is at work there
                found = os.stat(name, dir_fd=place, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and _is_open(found):
                    os.chmod(name, found.st_mode & 0o700, dir_fd=place)


def _is_open(found: os.stat_result) -> bool:
    return bool(found.st_mode & _OTHERS) and found.st_uid == os.getuid()


def checksum_of(path: str | Path) -> int:
    """Return the CRC-32 of the bytes of a file.

    Raises:
        OSError: it cannot be read.
    """
    found = 0
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            found = zlib.crc32(chunk, found)
    return found
