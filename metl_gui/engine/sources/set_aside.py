"""Records of an error store in batches: each the bytes that it had, at the position that it had.

Order: as in the store.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from metl_gui.engine.kernel.records import Records
from metl_gui.engine.sources.batches import Batch, read_batches
from metl_gui.engine.sources.files import FileRange, SourceFile
from metl_gui.errors import RunError


class StoredRecord(msgspec.Struct, frozen=True):
    """What a row of an error store says of where a record came from, and its bytes."""

    reason: str
    position: str | None = None
    raw: str | None = None
    raw_base64: str | None = None


_ROW = msgspec.json.Decoder(StoredRecord)


def read_set_aside(
    files: Sequence[SourceFile], ranges: Iterable[FileRange], limit: int | None = None
) -> Iterator[Batch]:
    """Yield the records that wait in some ranges of an error store.

    Raises:
        RunError: a part cannot be read, or holds what is no row of an error store; the error names the place.
    """
    for batch in read_batches(files, ranges, limit):
        raws, names, offsets = [], [], []
        for offset, line in zip(batch.records.offsets.tolist(), batch.records, strict=True):
            raw, position = record_of(line, files[batch.file], offset)
            name, place = _parted(position or f"{files[batch.file].name}@{offset}")
            raws.append(raw)
            names.append(name)
            offsets.append(place)
        yield Batch(batch.file, Records.of(raws, batch.records.name, offsets, names))


def record_of(line: bytes, file: SourceFile, offset: int) -> tuple[bytes, str | None]:
    """Return the bytes and the position of the record in a row.

    Raises:
        RunError: it is no row of an error store.
    """
    try:
        row = _ROW.decode(line)
        if row.raw_base64 is not None:
            return base64.b64decode(row.raw_base64, validate=True), row.position
        if row.raw is not None:
            return row.raw.encode(), row.position
    except (msgspec.MsgspecError, binascii.Error, UnicodeError) as error:
        raise _broken(file, offset, str(error)) from error
    raise _broken(file, offset, "it has neither raw nor raw_base64")


def _parted(position: str) -> tuple[str, int]:
    """Part ``file@offset``; what a record says of its own place is read off the record again."""
    name, _, offset = position.rpartition("@")
    return (name, int(offset)) if name and offset.isascii() and offset.isdigit() else (position, 0)


def _broken(file: SourceFile, offset: int, why: str) -> RunError:
    return RunError(
        "The error store is damaged.",
        f"{file.path}, at byte {offset:,}: this is no row of an error store ({why}).",
        "Nothing was sent. Mend or remove that line, or replay other reasons with --reason.",
    )
