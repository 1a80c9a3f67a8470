"""Bridges: which elements belong to one owner, how often, and with what weight.

Plain Python, by which the statements that databases run are judged.

Source: docs/reference/warehouse-model.md, "Bridges".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple, TypeAlias

Element: TypeAlias = object
"""Of a list: a text, a number, or the business key of a member."""


class BridgeRow(NamedTuple):
    """One row of a bridge.

    Args:
        times: how often the element stands there.
        weight: its share of the owner, ``None`` where none is known.
    """

    times: int
    weight: float | None


def memberships(elements: Iterable[tuple[Element, Decimal | None]], *, is_equal: bool) -> dict[Element, BridgeRow]:
    """Return the rows of one owner, those of equal elements as one and none for nulls.

    Args:
        elements: each with its weight, ``None`` where none is stated.
        is_equal: weights are equal and sum to one, whatever is stated.
    """
    stated: dict[Element, list[Decimal]] = defaultdict(list)
    counts: dict[Element, int] = defaultdict(int)
    for element, weight in elements:
        if element is not None:
            counts[element] += 1
            stated[element] += [] if weight is None else [weight]
    weights = {element: float(sum(some)) for element, some in stated.items() if some}
    if is_equal:
        weights = dict.fromkeys(counts, 1 / len(counts) if counts else 0.0)
    return {element: BridgeRow(times, weights.get(element)) for element, times in counts.items()}
