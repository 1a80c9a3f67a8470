"""What a change of schemas or entities does to the tables of a warehouse model, told by two documents.

An attribute of an entity is fed by the newest version of each schema: once that is live, older ones send nothing more.
So the first document is how things are, the second how they would be, and nothing of either is kept.

Source: docs/guide/change.md, "Before it is deployed".
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from metl_gui.core.dimensional.models.attribute_uses import AttributeUse, TablePart, attribute_uses
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.part_checks import AttributesOf
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.types import is_widening
from metl_gui.core.warehouse_model import Model
from metl_gui.values import Value


class EffectKind(StrEnum):
    """What becomes of an attribute that a table uses."""

    LAST_SOURCE = "last-source"
    """No schema feeds it any more."""

    SOURCE = "source"
    """A schema feeds it no more, and others do."""

    SOURCE_TYPE = "source-type"
    """A schema feeds it with values of a type that is not read the same way."""

    TYPE = "type"
    """It has another type in the entity, so that its column of the history has."""


class WarehouseEffect(Value):
    """What a change does to one part of a table.

    Args:
        model: the name of the model.
        use: which part, by which attribute.
        kind: see ``EffectKind``.
        schemas: those that change, by name; none where the entity does.
        before, after: types; empty where a source is lost.
    """

    model: str
    use: AttributeUse
    kind: EffectKind
    schemas: tuple[str, ...] = ()
    before: str = ""
    after: str = ""

    @property
    def breaks_table(self) -> bool:
        """Whether no more rows of the table are made."""
        return self.use.part is TablePart.KEY and self.kind is EffectKind.LAST_SOURCE


def warehouse_effects(before: Document, after: Document, attributes_of: AttributesOf) -> tuple[WarehouseEffect, ...]:
    """Return what becomes of the models of a document when it becomes another one.

    Cost: the blocks of the entities that models use, in both documents.

    Order: models as they are, what loses its last source first, then as tables declare it.

    Args:
        before: what is, whose models are told of.
        after: what would be.
        attributes_of: reads row expressions.
    """
    if before is after:
        return ()
    found = [effect for model in before.models for effect in _of_model(before, after, model, attributes_of)]
    kinds = list(EffectKind)
    return tuple(sorted(found, key=lambda effect: kinds.index(effect.kind)))


def _of_model(
    before: Document, after: Document, model: Model, attributes_of: AttributesOf
) -> Iterator[WarehouseEffect]:
    was, is_ = EntityFacts(before), EntityFacts(after)
    for use in attribute_uses(model, was, attributes_of):
        fed, feeds = was.feeds(use.entity, use.path), is_.feeds(use.entity, use.path)
        lost = tuple(name for name in fed if name not in feeds)
        if lost:
            kind = EffectKind.SOURCE if feeds else EffectKind.LAST_SOURCE
            yield WarehouseEffect(model.name, use, kind, lost)
        for name in fed:
            if name in feeds and not is_widening(fed[name], feeds[name]):
                types = fed[name].type_text, feeds[name].type_text
                yield WarehouseEffect(model.name, use, EffectKind.SOURCE_TYPE, (name,), *types)
        yield from _of_type(model, use, was, is_)


def _of_type(model: Model, use: AttributeUse, was: EntityFacts, is_: EntityFacts) -> Iterator[WarehouseEffect]:
    one, other = was.column(use.entity, use.path), is_.column(use.entity, use.path)
    if one is not None and other is not None and one.type != other.type:
        yield WarehouseEffect(model.name, use, EffectKind.TYPE, (), one.type, other.type)


def effect_words(effect: WarehouseEffect) -> str:
    """Say what becomes of the part, and what that does to the table."""
    use, schemas = effect.use, ", ".join(effect.schemas)
    match effect.kind:
        case EffectKind.LAST_SOURCE:
            feeds = "feeds" if len(effect.schemas) == 1 else "feed"
            return f"{use.path} would have no source any more ({schemas} {feeds} it today): {_CONSEQUENCES[use.part]}."
        case EffectKind.SOURCE:
            return f"{schemas} would no longer feed {use.path}: for its messages, {_CONSEQUENCES[use.part]}."
        case EffectKind.SOURCE_TYPE:
            types = f"{effect.before} to {effect.after}"
            return f"{schemas} would feed {use.path} with other values, from {types}: what does not fit is set aside."
        case EffectKind.TYPE:
            types = f"from {effect.before} to {effect.after}"
            return f"{use.path} of {use.entity} would go {types}: its history changes, and a rebuild is needed."


_CONSEQUENCES = {
    TablePart.KEY: "no rows are made",
    TablePart.COLUMN: "it keeps its last value, and is null in new rows",
    TablePart.MEASURE: "it keeps its last value, and is null in new rows",
    TablePart.REFERENCE: "new rows refer to what is not applicable",
    TablePart.TIME: "the time of the commit takes its place",
    TablePart.FILTER: "rows are chosen by what is null there",
    TablePart.PARENT: "new members have no parent",
    TablePart.LIST: "new rows have no elements",
    TablePart.WEIGHT: "new rows have no weight",
}
"""What follows where an attribute is not there."""
