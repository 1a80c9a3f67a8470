"""Names that tables keyed by a hash are most likely to mix up."""

from __future__ import annotations

from random import Random


def collisions(dice: Random) -> list[str]:
    """Draw names of which several agree in length, first or last bytes, or in the sum of their bytes."""
    stem = "".join(dice.choices("abcdefgh", k=8))
    shuffled = "".join(dice.sample(stem, len(stem)))
    other = "".join(dice.choices("abcdefgh", k=8))
    return [stem, shuffled, stem + other, other + stem, stem + stem, stem + "a", stem + "b", "a" + stem, "b" + stem]
