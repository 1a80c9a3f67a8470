"""Partition elements into blocks and keep the largest permutation matrix of each (A2).

A block that is 1:1 is its own largest permutation matrix. One that is not, as it may come from outside, is never cut
silently: the elements outside a maximum bipartite matching are handed back one by one.
Source: docs/architecture/model.md, "Algorithms" (A2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from metl_gui.core.matrix.blocks import BlockKey, Element, conflicts
from metl_gui.values import Value


class Permutation(Value):
    """The largest 1:1 part of a block and what lies outside it.

    Order: both sorted by (q, p).
    """

    kept: tuple[Element, ...]
    outside: tuple[Element, ...]


def partition(ones: Iterable[tuple[BlockKey, Element]]) -> dict[BlockKey, Permutation]:
    """Sort elements into blocks, null blocks left out, and reduce each to its largest permutation matrix."""
    blocks: dict[BlockKey, set[Element]] = defaultdict(set)
    for key, element in ones:
        blocks[key].add(element)
    return {key: largest_permutation(elements) for key, elements in sorted(blocks.items())}


def largest_permutation(elements: Iterable[Element]) -> Permutation:
    """Find the largest 1:1 part of a block; the earliest elements win where sizes are equal."""
    ordered = tuple(sorted(set(elements)))
    if not conflicts(ordered):
        return Permutation(ordered, ())
    rows = {q: at for at, q in enumerate(dict.fromkeys(e.q for e in ordered))}
    columns = {p: at for at, p in enumerate(sorted({e.p for e in ordered}))}
    matched = _match(ordered, rows, columns)
    kept = tuple(e for e in ordered if matched[rows[e.q]] == columns[e.p])
    return Permutation(kept, tuple(e for e in ordered if e not in kept))


def _match(elements: tuple[Element, ...], rows: dict[int, int], columns: dict[int, int]) -> list[int]:
    # Imported here: scipy costs 0.3 s, and only blocks that break the rule need it.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    at = ([rows[e.q] for e in elements], [columns[e.p] for e in elements])
    graph = csr_array((np.ones(len(elements), np.int8), at), shape=(len(rows), len(columns)))
    return [int(column) for column in maximum_bipartite_matching(graph, perm_type="column")]
