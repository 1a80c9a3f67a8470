"""JSON Schema documents, draft-04 to 2020-12, in JSON or YAML, to one version each.

Nested objects become dotted paths; arrays, unions, objects without declared properties and the cut of a recursion are
leaves. References are followed inside the file.

Source: docs/reference/formats.md, "Schemas"; docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.trees import schema_names
from metl_gui.core.trees.declarations import AttributeDeclaration, KeyPaths, VersionDeclaration, stated_equivalents
from metl_gui.core.trees.paths import escape
from metl_gui.errors import SchemaError
from metl_gui.registry.documents import decode, parse_json, parse_yaml, read_bytes
from metl_gui.registry.schemas.json_schema_nodes import References, Shape, Shapes

MAX_DEPTH = 64
MAX_ATTRIBUTES = 50_000
KEY_KEYWORD = "x-primary-key"
_ENVELOPE = {"op", "source", "after"}


def read(path: Path, relative: str = "") -> ReaderResult:
    """Read one JSON Schema file.

    Args:
        path: the file.
        relative: its path below the folder that is imported; names the schema when nothing inside it does.
    """
    try:
        text = decode(read_bytes(path))
        is_yaml = path.suffix.lower() in (".yaml", ".yml") or not text.lstrip().startswith(("{", "["))
        document = parse_yaml(text) if is_yaml else parse_json(text)
        return ReaderResult((declare(document, relative or path.name, str(path)),))
    except SchemaError as error:
        return ReaderResult(refused=(SkippedSource(str(path), str(error)),))


def declare(
    document: object, relative: str, source: str, referred: Mapping[str, Any] | None = None
) -> VersionDeclaration:
    """Turn a parsed document into a version; of the envelope of a change the row counts.

    Args:
        document: the schema.
        relative: names the schema when nothing inside it does.
        source: where it came from, for people.
        referred: documents that it refers to, by the names it uses for them.

    Raises:
        SchemaError: it is no schema of an object, or has a part that cannot be used.
    """
    if not isinstance(document, dict):
        raise SchemaError("It is not a JSON Schema.", "Its outermost value is not an object.", "Name another file.")
    named, aliases = _naming(document, relative)
    try:
        attributes, key = _content(document, referred or {})
    except SchemaError as error:
        raise SchemaError(f"{named.name} cannot be used: {error.title}", error.text, error.hint) from error
    return VersionDeclaration(named.name, attributes, named.label, aliases, key, source=source)


def title_of(document: object) -> str:
    """Return what a schema calls itself, empty when it does not."""
    return " ".join(_text(document, "title").split()) if isinstance(document, dict) else ""


def _content(
    document: dict[str, Any], referred: Mapping[str, Any]
) -> tuple[tuple[AttributeDeclaration, ...], KeyPaths]:
    shapes = Shapes(References(document, referred))
    root = _row_in(shapes, shapes.shape([(document, frozenset())], is_root=True))
    if root.plain_types is not None and "object" not in root.plain_types:
        kind = " or ".join(sorted(root.plain_types)) or "null"
        raise SchemaError(f"It describes {kind}, not an object.", "Only objects have attributes.", "Leave it out.")
    attributes: list[AttributeDeclaration] = []
    flagged: list[str] = []
    for attribute, is_key in _leaves(shapes, root, "", False, 1):
        attributes.append(attribute)
        if is_key:
            flagged.append(attribute.path)
        if len(attributes) > MAX_ATTRIBUTES:
            raise SchemaError("It has too many attributes.", f"More than {MAX_ATTRIBUTES:,}.", "Split it.")
    if not attributes:
        raise SchemaError("It declares no properties.", "So there is nothing to map.", "Leave it out.")
    return tuple(attributes), _key(document, attributes, flagged)


def _row_in(shapes: Shapes, root: Shape) -> Shape:
    """Return the row of an envelope, that of ``after`` first; anything else as it is."""
    if not root.properties.keys() >= _ENVELOPE:
        return root
    rows = (shapes.property_shape(root, name) for name in ("after", "before") if name in root.properties)
    return next((row for row in rows if row.properties and row.plain_types == frozenset({"object"})), root)


def _leaves(
    shapes: Shapes, shape: Shape, prefix: str, is_optional: bool, depth: int, were: tuple[str, ...] = ()
) -> Iterator[tuple[AttributeDeclaration, bool]]:
    """Yield each leaf below a shape with whether it is flagged as part of the key; ``were`` are older prefixes."""
    for name in dict.fromkeys((*shape.properties, *shape.possible)):
        if not name:
            raise SchemaError("A property has an empty name.", "It cannot be part of a path.", "Name it.")
        one = shapes.property_shape(shape, name)
        path = prefix + escape(name)
        may_miss = is_optional or name not in shape.required or _may_be_null(one)
        older = (*stated_equivalents(one.words), *(before + escape(name) for before in were))
        if _has_own_leaves(one, depth):
            below = tuple(before + "." for before in older)
            yield from _leaves(shapes, one, path + ".", may_miss, depth + 1, below)
        else:
            yield _leaf(one, path, may_miss, older), one.words.get(KEY_KEYWORD) is True


def _has_own_leaves(shape: Shape, depth: int) -> bool:
    has_properties = bool(shape.properties or shape.possible)
    return (
        has_properties and not shape.is_recursive and depth < MAX_DEPTH and shape.plain_types == frozenset({"object"})
    )


def _may_be_null(shape: Shape) -> bool:
    return shape.is_nullable or shape.types is None or "null" in shape.types


def _leaf(shape: Shape, path: str, is_optional: bool, older: tuple[str, ...]) -> AttributeDeclaration:
    plain = _leaf_type(shape)
    logical = shape.words.get("format")
    doc = next((shape.words[word] for word in ("description", "title") if isinstance(shape.words.get(word), str)), "")
    return AttributeDeclaration(
        path=path,
        type=plain,
        logical=logical if isinstance(logical, str) and plain not in ("struct", "map", "array", "union") else "",
        optional=is_optional,
        doc=doc.strip(),
        equivalent_to=older,
    )


def _leaf_type(shape: Shape) -> str:
    types = shape.plain_types
    if types is None:
        return "any"
    if not types:
        return "null" if shape.types else "union"
    if types == frozenset({"integer", "number"}):
        return "number"
    if len(types) > 1:
        return "union"
    (only,) = types
    if only == "object":
        return "map" if shape.is_open and not (shape.properties or shape.possible) else "struct"
    return only


def _naming(document: dict[str, Any], relative: str) -> tuple[schema_names.Named, tuple[str, ...]]:
    """Return the name with the label, and the aliases."""
    by_path = schema_names.of_path(relative)
    by_id = _named_by_id(document)
    own = document.get("self")
    if isinstance(own, dict) and _text(own, "vendor") and _text(own, "name"):
        name = schema_names.of_iglu(_text(own, "vendor"), _text(own, "name"))
        return schema_names.Named(name, _text(own, "version") or by_path.label), ()
    title = title_of(document)
    name = title or by_id.name or by_path.name
    version = _text(document, "version")
    label = by_id.label or by_path.label or (version if schema_names.is_label(version) else None)
    return schema_names.Named(name, label), (by_id.name,) if by_id.name and by_id.name != name else ()


def _named_by_id(document: dict[str, Any]) -> schema_names.Named:
    written = _text(document, "$id") or _text(document, "id")
    return schema_names.of_id(written) if written else schema_names.Named("")


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value.strip() if isinstance(value, str) else ""


def _key(document: dict[str, Any], attributes: list[AttributeDeclaration], flagged: list[str]) -> KeyPaths:
    stated = document.get(KEY_KEYWORD)
    if stated is None:
        return tuple(flagged) or None
    wanted = stated if isinstance(stated, list) else [stated]
    known = {attribute.path for attribute in attributes}
    for path in wanted:
        if path not in known:
            raise SchemaError(
                f"Its {KEY_KEYWORD} names {path!r:.100}, which is no attribute.", "", "Name attributes by their paths."
            )
    return tuple(wanted)
