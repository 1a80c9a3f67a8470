"""Places of many messages at once: order keys and transport positions as columns.

What most messages look like is read as a column; everything else, message by message, by ``formats.source_positions``,
which says what is right. Both give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from metl_gui.formats.json_text import NULL
from metl_gui.formats.source_positions import order_keys, transport_position

Array: TypeAlias = "pa.Array[Any]"
pc: Any = pyarrow.compute
"""The stubs know too little of it."""

_NUMBER = r"[0-9]{1,18}"
_POSTGRESQL = (
    rf'^\{{(?:"sequence":"\[(?:null|\\"(?P<commit>{_NUMBER})\\"),\\"{_NUMBER}\\"\]",)?"lsn":(?P<lsn>{_NUMBER})'
    rf'(?:,"total_order":(?P<order>{_NUMBER}))?\}}$'
)
_BINLOG = (
    r'^\{(?:"sequence":null,)?"server_id":[0-9]{1,18},"gtid":(?:null|"[^"\\]*"),"file":"[^"\\]*\.'
    rf'(?P<file>{_NUMBER})","pos":(?P<pos>{_NUMBER}),"row":(?P<row>{_NUMBER})\}}$'
)
_TOPIC = r"^(?P<log>[^@]*)/(?P<partition>[0-9]{1,9})/(?P<offset>[0-9]{1,18})$"
_FILE = r"^(?P<log>(?s:.*))@(?P<offset>[0-9]{1,18})$"
_DIGITS = 16


class TransportColumns(NamedTuple):
    """Transport positions of messages.

    Args:
        log, partition, offset: see ``formats.source_positions.TransportPosition``.
    """

    log: Array
    partition: Array
    offset: Array


def order_key_column(origins: Array, positions: Array) -> Array:
    """Return the order keys of messages.

    Args:
        origins: JSON, null for none.
        positions: transport positions, none of them null.
    """
    made: Array = pa.nulls(len(origins), pa.string())
    for read in (_postgresql, _binlog):
        if made.null_count:
            made = pc.coalesce(made, read(origins))
    left = np.flatnonzero(made.is_null().to_numpy(zero_copy_only=False))
    if not len(left):
        return made
    texts = [NULL if one is None else one for one in origins.take(left).cast(pa.binary()).to_pylist()]
    keys = order_keys(texts, [str(one) for one in positions.take(left).to_pylist()])
    return _filled(made, left, pa.array(keys, pa.string()))


def _postgresql(origins: Array) -> Array:
    found = pc.extract_regex(origins, _POSTGRESQL)
    lsn = _numbers(found, "lsn")
    commit, order = pc.coalesce(_numbers(found, "commit"), lsn), pc.add(_numbers(found, "order"), 1)
    return _keys("p", found, (commit, lsn, pc.fill_null(order, 0)))


def _binlog(origins: Array) -> Array:
    found = pc.extract_regex(origins, _BINLOG)
    return _keys("b", found, (_numbers(found, "file"), _numbers(found, "pos"), pc.add(_numbers(found, "row"), 1)))


def _numbers(found: Array, name: str) -> Array:
    """Return what a group of a pattern found; null where it found nothing."""
    text = pc.struct_field(found, name)
    numbers: Array = pc.if_else(pc.equal(text, ""), None, text).cast(pa.int64())
    return numbers


def _keys(letter: str, found: Array, numbers: Sequence[Array]) -> Array:
    """Write keys; null where the pattern does not match."""
    table = np.stack([one.fill_null(0).to_numpy(zero_copy_only=False) for one in numbers], axis=1)
    text = table.astype(">u8").tobytes().hex()
    width = len(numbers) * _DIGITS
    keys = [letter + text[at : at + width] for at in range(0, len(text), width)]
    made: Array = pc.if_else(found.is_valid(), pa.array(keys, pa.string()), pa.scalar(None, pa.string()))
    return made


def transport_columns(positions: Array) -> TransportColumns:
    """Read transport positions, none of them null."""
    topics = pc.extract_regex(positions, _TOPIC)
    log, offset = pc.struct_field(topics, "log"), pc.struct_field(topics, "offset")
    if offset.null_count:
        files = pc.extract_regex(positions, _FILE)
        log = pc.coalesce(log, pc.struct_field(files, "log"))
        offset = pc.coalesce(offset, pc.struct_field(files, "offset"))
    offset = offset.cast(pa.int64())
    partition = pc.fill_null(pc.struct_field(topics, "partition").cast(pa.int64()), 0)
    left = np.flatnonzero(offset.is_null().to_numpy(zero_copy_only=False))
    if not len(left):
        return TransportColumns(log, partition, offset)
    places = [transport_position(str(text)) for text in positions.take(left).to_pylist()]
    return TransportColumns(
        _filled(log, left, pa.array([one.log for one in places], pa.string())),
        _filled(partition, left, pa.array([one.partition for one in places], pa.int64())),
        _filled(offset, left, pa.array([one.offset for one in places], pa.int64())),
    )


def _filled(column: Array, rows: NDArray[np.int64], values: Array) -> Array:
    """Put values in place of some rows."""
    places = np.arange(len(column))
    places[rows] = len(column) + np.arange(len(rows))
    return pa.concat_arrays([column, values]).take(places)
