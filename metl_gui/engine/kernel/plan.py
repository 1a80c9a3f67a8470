"""The plan: everything the kernel knows of one state of the matrix, as plain values that travel as JSON.

Compiled once for each state (``mapping.plan_compiler``), sent to every executor, never changed.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

DEFAULT_PLACEHOLDER = "__debezium_unavailable_value"


class BlockPlan(msgspec.Struct, frozen=True):
    """One block of a column set.

    Args:
        entity, entity_version: what its messages become; the version by its shown label.
        targets: (source path, CDM path) of each element, in the order of the entity version.
        is_held: a production run sets its messages aside until somebody reviews it.
        is_unreviewed: nobody has confirmed it as it stands.
        waits: what a held block waits for, in words.
        is_unfiltered: creates and reads are sent although all their values are null, as a warehouse counts rows that
            have none; left out where they are not, so that such plans are what they were before there were warehouses.
    """

    entity: str
    entity_version: str
    targets: tuple[tuple[str, str], ...]
    is_held: bool = False
    is_unreviewed: bool = False
    waits: str = ""
    is_unfiltered: bool | UnsetType = UNSET


class VersionPlan(msgspec.Struct, frozen=True):
    """One version of a schema.

    Args:
        label: as shown and written into messages.
        labels: every label it goes by.
        fingerprint: identity of its content.
        paths: its leaves, dotted and escaped.
        required: those that must be there.
        key: key paths in key order, ``()`` for none, ``None`` for unknown.
        blocks: its column set.
        is_inferred: its types were read off data, so that its fingerprint says nothing.
    """

    label: str
    fingerprint: str
    paths: tuple[str, ...]
    required: tuple[str, ...] = ()
    key: tuple[str, ...] | None = None
    blocks: tuple[BlockPlan, ...] = ()
    labels: tuple[str, ...] = ()
    is_inferred: bool = False


class SchemaPlan(msgspec.Struct, frozen=True):
    """One extraction schema.

    Args:
        name, aliases: what it answers to.
        versions: oldest first.
        has_full_images: deletes carry the whole old row (``replica_identity`` is ``full``).
        version_field: dotted path of the member that names the version, empty for none.
        placeholder: the text that stands for an unavailable value.
        framing: how its values name their schemas (``project.writer_schemas.FRAMINGS``), empty for as the plan says.
    """

    name: str
    versions: tuple[VersionPlan, ...]
    aliases: tuple[str, ...] = ()
    has_full_images: bool = False
    version_field: str = ""
    placeholder: str = DEFAULT_PLACEHOLDER
    framing: str = ""


class WriterSchemaPlan(msgspec.Struct, frozen=True):
    """One writer schema, by which values are decoded.

    Args:
        id: what messages call it (``project.writer_schemas.WriterSchema``).
        kind: ``avro``, or ``json`` where the value is text behind its frame.
        text: the schema, empty for ``json``.
        schema: name of the schema whose rows, keys or events it writes.
        version: label of the version that it is attached to, empty for none.
    """

    id: str
    kind: str
    text: str
    schema: str = ""
    version: str = ""


class ColumnPlan(msgspec.Struct, frozen=True):
    """One attribute of an entity version, as a typed sink stores it; the arguments are those of the attribute."""

    path: str
    type: str
    logical: str = ""
    scale: int | None = None
    optional: bool = True


class SourceType(msgspec.Struct, frozen=True):
    """What a source attribute is, where the column that it fills could be misread as something else.

    Args:
        schema, version: of the source; the version by its shown label.
        path: the column.
        type, logical, scale: of the source attribute.
        time_zone: where local times of the schema hold; left out where nobody says it, so that such plans are what
            they were before there were zones.
    """

    schema: str
    version: str
    path: str
    type: str
    logical: str = ""
    scale: int | None = None
    time_zone: str | UnsetType = UNSET


class EntityPlan(msgspec.Struct, frozen=True):
    """One entity version that something is mapped to.

    Args:
        entity, version: the version by its shown label.
        columns: its attributes, in their order.
        sources: sources of another type than the column they fill, of those columns whose values say nothing of
            their own meaning: bytes, decimals and times. A second one of the same version and path says what its
            texts are where the first one has numbers, or its numbers where the first one has texts.
    """

    entity: str
    version: str
    columns: tuple[ColumnPlan, ...] = ()
    sources: tuple[SourceType, ...] = ()


def version_name(schema: str, label: str) -> str:
    """Name a version as reports and error stores do."""
    return f"{schema}@{label}"


class Plan(msgspec.Struct, frozen=True):
    """The whole plan.

    Args:
        state: number of the state, written into every message.
        hash: content hash of the state.
        schemas: every schema, mapped or not.
        entities: every entity version that something is mapped to.
        wire: the writer schemas that messages may name; of one id several where many schemas share it.
        framing: how values name their schemas where their schema says nothing else.
    """

    state: int
    hash: str
    schemas: tuple[SchemaPlan, ...]
    entities: tuple[EntityPlan, ...] = ()
    wire: tuple[WriterSchemaPlan, ...] = ()
    framing: str = "auto"

    def by_name(self) -> dict[str, SchemaPlan]:
        """Schemas by name and alias; a name wins over an alias, an earlier schema over a later one."""
        found: dict[str, SchemaPlan] = {}
        for schema in self.schemas:
            for alias in schema.aliases:
                found.setdefault(alias, schema)
        found.update({schema.name: schema for schema in self.schemas})
        return found


class _RawPlan(msgspec.Struct, frozen=True):
    """A plan whose schemas are not read yet."""

    state: int
    hash: str
    schemas: tuple[msgspec.Raw, ...]
    entities: tuple[EntityPlan, ...] = ()
    wire: tuple[WriterSchemaPlan, ...] = ()
    framing: str = "auto"


_PARTS = msgspec.json.Decoder(_RawPlan)
_SCHEMA = msgspec.json.Decoder(SchemaPlan)


def encode(plan: Plan) -> bytes:
    """Write a plan as JSON."""
    return msgspec.json.encode(plan)


def decode(text: bytes) -> Plan:
    """Read a plan back.

    Schema by schema: one call for all of a plan of 10 MB would stop every other thread for a tenth of a second, and
    with them the lane that goes on while its next state is prepared.
    """
    parts = _PARTS.decode(text)
    schemas = tuple(_SCHEMA.decode(schema) for schema in parts.schemas)
    return Plan(parts.state, parts.hash, schemas, parts.entities, parts.wire, parts.framing)
