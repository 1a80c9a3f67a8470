"""Counts that machine code keeps by number: added up as numbers over batches, named only where somebody asks.

A project may have 100,000 attributes, so that naming all that a batch has counted takes longer than mapping it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.values import Value

Filled: TypeAlias = "Counter[tuple[str, str, str]]"
"""Messages in which a mapped attribute is not null, by entity, entity version and CDM path."""

_Name = TypeVar("_Name")
_Numbers: TypeAlias = NDArray[np.int64]


@dataclass(slots=True, eq=False)
class CountNames:
    """What the numbers of counters stand for. More may come; what a number stands for never changes.

    Args:
        versions: of records whose version was told, ``schema@version``.
        filled: of messages in which an attribute is not null, what it is called.
        sent: of messages, each of which stands for one in each of some numbers of ``filled``.
        size: above all numbers.
    """

    versions: dict[int, str] = field(default_factory=dict)
    filled: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    sent: dict[int, _Numbers] = field(default_factory=dict)
    size: int = 0


class NumberedCounts(Value, eq=False):
    """What was counted under some numbers.

    Args:
        names: of the numbers.
        numbers, counts: the counts that are not 0; a count of ``filled`` may be below 0, what was sent comes on top.
    """

    names: CountNames = msgspec.field(default_factory=CountNames)
    numbers: _Numbers = msgspec.field(default_factory=lambda: np.empty(0, np.int64))
    counts: _Numbers = msgspec.field(default_factory=lambda: np.empty(0, np.int64))

    def by_version(self) -> Counter[str]:
        """Return the records by version."""
        names = self.names.versions
        return Counter({names[number]: count for number, count in self._pairs() if number in names})

    def filled(self) -> Filled:
        """Return the messages by attribute."""
        names, sent = self.names.filled, self.names.sent
        totals = np.zeros(self.names.size, np.int64)
        totals[self.numbers] = self.counts
        found = [(sent[number], count) for number, count in self._pairs() if number in sent]
        if found:
            numbers = np.concatenate([some for some, _ in found])
            np.add.at(totals, numbers, np.repeat([count for _, count in found], [len(some) for some, _ in found]))
        counted = np.flatnonzero(totals)
        pairs = zip(counted.tolist(), totals[counted].tolist(), strict=True)
        return Counter({names[number]: count for number, count in pairs if number in names})

    def _pairs(self) -> zip[tuple[int, int]]:
        return zip(self.numbers.tolist(), self.counts.tolist(), strict=True)


class CountSum:
    """Adds up the counts of batches by number."""

    def __init__(self) -> None:
        self._versions: Counter[str] = Counter()
        self._filled: Filled = Counter()
        self._names = CountNames()
        self._totals = np.zeros(0, np.int64)

    def add(self, counted: NumberedCounts) -> None:
        """Add what a batch counted."""
        if not len(counted.numbers):
            return
        if counted.names is not self._names:
            # Everything was dropped and learned anew: the same numbers stand for something else.
            self._versions, self._filled = self.by_version(), self.filled()
            self._names, self._totals = counted.names, np.zeros(0, np.int64)
        if self._names.size > len(self._totals):
            totals = np.zeros(2 * self._names.size, np.int64)
            totals[: len(self._totals)] = self._totals
            self._totals = totals
        self._totals[counted.numbers] += counted.counts

    def add_named(self, versions: Counter[str], filled: Filled) -> None:
        """Add what has names already."""
        self._versions.update(versions)
        self._filled.update(filled)

    def by_version(self) -> Counter[str]:
        """Return the records by version."""
        return added(self._versions, self._numbered().by_version())

    def filled(self) -> Filled:
        """Return the messages by attribute."""
        return added(self._filled, self._numbered().filled())

    @property
    def most_attributes(self) -> int:
        """How many attributes ``filled`` may name."""
        return len(self._filled) + len(self._names.filled)

    def _numbered(self) -> NumberedCounts:
        numbers = np.flatnonzero(self._totals)
        return NumberedCounts(self._names, numbers, self._totals[numbers])


def added(one: Counter[_Name], other: Counter[_Name]) -> Counter[_Name]:
    """Return the sum of two counts in the order of the first; the second may become it."""
    if not one:
        return other
    total = one.copy()
    total.update(other)
    return total
