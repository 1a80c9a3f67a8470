"""What a stream knows of each file, and what is new in it: whole lines of what grew, whole files of anything else.

A last line without a line feed waits until it is ended, or until the file rests. What is no file of lines (an array,
something packed, a container) is read once, whole, when it rests. A file is told by its name; that it is still the
same one is seen by the bytes before the place that was read to.

Units: places are bytes as they lie on disk.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import msgspec

from metl_gui.engine.sources.files import SourceFile, listed_file
from metl_gui.errors import RecordError, RunError
from metl_gui.formats.compression import Codec
from metl_gui.formats.json_text import accept
from metl_gui.formats.record_delimiters import SNIFF_BYTES, Framing, sniff

_TAIL_BYTES = 1024
_CHUNK_BYTES = 1 << 16


class SeenFile(msgspec.Struct, frozen=True):
    """A file as a listing found it."""

    name: str
    path: str
    size: int
    mtime_ns: int
    inode: int


class KnownFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a stream knows of a file.

    Args:
        path: where it lies.
        read_to: what is before this place was read, or is in a batch that is planned.
        size, mtime_ns, inode: of the file, when it was looked at last.
        tail: checksum of the bytes before ``read_to``.
        is_whole: it is no file of lines, so it was read once.
        given_up: why nothing more is read of it; empty while it is followed.
    """

    path: str
    read_to: int
    size: int
    mtime_ns: int
    inode: int
    tail: int = 0
    is_whole: bool = False
    given_up: str = ""


class Piece(msgspec.Struct, frozen=True):
    """What is new in a file.

    Args:
        file: the file, as long as it is read.
        start: where the new part begins; it ends where the file does.
        note: what a person should know of it.
    """

    file: SourceFile
    start: int
    note: str = ""

    @property
    def bytes(self) -> int:
        """How long the new part is."""
        return self.file.size_bytes - self.start


