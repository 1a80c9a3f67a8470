"""A document compiled to the plan that the kernel maps with, and to what typed sinks are told of entities.

A typed sink is told the columns of each entity version, and which sources it could misread (``entity_plans``): a number
or a text in JSON does not say whether it counts days or milliseconds, or whether it is bytes in base64; the type of the
attribute that it came from does. A message whose paths alone say its version counts as one of the newest version that
they fit, so it may hold texts where that one has numbers, or numbers where it has texts: of a schema that states a time
zone, what an older version says of those is told too.

Cost: of a plan, linear in the versions and ones of the document; of what sinks are told, linear in the entity versions
that are fed and their ones. Source: docs/architecture/model.md, "Algorithms" (A6).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, MutableMapping

from msgspec import UNSET

from metl_gui.core.matrix.blocks import Block, Status
from metl_gui.core.matrix.canonical import is_carried, is_in_production
from metl_gui.core.matrix.document import Document
from metl_gui.core.project import writer_schemas
from metl_gui.core.project.time_zones import zone_of
from metl_gui.core.trees.nodes import Attribute, Schema, Version
from metl_gui.core.trees.paths import split_list
from metl_gui.core.warehouse_model import FROM_ENTITY, Bridge
from metl_gui.engine.kernel.plan import (
    DEFAULT_PLACEHOLDER,
    BlockPlan,
    ColumnPlan,
    EntityPlan,
    Plan,
    SchemaPlan,
    SourceType,
    VersionPlan,
    WriterSchemaPlan,
)


def entity_plans(document: Document, include_unconfirmed: bool = True) -> tuple[EntityPlan, ...]:
    """Describe every entity version that a carried block feeds, entities and versions in their order."""
    fed = _fed(document, include_unconfirmed)
    return tuple(_entity_plan(document, version, fed[version.id]) for version in _cdm(document) if version.id in fed)


def staging_plan(document: Document, state_hash: str = "", include_unconfirmed: bool = True) -> Plan:
    """Describe every entity version, fed or not, for messages that exist: they may be of before.

    What a schema version feeds no more in one version of an entity, or not yet again, was of the types that it feeds
    the same attributes with in another.

    Args:
        document, state_hash, include_unconfirmed: as of ``compile_plan``.
    """
    fed = _fed(document, include_unconfirmed)
    every = _fed(document, include_unconfirmed=True)
    plans = []
    for entity in document.cdm.schemas():
        newest = [*reversed(entity.version_ids)]
        known: dict[int, Block] = {}
        for block in (one for blocks in (fed, every) for id_ in newest for one in blocks.get(id_, ())):
            known.setdefault(block.version, block)
        for version in document.cdm.versions(entity.id):
            own = {block.version: block for block in fed.get(version.id, ())}
            plans.append(_entity_plan(document, version, (own | {**known, **own}).values()))
    return Plan(document.state, state_hash, (), entities=tuple(plans))


def _fed(document: Document, include_unconfirmed: bool) -> dict[int, list[Block]]:
    fed: dict[int, list[Block]] = {}
    for block in document.matrix.blocks():
        if block.elements and is_carried(block, include_unconfirmed):
            fed.setdefault(block.entity_version, []).append(block)
    return fed


def _cdm(document: Document) -> Iterator[Version]:
    for entity in document.cdm.schemas():
        yield from document.cdm.versions(entity.id)


def plan_of_block(document: Document, block: Block) -> EntityPlan:
    """Return how typed sinks store what one block maps, as if it were the only one of its entity version."""
    return _entity_plan(document, document.cdm.version(block.entity_version), (block,))


def _entity_plan(document: Document, version: Version, blocks: Iterable[Block]) -> EntityPlan:
    return EntityPlan(
        entity=document.cdm.schema(version.schema_id).name,
        version=version.label,
        columns=tuple(ColumnPlan(a.path, a.type, a.logical, a.scale, a.optional) for a in version.attributes),
        sources=tuple(found for block in blocks for found in _sources(document, block, version)),
    )


def _sources(document: Document, block: Block, fed: Version) -> Iterator[SourceType]:
    """Yield the sources of a block that a version of its entity could misread, be it not that which the block feeds."""
    lineages = {a.lineage: a for a in fed.attributes}
    own = document.cdm.version(block.entity_version).attributes
    target = {a.id: lineages[a.lineage] for a in own if a.lineage in lineages}
    version = document.extraction.version(block.version)
    source = {a.id: a for a in version.attributes}
    schema = document.extraction.schema(version.schema_id)
    time_zone = zone_of(schema) or UNSET
    mistakable = _mistakable(document, schema, version) if time_zone else ()
    older = [{a.path: a for a in one.attributes} for one in mistakable]
    for element in (one for one in block.elements if one.q in target):
        one, other = source[element.p], target[element.q]
        was = next((found for by_path in older if _has_other_form(found := by_path.get(one.path), one)), None)
        if was or ((_means_more(one) or _means_more(other)) and _kind(one) != _kind(other)):
            yield SourceType(schema.name, version.label, other.path, *_kind(one), time_zone)
        if was:
            yield SourceType(schema.name, version.label, other.path, *_kind(was), time_zone)


def _mistakable(document: Document, schema: Schema, version: Version) -> Iterator[Version]:
    """Yield the versions just before one whose messages fit it too by their paths, the newest first."""
    paths = {a.path for a in version.attributes}
    required = {a.path for a in version.attributes if not a.optional}
    for id_ in reversed(schema.version_ids[: schema.version_ids.index(version.id)]):
        older = document.extraction.version(id_)
        if not required <= {a.path for a in older.attributes} <= paths:
            return
        yield older


def _has_other_form(older: Attribute | None, newer: Attribute) -> bool:
    """Return whether values of one attribute are texts and those of the other counted times."""
    if older is None:
        return False
    text, number = (older, newer) if older.type == "string" else (newer, older)
    return text.type == "string" and number.type in _COUNTED and _means_more(number)


_COUNTED = ("int32", "int64")


def _means_more(attribute: Attribute) -> bool:
    """Return whether values say less than the attribute does."""
    return attribute.type == "bytes" or bool(attribute.logical)


def _kind(attribute: Attribute) -> tuple[str, str, int | None]:
    return attribute.type, attribute.logical, attribute.scale


_REASONS = 3


def compile_plan(
    document: Document,
    state_hash: str = "",
    include_unconfirmed: bool = True,
    wire: Iterable[writer_schemas.WriterSchema] = (),
    framing: str = "auto",
) -> Plan:
    """Compile every schema and version, and their blocks; one that is left out counts as null.

    Args:
        document: the state to map with.
        state_hash: its content hash, carried along.
        include_unconfirmed: map with blocks that nobody has confirmed too, as tests do.
        wire: writer schemas that messages may name.
        framing: how values name them, where their schema is not set to something else.
    """
    schemas = tuple(compile_schema(document, schema, include_unconfirmed) for schema in document.extraction.schemas())
    return Plan(
        document.state,
        state_hash,
        schemas,
        entities=entity_plans(document, include_unconfirmed),
        wire=tuple(attached(document, one) for one in wire),
        framing=framing,
    )


def attached(document: Document, one: writer_schemas.WriterSchema) -> WriterSchemaPlan:
    """Attach a writer schema to the version whose rows it writes, by the name that the tree has for its schema."""
    version = writer_schemas.version_of(document, one)
    schema = document.extraction.named(one.schema)
    return WriterSchemaPlan(
        one.id, one.kind, one.text, schema.name if schema else one.schema, version.label if version else ""
    )


def compile_schema(
    document: Document,
    schema: Schema,
    include_unconfirmed: bool = True,
    known: MutableMapping[int, VersionPlan] | None = None,
) -> SchemaPlan:
    """Compile one schema.

    Args:
        document: the state to map with.
        schema: the schema.
        include_unconfirmed: as of ``compile_plan``.
        known: versions that are compiled already, by id; the others are put to them.
    """
    key = schema.setting("key")
    is_held = schema.setting("meanwhile", "hold") == "hold"
    compiled = {} if known is None else known
    unfiltered = unfiltered_entities(document)
    for id_ in schema.version_ids:
        if id_ not in compiled:
            version = document.extraction.version(id_)
            compiled[id_] = _version(document, version, key, unfiltered, is_held, include_unconfirmed)
    return SchemaPlan(
        name=schema.name,
        versions=tuple(compiled[id_] for id_ in schema.version_ids),
        aliases=schema.aliases,
        has_full_images=schema.setting("replica_identity") == "full",
        version_field=schema.setting("version_field"),
        placeholder=schema.setting("placeholder") or DEFAULT_PLACEHOLDER,
        framing=schema.setting("framing"),
    )


def unfiltered_entities(document: Document) -> frozenset[str]:
    """Return the entities that a table of a warehouse model uses: a row without values is one of its rows too."""
    tables = (table for model in document.models for table in model.tables)
    return frozenset(table.entity for table in tables if isinstance(table, (*FROM_ENTITY, Bridge)) and table.entity)


def _version(
    document: Document,
    version: Version,
    key: str,
    unfiltered: Collection[str],
    is_held: bool,
    include_unconfirmed: bool,
) -> VersionPlan:
    given = tuple(path.strip() for path in split_list(key) if path.strip())
    column_set = document.matrix.column_set(version.id)
    blocks = (
        _block(document, version, b, unfiltered, is_held)
        for b in column_set
        if is_in_production(document, b, include_unconfirmed)
    )
    return VersionPlan(
        label=version.label,
        fingerprint=version.fingerprint,
        paths=tuple(a.path for a in version.attributes),
        required=tuple(a.path for a in version.attributes if not a.optional),
        key=given or version.key,
        blocks=tuple(blocks),
        labels=version.labels,
        is_inferred=version.inferred,
    )


def _block(document: Document, version: Version, block: Block, unfiltered: Collection[str], is_held: bool) -> BlockPlan:
    entity_version = document.cdm.version(block.entity_version)
    entity = document.cdm.schema(entity_version.schema_id).name
    source = {a.id: a.path for a in version.attributes}
    is_held = is_held and block.status is Status.NEEDS_REVIEW
    by_target = {element.q: source[element.p] for element in block.elements}
    return BlockPlan(
        entity=entity,
        entity_version=entity_version.label,
        targets=tuple((by_target[a.id], a.path) for a in entity_version.attributes if a.id in by_target),
        is_held=is_held,
        is_unreviewed=block.status is not Status.CONFIRMED,
        waits=_waits(block) if is_held else "",
        is_unfiltered=True if entity in unfiltered else UNSET,
    )


def _waits(block: Block) -> str:
    reasons = list(dict.fromkeys(loss.reason for loss in block.open_losses))
    if not reasons:
        return "a type change or new attributes wait for a person"
    more = f" and {len(reasons) - _REASONS} more" if len(reasons) > _REASONS else ""
    return "; ".join(reasons[:_REASONS]) + more
