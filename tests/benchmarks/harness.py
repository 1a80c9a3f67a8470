"""How benchmarks measure: alternating pairs of ours and the baseline, medians of ratios with their spread."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from metl_gui.core.runs.target import Target

ROUNDS = 9
QUICK_ROUNDS = 7
"""Pairs of a benchmark; never fewer than seven (docs/how-fast.md), a quick one makes its work smaller instead."""

OPEN = Target(master="local[*]", settings=(("spark.authenticate", "false"),))
"""A session here that asks nobody for a secret and encrypts nothing, to measure what the others pay for that."""


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a benchmark.

    Args:
        case: what was measured.
        ours, baseline: medians in ``unit``; the baseline is ``None`` where there is nothing to compare with.
        unit: of both, and of the target of a case without a baseline.
        target: least ratio, or without a baseline the bound in ``unit``; ``None`` where the figure is only reported.
        ratio: median of the ratios of the pairs, ``None`` without a baseline; better when larger.
        low, high: quartiles of the ratio, or of ours without a baseline.
        note: what the case did, with its size.
    """

    case: str
    ours: float
    baseline: float | None
    unit: str
    target: float | None = None
    ratio: float | None = None
    low: float = 0.0
    high: float = 0.0
    note: str = ""

    @property
    def meets(self) -> bool | None:
        """Whether the target is met: it is missed when the whole spread lies below it."""
        if self.target is None:
            return None
        if self.baseline is not None:
            return self.high >= self.target
        return self.low <= self.target

    def as_json(self) -> dict[str, Any]:
        """Describe the case as it stands in the JSON document of its benchmark."""
        return {
            "case": self.case,
            "ours": self.ours,
            "baseline": self.baseline,
            "unit": self.unit,
            "ratio": self.ratio,
            "target": self.target,
            "meets": self.meets,
            "spread": [self.low, self.high],
            "note": self.note,
        }


def paired(
    case: str,
    ours: Callable[[], object],
    baseline: Callable[[], object],
    *,
    unit: str,
    per: float,
    target: float | None,
    rounds: int,
    note: str = "",
) -> Case:
    """Time two callables in alternating pairs after one warm-up each.

    Args:
        case: what is measured.
        ours, baseline: do the same work.
        unit: of the figures printed, which are seconds times ``per``.
        per: factor from seconds to the unit (1e6 / messages for microseconds a message).
        target: least ratio.
        rounds: number of pairs.
        note: what was done.
    """
    ours(), baseline()
    pairs = [(seconds(ours) * per, seconds(baseline) * per) for _ in range(rounds)]
    return compared(case, pairs, unit=unit, target=target, note=note)


def compared(
    case: str,
    pairs: Sequence[tuple[float, float]],
    *,
    unit: str,
    target: float | None,
    note: str = "",
    is_rate: bool = False,
) -> Case:
    """Report figures that were measured in alternating pairs, ours first.

    Args:
        case: what was measured.
        pairs: the figures in ``unit``.
        unit: of the figures.
        target: least ratio.
        note: what was done.
        is_rate: whether more is better.
    """
    ratios = [our / their if is_rate else their / our for our, their in pairs]
    low, high = quartiles(ratios) if len(ratios) > 1 else (ratios[0], ratios[0])
    mine, theirs = (statistics.median(figures) for figures in zip(*pairs, strict=True))
    return Case(case, mine, theirs, unit, target, statistics.median(ratios), low, high, note=note)


def single(
    case: str,
    ours: Callable[[], object],
    *,
    unit: str,
    per: float,
    rounds: int,
    target: float | None = None,
    note: str = "",
) -> Case:
    """Time one callable that has no baseline."""
    times = [seconds(ours) * per for _ in range(rounds)]
    low, high = quartiles(times)
    return Case(case, statistics.median(times), None, unit, target, None, low, high, note=note)


def figure(case: str, value: float, *, unit: str, target: float | None = None, note: str = "") -> Case:
    """Report one measured figure of which smaller is better."""
    return Case(case, value, None, unit, target, None, value, value, note=note)


def seconds(work: Callable[[], object]) -> float:
    """Time one call, the garbage of the one before collected first."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def quartiles(values: list[float]) -> tuple[float, float]:
    """Lower and upper quartile."""
    low, _, high = statistics.quantiles(values, n=4)
    return low, high


def machine() -> dict[str, Any]:
    """Describe the computer."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "python": platform.python_version(),
        "spark": version("pyspark"),
    }
