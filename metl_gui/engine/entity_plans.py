"""What a typed sink is told of each entity version: its columns, and which sources it could misread.

A number or a text in JSON does not say whether it counts days or milliseconds, or whether it is bytes in base64; the
type of the attribute that it came from does. Cost: linear in the entity versions that are fed and their ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.canonical import is_carried
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute
from metl_gui.engine.kernel.plan import ColumnPlan, EntityPlan, SourceType


def entity_plans(document: Document, include_unconfirmed: bool = True) -> tuple[EntityPlan, ...]:
    """Describe every entity version that a carried block feeds, entities and versions in their order."""
    fed: dict[int, list[Block]] = {}
    for block in document.matrix.blocks():
        if block.elements and is_carried(block, include_unconfirmed):
            fed.setdefault(block.entity_version, []).append(block)
    versions = (version for entity in document.cdm.schemas() for version in document.cdm.versions(entity.id))
    return tuple(
        EntityPlan(
            entity=document.cdm.schema(version.schema_id).name,
            version=version.label,
            columns=tuple(ColumnPlan(a.path, a.type, a.logical, a.scale, a.optional) for a in version.attributes),
            sources=tuple(found for block in fed[version.id] for found in _sources(document, block)),
        )
        for version in versions
        if version.id in fed
    )


def _sources(document: Document, block: Block) -> Iterator[SourceType]:
    target = {a.id: a for a in document.cdm.version(block.entity_version).attributes}
    version = document.extraction.version(block.version)
    source = {a.id: a for a in version.attributes}
    schema = document.extraction.schema(version.schema_id).name
    for element in block.elements:
        one, other = source[element.p], target[element.q]
        if (_means_more(one) or _means_more(other)) and _kind(one) != _kind(other):
            yield SourceType(schema, version.label, other.path, *_kind(one))


def _means_more(attribute: Attribute) -> bool:
    """Say whether values say less than the attribute does."""
    return attribute.type == "bytes" or bool(attribute.logical)


def _kind(attribute: Attribute) -> tuple[str, str, int | None]:
    return attribute.type, attribute.logical, attribute.scale
