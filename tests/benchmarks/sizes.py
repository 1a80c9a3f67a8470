"""Documents of the sizes that the program must carry, built as columns.

Source: docs/architecture/model.md, "The table that is never built".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metl_gui.core.matrix.document import Document, NextIds
from metl_gui.core.matrix.matrix import Dpm, DpmBase
from metl_gui.core.trees.nodes import Schema
from metl_gui.core.trees.trees import TextTable, Tree, TreeBase, TypeFacts, VersionMetadata

VERSIONS = 10
ATTRIBUTES = 10


@dataclass(frozen=True, slots=True)
class Size:
    """A size of project: numbers of schemas and entities, each with ten versions of ten attributes."""

    name: str
    schemas: int
    entities: int

    @property
    def ones(self) -> int:
        """Number of elements."""
        return self.schemas * VERSIONS * ATTRIBUTES

    @property
    def cells(self) -> int:
        """Number of cells of the whole matrix."""
        return self.ones * self.entities * VERSIONS * ATTRIBUTES


DESIGN = Size("10^9 cells", 1_000, 100)
STRETCH = Size("10^12 cells", 100_000, 1_000)


def build(size: Size) -> Document:
    """Build a project in which each schema feeds one entity; every second one changes an attribute at version 6."""
    extraction = Tree(_tree(size.schemas, "service", changing=True))
    cdm = Tree(_tree(size.entities, "entity", changing=False))
    matrix = Dpm.on(_matrix(size))
    return Document(1, extraction, cdm, matrix, _ids(size.schemas), _ids(size.entities))


def _ids(count: int) -> NextIds:
    versions = count * VERSIONS
    return NextIds(count + 1, versions + 1, versions * ATTRIBUTES + 1, 2 * count * ATTRIBUTES + 1)


def _tree(count: int, prefix: str, changing: bool) -> TreeBase:
    versions = count * VERSIONS
    labels = [(str(label + 1),) for label in range(VERSIONS)]
    schemas = {
        id_: Schema(id_, f"{prefix}{id_ % 97}.table{id_}", tuple(range((id_ - 1) * VERSIONS + 1, id_ * VERSIONS + 1)))
        for id_ in range(1, count + 1)
    }
    owner = np.repeat(np.arange(count, dtype=np.int64), VERSIONS * ATTRIBUTES)
    place = np.tile(np.arange(ATTRIBUTES, dtype=np.int64), versions)
    age = np.tile(np.repeat(np.arange(VERSIONS), ATTRIBUTES), count)
    is_new = (place == 0) & (age >= VERSIONS // 2) & (owner % 2 == 1) & changing
    lineage = owner * ATTRIBUTES + place + 1 + np.where(is_new, count * ATTRIBUTES, 0)
    paths = ["", *(f"attribute_{at}" for at in range(ATTRIBUTES)), "renamed"]
    return TreeBase(
        schemas=schemas,
        version_id=np.arange(1, versions + 1, dtype=np.int32),
        schema_id=np.repeat(np.arange(1, count + 1, dtype=np.int32), VERSIONS),
        facts=tuple(VersionMetadata(labels[row % VERSIONS], f"{row:032x}", None, False, "") for row in range(versions)),
        start=np.arange(versions + 1, dtype=np.int64) * ATTRIBUTES,
        id=np.arange(1, versions * ATTRIBUTES + 1, dtype=np.int32),
        lineage=lineage.astype(np.int32),
        path=np.where(is_new, ATTRIBUTES + 1, place + 1).astype(np.int32),
        doc=np.zeros(versions * ATTRIBUTES, np.int32),
        type=np.zeros(versions * ATTRIBUTES, np.int32),
        optional=np.ones(versions * ATTRIBUTES, np.bool_),
        texts=TextTable.of(paths),
        types=(TypeFacts("string", "", None),),
    )


def _matrix(size: Size) -> DpmBase:
    blocks = size.schemas * VERSIONS
    entity = np.repeat(np.arange(size.schemas, dtype=np.int64) % size.entities, VERSIONS)
    newest = (entity + 1) * VERSIONS
    first_q = (newest - 1) * ATTRIBUTES + 1
    q = np.repeat(first_q, ATTRIBUTES) + np.tile(np.arange(ATTRIBUTES), blocks)
    return DpmBase(
        version=np.arange(1, blocks + 1, dtype=np.int32),
        entity_version=newest.astype(np.int32),
        start=np.arange(blocks + 1, dtype=np.int64) * ATTRIBUTES,
        q=q.astype(np.int32),
        p=np.arange(1, blocks * ATTRIBUTES + 1, dtype=np.int32),
        status=np.ones(blocks, np.uint8),
        verdict=np.zeros(blocks, np.uint8),
        came_version=np.zeros(blocks, np.int32),
        came_entity_version=np.zeros(blocks, np.int32),
        who=np.zeros(blocks, np.int32),
        when_ms=np.zeros(blocks, np.int64),
    )
