"""Values of typed columns in the types of histories: what the text of their messages would give, without that text.

Numbers that a history keeps as text are taken from ``digits``, where files have them as they were written.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from metl_gui.core.trees.logical_types import time_type
from metl_gui.engine.kernel.plan import ColumnPlan
from metl_gui.engine.staging.columns import in_calendar, stored_type, text_type_of_time
from metl_gui.engine.staging.decimal_texts import decimal_texts

Array: TypeAlias = "pa.Array[Any]"
pc: Any = pyarrow.compute
"""Arrow's functions; the stubs know too little of them."""

_PAIRS = np.array(
    [
        left + right
        for left in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for right in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    ],
    "S2",
)
"""Of each number of 12 bits, its two letters in base64."""


def history_values(values: Array, digits: Array | None, plan: ColumnPlan, type_: str) -> Array:
    """Return values in the type in which a history keeps them.

    Args:
        values: of a typed column.
        digits: the same as they were written, where the file has them.
        plan: the attribute.
        type_: as the history names it.

    Raises:
        ValueError: one does not fit.
    """
    stored: Any = stored_type(type_)
    if type_ in ("date", "timestamp", "instant"):
        return in_calendar(values.cast(stored))
    if type_ == "float" and pa.types.is_float32(values.type) and digits is not None:
        found: Array = pc.coalesce(digits.cast(stored), values.cast(stored))
        return found
    if stored == pa.string() and values.type != pa.string():
        return _texts(values, digits, plan)
    return values.cast(stored)


def _texts(values: Array, digits: Array | None, plan: ColumnPlan) -> Array:
    """Return values as the text that stands in messages, times in ISO 8601.

    Raises:
        ValueError: one is no number, or of no calendar.
    """
    if pa.types.is_binary(values.type):
        return base64_texts(values)
    own = time_type(plan.type, plan.logical)
    if own is not None:
        stored: Any = text_type_of_time(own)
        found: Array = values.cast(stored)
        return (found if stored == pa.int64() else in_calendar(found)).cast(pa.string())
    if isinstance(values.type, pa.Decimal128Type):
        texts = decimal_texts(values)
        return texts if digits is None else pc.coalesce(digits, texts)
    if pa.types.is_floating(values.type):
        if digits is None or digits.null_count != values.null_count:
            raise ValueError("no number")
        return digits
    return values.cast(pa.string())


def base64_texts(values: Array) -> Array:
    """Return bytes in base64.

    Args:
        values: binary, null for none.
    """
    whole: Any = pc.fill_null(values, b"")
    lengths = np.asarray(pc.binary_length(whole), np.int64)
    content = np.frombuffer(_content(whole), np.uint8)
    groups = -(-lengths // 3)
    offsets = np.concatenate(([0], np.cumsum(groups)))
    padded = np.zeros(int(offsets[-1]) * 3, np.uint8)
    padded[_places(offsets[:-1] * 3, lengths)] = content
    bits = padded.reshape(-1, 3).astype(np.uint16)
    codes = np.stack([(bits[:, 0] << 4) | (bits[:, 1] >> 4), ((bits[:, 1] & 15) << 8) | bits[:, 2]], axis=1)
    letters = np.frombuffer(_PAIRS[codes].tobytes(), np.uint8).copy()
    ends, left = offsets[1:] * 4, groups * 3 - lengths
    letters[ends[left >= 1] - 1] = ord("=")
    letters[ends[left == 2] - 2] = ord("=")
    # The stubs do not know arrays as buffers.
    buffers: list[Any] = [offsets * 4, letters]
    made: Any = pa.Array.from_buffers(pa.large_string(), len(lengths), [None, *map(pa.py_buffer, buffers)])
    texts: Array = pc.if_else(values.is_valid(), made.cast(pa.string()), pa.scalar(None, pa.string()))
    return texts


def _content(values: Any) -> Any:
    """Return the bytes of values, one behind the other."""
    _, places, whole = values.buffers()
    if whole is None or not len(values):
        return b""
    offsets = np.frombuffer(places, np.int32)[values.offset : values.offset + len(values) + 1]
    return whole[int(offsets[0]) : int(offsets[-1])]


def _places(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of values of these lengths that begin at these places."""
    before = np.concatenate(([0], np.cumsum(lengths)[:-1])) if len(lengths) else lengths
    return np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