class SourceFileError(Exception):
    """Something about one file that a person should know; the others go on.

    Args:
        text: what, with its name.
        gives_up: nothing more is read of it.
    """

    def __init__(self, text: str, *, gives_up: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.gives_up = gives_up


def new_piece(seen: SeenFile, known: KnownFile | None, room: int, *, rests: bool) -> Piece | None:
    """Return what is to be read of a file now, None when there is nothing yet.

    Args:
        seen: the file as it is now.
        known: what was known of it.
        room: about how many bytes may be read; a whole file or a long line may be more.
        rests: it has not changed for a while, or nothing more is waited for.

    Raises:
        Trouble: it was replaced, cannot be read, or grew though it was read whole.
        RunError: it is shorter than what was read of it.
    """
    if known is None:
        return _of_new(seen, room, rests=rests)
    if known.given_up or _is_as_before(seen, known):
        return None
    if seen.size < known.read_to:
        raise _shorter(seen, known)
    if _tail(seen.path, known.read_to) != known.tail:
        raise SourceFileError(
            f"{seen.name} was replaced by another file of the same name after {known.read_to:,} bytes of it were read. "
            "Nothing more is read of it; give the new file a name of its own.",
            gives_up=True,
        )
    if known.is_whole:
        if seen.size == known.read_to:
            return None
        raise SourceFileError(
            f"{seen.name} grew by {seen.size - known.read_to:,} bytes after it was read whole; they are not read. "
            "Only files of JSON lines can grow.",
            gives_up=True,
        )
    if seen.size == known.read_to:
        return None
    listed = SourceFile(seen.name, seen.path, seen.size, Codec.PLAIN, Framing.LINES)
    piece = _lines(listed, known.read_to, room, rests=rests)
    if piece is not None and _goes_on(seen.path, known.read_to):
        note = (
            f"{seen.name} went on within a line at byte {known.read_to:,}, after that line had been read because the "
            "file rested; what was added to the line is not read."
        )
        return msgspec.structs.replace(piece, note=note)
    return piece


def known_after(seen: SeenFile, piece: Piece) -> KnownFile:
    """Return what is known of a file once a piece of it is in a batch."""
    read_to = piece.file.size_bytes
    return KnownFile(
        path=seen.path,
        read_to=read_to,
        size=seen.size,
        mtime_ns=seen.mtime_ns,
        inode=seen.inode,
        tail=_tail(seen.path, read_to),
        is_whole=piece.file.framing is not Framing.LINES or piece.file.codec is not Codec.PLAIN,
    )


def waiting_bytes(seen: SeenFile, known: KnownFile | None) -> int:
    """Return how much of a file no batch has yet."""
    if known is None:
        return seen.size
    return 0 if known.given_up or known.is_whole else max(seen.size - known.read_to, 0)


def _is_as_before(seen: SeenFile, known: KnownFile) -> bool:
    """Whether nothing happened to a file that was read to its end; one that was not is looked at again."""
    is_same = (seen.size, seen.mtime_ns, seen.inode) == (known.size, known.mtime_ns, known.inode)
    return is_same and (known.is_whole or known.read_to == known.size)


def _of_new(seen: SeenFile, room: int, *, rests: bool) -> Piece | None:
    if not seen.size:
        return None
    path = Path(seen.path)
    try:
        listed = msgspec.structs.replace(listed_file(path, path), name=seen.name, size_bytes=seen.size)
        framing = _framing(listed, rests=rests)
    except FileNotFoundError:
        return None  # it went as it was listed
    except RunError as error:
        if not path.exists():
            return None
        raise SourceFileError(f"{error} The rest goes on.") from error
    if framing is Framing.LINES and listed.codec is Codec.PLAIN:
        return _lines(msgspec.structs.replace(listed, framing=framing), 0, room, rests=rests)
    return Piece(msgspec.structs.replace(listed, framing=framing), 0) if rests else None


def _framing(file: SourceFile, *, rests: bool) -> Framing | None:
    """Return how the records of a plain file follow each other; None while it cannot be told, or is packed."""
    if file.codec is not Codec.PLAIN or file.framing is not None:
        return file.framing
    with Path(file.path).open("rb") as stream:
        head = stream.read(min(SNIFF_BYTES, file.size_bytes))
    found = sniff(head)
    if found is Framing.LINES and not rests:
        # The first line of a value over many lines looks like a broken line until the rest of it is there.
        line, ended, _ = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
        return found if ended and _is_accepted(line) else None
    return found


def _is_accepted(line: bytes) -> bool:
    try:
        accept(line.rstrip(b"\r"))
    except RecordError:
        return False
    return True


def _lines(file: SourceFile, start: int, room: int, *, rests: bool) -> Piece | None:
    stop = _line_end(file, start, room)
    if rests and (stop is None or file.size_bytes - start <= room):
        stop = file.size_bytes
    return Piece(msgspec.structs.replace(file, size_bytes=stop), start) if stop is not None else None


def _line_end(file: SourceFile, start: int, room: int) -> int | None:
    """Return the end of the last line that fits the room, or of the first one when none does."""
    limit = min(file.size_bytes, start + max(room, 1))
    with Path(file.path).open("rb") as stream:
        place = limit
        while place > start:
            begin = max(place - _CHUNK_BYTES, start)
            stream.seek(begin)
            found = stream.read(place - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            place = begin
        stream.seek(limit)
        place = limit
        while place < file.size_bytes:
            chunk = stream.read(min(_CHUNK_BYTES, file.size_bytes - place))
            if not chunk:
                return None
            found = chunk.find(b"\n")
            if found >= 0:
                return place + found + 1
            place += len(chunk)
    return None


def _shorter(seen: SeenFile, known: KnownFile) -> RunError:
    return RunError(
        "A source file became shorter while it was followed.",
        f"{seen.path} has {seen.size:,} bytes, of which {known.read_to:,} were read already.",
        "What is in place stays. When the run goes on, the file is left out; give what is there now its own name.",
    )


def _goes_on(path: str, place: int) -> bool:
    """Whether the line that was read last had not ended, and has more to it now than a line feed."""
    with Path(path).open("rb") as stream:
        stream.seek(place - 1)
        around = stream.read(3)
    return not around.startswith(b"\n") and around[1:2] != b"\n" and around[1:] != b"\r\n"


def _tail(path: str, place: int) -> int:
    """Return a checksum of the bytes before a place, and of how many there are."""
    try:
        with Path(path).open("rb") as stream:
            begin = max(place - _TAIL_BYTES, 0)
            stream.seek(begin)
            return zlib.crc32(stream.read(place - begin), place & 0xFFFFFFFF)
    except OSError as error:
        raise SourceFileError(f"{path} cannot be read: {error.strerror or error}. The rest goes on.") from error


def seen_files(root: Path, paths: list[Path]) -> list[SeenFile]:
    """Inspect the files of a listing; those that are gone meanwhile are left out.

    Order: what was written to longest ago comes first, so that one file that keeps growing does not starve the others.
    """
    found: list[SeenFile] = []
    for path in paths:
        try:
            state = os.stat(path)  # noqa: PTH116 - a hundred thousand of them: pathlib's own takes twice as long
        except OSError:
            continue
        name = path.name if path == root else path.relative_to(root).as_posix()
        found.append(SeenFile(name, str(path.absolute()), state.st_size, state.st_mtime_ns, state.st_ino))
    return sorted(found, key=lambda seen: (seen.mtime_ns, seen.name))
