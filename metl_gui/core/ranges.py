"""Ranges of rows laid end to end: how parts of different lengths lie in one column."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Longs: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int32] | NDArray[np.int64]


def starts_of(lengths: Longs) -> Longs:
    """Return where parts begin that lie end to end, and behind them where the last one ends.

    Shape: one entry more than ``lengths``.
    """
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def laid_out(first: Longs, length: Longs) -> Places:
    """Concatenate the ranges that begin at ``first`` and are ``length`` long; as 32-bit integers where they fit."""
    starts = starts_of(length)
    kind = np.int32 if max(int(starts[-1]), int(first.max(initial=0) + length.max(initial=0))) < 2**31 else np.int64
    found = np.repeat((first - starts[:-1]).astype(kind), length)
    found += np.arange(starts[-1], dtype=kind)
    return found
