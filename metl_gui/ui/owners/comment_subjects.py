"""What of a selection can be commented on, and what it is called."""

from __future__ import annotations

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Subject, block_subject, element_subject, node_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.naming import block_words
from metl_gui.ui.selection import Place, Selected, still_there


def subjects_of(document: Document, selected: Selected, side: Side | None = None) -> tuple[tuple[str, Subject], ...]:
    """List the words and subjects of a selection, the most special first.

    Args:
        document: what is shown.
        selected: what is selected.
        side: the tree whose node comes first, where only that one was chosen just now.
    """
    selected = still_there(document, selected)
    nodes = {each: _of_node(document, each, place) for each in Side if (place := selected.on(each)) is not None}
    pairs = _of_block(document, selected)
    first = nodes.pop(side, []) if side is not None else []
    return (*first, *pairs, *(pair for found in nodes.values() for pair in found))


def _of_block(document: Document, selected: Selected) -> list[tuple[str, Subject]]:
    key, element = selected.block, selected.element
    if key is None:
        return []
    found: list[tuple[str, Subject]] = []
    if element is not None:
        source = document.extraction.version(key[0]).attribute(element.p)
        target = document.cdm.version(key[1]).attribute(element.q)
        if source is not None and target is not None:
            found.append((f"{source.path} → {target.path}", element_subject(document, key, element)))
    return [*found, (block_words(document, key), block_subject(document, key))]


def _of_node(document: Document, side: Side, place: Place) -> list[tuple[str, Subject]]:
    name = document.tree(side).schema(place.schema).name
    found: list[tuple[str, Subject]] = []
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    if version is not None and attribute is not None:
        subject = node_subject(document, side, place.schema, version.id, attribute.id)
        found.append((f"{attribute.path} of {name}", subject))
    return [*found, (name, node_subject(document, side, place.schema))]
