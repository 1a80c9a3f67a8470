"""Files as a source: which ones, the ranges that they are cut into, and their plain bytes.

A file is read up to its size at listing, as its plain bytes, whatever it is packed with. What it grew by since is
reported; a file that became shorter fails the run.

Order: files by name, ranges by place, records by offset; a part of the output keeps the order of its range.
"""

from __future__ import annotations

import contextlib
import difflib
import glob
import hashlib
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from metl_gui.errors import RunError, in_utf8
from metl_gui.formats.compression import NOT_READ_BYTES, Codec, codec_of, unpacked, unread_packing
from metl_gui.formats.record_delimiters import SNIFF_BYTES, Framing, sniff

CHUNK_BYTES = 1 << 20
COLUMN_CHUNK_BYTES = 8 << 20
"""So much of a file makes one batch where columns are made of each: below it, calls for few rows take half the time."""


class FixedFile(io.RawIOBase):
    """A file that ends where it ended when it was listed.

    Args:
        path: the file.
        size_bytes: its size at listing; what was appended since is not read.

    Raises:
        RunError: the file became shorter, or cannot be read.
    """

    def __init__(self, path: str, size_bytes: int) -> None:
        super().__init__()
        self.path = path
        self.size_bytes = size_bytes
        try:
            self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 - closed with this object
        except OSError as error:
            raise unreadable(path, error) from error

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Say yes."""
        return True

    def tell(self) -> int:
        """Return the place in the file."""
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move within the size at listing."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self.size_bytes}[whence]
        return self._file.seek(base + offset)

    def readinto(self, buffer: object) -> int:
        """Read up to the size at listing, and return how many bytes were read.

        Raises:
            RunError: the file cannot be read, or became shorter.
        """
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # typeshed has no public name for a buffer
        wanted = min(len(view), self.size_bytes - self.tell())
        if wanted <= 0:
            return 0
        try:
            count = self._file.readinto(view[:wanted])
        except OSError as error:
            raise unreadable(self.path, error) from error
        if not count:
            raise shrunken(self.path, self.size_bytes, self.tell())
        return count

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._file.close()
        super().close()


def unreadable(path: str, error: OSError) -> RunError:
    """Make the error for a file that cannot be opened or read."""
    return RunError(
        "A source file cannot be read.", f"{path}: {error.strerror or error}.", "Check that it exists and is readable."
    )


def shrunken(path: str, listed: int, now: int) -> RunError:
    """Make the error for a file that became shorter while it was read."""
    return RunError(
        "A source file became shorter during the run.",
        f"{path} had {listed:,} bytes when it was listed and ends at byte {now:,} now.",
        "Nothing was written. Run again when no other program rewrites the file.",
    )


@contextlib.contextmanager
def plain_bytes(path: str, size_bytes: int, codec: Codec) -> Iterator[IO[bytes]]:
    """Open a file as a stream of its unpacked bytes.

    Raises:
        RunError: it cannot be read, is cut off or is damaged; the error names it.
    """
    with FixedFile(path, size_bytes) as raw:
        try:
            with unpacked(io.BufferedReader(raw, CHUNK_BYTES), codec) as stream:
                yield stream
        except (EOFError, zlib.error, OSError, ValueError) as error:
            if codec is Codec.PLAIN:
                raise
            raise RunError(
                f"A {codec} file is cut off or damaged.",
                f"{path} cannot be unpacked to its end: {error}.",
                "Nothing was written. Copy or pack the file again, or leave it out of the source.",
            ) from error


def chunks_of(stream: IO[bytes], chunk_bytes: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Read a stream to its end in pieces."""
    while chunk := stream.read(chunk_bytes):
        yield chunk


MIN_RANGE_BYTES = 1 << 20
MAX_RANGE_BYTES = 32 << 20
"""A task costs about as much as reading 1 MB of records; a range this long still gives each core its share."""
LOG_HEAD_BYTES = 64 << 10
"""Records with their schema in them begin alike for some thousand bytes."""

