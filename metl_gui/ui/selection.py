"""The one selection of the window, shared by trees, matrix, block panel and review list."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from metl_gui.core.blocks import BlockKey, Element
from metl_gui.core.document import Document
from metl_gui.core.nodes import Side


@dataclass(frozen=True)
class Place:
    """A node of one tree, with those above it.

    Args:
        schema: id of the schema or entity.
        version: id of the version, ``None`` for the schema itself.
        attribute: id of the attribute, ``None`` for the version itself.
    """

    schema: int
    version: int | None = None
    attribute: int | None = None


@dataclass(frozen=True)
class Selected:
    """A node on either side; two versions make a block, two attributes make a cell."""

    source: Place | None = None
    target: Place | None = None

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

    def on(self, side: Side) -> Place | None:
        """Return the node chosen in one tree."""
        return self.source if side is Side.EXTRACTION else self.target

    def with_place(self, side: Side, place: Place | None) -> Selected:
        """Choose a node in one tree and keep the other."""
        return replace(self, source=place) if side is Side.EXTRACTION else replace(self, target=place)


class Selection(QObject):
    """The current selection.

    Signals:
        changed: a ``Selected`` other than the one before.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.current = Selected()

    def choose(self, selected: Selected) -> None:
        """Take another selection; everybody who listens is told once."""
        if selected != self.current:
            self.current = selected
            self.changed.emit(selected)


def place_of_version(document: Document, side: Side, version_id: int, attribute_id: int | None = None) -> Place:
    """Return the place of a version or of one of its attributes."""
    return Place(document.tree(side).version(version_id).schema_id, version_id, attribute_id)


def still_there(document: Document, selected: Selected) -> Selected:
    """Return what of a selection exists in a document."""
    return Selected(
        _still(document, Side.EXTRACTION, selected.source),
        _still(document, Side.CDM, selected.target),
    )


def _still(document: Document, side: Side, place: Place | None) -> Place | None:
    if place is None or document.tree(side).find_schema(place.schema) is None:
        return None
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    if version is None:
        return Place(place.schema)
    if place.attribute is not None and version.attribute(place.attribute) is None:
        return Place(place.schema, place.version)
    return place
