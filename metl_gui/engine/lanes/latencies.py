"""How long records took: from the broker's time of the record to the moment its transaction is known to be committed.

The second time is that of the computer that mapped it, so clocks that disagree show in the figure.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from metl_gui.engine.events import LatencyFigures
from metl_gui.engine.kernel_figures import STEPS, bucket_of, quantile

WINDOW_SECONDS = 3.0
_NANOSECONDS = 1_000_000
_LEAST_MS = 0.1
_FEW = 100
"""So many are faster counted one by one."""


class Latencies:
    """The times of the last seconds, in buckets an eighth of a doubling wide (``kernel_figures``)."""

    def __init__(self) -> None:
        self._parts: deque[tuple[float, dict[int, int]]] = deque()

    def add(self, milliseconds: Sequence[float]) -> None:
        """Keep how long some records took."""
        if milliseconds:
            buckets = _in_python(milliseconds) if len(milliseconds) < _FEW else _in_numpy(milliseconds)
            self._parts.append((time.monotonic(), buckets))

    def histogram(self) -> dict[int, int]:
        """Return how many records of the last seconds are in each bucket."""
        oldest = time.monotonic() - WINDOW_SECONDS
        while self._parts and self._parts[0][0] < oldest:
            self._parts.popleft()
        return merged(part for _, part in self._parts)


def _in_python(milliseconds: Sequence[float]) -> dict[int, int]:
    return dict(Counter([bucket_of(max(one, _LEAST_MS) * _NANOSECONDS) for one in milliseconds]))


def _in_numpy(milliseconds: Sequence[float]) -> dict[int, int]:
    nanoseconds = np.maximum(np.array(milliseconds, np.float64), _LEAST_MS) * _NANOSECONDS
    buckets, counts = np.unique(np.floor(np.log2(nanoseconds) * STEPS).astype(np.int64), return_counts=True)
    return dict(zip(buckets.tolist(), counts.tolist(), strict=True))


def merged(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Add histograms up."""
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return dict(total)


def figures_of(histogram: Mapping[int, int]) -> LatencyFigures:
    """Return the figures of a histogram."""
    records = sum(histogram.values())
    if not records:
        return LatencyFigures()
    p50, p95, p99 = (round(quantile(histogram, share) / _NANOSECONDS, 1) for share in (0.5, 0.95, 0.99))
    return LatencyFigures(p50, p95, p99, records)
