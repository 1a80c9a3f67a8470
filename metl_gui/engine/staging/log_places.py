"""Places of many messages at once: order keys and transport positions as columns.

What most messages look like is read by machine code (``place_values``) where it is there; everything else, message by
message, by ``formats.source_positions``, which says what is right. Both give the same.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.formats.json_text import NULL
from metl_gui.formats.source_positions import order_keys, transport_position

Array: TypeAlias = "pa.Array[Any]"


class TransportColumns(NamedTuple):
    """Transport positions of messages.

    Args:
        log, partition, offset: see ``formats.source_positions.TransportPosition``.
    """

    log: Array
    partition: Array
    offset: Array


def order_key_column(origins: Array, positions: Array, machine: ModuleType | None) -> Array:
    """Return the order keys of messages.

    Args:
        origins: JSON, null for none.
        positions: transport positions, none of them null.
        machine: the module ``place_values``; ``None`` where there is none.
    """
    rows = len(origins)
    made: Array = pa.nulls(rows, pa.string())
    is_left = np.ones(rows, np.bool_)
    if machine is not None:
        texts = _Texts.of(origins, rows * machine.KEY_BYTES)
        machine.allow_texts(texts.source, texts.room)
        machine.read_origins(*texts.addresses, texts.ends, is_left)
        made = texts.made()
    left = np.flatnonzero(is_left)
    if not len(left):
        return made
    found = [NULL if one is None else one for one in origins.take(left).cast(pa.binary()).to_pylist()]
    keys = order_keys(found, [str(one) for one in positions.take(left).to_pylist()])
    return _filled(made, left, pa.array(keys, pa.string()))


def transport_columns(positions: Array, machine: ModuleType | None) -> TransportColumns:
    """Read transport positions, none of them null.

    Args:
        positions: of the messages.
        machine: as of ``order_key_column``.
    """
    rows = len(positions)
    log: Array = pa.nulls(rows, pa.string())
    partitions, offsets = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    is_left = np.ones(rows, np.bool_)
    if machine is not None:
        texts = _Texts.of(positions)
        machine.allow_texts(texts.source, texts.room)
        machine.read_positions(*texts.addresses, texts.ends, partitions, offsets, is_left)
        log = texts.made()
    left = np.flatnonzero(is_left)
    if len(left):
        places = [transport_position(str(text)) for text in positions.take(left).to_pylist()]
        log = _filled(log, left, pa.array([one.log for one in places], pa.string()))
        partitions[left] = [one.partition for one in places]
        offsets[left] = [one.offset for one in places]
    return TransportColumns(log, pa.array(partitions), pa.array(offsets))


class _Texts(NamedTuple):
    """Texts that machine code reads, and those that it makes of them.

    Args:
        source: the texts, one behind the other.
        offsets: where each begins there, and where the last ends.
        room: what is made of them.
        ends: where each of these begins and the last ends.
    """

    source: NDArray[np.uint8]
    offsets: NDArray[np.int32]
    room: NDArray[np.uint8]
    ends: NDArray[np.int32]

    @classmethod
    def of(cls, texts: Array, room: int | None = None) -> _Texts:
        """Make it.

        Args:
            texts: null as empty text.
            room: bytes of what is made; by default at most what is read.
        """
        whole: Any = texts.fill_null("")
        _, places, content = whole.buffers()
        offsets = np.frombuffer(places, np.int32)[whole.offset : whole.offset + len(whole) + 1]
        begin, size = int(offsets[0]), int(offsets[-1]) - int(offsets[0])
        # What is looked at, and copied, a vector at a time may reach so far behind its end.
        source = np.zeros(size + PADDING, np.uint8)
        if size:
            source[:size] = np.frombuffer(content, np.uint8)[begin : begin + size]
        return cls(
            source,
            offsets - begin,
            np.empty((size if room is None else room) + PADDING, np.uint8),
            np.zeros(len(whole) + 1, np.int32),
        )

    @property
    def addresses(self) -> tuple[int, NDArray[np.int32], int]:
        """Return where the texts lie, and where they go."""
        return self.source.ctypes.data, self.offsets, self.room.ctypes.data

    def made(self) -> Array:
        """Return what was made."""
        # The stubs do not know arrays as buffers.
        made_of: list[Any] = [self.ends, self.room[: self.ends[-1]]]
        buffers: list[Any] = [None, *map(pa.py_buffer, made_of)]
        made: Array = pa.Array.from_buffers(pa.string(), len(self.ends) - 1, buffers)
        return made


def _filled(column: Array, rows: NDArray[np.int64], values: Array) -> Array:
    """Put values in place of some rows."""
    if len(rows) == len(column):
        return values
    places = np.arange(len(column))
    places[rows] = len(column) + np.arange(len(rows))
    return pa.concat_arrays([column, values]).take(places)
