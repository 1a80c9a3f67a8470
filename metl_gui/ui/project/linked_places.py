"""Places of links as what the window selects, and back."""

from __future__ import annotations

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version, selected_block
from metl_gui.workbench.links.link import LinkPlace, PlaceKind
from metl_gui.workbench.links.places import block_of_place, cell_of_place, node_of_place

_KINDS = {Side.EXTRACTION: PlaceKind.SCHEMA, Side.CDM: PlaceKind.ENTITY}


def place_of(selected: Selected) -> LinkPlace | None:
    """Return the place that a selection stands for: a cell, else a block, else the one node that is selected.

    Of a node on one side and a schema or entity without a version on the other it is the first.
    """
    element, key = selected.element, selected.block
    if element is not None and key is not None:
        return LinkPlace(PlaceKind.CELL, (key[0], element.p, key[1], element.q))
    chosen = [(side, node) for side in Side if (node := selected.on(side)) is not None]
    attributes = [(side, node) for side, node in chosen if node.attribute is not None]
    if key is not None and not attributes:
        return LinkPlace(PlaceKind.BLOCK, key)
    meant = attributes or [(side, node) for side, node in chosen if node.version is not None] or chosen
    return node_place(*meant[0]) if meant else None


def node_place(side: Side, node: NodeRef) -> LinkPlace:
    """Return the place of a node."""
    ids = (node.schema, node.version, node.attribute)
    return LinkPlace(_KINDS[side], tuple(id_ for id_ in ids if id_ is not None))


def review_place(key: BlockKey) -> LinkPlace:
    """Return the place of what waits in a block."""
    return LinkPlace(PlaceKind.REVIEW, key)


def selected_at(document: Document, place: LinkPlace) -> Selected:
    """Return what a window selects to show a place of the trees or of the matrix.

    Raises:
        LinkError: the document has no such place.
    """
    if place.kind in (PlaceKind.SCHEMA, PlaceKind.ENTITY):
        side, schema, version, attribute = node_of_place(document, place)
        version_id, attribute_id = (None if each is None else each.id for each in (version, attribute))
        return Selected().with_place(side, NodeRef(schema.id, version_id, attribute_id))
    if place.kind is PlaceKind.CELL:
        (v, w), element = cell_of_place(document, place)
        return Selected(
            place_of_version(document, Side.EXTRACTION, v, element.p),
            place_of_version(document, Side.CDM, w, element.q),
        )
    return selected_block(document, block_of_place(document, place))
