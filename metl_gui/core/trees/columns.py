"""Persistent maps in two forms, a keyed index of the same kind, and ranges of rows laid end to end in a column.

The base of a tree or matrix is columnar and never changes; what was edited since lies in the maps, frozen to keep or
open to edit. They share structure between states, so an edit costs what it touches. Ranges are how parts of different
lengths lie in one column.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, Union

import numpy as np
from immutables import Map, MapMutation
from numpy.typing import NDArray

K = TypeVar("K")
V = TypeVar("V")

Readable: TypeAlias = Union[Map[K, V], MapMutation[K, V]]  # noqa: UP007 - a generic alias cannot be written with |

EMPTY: Map[Any, Any] = Map()


def add(index: MapMutation[int, Map[int, bool]], outer: int, inner: int) -> None:
    """Note ``inner`` under ``outer`` in an open index."""
    members = index.get(outer, EMPTY)
    if inner not in members:
        index[outer] = members.set(inner, True)


Longs: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]

_AT_ONCE = 1 << 20


def starts_of(lengths: Longs) -> Longs:
    """Return where parts begin that lie end to end, and behind them where the last one ends.

    Shape: one entry more than ``lengths``.
    """
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def laid_out(first: Longs, length: Longs) -> Indices:
    """Concatenate the ranges that begin at ``first`` and are ``length`` long.

    Shape: one entry for each row of the ranges, ``length.sum()``; int32 where that fits, else int64.
    """
    starts = starts_of(length)
    kind = np.int32 if max(int(starts[-1]), int(first.max(initial=0) + length.max(initial=0))) < 2**31 else np.int64
    found = np.repeat((first - starts[:-1]).astype(kind), length)
    found += np.arange(starts[-1], dtype=kind)
    return found


def joined_rows(start: Longs, kept: Longs, extra_start: Longs, order: Longs) -> tuple[Longs, Indices]:
    """Return where parts of two columns start in their new order, and the rows that they take.

    Args:
        start, extra_start: where the parts of either column start, with the end of the last one.
        kept: the parts of the first column that stay.
        order: the new order of the kept parts and those of the second column, concatenated.

    Shape: the starts have one entry more than ``order``; the rows, which count through both columns, are as many as the
    parts have together.
    """
    lengths = np.concatenate([np.diff(start)[kept], np.diff(extra_start)])[order]
    firsts = np.concatenate([start[:-1][kept], extra_start[:-1] + start[-1]])[order]
    return starts_of(lengths), laid_out(firsts, lengths)


def picked(of_base: NDArray[Any], of_extra: NDArray[Any], at: Indices) -> NDArray[Any]:
    """Return some rows of two columns laid end to end; in pieces, so that other threads get their turn.

    Shape: as ``at``, with the dtype of ``of_base``.
    """
    both = np.concatenate([of_base, of_extra])
    out = np.empty(len(at), of_base.dtype)
    for low in range(0, len(at), _AT_ONCE):
        out[low : low + _AT_ONCE] = both[at[low : low + _AT_ONCE]]
    return out
