"""Records of ranges in batches, as fast as Python reads lines: a block of lines is cut in one call.

Order: as in the file. Units: offsets are bytes before the record, decompressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import IO, NamedTuple

from metl_gui.core.framing import SNIFF_BYTES, Framed, Framing, sniff, split, split_lines
from metl_gui.engine.sources.compression import CHUNK_BYTES, chunks_of, plain_bytes
from metl_gui.engine.sources.files import FileRange, SourceFile

BATCH_RECORDS = 8192
BATCH_BYTES = 4 << 20
_LONG_LINE_BYTES = 8 << 20
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r"


class Batch(NamedTuple):
    """Some records of one file.

    Args:
        file: index of the file.
        offsets, raws: of each record.
        sizes: how long each is; empty when all are whole.
        names: for each, the name of its file as positions say it; empty when it is that of ``file``.
    """

    file: int
    offsets: list[int]
    raws: list[bytes]
    sizes: list[int]
    names: Sequence[str] = ()

    def first(self, count: int) -> Batch:
        """Return the first records only."""
        return Batch(self.file, self.offsets[:count], self.raws[:count], self.sizes[:count], self.names[:count])


def read_batches(files: Sequence[SourceFile], ranges: Iterable[FileRange], limit: int | None = None) -> Iterator[Batch]:
    """Yield the records of some ranges, up to a limit.

    Raises:
        RunError: a file cannot be read to the end that it had when it was listed.
    """
    left = limit
    for piece in ranges:
        for batch in _of_range(files[piece.file], piece):
            if left is None:
                yield batch
                continue
            if left:
                yield batch.first(left)
            left -= min(left, len(batch.raws))
            if not left:
                return


def _of_range(file: SourceFile, piece: FileRange) -> Iterator[Batch]:
    with plain_bytes(file.path, file.size_bytes, file.codec) as stream:
        if piece.start == 0 and piece.stop == file.size_bytes:
            yield from _of_whole(stream, piece.file, file.framing)
            return
        first = _first_line(stream, piece.start, piece.stop)
        if first is not None:
            stream.seek(first)
            yield from _of_lines(_to_line_end(stream, first, piece.stop), piece.file, first)


def _of_whole(stream: IO[bytes], file: int, framing: Framing | None) -> Iterator[Batch]:
    head = stream.read(SNIFF_BYTES)
    chunks = chain([head], chunks_of(stream))
    if (framing or sniff(head)) is not Framing.LINES:
        yield from _gathered(split(chunks, framing), file)
        return
    offset = len(_BOM) if head.startswith(_BOM) else 0
    yield from _of_lines(chain([head[offset:]], chunks_of(stream)), file, offset)


def _of_lines(chunks: Iterator[bytes], file: int, offset: int) -> Iterator[Batch]:
    """Cut blocks of whole lines in one call each; a very long line goes the careful way, and what follows it too."""
    rest = b""
    for chunk in chunks:
        block, ended, after = chunk.rpartition(b"\n")
        if not ended:
            rest += chunk
            if len(rest) > _LONG_LINE_BYTES:
                yield from _gathered(split_lines(chain([rest], chunks), offset), file)
                return
            continue
        block = rest + block
        yield _cut(block, file, offset)
        offset += len(block) + 1
        rest = after
    if rest:
        yield _cut(rest, file, offset)


def _cut(block: bytes, file: int, offset: int) -> Batch:
    raws = block.split(b"\n")
    starts = accumulate(map(len, raws), lambda start, size: start + size + 1, initial=offset)
    kept = [(start, raw) for start, raw in zip(starts, raws, strict=False) if raw.strip(_BLANK)]
    texts = [raw for _, raw in kept]
    if b"\r" in block:
        texts = [raw.removesuffix(b"\r") for raw in texts]
    return Batch(file, [start for start, _ in kept], texts, [])


def _gathered(records: Iterator[Framed], file: int) -> Iterator[Batch]:
    held: list[Framed] = []
    size = 0
    for record in records:
        held.append(record)
        size += len(record.raw)
        if len(held) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield _batch(held, file)
            held, size = [], 0
    if held:
        yield _batch(held, file)


def _batch(records: list[Framed], file: int) -> Batch:
    return Batch(file, [r.offset for r in records], [r.raw for r in records], [r.size_bytes for r in records])


def _first_line(stream: IO[bytes], start: int, stop: int) -> int | None:
    """Return where the first line of a range begins, None when no line begins in it."""
    if start == 0:
        return len(_BOM) if stream.read(len(_BOM)) == _BOM else 0
    place = start - 1
    stream.seek(place)
    while place < stop - 1:
        chunk = stream.read(min(CHUNK_BYTES, stop - 1 - place))
        if not chunk:
            return None
        found = chunk.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(chunk)
    return None


def _to_line_end(stream: IO[bytes], place: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes up to the end of the line that crosses ``stop``."""
    chunk = b"\n"
    while place < stop:
        chunk = stream.read(min(CHUNK_BYTES, stop - place))
        if not chunk:
            return
        place += len(chunk)
        yield chunk
    while not chunk.endswith(b"\n"):
        chunk = stream.readline(CHUNK_BYTES)
        if not chunk:
            return
        yield chunk
