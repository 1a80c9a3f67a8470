"""Warehouse models for targets that leave masked values out, or hold hashes of them.

A column or measure of a masked attribute is left out, or a column holds hashes. What decides about rows (keys,
references, times, filters) cannot do without the values; keys, and references by attributes that are masked on both
sides, can do with hashes. Else the model is refused.

Source: docs/reference/warehouse-model.md, "Masked attributes".
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from metl_gui.core.dimensional.histories import ROW_KEY, EntityHistory
from metl_gui.core.dimensional.models.attribute_uses import AttributeUse, TablePart, attribute_uses
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.key_parts import key_parts, parts_named
from metl_gui.core.dimensional.models.part_checks import AttributesOf
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import fed_by_masked, masked_lineages
from metl_gui.core.trees.paths import split_list
from metl_gui.core.warehouse_model import (
    Accepted,
    Column,
    Dimension,
    Fact,
    Junk,
    Model,
    Periodic,
    Reference,
    Related,
    Table,
)
from metl_gui.errors import EditError

Masking: TypeAlias = Literal["omit", "hash", "plain"]
"""What a target holds of masked attributes: nothing, hashes under a key, or their values."""

MASKINGS: tuple[Masking, ...] = ("omit", "hash", "plain")


class TargetMasks(msgspec.Struct, frozen=True):
    """What is masked of the entities of a target, and what becomes of it.

    Args:
        masking: of the target.
        columns: by entity, the columns of its history whose attributes are masked, and left out or hashed.
        fingerprint: of the key of hashes; empty where nothing is to be hashed just now.
    """

    masking: Masking = "plain"
    columns: dict[str, frozenset[str]] = {}
    fingerprint: str = ""

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
        EditError: keys of rows are masked, or may be, which a target that leaves values out would hold.
    """
    if masking == "plain":
        return NO_MASKS
    columns: dict[str, frozenset[str]] = {}
    for history in histories:
        masked = _masked_versions(document, history.entity)
        paths = {(label, path) for label, _, path in masked}
        columns[history.entity] = frozenset(c.name for c in history.columns if paths.intersection(c.paths.items()))
        if masking == "omit":
            _check_keys(document, history.entity, {id_ for _, id_, _ in masked})
    return TargetMasks(masking, columns)


def _check_keys(document: Document, entity: str, masked: Collection[int]) -> None:
    """Refuse an entity whose rows are told apart by what is masked, or may be.

    Args:
        document: the state.
        entity: its name.
        masked: ids of its attributes.

    Raises:
        EditError: a part of a key is masked; or nobody says what the key is of a schema with masked attributes: its
            records have some.
    """
    schemas, undeclared = _schemas_of_masked_keys(document, entity, masked)
    if schemas:
        text = f"The keys of {', '.join(sorted(schemas))} are masked, and {entity} is told apart by them."
        raise EditError("The keys of rows are masked.", text, _WAYS)
    if undeclared:
        first = min(undeclared)
        text = f"{', '.join(sorted(undeclared))} have masked attributes, and no key: that of their records is kept."
        hint = f"Set it: metl set PROJECT --schema {shlex.quote(first)} key=ATTRIBUTE. Or: {_WAYS}"
        raise EditError("The keys of rows may be masked.", text, hint)


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


def _schemas_of_masked_keys(document: Document, entity: str, masked: Collection[int]) -> tuple[set[str], set[str]]:
    """Name the schemas that feed an entity and of whose keys a part is masked, or feeds what is, or may be.

    Where nobody says what the key of a schema is, it is what feeds the key of the entity, or else anything.
    """
    found = next((one for one in document.cdm.schemas() if one.name == entity), None)
    schemas, undeclared = set(), set()
    for target in document.cdm.versions(found.id) if found is not None else ():
        own_key = {one.id for one in target.attributes if one.path in (target.key or ())}
        for block in document.matrix.row_set(target.id):
            version = document.extraction.version(block.version)
            schema = document.extraction.schema(version.schema_id)
            lineages = masked_lineages(document.extraction, schema)
            declared = tuple(filter(None, map(str.strip, split_list(schema.setting("key"))))) or version.key or ()
            key = {one.id for one in version.attributes if one.path in declared}
            if not declared:
                key = {p for q, p in block.elements if q in own_key}
            hidden = {one.id for one in version.attributes if one.lineage in lineages}
            hidden |= {p for q, p in block.elements if q in masked}
            if block.elements and key & hidden:
                schemas.add(schema.name)
            elif block.elements and hidden and not declared and not own_key:
                undeclared.add(schema.name)
    return schemas, undeclared


_WAYS = "Make a target that holds hashes of masked values: end its name in ?masked=hash. Or all of them: ?masked=plain."


def masked_history(history: EntityHistory, masks: TargetMasks) -> EntityHistory:
    """Return the history that a target keeps; hashes are text.

    One that holds hashes tells all rows apart by hashes of their keys: what is in a key, its source alone knows.
    """
    masked = masks.of(history.entity)
    if masks.masking != "hash":
        return msgspec.structs.replace(history, columns=tuple(one for one in history.columns if one.name not in masked))
    columns = tuple(msgspec.structs.replace(c, type="text") if c.name in masked else c for c in history.columns)
    return msgspec.structs.replace(history, columns=columns, hashed=(ROW_KEY, *sorted(masked)))


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
    if masks.masking == "hash":
        return _Hashing(facts, model, masks, uses).model_of_target()
    for use in uses:
        if use.part not in (TablePart.COLUMN, TablePart.MEASURE):
            raise _refusal(use)
    gone = {(use.table, use.name) for use in uses}
    return msgspec.structs.replace(model, tables=tuple(_without_columns(one, gone) for one in model.tables))


