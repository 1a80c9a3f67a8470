"""Names as people and scripts write them, to and from the nodes and blocks of a document.

A block is written ``schema@version:entity@version``. ``SCHEMA.ATTRIBUTE`` takes the longest known schema name, because
both sides of the dot may contain dots. Every look-up that fails says which names are near.
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.errors import EditError, near_names
from metl_gui.values import Value
from metl_gui.workbench.json_results import JsonResult

_NOUNS = {Side.EXTRACTION: "schema", Side.CDM: "entity"}
_PLURALS = {Side.EXTRACTION: "schemas", Side.CDM: "entities"}


class BlockName(JsonResult):
    """A block by the names of its ends."""

    schema: str
    version: str
    entity: str
    entity_version: str

    def __str__(self) -> str:
        return f"{self.schema}@{self.version}:{self.entity}@{self.entity_version}"


class ElementName(Value):
    """An element by the dotted paths of its ends."""

    from_path: str
    to_path: str

    def as_json(self) -> dict[str, str]:
        """Return the element as every JSON document of ours writes it."""
        return {"from": self.from_path, "to": self.to_path}


def cuts_at_equals(text: str) -> list[tuple[str, str]]:
    """Return every way to cut a text in two at an equals sign, none without one; paths may hold the sign themselves."""
    return [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]


def block_name(document: Document, key: BlockKey) -> BlockName | None:
    """Name a block; ``None`` when one of its versions is not in the trees any more."""
    if document.extraction.find_version(key[0]) is None or document.cdm.find_version(key[1]) is None:
        return None
    return known_block_name(document, key)


def known_block_name(document: Document, key: BlockKey) -> BlockName:
    """Name a block whose versions are in the trees."""
    version, entity_version = document.extraction.version(key[0]), document.cdm.version(key[1])
    schema = document.extraction.schema(version.schema_id)
    entity = document.cdm.schema(entity_version.schema_id)
    return BlockName(schema.name, version.label, entity.name, entity_version.label)


def element_names(document: Document, block: Block) -> tuple[ElementName, ...]:
    """Name the elements of a block, by target path."""
    return tuple(sorted((element_name(document, block, e) for e in block.elements), key=lambda n: n.to_path))


def element_name(document: Document, block: Block, element: Element) -> ElementName:
    """Name one element of a block."""
    source = document.extraction.version(block.version).attribute(element.p)
    target = document.cdm.version(block.entity_version).attribute(element.q)
    return ElementName(source.path if source else f"#{element.p}", target.path if target else f"#{element.q}")


def find_schema(document: Document, side: Side, name: str) -> Schema:
    """Find a schema or entity by name or alias.

    Raises:
        EditError: there is none; with near names.
    """
    found = document.tree(side).named(name)
    if found is None:
        raise EditError(f"There is no {_NOUNS[side]} {name!r}.", hint=_near(document, side, name))
    return found


def find_version(document: Document, side: Side, schema: Schema, label: str) -> Version:
    """Find a version of a schema or entity by one of its labels.

    Raises:
        EditError: there is none; with the labels that there are.
    """
    found = document.tree(side).labelled(schema.id, label)
    if found is None:
        labels = [version.label for version in document.tree(side).versions(schema.id)]
        shown = ", ".join(labels[-10:])
        raise EditError(f"{schema.name} has no version {label!r}.", hint=f"It has {shown}.")
    return found


def find_attribute(version: Version, name: str, path: str) -> Attribute:
    """Find an attribute of a version by its dotted path.

    Args:
        version: where to look.
        name: name of its schema or entity, for the message.
        path: the path.

    Raises:
        EditError: there is none; with near names.
    """
    found = version.at_path(path)
    if found is None:
        hint = near_names(path, [a.path for a in version.attributes])
        raise EditError(f"{name} version {version.label} has no attribute {path!r}.", hint=hint or _some_of(version))
    return found


def find_block(document: Document, text: str) -> BlockKey:
    """Find the two versions that ``schema@version:entity@version`` names; the block may be null.

    Names may contain ``:`` and ``@`` themselves: every way to cut is tried, and the first that names known versions
    is taken.

    Raises:
        EditError: a part is not known, or the text has another form.
    """
    first_failure: EditError | None = None
    for (schema, version), (entity, entity_version) in _cuts(text):
        try:
            return (
                find_version(document, Side.EXTRACTION, find_schema(document, Side.EXTRACTION, schema), version).id,
                find_version(document, Side.CDM, find_schema(document, Side.CDM, entity), entity_version).id,
            )
        except EditError as error:
            first_failure = first_failure or error
    if first_failure is not None:
        raise first_failure
    raise EditError(f"{text!r} does not name a block.", hint="Write it as schema@version:entity@version.")


def find_place(document: Document, side: Side, text: str) -> tuple[Schema, str | None]:
    """Find what ``SCHEMA`` or ``SCHEMA.ATTRIBUTE`` names; the longest known schema or entity name is taken.

    Returns:
        The schema or entity, and the path of an attribute that at least one of its versions has, if one was named.

    Raises:
        EditError: no schema or entity of that name, or no version of it has the attribute.
    """
    for at in (len(text), *(at for at in range(len(text) - 1, 0, -1) if text[at] == ".")):
        schema = document.tree(side).named(text[:at])
        if schema is None:
            continue
        path = text[at + 1 :]
        if not path:
            return schema, None
        paths = {
            a.path: True for version in reversed(document.tree(side).versions(schema.id)) for a in version.attributes
        }
        if path in paths:
            return schema, path
        hint = near_names(path, paths) or _some(list(paths))
        raise EditError(f"No version of {schema.name} has an attribute {path!r}.", hint=hint)
    raise EditError(f"There is no {_NOUNS[side]} {text!r}.", hint=_near(document, side, text))


def find_leaf(document: Document, text: str, side: Side | None = None) -> tuple[Side, Version, Attribute]:
    """Find the attribute that ``SCHEMA.ATTRIBUTE`` names, or ``SCHEMA.ATTRIBUTE@VERSION``.

    Without a version it is the one of the newest version that has the path, which must mean one attribute.

    Args:
        document: the state to look in.
        text: what was written; an entity stands where a schema may.
        side: the tree to look in; by default the one that has it.

    Raises:
        EditError: there is none, or the text fits more than one.
    """
    sides = [side] if side is not None else list(Side)
    found: list[tuple[Side, Version, Attribute]] = []
    failures: list[EditError] = []
    for each in sides:
        try:
            found.append((each, *_leaf(document, each, text)))
        except EditError as error:
            failures.append(error)
    if len(found) > 1:
        raise EditError(f"{text!r} is in both trees.", hint="Say which one with --tree extraction or --tree cdm.")
    if not found:
        # A schema of that name is the better reason than no entity of that name.
        raise min(failures, key=lambda error: error.title.startswith("There is no"))
    return found[0]


def _leaf(document: Document, side: Side, text: str) -> tuple[Version, Attribute]:
    bare, at, label = text.rpartition("@")
    if at:
        try:
            schema, path = find_place(document, side, bare)
        except EditError:
            schema, path = find_place(document, side, text)  # the sign belongs to the path
        else:
            if path is not None:
                version = find_version(document, side, schema, label)
                return version, find_attribute(version, schema.name, path)
    else:
        schema, path = find_place(document, side, text)
    if path is None:
        raise EditError(
            f"{text!r} names no attribute.",
            hint=f"Write it as {schema.name}.ATTRIBUTE or {schema.name}.ATTRIBUTE@VERSION.",
        )
    having = [(v, a) for v in document.tree(side).versions(schema.id) if (a := v.at_path(path)) is not None]
    if len({attribute.lineage for _, attribute in having}) > 1:
        labels = ", ".join(version.label for version, _ in having)
        raise EditError(
            f"{path} of {schema.name} is not the same attribute in all of its versions.",
            hint=f"Name the version, as {text}@{having[-1][0].label}; it is in {labels}.",
        )
    return having[-1]


def _cuts(text: str) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    for at, letter in enumerate(text):
        if letter != ":":
            continue
        left, right = text[:at].rpartition("@"), text[at + 1 :].rpartition("@")
        if left[0] and left[2] and right[0] and right[2]:
            yield (left[0], left[2]), (right[0], right[2])


def _near(document: Document, side: Side, name: str) -> str:
    schemas = document.tree(side).schemas()
    if not schemas:
        return f"The project has no {_PLURALS[side]} yet; metl import adds some."
    known = [each for schema in schemas for each in (schema.name, *schema.aliases)]
    near = near_names(name, known)
    last_parts = [each for each in known if each.rsplit(".", 1)[-1] == name][:3]
    if not near and last_parts:
        near = f"Did you mean {' or '.join(last_parts)}?"
    return near or _some([schema.name for schema in schemas])


def _some_of(version: Version) -> str:
    return _some([attribute.path for attribute in version.attributes])


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"It has {', '.join(names[:5])}{more}." if names else "It has none."