_MARK_DIGITS = 16
_BOM = b"\xef\xbb\xbf"
_PASSED_OVER = (".", "_")
"""How names begin of what is no part of a folder, as other readers of such folders have it."""
_NOT_RECORDS = frozenset({".md", ".py", ".sql", ".csv", ".tsv", ".html", ".xlsx", ".parquet", ".yaml", ".yml", ".metl"})


class SourceFile(msgspec.Struct, frozen=True):
    """One file as it was listed.

    Args:
        name: how positions call it: its path below the source.
        path: where it lies.
        size_bytes: its size when it was listed.
        framing: how its records follow each other, None until its bytes are read.
    """

    name: str
    path: str
    size_bytes: int
    codec: Codec
    framing: Framing | None = None

    def log_name(self) -> str:
        """Return how positions in a warehouse call it: by its beginning too, as many files have one name.

        A file that grows keeps its name once it is longer than that. It sorts before the name alone, so that of a
        message which was read from both, this is kept.

        Raises:
            RunError: it cannot be read.
        """
        try:
            with Path(self.path).open("rb") as file:
                mark = hashlib.sha256(file.read(min(self.size_bytes, LOG_HEAD_BYTES))).hexdigest()[:_MARK_DIGITS]
        except OSError as error:
            raise unreadable(self.path, error) from error
        return f"#{mark} {self.name}"


class FileRange(msgspec.Struct, frozen=True):
    """The records of a file that begin at ``start`` or later and before ``stop`` (bytes as they lie on disk)."""

    file: int
    start: int
    stop: int


class FileListing(msgspec.Struct, frozen=True):
    """The files of a source, and what was left out of it."""

    files: tuple[SourceFile, ...]
    left_out: tuple[str, ...] = ()

    @property
    def bytes_total(self) -> int:
        """Bytes of all files as they lie on disk."""
        return sum(file.size_bytes for file in self.files)


def list_files(source: str) -> FileListing:
    """List a file, a folder (with its subfolders) or a glob.

    Raises:
        RunError: nothing is there, nothing matches, or a file cannot be read.
    """
    try:
        root, paths = matching_files(source)
        kept = [path for path in paths if path == root or _may_hold_records(path)]
    except OSError as error:
        raise unreadable(source, error) from error
    except RuntimeError as error:  # the home folder of somebody unknown
        raise RunError("The source cannot be found.", f"{source}: {error}", "Write its whole path.") from error
    left_out = names_left_out(root, set(paths).difference(kept))
    if not kept:
        facts = f"{source} holds only {', '.join(left_out[:5])}." if left_out else f"{source} holds no file."
        raise RunError("The source is empty.", facts, "Choose a folder with JSON, JSON lines or packed JSON files.")
    return FileListing(tuple(_listed(path, root) for path in sorted(kept)), left_out)


def names_left_out(root: Path, paths: Iterable[Path]) -> tuple[str, ...]:
    """Return, for people, the names of files of a source that are not read.

    Args:
        root: the folder that names are relative to.
        paths: of these files.
    """
    return tuple(sorted(in_utf8(path.relative_to(root).as_posix()) for path in paths))


def source_paths(source: str) -> tuple[Path, list[Path]]:
    """Find the files of a source that may still be empty, because it is followed.

    Returns:
        The folder that names are relative to (the file itself for a single file), and the files that hold records.

    Raises:
        RunError: the source is no place where files could appear.
    """
    path = Path(source).expanduser()
    if glob.has_magic(source) and not path.exists() and "://" not in source:
        root, paths = fixed_part(path), _matches(path)
    else:
        root, paths = matching_files(source)
    return root, sorted(path for path in paths if path == root or _may_hold_records(path))


def listed_file(path: Path, root: Path) -> SourceFile:
    """Inspect one file of a source.

    Raises:
        RunError: it cannot be read, or is of a kind that cannot be read.
    """
    return _listed(path, root)


