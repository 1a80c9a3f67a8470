"""What other schemas give the entities: a schema with the names of one that feeds an entity may feed it, too.

Source: docs/guide/mapping.md, "Be helped".
"""

from __future__ import annotations

from collections import Counter
from typing import Self

from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.suggest.words import letters
from metl_gui.core.trees.nodes import Version
from metl_gui.values import Value

_MOST_FEEDERS = 40
"""Of an entity, the schemas that are looked at: those of the newest versions."""

_MOST_BLOCKS = 5_000
_LEAST_COMMON = 2
"""One name alone, such as ``id``, says nothing."""


class Feeder(Value):
    """A schema that somebody confirmed to feed an entity.

    Args:
        schema_id: the schema.
        entity_id: the entity.
        names: how many attributes of the schema are mapped there.
    """

    schema_id: int
    entity_id: int
    names: int


class Feeds(Value):
    """The confirmed blocks of one document, to be asked for many schema versions.

    Args:
        feeders: of all entities.
        by_name: by name of a source, which of the feeders map it.
    """

    feeders: tuple[Feeder, ...]
    by_name: dict[str, list[int]]

    @classmethod
    def of(cls, document: Document) -> Self:
        """Collect them.

        Cost: the keys of all blocks, and the elements of the newest confirmed ones, of some thousand blocks at most.
        """
        feeders: list[Feeder] = []
        by_name: dict[str, list[int]] = {}
        for entity in document.cdm.schemas():
            for version, elements in _newest_confirmed(document, entity.version_ids):
                if len(feeders) == _MOST_BLOCKS:
                    return cls(tuple(feeders), by_name)
                paths = {a.id: a.path for a in document.extraction.version(version).attributes}
                names = {letters(paths[p]) for p in elements}
                for name in names:
                    by_name.setdefault(name, []).append(len(feeders))
                feeders.append(Feeder(document.extraction.schema_of(version), entity.id, len(names)))
        return cls(tuple(feeders), by_name)

    def shares(self, version: Version) -> dict[int, float]:
        """Return by entity how much of what some other schema gives it this version has by name, 0 to 1.

        Cost: the feeders that map one of its names.
        """
        common: Counter[int] = Counter()
        for name in {letters(a.path) for a in version.attributes}:
            common.update(self.by_name.get(name, ()))
        found: dict[int, float] = {}
        for at, count in common.items():
            feeder = self.feeders[at]
            if count >= _LEAST_COMMON and feeder.schema_id != version.schema_id:
                found[feeder.entity_id] = max(found.get(feeder.entity_id, 0.0), count / feeder.names)
        return found


def _newest_confirmed(document: Document, entity_versions: tuple[int, ...]) -> list[tuple[int, list[int]]]:
    """Return the newest versions of schemas that feed an entity, one for each schema, with what they are mapped by."""
    found: dict[int, tuple[int, list[int]]] = {}
    for w in reversed(entity_versions):
        for key in reversed(document.matrix.row_keys(w)):
            schema = document.extraction.schema_of(key[0])
            if schema in found:
                continue
            block = document.matrix.block(*key)
            if block is not None and block.status is Status.CONFIRMED and block.elements:
                found[schema] = key[0], [element.p for element in block.elements]
            if len(found) == _MOST_FEEDERS:
                return list(found.values())
    return list(found.values())
