"""What a person is asked about attributes: new ones that no table takes, and those of tables that no block maps.

Source: docs/guide/warehouse.md, "When attributes come and go".
"""

from __future__ import annotations

from typing import Any

from metl_gui.core.dimensional.models.attribute_uses import AttributeUse, TablePart, attribute_uses, new_attributes
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.part_checks import AttributesOf
from metl_gui.core.matrix.document import Document
from metl_gui.core.warehouse_model import FROM_ENTITY, Model
from metl_gui.values import Value


class NewAttributes(Value):
    """Attributes of an entity that no table of a model takes.

    Args:
        model: its name.
        entity: whose they are.
        tables: those of the entity, in the order of the model.
        paths: of the attributes, in the order of the entity.
    """

    model: str
    entity: str
    tables: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def words(self) -> str:
        """It in a line."""
        what = "1 new attribute" if len(self.paths) == 1 else f"{len(self.paths):,} new attributes"
        return f"{self.entity} has {what} that no table of the warehouse {self.model} takes"

    def as_json(self) -> dict[str, Any]:
        """Return one of ``new_attributes`` of ``metl review --list``."""
        return {
            "model": self.model,
            "entity": self.entity,
            "tables": list(self.tables),
            "attributes": list(self.paths),
        }


class LostAttribute(Value):
    """An attribute that tables use and no block maps.

    Args:
        model: its name.
        entity, path: the attribute, in the newest version that has it.
        uses: where tables use it, in their order.
    """

    model: str
    entity: str
    path: str
    uses: tuple[AttributeUse, ...]

    @property
    def words(self) -> str:
        """It in a line."""
        return f"No block maps to {self.path} of {self.entity} any more"

    @property
    def columns(self) -> tuple[AttributeUse, ...]:
        """What is the attribute's own column, and may be taken out for itself."""
        return tuple(one for one in self.uses if one.part in _COLUMNS)

    def as_json(self) -> dict[str, Any]:
        """Return one of ``lost_attributes`` of ``metl review --list``."""
        uses = [{"table": one.table, "part": one.part.value, "name": one.name} for one in self.uses]
        return {"model": self.model, "entity": self.entity, "attribute": self.path, "uses": uses}


_COLUMNS = (TablePart.COLUMN, TablePart.MEASURE)


def asked_attributes(document: Document, model: Model, attributes_of: AttributesOf) -> tuple[NewAttributes, ...]:
    """List what is new in entities and may be taken into the tables of a model, by entity in the order of the tables.

    Args:
        document: the state.
        model: whose tables they are.
        attributes_of: reads row expressions.
    """
    found = new_attributes(model, EntityFacts(document), attributes_of)
    tables: dict[str, list[str]] = {}
    for table in model.tables:
        if isinstance(table, FROM_ENTITY):
            tables.setdefault(table.entity, []).append(table.name)
    return tuple(NewAttributes(model.name, one, tuple(tables[one]), paths) for one, paths in found.items())


def lost_attributes(document: Document, model: Model, attributes_of: AttributesOf) -> tuple[LostAttribute, ...]:
    """List the attributes that tables of a model use and no block maps, in the order of the uses; not what is settled.

    Args:
        document: the state.
        model: whose tables they are.
        attributes_of: reads row expressions.
    """
    facts = EntityFacts(document)
    found: dict[tuple[str, str], list[AttributeUse]] = {}
    for use in attribute_uses(model, facts, attributes_of):
        if not facts.is_mapped(use.entity, use.path) and not facts.is_settled(use.entity, use.path):
            found.setdefault((use.entity, use.path), []).append(use)
    return tuple(LostAttribute(model.name, *key, tuple(uses)) for key, uses in found.items())