def _may_hold_records(path: Path) -> bool:
    """Whether a file in a folder is read: not pipes, devices and links to nothing, nor files of other kinds."""
    return path.is_file() and path.suffix.lower() not in _NOT_RECORDS


def matching_files(source: str) -> tuple[Path, list[Path]]:
    """Return the folder that names are relative to (the file itself for a single file) and the files, of any kind.

    Args:
        source: a file, a folder (with its subfolders) or a glob.

    Raises:
        RunError: nothing is there, or nothing matches.
    """
    path = Path(source).expanduser()
    if not source:
        raise RunError("No source is named.", hint="Give a file, a folder or a glob.")
    if "://" in source:
        raise RunError(
            "This source cannot be read yet.", f"{source} is an address.", "Give a file, a folder or a glob."
        )
    if path.is_file():
        return path, [path]
    if path.is_dir():
        return path, list(_below(path))
    if glob.has_magic(source):
        files = _matches(path)
        if not files:
            raise RunError("No file matches the source.", f"{source} matches nothing.", "Check the pattern.")
        return fixed_part(path), files
    if path.exists():
        raise RunError("The source is no file.", f"{path} is a pipe or a device.", "Give a file, a folder or a glob.")
    raise _missing(path)


def _matches(pattern: Path) -> list[Path]:
    """Return the files that a pattern matches, and those in folders that it matches, each once."""
    fixed = len(fixed_part(pattern).parts)
    found: dict[Path, None] = {}
    for match in map(Path, glob.glob(str(pattern), recursive=True)):  # noqa: PTH207 - pathlib takes no absolute pattern
        is_folder = match.is_dir()
        folders = (match if is_folder else match.parent).parts[fixed:]
        if not is_passed_over(folders, pattern.parts[fixed:]):
            found |= dict.fromkeys(_below(match, follows=False) if is_folder else [match])
    return list(found)


def is_passed_over(folders: Iterable[str], pattern: Iterable[str] = ()) -> bool:
    """Return whether what lies in some folders is no part of a source, as one's name begins with a dot or underscore.

    Args:
        folders: names of folders below the source, or below what a pattern begins with.
        pattern: the rest of that pattern; where it names such folders, they are read.
    """
    named = {part[0] for part in pattern}
    return any(part.startswith(_PASSED_OVER) and part[0] not in named for part in folders)


def _below(folder: Path, *, follows: bool = True) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders, in those that links lead to each once, or not at all."""
    for place, names in _folders(folder, follows=follows):
        yield from (Path(place, name) for name in names if not is_passed_over([name]))


def linked_folders(folder: Path) -> Iterator[Path]:
    """Yield where the links lead that are read as subfolders of a folder."""
    found = _folders(folder, follows=True)
    yield from (Path(os.path.realpath(place)) for place, _ in found if Path(place).is_symlink())


def _folders(folder: Path, *, follows: bool) -> Iterator[tuple[str, list[str]]]:
    def refuse(error: OSError) -> None:
        raise RunError(
            "A source folder cannot be read.", f"{error.filename}: {error.strerror}.", "Check its permissions."
        ) from error

    root = Path(os.path.realpath(folder))
    known = {root}
    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=follows):
        folders[:] = [
            name for name in sorted(folders) if not is_passed_over([name]) and _is_new(Path(place, name), root, known)
        ]
        yield place, names


def _is_new(folder: Path, root: Path, known: set[Path]) -> bool:
    """Return whether a folder is not read already, nor will be without a link that leads to it; it is known then."""
    real = Path(os.path.realpath(folder))
    is_read = real.is_relative_to(root) and not is_passed_over(real.relative_to(root).parts)
    is_within = is_read or root.is_relative_to(real)
    if real in known or (folder.is_symlink() and is_within):
        return False
    known.add(real)
    return True


def fixed_part(pattern: Path) -> Path:
    """Return the folders that a pattern begins with, before anything in it stands for many names."""
    parts: list[str] = []
    for part in pattern.parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return Path(*parts) if parts else Path()


def _missing(path: Path) -> RunError:
    there = path.parent
    names = [entry.name for entry in there.iterdir() if entry.exists()] if there.is_dir() else []
    close = difflib.get_close_matches(path.name, names, n=1)
    hint = f"Did you mean {there / close[0]}?" if close else "Give a file, a folder or a glob that exists."
    return RunError("The source does not exist.", f"There is no {path}.", hint)


def _is_text(name: str) -> bool:
    """Whether a file name can be written down; Linux allows any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _listed(path: Path, root: Path) -> SourceFile:
    name = path.name if path == root else path.relative_to(root).as_posix()
    if not (_is_text(name) and _is_text(str(path.resolve()))):
        raise RunError("The name of a source file is not UTF-8.", f"{path} cannot be told apart.", "Rename it.")
    try:
        size_bytes = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(NOT_READ_BYTES)
    except OSError as error:
        raise unreadable(str(path), error) from error
    if packing := unread_packing(head):
        raise RunError(
            "A source file is packed in a way that is not read.",
            f"{path} is packed with {packing}.",
            "Unpack it or pack it with gzip, zstd or bzip2, or leave it out of the source.",
        )
    return SourceFile(name, str(path.resolve()), size_bytes, codec_of(head))


