"""Warehouse models for targets that leave masked values out.

A column or measure of a masked attribute is left out. What decides about rows (keys, references, times, filters) cannot
do without it: where it would have to, the model is refused.

Source: docs/reference/warehouse-model.md, "Masked attributes".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.models.attribute_uses import AttributeUse, TablePart, attribute_uses
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.part_checks import AttributesOf
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import fed_by_masked, masked_lineages
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Junk, Model, Periodic, Related, Table
from metl_gui.errors import EditError

Masking: TypeAlias = Literal["omit", "plain"]
"""What a target holds of masked attributes: nothing, or their values."""

MASKINGS: tuple[Masking, ...] = ("omit", "plain")


class TargetMasks(msgspec.Struct, frozen=True):
    """What is masked of the entities of a target, and what becomes of it.

    Args:
        masking: of the target.
        columns: by entity, the columns of its history whose attributes are masked and left out.
    """

    masking: Masking = "plain"
    columns: dict[str, frozenset[str]] = {}

    def of(self, entity: str) -> frozenset[str]:
        """Return what is masked of an entity."""
        return self.columns.get(entity, frozenset())


NO_MASKS = TargetMasks()


def target_masks(document: Document, histories: Iterable[EntityHistory], masking: Masking) -> TargetMasks:
    """Return what is masked for a target.

    Args:
        document: the state.
        histories: that the target keeps.
        masking: of the target.

    Raises:
        EditError: keys of rows are masked, which a target that leaves values out would hold.
    """
    if masking == "plain":
        return NO_MASKS
    columns: dict[str, frozenset[str]] = {}
    for history in histories:
        masked = _masked_versions(document, history.entity)
        paths = {(label, path) for label, _, path in masked}
        columns[history.entity] = frozenset(c.name for c in history.columns if paths.intersection(c.paths.items()))
        schemas = sorted(_schemas_of_masked_keys(document, history.entity, {id_ for _, id_, _ in masked}))
        if schemas:
            text = f"The keys of {', '.join(schemas)} are masked, and {history.entity} is told apart by them."
            raise EditError("The keys of rows are masked.", text, _WAYS)
    return TargetMasks(masking, columns)


def _masked_versions(document: Document, entity: str) -> list[tuple[str, int, str]]:
    """Return what is masked in each version of an entity: its label, and the attribute's id and path."""
    found = next((one for one in document.cdm.schemas() if one.name == entity), None)
    hidden = []
    for version in document.cdm.versions(found.id) if found is not None else ():
        masked = masked_lineages(document.cdm, found) if found is not None else frozenset()
        fed = fed_by_masked(document, version.id)
        hidden += [
            (version.label, one.id, one.path) for one in version.attributes if one.lineage in masked or one.id in fed
        ]
    return hidden


def _schemas_of_masked_keys(document: Document, entity: str, masked: Collection[int]) -> set[str]:
    """Name the schemas that feed an entity and of whose keys a part is masked, or feeds what is.

    Where nobody says what the key of a schema is, it is what feeds the key of the entity.
    """
    found = next((one for one in document.cdm.schemas() if one.name == entity), None)
    schemas = set()
    for target in document.cdm.versions(found.id) if found is not None else ():
        own_key = {one.id for one in target.attributes if one.path in (target.key or ())}
        for block in document.matrix.row_set(target.id):
            version = document.extraction.version(block.version)
            schema = document.extraction.schema(version.schema_id)
            lineages = masked_lineages(document.extraction, schema)
            key = {one.id for one in version.attributes if one.path in (version.key or ())}
            if version.key is None:
                key = {p for q, p in block.elements if q in own_key}
            hidden = {one.id for one in version.attributes if one.lineage in lineages}
            hidden |= {p for q, p in block.elements if q in masked}
            if block.elements and key & hidden:
                schemas.add(schema.name)
    return schemas


_WAYS = "Make a target that holds masked values plain: end its name in ?masked=plain."


def masked_history(history: EntityHistory, masks: TargetMasks) -> EntityHistory:
    """Return the history that a target keeps."""
    masked = masks.of(history.entity)
    return msgspec.structs.replace(history, columns=tuple(one for one in history.columns if one.name not in masked))


def masked_model(document: Document, model: Model, masks: TargetMasks, attributes_of: AttributesOf) -> Model:
    """Return the model that a target carries out.

    Args:
        document: the state.
        model: as it is declared.
        masks: of the target.
        attributes_of: reads row expressions.

    Raises:
        EditError: what decides about rows is masked; the error names the table and the attribute.
    """
    if not any(masks.columns.values()):
        return model
    facts = EntityFacts(document)
    uses = [use for use in attribute_uses(model, facts, attributes_of) if _is_masked(facts, masks, use)]
    for use in uses:
        if use.part not in (TablePart.COLUMN, TablePart.MEASURE):
            raise _refusal(use)
    gone = {(use.table, use.name) for use in uses}
    return msgspec.structs.replace(model, tables=tuple(_without_columns(one, gone) for one in model.tables))


def _is_masked(facts: EntityFacts, masks: TargetMasks, use: AttributeUse) -> bool:
    column = facts.column(use.entity, use.path)
    return column is not None and column.name in masks.of(use.entity)


def _refusal(use: AttributeUse) -> EditError:
    text = f"The {use.part.value} {use.name} of {use.table} uses {use.path} of {use.entity}."
    hint = "Make a target that holds masked values: end its name in ?masked=plain. Or leave that out of the model."
    return EditError("A table cannot do without a masked attribute.", text, hint)


def _without_columns(one: Table, gone: _Parts) -> Table:
    """Return a table without columns that are gone, in it or in the table that it takes them from."""
    lost = {name for table, name in gone if table in (one.name, getattr(one, "of", ""))}
    changes: dict[str, Any] = {}
    for member in ("columns", "measures", "degenerate"):
        listed: tuple[Column, ...] | Literal["all"] = getattr(one, member, "all")
        if isinstance(one, Dimension | Fact) and listed != "all":
            changes[member] = tuple(_without_tests(each, gone) for each in listed if each.name not in lost)
    if isinstance(one, Dimension | Fact):
        changes["indexes"] = tuple(each for each in one.indexes if not lost.intersection(each))
    match one:
        case Dimension():
            changes["unknown"], changes["not_applicable"] = (
                tuple((name, value) for name, value in pairs if name not in lost)
                for pairs in (one.unknown, one.not_applicable)
            )
        case Fact():
            changes["junk"] = tuple(name for name in one.junk if name not in lost)
        case Periodic() | Junk():
            changes["columns"] = tuple(name for name in one.columns if name not in lost)
    return msgspec.structs.replace(one, **changes)


def _without_tests(column: Column, gone: _Parts) -> Column:
    """Return a column without tests that look for its values in a column that is gone."""
    kept = tuple(one for one in column.tests if not (isinstance(one, Related) and (one.table, one.column) in gone))
    return column if kept == column.tests else msgspec.structs.replace(column, tests=kept)


_Parts: TypeAlias = Collection[tuple[str, str]]
"""Names of tables and columns."""
