"""What is dragged from a tree: nodes of one side, written for the clipboard's and the mouse's mime data."""

from __future__ import annotations

import json
from dataclasses import dataclass

from PySide6.QtCore import QMimeData

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.selection import Place

MIME_TYPE = "application/x-metl-attributes"


@dataclass(frozen=True)
class Dragged:
    """Nodes of one tree on their way.

    Args:
        side: the tree they come from.
        places: the nodes, in the order in which the tree shows them.
    """

    side: Side
    places: tuple[Place, ...]

    @property
    def attributes(self) -> tuple[Place, ...]:
        """Those of the nodes that are attributes."""
        return tuple(place for place in self.places if place.attribute is not None)


def to_mime(dragged: Dragged) -> QMimeData:
    """Write nodes as mime data."""
    places = [[place.schema, place.version, place.attribute] for place in dragged.places]
    data = QMimeData()
    data.setData(MIME_TYPE, json.dumps({"side": dragged.side.value, "places": places}).encode())
    return data


def from_mime(data: QMimeData) -> Dragged | None:
    """Read nodes from mime data; ``None`` when it holds none, or something else under our name."""
    if not data.hasFormat(MIME_TYPE):
        return None
    try:
        found = json.loads(bytes(data.data(MIME_TYPE).data()))
        return Dragged(Side(found["side"]), tuple(_place(*each) for each in found["places"]))
    except (ValueError, TypeError, KeyError):
        return None


def _place(schema: object, version: object = None, attribute: object = None) -> Place:
    if not isinstance(schema, int) or not isinstance(version, int | None) or not isinstance(attribute, int | None):
        raise TypeError("ids are numbers")
    return Place(schema, version, attribute)
