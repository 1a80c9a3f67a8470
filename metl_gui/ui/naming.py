"""Names and numbers of blocks and elements as the window writes them."""

from __future__ import annotations

from html import escape

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.selection import Place, Selected


def number_of(count: int, what: str) -> str:
    """Return how many of something there are: ``1 block``, ``2,000 blocks``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def block_words(document: Document, key: BlockKey) -> str:
    """Return ``schema version → entity version``, ids where a node is gone."""
    return f"{version_words(document, Side.EXTRACTION, key[0])} → {version_words(document, Side.CDM, key[1])}"


def version_words(document: Document, side: Side, version_id: int) -> str:
    """Return ``schema version``."""
    version = document.tree(side).find_version(version_id)
    if version is None:
        return f"version {version_id}"
    return f"{document.tree(side).schema(version.schema_id).name} {version.label}"


def schema_name(document: Document, side: Side, schema_id: int) -> str:
    """Return the name of a schema or entity, its id where it is gone."""
    schema = document.tree(side).find_schema(schema_id)
    return schema.name if schema is not None else f"#{schema_id}"


def path_of(document: Document, side: Side, version_id: int, attribute_id: int) -> str:
    """Return the path of an attribute, its id where it is gone."""
    version = document.tree(side).find_version(version_id)
    attribute = version.attribute(attribute_id) if version is not None else None
    return attribute.path if attribute is not None else f"#{attribute_id}"


def place_words(document: Document, side: Side, place: Place | None) -> str:
    """Return the full path of a node as rich text, its last part bold."""
    if place is None:
        return ""
    tree = document.tree(side)
    schema = tree.find_schema(place.schema)
    if schema is None:
        return ""
    version = tree.find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version and place.attribute is not None else None
    if attribute is not None and version is not None:
        return f"{escape(schema.name)} {escape(version.label)} <b>{escape(attribute.path)}</b>"
    return f"<b>{escape(f'{schema.name} {version.label}' if version is not None else schema.name)}</b>"


def selected_words(document: Document, selected: Selected) -> str:
    """Return both full paths, for the status bar."""
    parts = [
        place_words(document, Side.EXTRACTION, selected.source),
        place_words(document, Side.CDM, selected.target),
    ]
    return " → ".join(part for part in parts if part)
