"""Hand messages to machine code that writes them as wrappers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled import wrapping as at
from metl_gui.engine.kernel.compiled.memory import IS_CHECKED, PADDING, allow
from metl_gui.engine.kernel.compiled.tables import address_of

_NUMBER_BYTES = 20
_QUOTES_AND_WORDS = 64


class Wrapping:
    """Some messages, written as far as machine code may; see ``compiled.wrapping``.

    Args:
        heads, head_of_each: what wrappers begin with, up to the offset; which of them each has.
        headers, headers_of_each: headers as JSON; which of them each has.
        offsets, times: of each; a time below 0 is none.
        keys, values: of each.

    Attributes:
        text: all wrappers, with room to read behind them.
        starts, stops: where each lies; those that are left end where they begin.
        left: how many.
    """

    def __init__(
        self,
        heads: Sequence[bytes],
        head_of_each: NDArray[np.int64],
        headers: Sequence[bytes],
        headers_of_each: NDArray[np.int64],
        offsets: NDArray[np.int64],
        times: NDArray[np.int64],
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
    ) -> None:
        count = len(offsets)
        key_column, value_column = _joined(keys), _joined(values)
        shared = [table_of(texts) for texts in (heads, headers, at.PARTS)]
        room = sum(len(column[0]) for column in (key_column, value_column)) + count * _QUOTES_AND_WORDS
        room += sum(
            int(table[0][:, 1][each].sum())
            for table, each in zip(shared, (head_of_each, headers_of_each), strict=False)
        )
        room += count * (2 * _NUMBER_BYTES + sum(map(len, at.PARTS)))
        out = np.zeros(room + 2 * PADDING, np.uint8)
        self.starts, self.stops = np.zeros(count, np.int64), np.zeros(count, np.int64)
        columns: dict[int, NDArray[Any]] = {
            at.W_HEAD_OF: head_of_each, at.W_HEADERS_OF: headers_of_each, at.W_OFFSETS: offsets, at.W_TIMES: times,
            at.W_HEADS: shared[0][0], at.W_HEADERS: shared[1][0], at.W_PARTS: shared[2][0],
            at.W_KEYS: key_column[0], at.W_KEY_LENGTHS: key_column[1],
            at.W_VALUES: value_column[0], at.W_VALUE_LENGTHS: value_column[1],
            at.W_OUT: out, at.W_STARTS: self.starts, at.W_STOPS: self.stops,
        }  # fmt: skip
        state = np.zeros(at.WRAPPING_WORDS, np.int64)
        state[at.W_COUNT // 8] = count
        for place, column in columns.items():
            state[place // 8] = address_of(column)
        if IS_CHECKED:
            allow(
                [
                    (address_of(one), address_of(one) + one.nbytes)
                    for one in (state, *columns.values(), *(t[1] for t in shared))
                ]
            )
        self.left: int = at.wrap(address_of(state))
        self.text = out[: int(self.stops[-1]) + PADDING if count else PADDING].tobytes()


def _joined(contents: Sequence[bytes | None]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return keys or values one behind the other with room to read behind, and their lengths."""
    text = b"".join([one for one in contents if one] + [bytes(PADDING)])
    lengths = [-1 if one is None else len(one) for one in contents]
    return np.frombuffer(text, np.uint8), np.array(lengths, np.int64)


def table_of(texts: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return address and length of each text, and what they lie in."""
    text = np.frombuffer(b"".join((*texts, bytes(PADDING))), np.uint8)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    places = np.cumsum(lengths) - lengths + address_of(text)
    return np.column_stack((places, lengths)) if len(texts) else np.zeros((1, 2), np.int64), text
