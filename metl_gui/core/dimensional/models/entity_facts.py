"""What checks and proposals ask of entities: their histories, what is mapped to them, what of them is masked."""

from __future__ import annotations

from functools import cached_property

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn, entity_histories
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.canonical import is_in_production
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import is_masked
from metl_gui.core.project.warehouse_settled import settled_lineages
from metl_gui.core.review.feeders import newest_blocks
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version


class EntityFacts:
    """Entities of one document; what is asked of one is worked out once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._histories: dict[str, EntityHistory | None] = {}
        self._newest: dict[str, list[tuple[int, Block]]] = {}
        self._mapped: dict[tuple[str, bool], frozenset[int]] = {}
        self._fed: dict[str, frozenset[int]] = {}

    @cached_property
    def _entities(self) -> dict[str, Schema]:
        return {entity.name: entity for entity in self._document.cdm.schemas()}

    def names(self) -> tuple[str, ...]:
        """Return the names of all entities."""
        return tuple(self._entities)

    def history(self, entity: str) -> EntityHistory | None:
        """Return the history of an entity, ``None`` where there is no such entity."""
        if entity not in self._histories:
            self._histories[entity] = next(iter(entity_histories(self._document, (entity,))), None)
        return self._histories[entity]

    def column(self, entity: str, path: str) -> HistoryColumn | None:
        """Return the column of an attribute, ``None`` where there is none."""
        history = self.history(entity)
        return history.at_path(path) if history is not None else None

    def paths(self, entity: str) -> tuple[str, ...]:
        """Return the paths of all attributes of an entity."""
        history = self.history(entity)
        return tuple(column.path for column in history.columns) if history is not None else ()

    def is_mapped(self, entity: str, path: str, *, published: bool = False) -> bool:
        """Whether a block maps to an attribute; where ``published``, one that production maps with."""
        attribute = self._attribute(entity, path)
        return attribute is not None and attribute[1].lineage in self._lineages(entity, published)

    def is_still_mapped(self, entity: str, path: str) -> bool:
        """Whether the newest version of some schema maps to an attribute: what older ones map, comes no more."""
        attribute = self._attribute(entity, path)
        if entity not in self._fed:
            blocks = [block for block in self._blocks(entity) if self._is_newest(block)]
            self._fed[entity] = frozenset().union(*map(self._lineages_of, blocks))
        return attribute is not None and attribute[1].lineage in self._fed[entity]

    def new_paths(self, entity: str) -> tuple[str, ...]:
        """Return the mapped attributes that only the newest version of an entity has; none where it is the only one.

        Those that no table shall take are left out.
        """
        found = self._entities.get(entity)
        if found is None or len(found.version_ids) < 2:
            return ()
        newest = self._document.cdm.version(found.version_ids[-1]).label
        history = self.history(entity)
        fresh = [one for one in (history.columns if history is not None else ()) if [*one.paths] == [newest]]
        mapped = [one.path for one in fresh if self.is_mapped(entity, one.path)]
        return tuple(path for path in mapped if not self.is_settled(entity, path))

    def is_masked(self, entity: str, path: str) -> bool:
        """Whether the values of an attribute are hidden from people."""
        found = self._attribute(entity, path)
        return found is not None and is_masked(self._document, Side.CDM, found[0].id, found[1].id)

    def is_settled(self, entity: str, path: str) -> bool:
        """Whether the review list asks no more what tables make of an attribute."""
        found = self._attribute(entity, path)
        if found is None:
            return False
        return found[1].lineage in settled_lineages(self._document.cdm, self._entities[entity])

    def doc(self, entity: str, path: str) -> str:
        """Return what is written of an attribute in the newest version that has it."""
        found = self._attribute(entity, path)
        return found[1].doc if found is not None else ""

    def fed_by(self, entity: str, path: str) -> tuple[str, ...]:
        """Name the schemas of which a version maps to an attribute, by name."""
        found = self._attribute(entity, path)
        if found is None:
            return ()
        blocks = [block for block in self._blocks(entity) if found[1].lineage in self._lineages_of(block)]
        ids = {self._document.extraction.version(block.version).schema_id for block in blocks}
        return tuple(sorted(self._document.extraction.schema(id_).name for id_ in ids))

    def feeds(self, entity: str, path: str) -> dict[str, Attribute]:
        """Return what feeds an attribute of the newest version of an entity, by name of the schema.

        A schema feeds it by its newest version: once that is live, older ones send nothing more.
        """
        found = self._entities.get(entity)
        attribute = self._attribute(entity, path)
        if found is None or attribute is None:
            return {}
        if entity not in self._newest:
            self._newest[entity] = list(newest_blocks(self._document, found.version_ids[-1]))
        target = self._document.cdm.version(found.version_ids[-1]).of_lineage(attribute[1].lineage)
        feeding: dict[str, Attribute] = {}
        for schema, block in self._newest[entity] if target is not None else ():
            source = next((p for q, p in block.elements if target is not None and q == target.id), None)
            own = self._document.extraction.version(block.version).attribute(source) if source is not None else None
            if own is not None:
                feeding[self._document.extraction.schema(schema).name] = own
        return dict(sorted(feeding.items()))

    def schemas_without(self, entity: str, paths: tuple[str, ...]) -> list[str]:
        """Name the schemas whose newest block to an entity maps to some attribute, but not to all of these."""
        wanted = {found[1].lineage for path in paths if (found := self._attribute(entity, path)) is not None}
        newest: dict[int, tuple[int, Block]] = {}
        for block in self._blocks(entity):
            version = self._document.extraction.version(block.version)
            order = self._document.extraction.schema(version.schema_id).version_ids.index(version.id)
            if block.elements and order >= newest.get(version.schema_id, (-1, block))[0]:
                newest[version.schema_id] = order, block
        lacking = [id_ for id_, (_, block) in newest.items() if not wanted <= self._lineages_of(block)]
        return sorted(self._document.extraction.schema(id_).name for id_ in lacking)

    def _attribute(self, entity: str, path: str) -> tuple[Version, Attribute] | None:
        """Find an attribute, and the newest version that has it."""
        found = self._entities.get(entity)
        for id_ in reversed(found.version_ids) if found is not None else ():
            version = self._document.cdm.version(id_)
            attribute = version.at_path(path)
            if attribute is not None:
                return version, attribute
        return None

    def _blocks(self, entity: str) -> list[Block]:
        found = self._entities.get(entity)
        ids = found.version_ids if found is not None else ()
        return [block for id_ in ids for block in self._document.matrix.row_set(id_)]

    def _is_newest(self, block: Block) -> bool:
        version = self._document.extraction.version(block.version)
        return self._document.extraction.schema(version.schema_id).version_ids[-1] == version.id

    def _lineages(self, entity: str, published: bool) -> frozenset[int]:
        if (entity, published) not in self._mapped:
            blocks = self._blocks(entity)
            if published:
                blocks = [block for block in blocks if is_in_production(self._document, block)]
            self._mapped[entity, published] = frozenset().union(*map(self._lineages_of, blocks))
        return self._mapped[entity, published]

    def _lineages_of(self, block: Block) -> frozenset[int]:
        targets = {element.q for element in block.elements}
        version = self._document.cdm.version(block.entity_version)
        return frozenset(attribute.lineage for attribute in version.attributes if attribute.id in targets)
