"""How many of something there are, in words."""

from __future__ import annotations


def number_of(count: int, one: str, many: str = "") -> str:
    """Return how many of something there are: ``1 block``, ``2,000 blocks``.

    Args:
        count: how many.
        one, many: what one of them and more of them are called; where nothing is said, more of them end in s.
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
