"""How far the attributes of the canonical model were filled by a run.

A share is of the messages of the entity that were made by the versions in which the attribute is mapped or required.
The counts say how often each mapped attribute of each entity version was not null; how the messages of an entity
divide among its versions is not counted, so where a run fed several versions their shares are of all its messages.
"""

from __future__ import annotations

from collections.abc import Mapping

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Version
from metl_gui.values import Value


class AttributeFilled(Value):
    """One attribute.

    Args:
        entity, version: whose it is.
        path: its path.
        is_required: whether the entity version requires it.
        filled: messages in which it was not null.
        messages: of the entity.
    """

    entity: str
    version: str
    path: str
    is_required: bool
    filled: int
    messages: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.filled / self.messages if self.messages else 0.0


class EntityFilled(Value):
    """One entity.

    Args:
        entity: its name.
        versions: those that the run fed, as far as is known.
        messages: how many it got.
        attributes: what is known of its attributes, by version and in their order.
    """

    entity: str
    versions: tuple[str, ...]
    messages: int
    attributes: tuple[AttributeFilled, ...]

    @property
    def name(self) -> str:
        """The entity, with its version where there is one only."""
        return f"{self.entity} {self.versions[0]}" if len(self.versions) == 1 else self.entity

    @property
    def required(self) -> tuple[int, int]:
        """How many values of required attributes were filled, and how many there would be; (0, 0) where not known."""
        paths: dict[str, int] = {}
        for each in self.attributes:
            if each.is_required:
                paths[each.path] = min(paths.get(each.path, 0) + each.filled, self.messages)
        return sum(paths.values()), len(paths) * self.messages


def filled_of(
    by_entity: Mapping[str, int], by_attribute: Mapping[str, Mapping[str, int]], document: Document
) -> tuple[EntityFilled, ...]:
    """Join the counts of a run with what the canonical model requires.

    Args:
        by_entity: messages.
        by_attribute: by ``entity@version`` and path, messages in which the attribute is not null.
        document: the model; entities that it has no more count without what they require.

    Order: the entity with most messages first.
    """
    counted: dict[str, dict[str, Mapping[str, int]]] = {}
    for name, filled in by_attribute.items():
        entity, _, label = name.rpartition("@")
        counted.setdefault(entity, {})[label] = filled
    rows = sorted(by_entity.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(_entity(entity, messages, counted.get(entity, {}), document) for entity, messages in rows)


def _entity(
    entity: str, messages: int, by_version: Mapping[str, Mapping[str, int]], document: Document
) -> EntityFilled:
    schema = document.cdm.named(entity)
    found: list[AttributeFilled] = []
    for label, filled in by_version.items():
        version = document.cdm.labelled(schema.id, label) if schema is not None else None
        found.extend(_attributes(entity, label, version, filled, messages))
    return EntityFilled(entity, tuple(by_version), messages, tuple(found))


def _attributes(
    entity: str, label: str, version: Version | None, filled: Mapping[str, int], messages: int
) -> list[AttributeFilled]:
    known = [(a.path, not a.optional) for a in version.attributes] if version is not None else []
    paths = {path for path, _ in known}
    known += [(path, False) for path in filled if path not in paths]
    return [
        AttributeFilled(entity, label, path, is_required, filled.get(path, 0), messages)
        for path, is_required in known
        if is_required or path in filled
    ]
