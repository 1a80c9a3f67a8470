"""What hovering over a node of a tree says: the whole path, what it is, where it exists, and what people said of it."""

from __future__ import annotations

from metl_gui.core.block_lists import Note
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.ui.naming import number_of
from metl_gui.ui.selection import Place

_SHOWN = 12


def tip_of(document: Document, side: Side, place: Place, note: Note, state: str = "", values: str = "") -> str:
    """Describe a node.

    Args:
        document: where it is.
        side: its tree.
        place: the node.
        note: comment and mask of it.
        state: what its mark says, in words.
        values: a line on its sample values.
    """
    tree = document.tree(side)
    schema = tree.find_schema(place.schema)
    if schema is None:
        return ""
    version = tree.find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    if version is None:
        lines = _schema_lines(document, side, schema)
    elif attribute is None:
        lines = _version_lines(schema, version)
    else:
        lines = _attribute_lines(document, side, schema, version, attribute, state)
    if note.is_masked:
        lines.append("masked: its values are not shown")
    elif values:
        lines.append(values)
    if note.comment:
        lines.append(f"“{note.comment}”")
    return "\n".join(lines)


def _schema_lines(document: Document, side: Side, schema: Schema) -> list[str]:
    versions = document.tree(side).versions(schema.id)
    lines = [schema.name, f"versions {_listed([version.label for version in versions])}"]
    if schema.aliases:
        lines.append(f"also called {_listed(list(schema.aliases))}")
    return lines


def _version_lines(schema: Schema, version: Version) -> list[str]:
    count = len(version.attributes)
    lines = [f"{schema.name} {version.label}", number_of(count, "attribute")]
    if len(version.labels) > 1:
        lines.append(f"also labelled {_listed(list(version.labels[1:]))}")
    if version.key is not None:
        lines.append(f"key: {_listed(list(version.key)) if version.key else 'none'}")
    if version.inferred:
        lines.append("its types were read off data")
    if version.source:
        lines.append(f"from {version.source}")
    return lines


def _attribute_lines(
    document: Document, side: Side, schema: Schema, version: Version, attribute: Attribute, state: str
) -> list[str]:
    need = "optional" if attribute.optional else "required"
    key = ", part of the key" if attribute.path in (version.key or ()) else ""
    lines = [f"{schema.name} {version.label}  {attribute.path}", f"{attribute.type_text}, {need}{key}"]
    if state:
        lines[-1] += f" · {state}"
    same = [(v.label, a) for v in document.tree(side).versions(schema.id) if (a := v.of_lineage(attribute.lineage))]
    where = "every version" if len(same) == len(schema.version_ids) else _listed([label for label, _ in same])
    lines.append(f"in {where}" if len(schema.version_ids) > 1 else "in the only version")
    others = list(dict.fromkeys(a.path for _, a in same if a.path != attribute.path))
    if others:
        lines.append(f"elsewhere called {_listed(others)}")
    if attribute.doc:
        lines.append(attribute.doc)
    return lines


def _listed(words: list[str]) -> str:
    if len(words) <= _SHOWN:
        return ", ".join(words)
    return f"{', '.join(words[: _SHOWN - 2])} … {words[-1]} ({len(words)})"
