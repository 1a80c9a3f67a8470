"""The records of an Avro data file, each in single-object encoding: a mark, the fingerprint of its schema, its bytes.

So a record says by itself which schema reads it, wherever it goes from here: to the kernel, or to the error store and
back. Its place is where its bytes would begin in the file if every block lay unpacked.

Where a record cannot be read, nothing tells where the next one of its block begins. So the rest of that block is handed
over as one record, which the kernel sets aside; the next block is read as usual.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO

from metl_gui.engine.kernel.avro_values import MAX_EMPTY_ITEMS, AvroReader
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.wire import learn
from metl_gui.errors import RecordError, RunError, SchemaError
from metl_gui.formats.avro_container import Block, Header, read_blocks, read_header
from metl_gui.formats.avro_types import read_avro
from metl_gui.formats.record_delimiting import head_bytes

BATCH_RECORDS = 8192
BATCH_BYTES = 4 << 20


def avro_records(head: bytes, stream: IO[bytes], name: str, limit_bytes: int) -> Iterator[Records]:
    """Yield the records of a data file in batches.

    Args:
        head: its first bytes, which were read from the stream already.
        stream: the rest of it.
        name: the name of the file.
        limit_bytes: of a record that is larger only the beginning is kept.

    Raises:
        RunError: the file is cut off, damaged, or packed in a way that is not read.
    """
    try:
        header, rest = read_header(stream, head)
        mark, reader = _prepared(header)
        held = _Held(name, limit_bytes)
        for block in read_blocks(rest, header):
            for place, body in _bodies(block, reader):
                held.add(place, mark + body)
                if held.is_full:
                    yield held.taken()
        if held.raws:
            yield held.taken()
    except (SchemaError, ValueError) as error:
        raise RunError(
            "An Avro file is cut off or damaged.",
            f"{name} cannot be read to its end: {error}.",
            "Nothing was written. Copy the file again, or leave it out of the source.",
        ) from error


def _prepared(header: Header) -> tuple[bytes, AvroReader]:
    mark = learn(header.schema)
    return mark, AvroReader(read_avro(json.loads(header.schema)))


def _bodies(block: Block, reader: AvroReader) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the bytes of each record of a block; what cannot be read as one, to the end of the block."""
    at = 0
    for number in range(block.count):
        out = bytearray()
        try:
            end = reader.read_at(block.data, at, out)
        except RecordError:
            yield block.place + at, block.data[at:]
            return
        if end == at and number >= MAX_EMPTY_ITEMS:
            raise ValueError(f"a block claims {block.count:,} records without bytes")
        yield block.place + at, block.data[at:end]
        at = end
    if at < len(block.data):
        yield block.place + at, block.data[at:]


class _Held:
    """Records on their way into a batch."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        self._name = name
        self._limit_bytes = limit_bytes
        self.raws: list[bytes] = []
        self._places: list[int] = []
        self._sizes: list[int] = []
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether a batch is full."""
        return len(self.raws) >= BATCH_RECORDS or self._bytes >= BATCH_BYTES

    def add(self, place: int, raw: bytes) -> None:
        """Keep a record, or its beginning."""
        kept = raw if len(raw) <= self._limit_bytes else raw[: head_bytes(self._limit_bytes)]
        self.raws.append(kept)
        self._places.append(place)
        self._sizes.append(len(raw))
        self._bytes += len(kept)

    def taken(self) -> Records:
        """Return what is held as a batch and begin another one."""
        is_whole = all(map(int.__eq__, map(len, self.raws), self._sizes))
        found = Records.of(self.raws, self._name, self._places, sizes=None if is_whole else self._sizes)
        self.raws, self._places, self._sizes, self._bytes = [], [], [], 0
        return found
