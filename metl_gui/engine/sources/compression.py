"""Open a file as its plain bytes, whatever it is packed with, up to the size it had when it was listed."""

from __future__ import annotations

import contextlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from metl_gui.errors import RunError
from metl_gui.formats.compression import Codec, unpacked

CHUNK_BYTES = 1 << 20


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
        """Read up to the size at listing."""
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


def chunks_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Read a stream to its end in pieces."""
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk
