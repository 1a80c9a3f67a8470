"""What the chosen nodes of the trees stand for: attributes by version; a schema stands for its newest version."""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.core.edits.pairing import Chosen
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.selection import Place, Selected


def chosen_on(document: Document, side: Side, places: Iterable[Place]) -> tuple[Chosen, ...]:
    """Return the attributes of some nodes, by version in the order in which the versions first come."""
    tree = document.tree(side)
    found: dict[int, set[int] | None] = {}
    for place in places:
        schema = tree.find_schema(place.schema)
        version = place.version if place.version is not None else schema.version_ids[-1] if schema else None
        if version is None or tree.find_version(version) is None:
            continue
        if place.attribute is None:
            found[version] = None
        else:
            some = found.setdefault(version, set())
            if some is not None:
                some.add(place.attribute)
    return tuple(Chosen(version, _ordered(document, side, version, ids)) for version, ids in found.items())


def blocks_of(document: Document, selected: Selected) -> tuple[BlockKey, ...]:
    """Return the blocks that the chosen nodes make: every chosen version with every chosen entity version."""
    sources = chosen_on(document, Side.EXTRACTION, selected.sources)
    targets = chosen_on(document, Side.CDM, selected.targets)
    return tuple((one.version, other.version) for one in sources for other in targets)


def elements_between(
    document: Document, sources: tuple[Chosen, ...], targets: tuple[Chosen, ...]
) -> dict[BlockKey, tuple[Element, ...]]:
    """Return the elements between chosen nodes; with nodes on one side only, all elements of theirs.

    Cost: the column sets or row sets of the chosen versions.
    """
    ps = {one.version: set(one.attributes) for one in sources}
    qs = {other.version: set(other.attributes) for other in targets}
    if sources:
        keys = [key for v in ps for key in document.matrix.column_keys(v) if not qs or key[1] in qs]
    else:
        keys = [key for w in qs for key in document.matrix.row_keys(w)]
    found: dict[BlockKey, tuple[Element, ...]] = {}
    for key in keys:
        block = document.matrix.block(*key)
        p, q = ps.get(key[0]), qs.get(key[1])
        inside = (
            [e for e in block.elements if (not ps or (p and e.p in p)) and (not qs or (q and e.q in q))]
            if block
            else []
        )
        if inside:
            found[key] = tuple(inside)
    return found


def _ordered(document: Document, side: Side, version: int, ids: set[int] | None) -> tuple[int, ...]:
    attributes = document.tree(side).version(version).attributes
    return tuple(a.id for a in attributes if ids is None or a.id in ids)
