"""Records of an error store in batches: each the bytes that it had, at the position that it had.

Order: as in the store.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from metl_gui.core.runs.limits import LIMIT_BYTES, TOO_LARGE
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.sources.batches import FileBatch, read_batches
from metl_gui.engine.sources.files import CHUNK_BYTES, FileRange, SourceFile
from metl_gui.engine.sources.large_records import SizeBytes, head_of
from metl_gui.errors import RunError
from metl_gui.formats.record_delimiters import head_bytes
from metl_gui.formats.source_positions import whole_number


class StoredRecord(msgspec.Struct, frozen=True):
    """What a row of an error store says of where a record came from, and its bytes."""

    reason: str
    detail: str = ""
    position: str | None = None
    size_bytes: SizeBytes | None = None
    raw: str | None = None
    raw_base64: str | None = None
    hidden: bool = False

    @property
    def whole_size(self) -> int:
        """How long the record is where that is told; some rows have only its beginning, and say so in words."""
        if self.size_bytes is not None:
            return self.size_bytes
        told = _IN_PART.match(self.detail) if self.reason == TOO_LARGE else None
        return int(told[1]) if told else 0


_IN_PART = re.compile(r"the record has (\d{1,18}) bytes, of which")
_MOST_ESCAPED = 6
"""One byte becomes at most so many in a row."""

_ROW_BYTES = 1 << 16
_ROW = msgspec.json.Decoder(StoredRecord)


def read_set_aside(
    files: Sequence[SourceFile],
    ranges: Iterable[FileRange],
    limit: int | None = None,
    limit_bytes: int = LIMIT_BYTES,
    chunk_bytes: int = CHUNK_BYTES,
) -> Iterator[FileBatch]:
    """Yield the records that wait in some ranges of an error store.

    Args:
        files: its parts.
        ranges: of them.
        limit: how many records at most.
        limit_bytes: of a record that is larger only the beginning is kept.
        chunk_bytes: see ``read_batches``.

    Raises:
        RunError: a part cannot be read, or holds what is no row of an error store; the error names the place.
    """
    for batch in read_batches(files, ranges, limit, limit_bytes * _MOST_ESCAPED + _ROW_BYTES, chunk_bytes):
        rows = _rows(batch.records)
        found = [
            _found(line, row, files[batch.file], limit_bytes) for line, row in zip(batch.records, rows, strict=True)
        ]
        is_whole = all(one.size == len(one.raw) for one in found)
        records = Records.of(
            [one.raw for one in found],
            batch.records.name,
            [one.offset for one in found],
            [one.name for one in found],
            None if is_whole else [one.size for one in found],
        )
        yield FileBatch(batch.file, records, rows)


class _ExtractedRecord(NamedTuple):
    raw: bytes
    size: int
    name: str
    offset: int


def _rows(lines: Records) -> list[tuple[int, int]]:
    sizes = lines.lengths if lines.sizes is None else lines.sizes
    return list(zip(lines.offsets.tolist(), sizes.tolist(), strict=True))


def _found(line: bytes, row: tuple[int, int], file: SourceFile, limit_bytes: int) -> _ExtractedRecord:
    """Take the record out of a row; of one that is larger than the limit, or not whole in its row, the beginning."""
    offset, size_of_row = row
    if len(line) < size_of_row:
        try:
            head = head_of(line)
        except (ValueError, msgspec.MsgspecError) as error:
            raise _broken(file, offset, str(error)) from error
        return _ExtractedRecord(b"", head.size_bytes or size_of_row, *_parted(head.position or f"{file.name}@{offset}"))
    stored, raw = record_of(line, file, offset)
    size = max(len(raw), stored.whole_size)
    kept = raw if size <= limit_bytes and size == len(raw) else raw[: head_bytes(min(limit_bytes, size - 1))]
    return _ExtractedRecord(kept, size, *_parted(stored.position or f"{file.name}@{offset}"))


def record_of(line: bytes, file: SourceFile, offset: int) -> tuple[StoredRecord, bytes]:
    """Return what a row says of its record, and the record.

    Raises:
        RunError: it is no row of an error store, or the record is not as it was.
    """
    try:
        row = _ROW.decode(line)
        if row.hidden:
            raise RunError(
                "What was set aside is not whole.",
                f"{row.position}: a load that holds no masked values kept the record without them.",
                "Load its source again: what is known changes nothing.",
            )
        if row.raw_base64 is not None:
            return row, base64.b64decode(row.raw_base64, validate=True)
        if row.raw is not None:
            return row, row.raw.encode()
    except (msgspec.MsgspecError, binascii.Error, UnicodeError) as error:
        raise _broken(file, offset, str(error)) from error
    raise _broken(file, offset, "it has neither raw nor raw_base64")


def _parted(position: str) -> tuple[str, int]:
    """Part ``file@offset``; what a record says of its own place is read off the record again."""
    name, _, offset = position.rpartition("@")
    place = whole_number(offset)
    return (position, 0) if place is None or not name else (name, place)


def _broken(file: SourceFile, offset: int, why: str) -> RunError:
    return RunError(
        "The error store is damaged.",
        f"{file.path}, at byte {offset:,}: this is no row of an error store ({why}).",
        "Nothing was sent. Mend or remove that line, or replay other reasons with --reason.",
    )
