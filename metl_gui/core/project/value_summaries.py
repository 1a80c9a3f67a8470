"""What the values of one attribute are in the samples at hand: how many are there, empty, different, the commonest.

It is made of samples when it is asked for and kept nowhere; nothing of it is for masked attributes.
Source: docs/guide/mapping.md, "Be helped".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MOST_DIFFERENT = 500
"""So many different values are told apart; of others only the number of messages is known."""

_SHOWN = 3
_LONGEST_SHOWN = 24


@dataclass(slots=True)
class ValueCounts:
    """Counts values message by message, within bounds.

    Args:
        messages: how many were looked at.
        present: how many have the attribute, and not null.
        empty: how many of these hold nothing: an empty text, list or object.
        others: how many hold a value that is not told apart any more.
        counts: messages by value.
    """

    messages: int = 0
    present: int = 0
    empty: int = 0
    others: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def take(self, value: str | None, *, is_empty: bool = False) -> None:
        """Count the value of one more message, ``None`` where it is missing or null."""
        self.messages += 1
        if value is None:
            return
        self.present += 1
        if is_empty:
            self.empty += 1
        else:
            self._count(value, 1)

    def add(self, other: ValueCounts) -> None:
        """Count what was counted elsewhere."""
        self.messages += other.messages
        self.present += other.present
        self.empty += other.empty
        self.others += other.others
        for value, count in other.counts.items():
            self._count(value, count)

    def _count(self, value: str, count: int) -> None:
        if value in self.counts or len(self.counts) < MOST_DIFFERENT:
            self.counts[value] += count
        else:
            self.others += count

    def words(self) -> str:
        """Describe it: ``40 samples: 95 % filled, 2 empty, 3 different, mostly EUR (30), USD (7)``; empty for none."""
        if not self.messages:
            return ""
        parts = [f"{_share(self.present, self.messages)} filled"]
        parts += [f"{self.empty:,} empty"] if self.empty else []
        if self.counts:
            parts.append(f"{len(self.counts):,}{' or more' if self.others else ''} different")
        common = [(value, count) for value, count in self.counts.most_common(_SHOWN) if count > 1]
        if common:
            parts.append("mostly " + ", ".join(f"{_cut(value)} ({count:,})" for value, count in common))
        return f"{self.messages:,} sample{'' if self.messages == 1 else 's'}: {', '.join(parts)}"


def _share(part: int, whole: int) -> str:
    """Write a share; only all are 100 %, and only none are 0 %."""
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "less than 1 %"
    return f"{int(percent) if percent > 99 else round(percent)} %"


def _cut(value: str) -> str:
    return value if len(value) <= _LONGEST_SHOWN else value[: _LONGEST_SHOWN - 1] + "…"
