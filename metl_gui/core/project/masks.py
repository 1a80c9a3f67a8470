"""Masks: columns whose values nobody who looks at messages may see. Production outputs keep them.

The setting ``mask`` of a schema or entity lists paths; whatever has the lineage of an attribute of that path is masked
too, in every version, and so is each CDM attribute that a masked column feeds. Source: docs/guide/mapping.md, "Own the
model".
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.paths import join_list, split_list
from metl_gui.core.trees.trees import ReadableTree, Tree, TreeBase

MASK = "mask"
"""Name of the setting."""

_known_bases: WeakKeyDictionary[TreeBase, tuple[Schema, ...]] = WeakKeyDictionary()
"""The schemas with masks of a base, for as long as the base lives."""


def masked_paths(schema: Schema) -> tuple[str, ...]:
    """Return the paths that the setting of a schema or entity lists."""
    return tuple(filter(None, split_list(schema.setting(MASK))))


def schemas_with_masks(tree: Tree) -> tuple[Schema, ...]:
    """Return the schemas or entities that mask anything; costs what was edited, once the base was gone through."""
    edited = tree.edited_schemas()
    found = [schema for schema in _masked_of_base(tree.base) if schema.id not in edited]
    found += [schema for id_ in sorted(edited) if (schema := tree.find_schema(id_)) is not None]
    return tuple(schema for schema in found if schema.setting(MASK))


def _masked_of_base(base: TreeBase) -> tuple[Schema, ...]:
    if base not in _known_bases:
        _known_bases[base] = tuple(schema for schema in base.schemas.values() if schema.setting(MASK))
    return _known_bases[base]


def masked_lineages(tree: ReadableTree, schema: Schema) -> frozenset[int]:
    """Return the lineages that are masked in a schema or entity; costs nothing where no mask is set."""
    paths = frozenset(masked_paths(schema))
    if not paths:
        return frozenset()
    return frozenset(a.lineage for version in tree.versions(schema.id) for a in version.attributes if a.path in paths)


def is_masked(document: Document, side: Side, version_id: int, attribute_id: int) -> bool:
    """Whether the values of an attribute are hidden from people: by a mask of its own, or of a column that feeds it."""
    version = document.tree(side).find_version(version_id)
    attribute = version.attribute(attribute_id) if version is not None else None
    if version is None or attribute is None:
        return False
    schema = document.tree(side).schema(version.schema_id)
    if attribute.lineage in masked_lineages(document.tree(side), schema):
        return True
    return side is Side.CDM and attribute.id in fed_by_masked(document, version.id)


def fed_by_masked(document: Document, entity_version: int) -> frozenset[int]:
    """Return the ids of the attributes of an entity version that a masked column feeds.

    Cost: proportional to the versions of the schemas that have masks.
    """
    found: set[int] = set()
    for schema in schemas_with_masks(document.extraction):
        lineages = masked_lineages(document.extraction, schema)
        for version in document.extraction.versions(schema.id) if lineages else ():
            block = document.matrix.block(version.id, entity_version)
            hidden = {a.id for a in version.attributes if a.lineage in lineages}
            found.update(q for q, p in (block.elements if block is not None else ()) if p in hidden)
    return frozenset(found)


def hidden_sources(document: Document, name: str | None) -> frozenset[str]:
    """Return every path under which a schema's messages may carry masked values.

    Args:
        document: the state to look at.
        name: the schema, by name or alias; where nothing answers to it, the paths of all schemas.
    """
    found = document.extraction.named(name) if name else None
    schemas = schemas_with_masks(document.extraction) if found is None else [found]
    return frozenset(path for schema in schemas for path in _paths(document.extraction, schema))


def hidden_targets(document: Document, entity: str, label: str) -> frozenset[str]:
    """Return the paths under which messages of an entity version carry masked values.

    What fed an attribute that the newest version has no more, no block tells any more: it is hidden as soon as any
    schema masks something.

    Args:
        document: the state to look at.
        entity: by name or alias.
        label: of the version; where nothing answers to it or to the name, the paths of all entities.
    """
    found = document.cdm.named(entity)
    version = document.cdm.labelled(found.id, label) if found is not None else None
    if found is None or version is None:
        return _every_target(document)
    # What an older version was fed by is mapped to the newest one now, unless several are kept.
    newest = document.cdm.version(found.version_ids[-1])
    mapped = version if found.setting("policy") == "parallel" else newest
    fed = fed_by_masked(document, mapped.id)
    lineages = {a.lineage for a in mapped.attributes if a.id in fed}
    shown = {a.lineage for a in mapped.attributes} - lineages
    if not schemas_with_masks(document.extraction):
        shown |= {a.lineage for a in version.attributes}
    return _paths(document.cdm, found) | frozenset(a.path for a in version.attributes if a.lineage not in shown)


def _every_target(document: Document) -> frozenset[str]:
    """Return the paths of everything in the CDM that is masked, or that a masked column feeds."""
    found = {path for entity in schemas_with_masks(document.cdm) for path in _paths(document.cdm, entity)}
    for schema in schemas_with_masks(document.extraction):
        lineages = masked_lineages(document.extraction, schema)
        for version in document.extraction.versions(schema.id) if lineages else ():
            hidden = {a.id for a in version.attributes if a.lineage in lineages}
            for block in document.matrix.column_set(version.id):
                fed = {q for q, p in block.elements if p in hidden}
                found.update(a.path for a in document.cdm.version(block.entity_version).attributes if a.id in fed)
    return frozenset(found)


def setting_with(tree: ReadableTree, schema: Schema, attribute: Attribute, is_hidden: bool) -> str:
    """Return the value of the setting after one attribute is masked, or shown again with all of its lineage."""
    paths = set(masked_paths(schema))
    if is_hidden:
        return join_list(sorted(paths | {attribute.path}))
    same = (v.of_lineage(attribute.lineage) for v in tree.versions(schema.id))
    return join_list(sorted(paths - {a.path for a in same if a is not None}))


def setting_without(tree: ReadableTree, schema: Schema, gone: Version) -> str:
    """Return the value of the setting that masks the same lineages when a version is gone."""
    paths = set(masked_paths(schema))
    if not paths:
        return ""
    lineages = masked_lineages(tree, schema)
    left = [version for version in tree.versions(schema.id) if version.id != gone.id]
    for lineage in lineages:
        same = [a.path for a in (version.of_lineage(lineage) for version in left) if a is not None]
        if same and not paths.intersection(same):
            paths.add(same[-1])
    return join_list(sorted(paths))


def _paths(tree: ReadableTree, schema: Schema) -> frozenset[str]:
    lineages = masked_lineages(tree, schema)
    versions: Iterable[Version] = tree.versions(schema.id) if lineages else ()
    found = {a.path for version in versions for a in version.attributes if a.lineage in lineages}
    return frozenset(found) | frozenset(masked_paths(schema))