def cut_ranges(
    listing: FileListing, limit: int | None = None, cores: int = 0
) -> tuple[list[SourceFile], list[list[FileRange]]]:
    """Cut the files into the ranges of tasks.

    Plain JSON lines are cut by bytes; any other file is one task. With a limit everything is one task, which stops
    when it has read enough.

    Args:
        listing: the files.
        limit: how many records at most.
        cores: how many tasks run at once; 0 for the cores of this computer.

    Returns:
        The files with their framing where it had to be told, and the ranges of each task.
    """
    if limit is not None:
        return list(listing.files), [[FileRange(i, 0, file.size_bytes) for i, file in enumerate(listing.files)]]
    step = range_bytes(listing.bytes_total, cores or os.cpu_count() or 1)
    files: list[SourceFile] = []
    tasks: list[list[FileRange]] = []
    for index, listed in enumerate(listing.files):
        file = _with_framing(listed) if listed.codec is Codec.PLAIN and listed.size_bytes > step else listed
        files.append(file)
        size = file.size_bytes
        width = step if file.framing is Framing.LINES else max(size, 1)
        tasks.extend([FileRange(index, start, min(start + width, size))] for start in range(0, size, width))
    # Spark asks a source without tasks for one all the same.
    return files, tasks or [[]]


def range_bytes(bytes_total: int, cores: int) -> int:
    """Return the longest width below the limit that gives every core the same number of ranges."""
    rounds = -(-bytes_total // (cores * MAX_RANGE_BYTES)) or 1
    return max(-(-bytes_total // (cores * rounds)), MIN_RANGE_BYTES)


def _with_framing(file: SourceFile) -> SourceFile:
    with plain_bytes(file.path, file.size_bytes, file.codec) as stream:
        return msgspec.structs.replace(file, framing=sniff(stream.read(SNIFF_BYTES)))


def growth_problems(files: Iterable[SourceFile]) -> tuple[str, ...]:
    """Describe which files grew since they were listed.

    Raises:
        RunError: a file is gone or shorter than it was.
    """
    problems: list[str] = []
    for file in files:
        try:
            now = Path(file.path).stat().st_size
        except OSError as error:
            raise unreadable(file.path, error) from error
        if now < file.size_bytes:
            raise shrunken(file.path, file.size_bytes, now)
        if now > file.size_bytes:
            grown = now - file.size_bytes
            problems.append(f"{file.name} grew by {grown:,} bytes during the run; they were not read.")
    return tuple(problems)
