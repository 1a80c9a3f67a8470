"""Finding suggestions for what is selected: plain functions, so that they run in a job or at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import Refusals
from metl_gui.core.suggest.block import Candidate, suggest_block
from metl_gui.core.suggest.entities import EntityIndex, EntityRank
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.selection import Selected, block_meant

Anchor: TypeAlias = tuple[Side, int]
"""The attribute whose candidates are looked at."""

_LEAST_ENTITY = 0.05
_AT_ONCE = 900
_AT_ONCE_BLOCKS = 60


@dataclass(frozen=True)
class Found:
    """What was found for one place of one document.

    Args:
        document: the state.
        key: the block; ``None`` while only a schema version is chosen.
        version: the schema version.
        candidates: of the block.
        entities: that the schema version may feed, while no entity is chosen.
    """

    document: Document | None = None
    key: BlockKey | None = None
    version: int | None = None
    candidates: tuple[Candidate, ...] = ()
    entities: tuple[EntityRank, ...] = ()


def find(
    document: Document,
    place: tuple[BlockKey | None, int],
    refusals: Refusals,
    index: EntityIndex | None,
    alike: Callable[[BlockKey], Mapping[Element, float]] | None = None,
) -> tuple[Found, EntityIndex | None]:
    """Find the candidates of a block, or the entities that a schema version may feed.

    Args:
        document: the state.
        place: the block, ``None`` while no entity is chosen, and the schema version.
        refusals: what people refused.
        index: of the entities, where it was made already.
        alike: tells how much alike the values of free attributes of a block are.

    Returns:
        What was found, and the index for the next time.
    """
    key, version = place
    if key is not None:
        values = alike(key) if alike is not None else None
        return Found(document, key, version, suggest_block(document, key, refusals, values)), index
    known = index or EntityIndex(document)
    ranks = known.rank(document, document.extraction.version(version))
    ranks = tuple(rank for rank in ranks if rank.is_fed or rank.score >= _LEAST_ENTITY)
    return Found(document, None, version, entities=ranks), known


def anchor_of(document: Document, key: BlockKey | None, selected: Selected) -> Anchor | None:
    """Return the current attribute of a block that is free: the target's before the source's."""
    if key is None or block_meant(document, selected) != key:
        return None
    block = document.matrix.block(*key)
    elements = block.elements if block is not None else ()
    target, source = selected.target, selected.source
    if target is not None and target.attribute is not None and all(e.q != target.attribute for e in elements):
        return Side.CDM, target.attribute
    if source is not None and source.attribute is not None and all(e.p != source.attribute for e in elements):
        return Side.EXTRACTION, source.attribute
    return None


def is_small(document: Document, key: BlockKey) -> bool:
    """Whether a block is looked at in a few milliseconds."""
    version, entity_version = document.extraction.version(key[0]), document.cdm.version(key[1])
    size = len(version.attributes) * len(entity_version.attributes)
    others = len(document.matrix.row_keys(key[1])) + len(document.extraction.schema(version.schema_id).version_ids)
    return size <= _AT_ONCE and others <= _AT_ONCE_BLOCKS


def place_meant(document: Document, selected: Selected) -> tuple[BlockKey | None, int] | None:
    """Return the block and the schema version that a selection means, ``None`` while no schema is chosen.

    A schema or entity stands for its newest version, as it does in the block editor.
    """
    key, source = block_meant(document, selected), selected.source
    if key is not None:
        return key, key[0]
    schema = document.extraction.find_schema(source.schema) if source is not None else None
    if source is None or schema is None or not schema.version_ids:
        return None
    is_known = source.version is not None and document.extraction.find_version(source.version) is not None
    return None, source.version if is_known and source.version is not None else schema.version_ids[-1]
