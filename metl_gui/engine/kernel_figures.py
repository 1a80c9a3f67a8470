"""How the kernel did in a run: its time per message over batches, and its compiled column sets.

Figures of tasks add up to those of a run. Source: METL paper §7 (transformations, time of a mapping, size and use of
the cache, evictions when the state changes).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import msgspec

STEPS = 8
"""Buckets of the histogram for each doubling of the time: neighbours differ by 9 %."""


class KernelFigures(msgspec.Struct, kw_only=True):
    """What kernels did, counted over batches.

    Args:
        batches, records: how many were mapped.
        nanoseconds: time in the kernel.
        histogram: batches by time per record, in steps of an eighth of a doubling (``bucket_of``).
        column_sets: compiled column sets that the fullest kernel holds.
        hits: records mapped by a column set compiled before. misses: those that the reference decided.
        evictions: compiled column sets that were dropped, because the state changed or room was wanted.
        is_compiled: machine code was at work in at least one batch.
    """

    batches: int = 0
    records: int = 0
    nanoseconds: int = 0
    histogram: dict[int, int] = {}
    column_sets: int = 0
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    is_compiled: bool = False

    def note(self, records: int, nanoseconds: int) -> None:
        """Count one batch; an empty one has no time per record."""
        if not records:
            return
        self.batches += 1
        self.records += records
        self.nanoseconds += nanoseconds
        bucket = bucket_of(nanoseconds / records)
        self.histogram[bucket] = self.histogram.get(bucket, 0) + 1

    def add(self, other: KernelFigures) -> None:
        """Add the figures of another task."""
        self.batches += other.batches
        self.records += other.records
        self.nanoseconds += other.nanoseconds
        self.histogram = dict(Counter(self.histogram) + Counter(other.histogram))
        self.column_sets = max(self.column_sets, other.column_sets)
        self.hits += other.hits
        self.misses += other.misses
        self.evictions += other.evictions
        self.is_compiled = self.is_compiled or other.is_compiled

    @property
    def mean_ns(self) -> float:
        """Nanoseconds a record, 0 before the first."""
        return self.nanoseconds / self.records if self.records else 0.0

    @property
    def hit_rate(self) -> float:
        """Share of records mapped by a column set compiled before, from 0 to 1."""
        looked_up = self.hits + self.misses
        return self.hits / looked_up if looked_up else 0.0

    def quantile_ns(self, share: float) -> float:
        """Return the time a record below which a share of the batches lies, to about 5 %; 0 before the first."""
        return quantile(self.histogram, share)


def bucket_of(nanoseconds: float) -> int:
    """Return the bucket of a time."""
    return math.floor(math.log2(max(nanoseconds, 1.0)) * STEPS)


def quantile(histogram: Mapping[int, int], share: float) -> float:
    """Return the middle of the bucket in which a quantile lies, in nanoseconds; 0 for an empty histogram."""
    left = share * sum(histogram.values())
    for bucket in sorted(histogram):
        left -= histogram[bucket]
        if left <= 0:
            return float(2 ** ((bucket + 0.5) / STEPS))
    return 0.0
