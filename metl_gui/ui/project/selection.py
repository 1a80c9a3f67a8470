"""The one selection of the window, shared by trees, matrix, block panel and review list; and what is dragged.

``Dragged`` is nodes of one side that are dragged from a tree, written as mime data for the mouse. They are ids, which
mean something else in the project of another window, so that only the program they come from takes them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable

from msgspec.structs import force_setattr, replace
from PySide6.QtCore import QMimeData, QObject, Signal

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.values import Value


class NodeRef(Value):
    """A node of one tree, with those above it.

    Args:
        schema: id of the schema or entity.
        version: id of the version, ``None`` for the schema itself.
        attribute: id of the attribute, ``None`` for the version itself.
    """

    schema: int
    version: int | None = None
    attribute: int | None = None


class CellRange(Value):
    """A rectangle of cells by two opposite corners; what lies between them is a matter of the plane's order.

    Args:
        first_source, last_source: columns of two opposite corners, both attributes.
        first_target, last_target: their rows.
    """

    first_source: NodeRef
    last_source: NodeRef
    first_target: NodeRef
    last_target: NodeRef

    def ends(self, side: Side) -> tuple[NodeRef, NodeRef]:
        """Return the two ends on one side."""
        if side is Side.EXTRACTION:
            return self.first_source, self.last_source
        return self.first_target, self.last_target


class Selected(Value):
    """What is chosen: nodes of each tree, one of them current on each side, and a rectangle of cells.

    The two current nodes make the current block (two versions) or cell (two attributes). Cells imply the nodes that
    they lie between, nodes never imply cells.

    Args:
        source, target: the current node of either side.
        sources, targets: all chosen nodes of either side, the current one included; left out, the current one alone.
        cells: a rectangle of cells.
    """

    source: NodeRef | None = None
    target: NodeRef | None = None
    sources: tuple[NodeRef, ...] = ()
    targets: tuple[NodeRef, ...] = ()
    cells: CellRange | None = None

    def __post_init__(self) -> None:
        for name, current, all_ in (("sources", self.source, self.sources), ("targets", self.target, self.targets)):
            if current is None or current not in all_:
                force_setattr(self, name, () if current is None else (current,))

    @property
    def block(self) -> BlockKey | None:
        """(v, w) when a version is chosen on both sides."""
        if self.source is None or self.target is None:
            return None
        if self.source.version is None or self.target.version is None:
            return None
        return self.source.version, self.target.version

    @property
    def element(self) -> Element | None:
        """(q, p) when an attribute is chosen on both sides."""
        if self.source is None or self.target is None:
            return None
        if self.source.attribute is None or self.target.attribute is None:
            return None
        return Element(self.target.attribute, self.source.attribute)

    def on(self, side: Side) -> NodeRef | None:
        """Return the node chosen in one tree."""
        return self.source if side is Side.EXTRACTION else self.target

    def all_on(self, side: Side) -> tuple[NodeRef, ...]:
        """Return every node chosen in one tree."""
        return self.sources if side is Side.EXTRACTION else self.targets

    def with_place(self, side: Side, place: NodeRef | None) -> Selected:
        """Choose one node in one tree and keep what is chosen in the other."""
        return self.with_places(side, () if place is None else (place,), place)

    def with_places(self, side: Side, places: tuple[NodeRef, ...], current: NodeRef | None) -> Selected:
        """Choose nodes in one tree and keep what is chosen in the other; cells are chosen no longer."""
        if side is Side.EXTRACTION:
            return replace(self, source=current, sources=places, cells=None)
        return replace(self, target=current, targets=places, cells=None)


def _implies_nothing(_cells: CellRange, _side: Side, _place: NodeRef) -> bool:
    return False


class Selection(QObject):
    """The current selection.

    Signals:
        changed: a ``Selected`` other than the one before.
        turned: the other side is meant now, though the same is selected.
    """

    changed = Signal(object)
    turned = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.current = Selected()
        self.side = Side.EXTRACTION
        """The side that was chosen on last, or whose menu was opened last: the one meant where a node of either is."""
        self.lies_within: Callable[[CellRange, Side, NodeRef], bool] = _implies_nothing
        """Tells whether a node lies between the ends of a rectangle; the plane knows, so its page sets this."""

    def implies(self, side: Side, place: NodeRef) -> bool:
        """Whether the chosen cells imply a node, which views show by a lighter tint than chosen nodes."""
        cells = self.current.cells
        return cells is not None and self.lies_within(cells, side, place)

    def choose(self, selected: Selected) -> None:
        """Take another selection; everybody who listens is told once."""
        if selected != self.current:
            sides = [side for side in Side if self.current.on(side) != selected.on(side)]
            self.side = sides[0] if len(sides) == 1 else self.side
            self.current = selected
            self.changed.emit(selected)

    def turn_to(self, side: Side) -> None:
        """Mean one side from now on, as somebody does who opens the menu of a node that is selected already."""
        if side is not self.side:
            self.side = side
            self.turned.emit()

    @property
    def places(self) -> tuple[tuple[Side, NodeRef], ...]:
        """The current node of each side that has one, that of the side which is meant first."""
        sides = (self.side, *(side for side in Side if side is not self.side))
        return tuple((side, place) for side in sides if (place := self.current.on(side)) is not None)


def place_of_version(document: Document, side: Side, version_id: int, attribute_id: int | None = None) -> NodeRef:
    """Return the place of a version or of one of its attributes."""
    return NodeRef(document.tree(side).version(version_id).schema_id, version_id, attribute_id)


def selected_block(document: Document, key: BlockKey) -> Selected:
    """Return the two versions of a block."""
    v, w = key
    return Selected(place_of_version(document, Side.EXTRACTION, v), place_of_version(document, Side.CDM, w))


def block_meant(document: Document, selected: Selected) -> BlockKey | None:
    """Return the block that a selection means; a schema or entity stands for its newest version."""
    ids = []
    for side in (Side.EXTRACTION, Side.CDM):
        place = selected.on(side)
        if place is None or document.tree(side).find_schema(place.schema) is None:
            return None
        versions = document.tree(side).schema(place.schema).version_ids
        known = place.version is not None and document.tree(side).find_version(place.version) is not None
        if not known and not versions:
            return None
        ids.append(place.version if known and place.version is not None else versions[-1])
    return ids[0], ids[1]


def still_there(document: Document, selected: Selected) -> Selected:
    """Return what of a selection exists in a document."""
    cells = selected.cells
    corners = [(side, end) for side in Side for end in cells.ends(side)] if cells is not None else []
    return Selected(
        _still(document, Side.EXTRACTION, selected.source),
        _still(document, Side.CDM, selected.target),
        _all_still(document, Side.EXTRACTION, selected.sources),
        _all_still(document, Side.CDM, selected.targets),
        cells if all(_still(document, side, end) == end for side, end in corners) else None,
    )


def _all_still(document: Document, side: Side, places: tuple[NodeRef, ...]) -> tuple[NodeRef, ...]:
    found = (_still(document, side, place) for place in places)
    return tuple(dict.fromkeys(place for place in found if place is not None))


def _still(document: Document, side: Side, place: NodeRef | None) -> NodeRef | None:
    if place is None or document.tree(side).find_schema(place.schema) is None:
        return None
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    if version is None:
        return NodeRef(place.schema)
    if place.attribute is not None and version.attribute(place.attribute) is None:
        return NodeRef(place.schema, place.version)
    return place


MIME_TYPE = "application/x-metl-attributes"
_FROM, _OWN = "application/x-metl-program", uuid.uuid4().bytes
"""Names this program among those that are open beside each other."""


class Dragged(Value):
    """Nodes of one tree on their way.

    Args:
        side: the tree they come from.
        places: the nodes, in the order in which the tree shows them.
    """

    side: Side
    places: tuple[NodeRef, ...]

    @property
    def attributes(self) -> tuple[NodeRef, ...]:
        """Those of the nodes that are attributes."""
        return tuple(place for place in self.places if place.attribute is not None)


def to_mime(dragged: Dragged) -> QMimeData:
    """Write nodes as mime data."""
    places = [[place.schema, place.version, place.attribute] for place in dragged.places]
    data = QMimeData()
    data.setData(MIME_TYPE, json.dumps({"side": dragged.side.value, "places": places}).encode())
    data.setData(_FROM, _OWN)
    return data


def from_mime(data: QMimeData) -> Dragged | None:
    """Read nodes from mime data; ``None`` when it holds none of this program, or something else under our name."""
    if not data.hasFormat(MIME_TYPE) or data.data(_FROM).data() != _OWN:
        return None
    try:
        found = json.loads(bytes(data.data(MIME_TYPE).data()))
        return Dragged(Side(found["side"]), tuple(_place(*each) for each in found["places"]))
    except (ValueError, TypeError, KeyError):
        return None


def _place(schema: object, version: object = None, attribute: object = None) -> NodeRef:
    if not isinstance(schema, int) or not isinstance(version, int | None) or not isinstance(attribute, int | None):
        raise TypeError("ids are numbers")
    return NodeRef(schema, version, attribute)
