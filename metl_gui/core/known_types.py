"""Types for a version that was read off rows, from the version before it: rows show less than a schema says.

Where the values that were seen are values of the type that an attribute had, it keeps that type; so a version nobody
declared is no type change by itself. Source: dmm.md §7.3, cdc-formats.md §5 (how values stand in JSON).
"""

from __future__ import annotations

from dataclasses import replace

from metl_gui.core.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.nodes import Attribute, Version

_INTEGERS = ("int8", "int16", "int32", "int64", "integer")
_SHOWN_AS: dict[str, frozenset[str]] = {
    **dict.fromkeys(_INTEGERS, frozenset({"integer"})),
    **dict.fromkeys(("float", "double", "number"), frozenset({"integer", "number"})),
    "bytes": frozenset({"string"}),
    "string": frozenset({"string"}),
    "boolean": frozenset({"boolean"}),
    "array": frozenset({"array"}),
    "map": frozenset({"map", "array"}),
    "struct": frozenset({"struct", "map"}),
}
"""By plain type: what rows show of its values."""

_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_NUMBERS = frozenset({"integer", "number", "string"})


def with_known_types(declaration: VersionDeclaration, before: Version) -> VersionDeclaration:
    """Give attributes that were read off rows the types that they had in a version, where the rows allow it."""
    if not declaration.inferred:
        return declaration
    known = {attribute.path: attribute for attribute in before.attributes}
    return replace(declaration, attributes=tuple(_typed(one, known.get(one.path)) for one in declaration.attributes))


def _typed(seen: AttributeDeclaration, known: Attribute | None) -> AttributeDeclaration:
    if known is None or not _is_shown(known, seen.type):
        return seen
    return replace(seen, type=known.type, logical=known.logical, scale=known.scale, doc=seen.doc or known.doc)


def _is_shown(known: Attribute, seen: str) -> bool:
    if seen == "unknown":
        return True
    if known.logical == _DECIMAL:
        return seen in _NUMBERS  # bytes in base64, a number, or text, as the converter is set
    return seen in _SHOWN_AS.get(known.type, ())
