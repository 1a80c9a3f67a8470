"""Warehouse models for targets that do not hold masked values plain: left out, or hashed under a key.

A column or measure of a masked attribute is left out, or holds hashes. What decides about rows (keys, references,
times, filters) cannot do without it: where it would have to, the model is refused.

Source: docs/reference/warehouse-model.md, "Masked attributes".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from metl_gui.core.dimensional.attribute_uses import AttributeUse, TablePart, attribute_uses
from metl_gui.core.dimensional.entity_facts import EntityFacts
from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.part_checks import AttributesOf
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import fed_by_masked, masked_lineages
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Junk, Model, Periodic, Reference, Related, Table
from metl_gui.errors import EditError

Masking: TypeAlias = Literal["omit", "hash", "plain"]
"""What a target holds of masked attributes: nothing, hashes under a key, or their values."""

NAMED: tuple[Masking, ...] = ("omit", "plain")
"""What the name of a new target may say."""


class TargetMasks(msgspec.Struct, frozen=True):
    """What is masked of the entities of a target, and what becomes of it.

    Args:
        masking: of the target.
        columns: by entity, the columns of its history whose attributes are masked.
        keys: entities of whose rows the keys are masked.
    """

    masking: Masking = "plain"
    columns: dict[str, frozenset[str]] = {}
    keys: frozenset[str] = frozenset()

    @property
    def hashes(self) -> bool:
        """Return whether something is hashed."""
        return self.masking == "hash" and bool(self.keys or any(self.columns.values()))

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
        EditError: keys of rows are masked, which a target that only leaves values out would hold.
    """
    if masking == "plain":
        return NO_MASKS
    columns: dict[str, frozenset[str]] = {}
    keys: set[str] = set()
    for history in histories:
        masked = _masked_versions(document, history.entity)
        paths = {(label, path) for label, _, path in masked}
        columns[history.entity] = frozenset(c.name for c in history.columns if paths.intersection(c.paths.items()))
        schemas = sorted(_schemas_of_masked_keys(document, history.entity, {id_ for _, id_, _ in masked}))
        if schemas and masking == "omit":
            text = f"The keys of {', '.join(schemas)} are masked, and {history.entity} is told apart by them."
            raise EditError("The keys of rows are masked.", text, _WAYS)
        keys |= {history.entity} if schemas else set()
    return TargetMasks(masking, columns, frozenset(keys))


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
    """Return the history that a target keeps: hashes are text."""
    masked = masks.of(history.entity)
    if masks.masking == "omit":
        return msgspec.structs.replace(history, columns=tuple(c for c in history.columns if c.name not in masked))
    columns = (msgspec.structs.replace(c, type="text") if c.name in masked else c for c in history.columns)
    return msgspec.structs.replace(history, columns=tuple(columns))


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
    return _Masker(document, model, masks, attributes_of).model_of_target()


