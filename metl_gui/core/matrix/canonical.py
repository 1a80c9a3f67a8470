"""The content of a state by names and paths, without ids: what exports carry and what the hash is taken of.

Order: schemas and entities by name, versions in their own order, blocks by schema, version, entity, entity version,
elements by target path. Source: docs/guide/exports.md, "The documents `json` and `dusb`".
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from metl_gui.core.matrix.blocks import Block, Element, Status
from metl_gui.core.matrix.compact import compact
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Schema, Side, Version
from metl_gui.core.warehouse_model import plain

Content = dict[str, Any]


def state_hash(document: Document) -> str:
    """Hash a whole state: 64 hexadecimal digits, equal for equal trees, settings, blocks, statuses and models.

    The order of attributes does not count, as it is no part of a version's identity; nor do null blocks that nobody
    must decide on, as they say nothing that their absence does not.
    """
    content = {"trees": _unordered(trees_content(document)), "settings": settings_content(document)}
    known = [b for b in document.matrix.blocks() if b.elements or b.status is Status.NEEDS_REVIEW]
    blocks = [
        _block_content(document, block) | {"elements": elements_content(document, block)}
        for block in _ordered(document, known)
    ]
    whole = content | {"blocks": blocks} | models_content(document)
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def matrix_content(document: Document, include_unconfirmed: bool = False) -> Content:
    """Build the ``json`` export: the blocks that pipelines may use.

    A block that needs review is carried with ``"held": true`` and without elements, or with its elements where the
    schema is set to ``map what is left``.
    """
    blocks = [_exported_block(document, block) for block in exported_blocks(document, include_unconfirmed)]
    return _head(document, "metl-matrix") | {"blocks": blocks} | _tail(document, include_unconfirmed)


def dusb_content(document: Document, include_unconfirmed: bool = False) -> Content:
    """Build the ``dusb`` export: the compact set of the same blocks, others counting as null.

    Beside it stand the blocks that are carried without being confirmed, as the groups do not say so.
    """
    groups: dict[tuple[int, int], dict[int, tuple[Element, ...]]] = {}
    held: list[Content] = []
    others: list[Content] = []
    for block in exported_blocks(document, include_unconfirmed):
        if is_held(document, block):
            held.append(_block_content(document, block) | {"held": True})
            continue
        if block.status is not Status.CONFIRMED:
            others.append(_block_content(document, block))
        schema_id = document.extraction.version(block.version).schema_id
        groups.setdefault((schema_id, block.entity_version), {})[block.version] = block.elements
    content = [_group_content(document, key, blocks) for key, blocks in groups.items()]
    content.sort(key=lambda group: (group["schema"], group["entity"], group["entity_version"]))
    carried = {"groups": content, "held": held, "statuses": others}
    return _head(document, "metl-dusb") | carried | _tail(document, include_unconfirmed)


def exported_blocks(document: Document, include_unconfirmed: bool = False) -> list[Block]:
    """List the blocks that an export carries, in canonical order."""
    return _ordered(document, [block for block in document.matrix.blocks() if is_carried(block, include_unconfirmed)])


def is_carried(block: Block, include_unconfirmed: bool = False) -> bool:
    """Whether exports carry a block: with its elements, or to say that somebody must decide on it.

    Nothing that nobody has confirmed is, unless it is asked for, nor does it hold anything while it is under review.
    """
    if block.is_null and block.status is not Status.NEEDS_REVIEW:
        return False
    return include_unconfirmed or not block.is_unconfirmed


def is_in_production(document: Document, block: Block, include_unconfirmed: bool = False) -> bool:
    """Whether production maps with a block, or sets the messages aside that it holds.

    That is every block that exports carry but an emptied one that waits under ``map what is left``: nothing is left of
    it to map with. Documents carry it all the same, so that its decision is there when they are read back or merged.
    """
    return is_carried(block, include_unconfirmed) and (not block.is_null or is_held(document, block))


def is_held(document: Document, block: Block) -> bool:
    """Whether production sets the messages of a block aside until somebody decides, where it is carried at all."""
    schema = document.extraction.schema(document.extraction.version(block.version).schema_id)
    return block.status is Status.NEEDS_REVIEW and schema.setting("meanwhile", "hold") == "hold"


def trees_content(document: Document) -> Content:
    """Describe both trees: aliases and versions with fingerprint, key and attributes, lineages by first name.

    What is never to be mapped stands with its schema or entity, where anything is.
    """
    names = {Side.EXTRACTION: "schemas", Side.CDM: "entities"}
    return {
        name: [_schema_content(document, side, schema) for schema in _by_name(document, side)]
        for side, name in names.items()
    }


def settings_content(document: Document) -> Content:
    """Collect the settings of schemas and entities that differ from the defaults."""
    names = {Side.EXTRACTION: "schemas", Side.CDM: "entities"}
    return {
        name: {schema.name: dict(schema.settings) for schema in _by_name(document, side) if schema.settings}
        for side, name in names.items()
    }


def models_content(document: Document) -> Content:
    """Collect the warehouse models; nothing where there are none."""
    return {"warehouse_models": [plain(model) for model in document.models]} if document.models else {}


def _head(document: Document, format_: str) -> Content:
    return {"format": format_, "version": 1, "state": document.state, "hash": state_hash(document)}


def _tail(document: Document, include_unconfirmed: bool) -> Content:
    settings = {"include_unconfirmed": include_unconfirmed} | settings_content(document)
    return {"settings": settings, "trees": trees_content(document)} | models_content(document)


def _unordered(trees: Content) -> Content:
    """Sort the attributes of every version by path."""
    for nodes in trees.values():
        for version in (version for node in nodes for version in node["versions"]):
            version["attributes"].sort(key=lambda attribute: attribute["path"])
    return trees


def _by_name(document: Document, side: Side) -> list[Schema]:
    return sorted(document.tree(side).schemas(), key=lambda schema: schema.name)


def _schema_content(document: Document, side: Side, schema: Schema) -> Content:
    first: dict[int, str] = {}
    versions: list[Content] = []
    for version in document.tree(side).versions(schema.id):
        for attribute in version.attributes:
            first.setdefault(attribute.lineage, f"{_without_colon(version.label)}:{attribute.path}")
        versions.append(_version_content(version, first))
    ignored = [
        {"lineage": first[each.lineage], "reason": each.reason} for each in schema.ignored if each.lineage in first
    ]
    ignored.sort(key=lambda each: each["lineage"])
    content = {"name": schema.name, "aliases": sorted(schema.aliases), "versions": versions}
    return content | ({"ignored": ignored} if ignored else {})


def _without_colon(label: str) -> str:
    """Write a label so that the first plain colon ends it, or two lineages might have one name."""
    return label.replace("\\", "\\\\").replace(":", "\\:") if ":" in label or "\\" in label else label


def _version_content(version: Version, lineages: dict[int, str]) -> Content:
    attributes = [
        {"path": a.path, "type": a.type, "optional": a.optional, "lineage": lineages[a.lineage]}
        | ({"logical": a.logical} if a.logical else {})
        | ({"scale": a.scale} if a.scale is not None else {})
        for a in version.attributes
    ]
    key = None if version.key is None else list(version.key)
    return {
        "version": version.label,
        "labels": list(version.labels),
        "fingerprint": version.fingerprint,
        "key": key,
        "attributes": attributes,
    }


def _block_content(document: Document, block: Block) -> Content:
    """Name a block and its status; under review it says too that nobody has confirmed it, as the status does not."""
    version, entity_version = document.extraction.version(block.version), document.cdm.version(block.entity_version)
    return {
        "schema": document.extraction.schema(version.schema_id).name,
        "version": version.label,
        "entity": document.cdm.schema(entity_version.schema_id).name,
        "entity_version": entity_version.label,
        "status": block.status.value,
    } | ({"unconfirmed": True} if block.unconfirmed else {})


def _exported_block(document: Document, block: Block) -> Content:
    if is_held(document, block):
        return _block_content(document, block) | {"held": True, "elements": []}
    return _block_content(document, block) | {"elements": elements_content(document, block)}


def elements_content(document: Document, block: Block) -> list[Content]:
    """Name the elements of a block by their paths, sorted by target."""
    return _named(
        document.extraction.version(block.version), document.cdm.version(block.entity_version), block.elements
    )


def _named(version: Version, entity_version: Version, elements: tuple[Element, ...]) -> list[Content]:
    columns = {a.id: a.path for a in version.attributes}
    rows = {a.id: a.path for a in entity_version.attributes}
    pairs = [{"from": columns[p], "to": rows[q]} for q, p in elements]
    return sorted(pairs, key=lambda pair: (pair["to"], pair["from"]))


def _group_content(document: Document, key: tuple[int, int], blocks: dict[int, tuple[Element, ...]]) -> Content:
    entity_version = document.cdm.version(key[1])
    kept = compact(document.extraction.versions(key[0]), blocks)
    content = [
        {
            "version": document.extraction.version(k.version).label,
            "elements": _named(document.extraction.version(k.version), entity_version, k.elements),
        }
        for k in kept
    ]
    return {
        "schema": document.extraction.schema(key[0]).name,
        "entity": document.cdm.schema(entity_version.schema_id).name,
        "entity_version": entity_version.label,
        "kept": content,
    }


def _ordered(document: Document, blocks: list[Block]) -> list[Block]:
    def order(block: Block) -> tuple[str, int, str, int]:
        version, entity_version = document.extraction.version(block.version), document.cdm.version(block.entity_version)
        schema = document.extraction.schema(version.schema_id)
        entity = document.cdm.schema(entity_version.schema_id)
        at = schema.version_ids.index(block.version), entity.version_ids.index(block.entity_version)
        return schema.name, at[0], entity.name, at[1]

    return sorted(blocks, key=order)
