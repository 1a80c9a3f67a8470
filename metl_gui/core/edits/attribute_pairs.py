"""Pairs of chosen attributes that belong together, by equal names or by order; 1:1, passing over what is taken.

Of several attributes those that are never to be mapped are passed over too; one that is chosen alone is meant.

Source: docs/architecture/model.md, "Rules that always hold" (within a block no attribute is used twice).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.core.trees.paths import split
from metl_gui.values import Value

_NO_LETTERS = re.compile(r"[\W_]+")

Pairing = Callable[[Sequence[Attribute], Sequence[Attribute]], list[tuple[Attribute, Attribute]]]
"""From the free sources and targets of one block, in order, to pairs."""


class Chosen(Value):
    """Attributes chosen in one version, in the order of the version.

    Args:
        version: id of the version.
        attributes: ids of the attributes.
    """

    version: int
    attributes: tuple[int, ...]


class PairingPlan(Value):
    """What mapping chosen attributes would do.

    Args:
        edits: one for each block that gains an element.
        mapped: elements that become 1.
        already: pairs that are mapped already.
        taken: chosen sources that were passed over because they, or every target meant for them, are taken.
        without_partner: chosen sources that nothing was found for.
    """

    edits: tuple[SetElements, ...]
    mapped: int
    already: int
    taken: int
    without_partner: int

    def edit(self, name: str) -> CompositeEdit | None:
        """Return the plan as one edit, ``None`` when it sets nothing."""
        return CompositeEdit(name, self.edits) if self.edits else None


def by_name(sources: Sequence[Attribute], targets: Sequence[Attribute]) -> list[tuple[Attribute, Attribute]]:
    """Pair attributes of equal normalised paths; then, of what is left, those of equal last names that are unique."""
    found = _equal_paths(tuple(a.path for a in sources), tuple(a.path for a in targets))
    return [(sources[left], targets[right]) for left, right in found]


def by_position(sources: Sequence[Attribute], targets: Sequence[Attribute]) -> list[tuple[Attribute, Attribute]]:
    """Pair the first with the first, the second with the second, as far as both go."""
    return list(zip(sources, targets, strict=False))


@lru_cache(maxsize=65_536)
def normalised(name: str) -> str:
    """Return a name in lower case without anything but letters and digits."""
    return _NO_LETTERS.sub("", name).casefold()


def plan(document: Document, sources: Iterable[Chosen], targets: Iterable[Chosen], pairing: Pairing) -> PairingPlan:
    """Pair what is chosen on both sides, in every block that the chosen versions make.

    Cost: the attributes of the chosen versions, once for each of their blocks.
    """
    rows = [(other.version, _attributes(document, Side.CDM, other), set(other.attributes)) for other in targets]
    columns = [(one.version, _attributes(document, Side.EXTRACTION, one)) for one in sources]
    parts = [
        _plan_block(document, (v, w), (own, free), chosen_q, pairing)
        for v, own in columns
        for w, free, chosen_q in rows
    ]
    return PairingPlan(
        tuple(edit for part in parts for edit in part.edits),
        sum(part.mapped for part in parts),
        sum(part.already for part in parts),
        sum(part.taken for part in parts),
        sum(part.without_partner for part in parts),
    )


def plan_pairs(document: Document, key: BlockKey, pairs: Iterable[tuple[int, int]]) -> PairingPlan:
    """Map pairs (p, q) of one block as far as both ends are free."""
    before = document.matrix.block(*key) or Block(*key)
    taken_p, taken_q = {e.p for e in before.elements}, {e.q for e in before.elements}
    known = set(before.elements)
    ones: list[Element] = []
    already = taken = 0
    for p, q in pairs:
        if Element(q, p) in known:
            already += 1
        elif p in taken_p or q in taken_q:
            taken += 1
        else:
            ones.append(Element(q, p))
            taken_p.add(p)
            taken_q.add(q)
    edits = (SetElements(key, tuple(sorted(ones))),) if ones else ()
    return PairingPlan(edits, len(ones), already, taken, 0)


def _plan_block(
    document: Document,
    key: BlockKey,
    ends: tuple[list[Attribute], list[Attribute]],
    chosen_q: set[int],
    pairing: Pairing,
) -> PairingPlan:
    """Plan one block, of which sources and targets are chosen.

    Args:
        document: where it is.
        key: the block.
        ends: the attributes to pair: sources, and targets without those that are never to be mapped.
        chosen_q: ids of all chosen targets.
        pairing: pairs what is free.
    """
    block = document.matrix.block(*key)
    sources, targets = ends
    if block is None or block.is_null:
        ones = _elements(pairing(sources, targets))
        return PairingPlan((SetElements(key, ones),) if ones else (), len(ones), 0, 0, len(sources) - len(ones))
    by_p, taken_q = {e.p: e for e in block.elements}, {e.q for e in block.elements}
    free_p = [a for a in sources if a.id not in by_p]
    free_q = [a for a in targets if a.id not in taken_q]
    pairs = pairing(free_p, free_q)
    already = sum(1 for a in sources if a.id in by_p and by_p[a.id].q in chosen_q)
    would_be = {p.id for p, _ in pairing(sources, targets)}
    taken = len(would_be - {p.id for p, _ in pairs} - {e.p for e in block.elements if e.q in chosen_q})
    ones = _elements(pairs)
    edits = (SetElements(key, ones),) if ones else ()
    return PairingPlan(edits, len(ones), already, taken, len(sources) - len(ones) - already - taken)


def _elements(pairs: Sequence[tuple[Attribute, Attribute]]) -> tuple[Element, ...]:
    return tuple(sorted(Element.many([q.id for _, q in pairs], [p.id for p, _ in pairs])))


def _attributes(document: Document, side: Side, chosen: Chosen) -> list[Attribute]:
    """Return what is chosen; of several without those that are never to be mapped."""
    ids, version = set(chosen.attributes), document.tree(side).version(chosen.version)
    found = [a for a in version.attributes if a.id in ids]
    ignored = document.tree(side).schema(version.schema_id).ignored_lineages if len(found) > 1 else frozenset()
    return [a for a in found if a.lineage not in ignored]


@lru_cache(maxsize=32)
def _equal_paths(sources: tuple[str, ...], targets: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Pair the places of paths as ``by_name`` does; the versions of a schema mostly have the same ones."""
    left, right = dict(enumerate(map(normalised, sources))), dict(enumerate(map(normalised, targets)))
    pairs = _equal(left, right)
    used_left, used_right = {at for at, _ in pairs}, {at for _, at in pairs}
    rest_left = {at: normalised(split(sources[at])[-1]) for at in left if at not in used_left}
    rest_right = {at: normalised(split(targets[at])[-1]) for at in right if at not in used_right}
    return (*pairs, *_equal(rest_left, rest_right))


def _equal(sources: dict[int, str], targets: dict[int, str]) -> list[tuple[int, int]]:
    """Pair the places of names that are equal and stand once on each side."""
    left, right = _once(sources), _once(targets)
    return [(place, right[name]) for name, place in left.items() if name and name in right]


def _once(names: dict[int, str]) -> dict[str, int]:
    counts = Counter(names.values())
    return {name: place for place, name in names.items() if counts[name] == 1}