class _Masker:
    """Takes masked attributes out of one model."""

    def __init__(self, document: Document, model: Model, masks: TargetMasks, attributes_of: AttributesOf) -> None:
        self.facts, self.model, self.masks = EntityFacts(document), model, masks
        self.is_hashing = masks.masking == "hash"
        found = attribute_uses(model, self.facts, attributes_of)
        self.uses = [use for use in found if self.is_masked(use.entity, use.path)]

    def model_of_target(self) -> Model:
        removable = [use for use in self.uses if use.part in (TablePart.COLUMN, TablePart.MEASURE)]
        for use in self.uses:
            if use not in removable and not (self.is_hashing and self.can_be_hashed(use)):
                raise self.refusal(use)
        for table in self.model.tables if self.is_hashing else ():
            for reference in getattr(table, "references", ()):
                self.check_reference(table, reference)
        hashed = {(use.table, use.name) for use in removable if self.is_hashing and self.holds_attribute(use)}
        gone = {(use.table, use.name) for use in removable} - hashed
        tables = (self.table(one, gone, hashed) for one in self.model.tables)
        return msgspec.structs.replace(self.model, tables=tuple(tables))

    def is_masked(self, entity: str, text: str) -> bool:
        column = self.facts.column(entity, text)
        return column is not None and column.name in self.masks.of(entity)

    def holds_attribute(self, use: AttributeUse) -> bool:
        """Whether a column is the attribute itself, which can be hashed, and nothing that is made of it."""
        table = self.model.table(use.table)
        if isinstance(table, Periodic):
            return self.holds_attribute(AttributeUse(table.of, use.part, use.name, use.entity, use.path))
        if isinstance(table, Dimension) and table.columns == "all":
            return True
        columns = table.columns if isinstance(table, Dimension) else table.degenerate if isinstance(table, Fact) else ()
        return any(one.name == use.name and one.path for one in columns if isinstance(one, Column))

    def can_be_hashed(self, use: AttributeUse) -> bool:
        """Whether rows can be told apart and found by hashes: keys, and references by attributes."""
        if use.part is not TablePart.REFERENCE:
            return use.part is TablePart.KEY
        references = getattr(self.model.table(use.table), "references", ())
        on = [one.on for one in references if one.name == use.name and isinstance(one.on, tuple)]
        return bool(on) and all(self.facts.column(use.entity, left) is not None for pairs in on for left, _ in pairs)

    def check_reference(self, table: Table, reference: Reference) -> None:
        """Refuse a reference of which one side alone is hashed: it would find nothing."""
        target = self.model.table(reference.dimension)
        if not isinstance(target, Dimension) or isinstance(reference.on, str):
            return
        history = self.facts.history(target.entity)
        key = target.business_key or (history.key if history is not None else ())
        for left, right in reference.on:
            path = next((one for one in key if split(one)[-1] == split(right)[-1]), right)
            if self.is_masked(getattr(table, "entity", ""), left) != self.is_masked(target.entity, path):
                text = f"The reference {reference.name} of {table.name} holds {left} against {right} of {target.name}."
                raise EditError("One side of a reference alone is masked.", text, "Mask both attributes, or neither.")

    def refusal(self, use: AttributeUse) -> EditError:
        text = f"The {use.part.value} {use.name} of {use.table} uses {use.path} of {use.entity}."
        hint = "Make a target that holds masked values: end its name in ?masked=plain. Or leave that out of the model."
        return EditError("A table cannot do without a masked attribute.", text, hint)

    def table(self, one: Table, gone: _Parts, hashed: _Parts) -> Table:
        """Return a table without columns that are gone, and with those that are hashed as texts."""
        lost = {name for table, name in gone if table in (one.name, getattr(one, "of", ""))}
        texts = {name for table, name in hashed if table == one.name}
        changes: dict[str, Any] = {}
        for member in ("columns", "measures", "degenerate"):
            listed: tuple[Column, ...] | Literal["all"] = getattr(one, member, "all")
            if isinstance(one, Dimension | Fact) and listed != "all":
                kept = (_as_text(each, texts) for each in listed if each.name not in lost)
                changes[member] = tuple(_without_tests(each, gone) for each in kept)
        match one:
            case Dimension():
                changes["unknown"], changes["not_applicable"] = (
                    _without(one.unknown, lost),
                    _without(one.not_applicable, lost),
                )
                changes["indexes"] = tuple(each for each in one.indexes if not lost.intersection(each))
            case Fact():
                changes["junk"] = tuple(name for name in one.junk if name not in lost)
                changes["indexes"] = tuple(each for each in one.indexes if not lost.intersection(each))
            case Periodic() | Junk():
                changes["columns"] = tuple(name for name in one.columns if name not in lost)
        return msgspec.structs.replace(one, **changes)


def _without_tests(column: Column, gone: _Parts) -> Column:
    """Return a column without tests that look for its values in a column that is gone."""
    kept = tuple(one for one in column.tests if not (isinstance(one, Related) and (one.table, one.column) in gone))
    return column if kept == column.tests else msgspec.structs.replace(column, tests=kept)


_Parts: TypeAlias = Collection[tuple[str, str]]
"""Names of tables and columns."""


def _as_text(column: Column, texts: Collection[str]) -> Column:
    return msgspec.structs.replace(column, type="text") if column.name in texts else column


def _without(pairs: tuple[tuple[str, str], ...], gone: Collection[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in pairs if name not in gone)
