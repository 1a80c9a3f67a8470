"""The order of versions after a merge."""

from __future__ import annotations

from collections.abc import Callable

from metl_gui.core.merge.sides import Trio
from metl_gui.core.names import LabelOrder


def merged_order(orders: Trio[list[int]], label_order: Callable[[int], LabelOrder]) -> tuple[int, ...]:
    """Put versions that one side has among those of the other, each behind the one that it followed.

    Args:
        orders: versions of each side in its order, by their ids in the result, without those that are removed.
        label_order: what versions that both sides added at one place are sorted by.
    """
    common = set(orders.ours) & set(orders.theirs)
    of_base, of_ours, of_theirs = ([id_ for id_ in order if id_ in common] for order in orders)
    is_theirs = of_ours != of_theirs and [id_ for id_ in of_ours if id_ in of_base] == of_base
    skeleton, others = (orders.theirs, orders.ours) if is_theirs else (orders.ours, orders.theirs)
    found = list(skeleton)
    for place, id_ in enumerate(others):
        if id_ in found:
            continue
        at = found.index(others[place - 1]) + 1 if place else 0
        while at < len(found) and found[at] not in others and label_order(found[at]) <= label_order(id_):
            at += 1
        found.insert(at, id_)
    return tuple(found)