class _Hashing:
    """Makes a model one of hashes: their columns are text, and nothing is made of them."""

    def __init__(self, facts: EntityFacts, model: Model, masks: TargetMasks, uses: Collection[AttributeUse]) -> None:
        self.facts, self.model, self.masks, self.uses = facts, model, masks, uses

    def model_of_target(self) -> Model:
        for use in self.uses:
            if not (self.is_copied(use) or self.is_compared(use)):
                raise _refusal(use, can_be_hashed=False)
        for table in self.model.tables:
            for reference in getattr(table, "references", ()):
                self.check_reference(table, reference)
        hashed = {(one.table, one.name) for one in self.uses if one.part in (TablePart.COLUMN, TablePart.KEY)}
        return msgspec.structs.replace(self.model, tables=tuple(self.table(one, hashed) for one in self.model.tables))

    def is_copied(self, use: AttributeUse) -> bool:
        """Return whether a column holds the attribute itself, and nothing that is made of it."""
        if use.part is not TablePart.COLUMN:
            return False
        table = self.model.table(use.table)
        if isinstance(table, Periodic):
            return self.is_copied(AttributeUse(table.of, use.part, use.name, use.entity, use.path))
        if isinstance(table, Dimension) and table.columns == "all":
            return True
        columns = table.columns if isinstance(table, Dimension) else table.degenerate if isinstance(table, Fact) else ()
        return any(one.name == use.name and one.path for one in columns if isinstance(one, Column))

    def is_compared(self, use: AttributeUse) -> bool:
        """Return whether rows are only told apart and found by the attribute: keys, and references by attributes."""
        if use.part is not TablePart.REFERENCE:
            return use.part is TablePart.KEY
        references = getattr(self.model.table(use.table), "references", ())
        on = [one.on for one in references if one.name == use.name and isinstance(one.on, tuple)]
        return bool(on) and all(self.facts.column(use.entity, left) is not None for pairs in on for left, _ in pairs)

    def check_reference(self, table: Table, reference: Reference) -> None:
        """Refuse a reference of which one side alone is hashed, or whose sides are of two types: it finds nothing."""
        target = self.model.table(reference.dimension)
        if not isinstance(target, Dimension) or isinstance(reference.on, str):
            return
        parts = key_parts(target, self.facts.history(target.entity))
        for left, right in reference.on:
            path = next((part.path for part in parts_named(right, parts)), right)
            sides = self.hashed_type(getattr(table, "entity", ""), left), self.hashed_type(target.entity, path)
            text = f"The reference {reference.name} of {table.name} holds {left} against {right} of {target.name}."
            if None in sides and sides != (None, None):
                raise EditError("One side of a reference alone is masked.", text, "Mask both attributes, or neither.")
            if sides[0] != sides[1]:
                text += f" These are {sides[0]} and {sides[1]}."
                raise EditError(
                    "Hashes of values of two types are never alike.", text, "Give both attributes one type."
                )

    def hashed_type(self, entity: str, text: str) -> str | None:
        """Return the type that an attribute has where it is not hashed, ``None`` for one that is not hashed."""
        column = self.facts.column(entity, text)
        return column.type if column is not None and column.name in self.masks.of(entity) else None

    def table(self, one: Table, hashed: _Parts) -> Table:
        """Return a table whose columns of hashes are text."""
        if not isinstance(one, Dimension | Fact):
            return one
        changes: dict[str, Any] = {}
        for member in ("columns", "measures", "degenerate"):
            listed: tuple[Column, ...] | Literal["all"] = getattr(one, member, "all")
            if listed != "all":
                changes[member] = tuple(self.column(one.name, each, hashed) for each in listed)
        return msgspec.structs.replace(one, **changes)

    def column(self, table: str, one: Column, hashed: _Parts) -> Column:
        """Return a column, of type text where it holds hashes.

        Raises:
            EditError: a test holds hashes against values.
        """
        is_hashed = (table, one.name) in hashed
        for test in one.tests:
            is_compared = is_hashed if isinstance(test, Accepted) else False
            if isinstance(test, Related):
                is_compared = is_hashed != ((test.table, test.column) in hashed)
            if is_compared:
                text = f"A test of {one.name} of {table} would look for values where hashes stand."
                raise EditError("A test holds masked values against others.", text, "Leave the test out.")
        return msgspec.structs.replace(one, type="text") if is_hashed else one


def _is_masked(facts: EntityFacts, masks: TargetMasks, use: AttributeUse) -> bool:
    column = facts.column(use.entity, use.path)
    return column is not None and column.name in masks.of(use.entity)


def _refusal(use: AttributeUse, *, can_be_hashed: bool = True) -> EditError:
    text = f"The {use.part.value} {use.name} of {use.table} uses {use.path} of {use.entity}."
    if not can_be_hashed:
        hint = "Leave that out of the model, or make a target that holds masked values: end its name in ?masked=plain."
        return EditError("Hashes of a masked attribute are no values.", text, hint)
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
