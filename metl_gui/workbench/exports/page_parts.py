"""What a page for people tells of a matrix: entities, for each the schemas that feed it, for each runs of versions.

Versions that follow each other and say the same of an entity are told once, as in the compact set, so that fifty
versions of a schema do not fill fifty tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from metl_gui.core.trees.nodes import Schema, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.workbench.exports.carried import Carried

_Said: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Versions of one schema, one after the other, that say the same of one entity version.

    Args:
        blocks: one block for each of them, oldest first.
        number: which one it is on the page, from 1.
    """

    blocks: tuple[Carried, ...]
    number: int

    @property
    def newest(self) -> Carried:
        """The block of the newest of them."""
        return self.blocks[-1]

    @property
    def versions(self) -> str:
        """The versions in words."""
        first, last = self.blocks[0].version.label, self.blocks[-1].version.label
        return f"version {first}" if len(self.blocks) == 1 else f"versions {first} to {last} ({len(self.blocks):,})"

    @property
    def waits(self) -> bool:
        """Whether somebody must still decide."""
        return bool(self.newest.block.open_losses or self.newest.block.waits)


@dataclass(frozen=True, slots=True)
class EntityPart:
    """One version of an entity with all that feeds it, schemas by name."""

    entity: Schema
    version: Version
    stretches: tuple[Stretch, ...]
    number: int

    @property
    def schemas(self) -> dict[str, list[Stretch]]:
        """The stretches by schema."""
        found: dict[str, list[Stretch]] = defaultdict(list)
        for stretch in self.stretches:
            found[stretch.newest.schema.name].append(stretch)
        return found

    @property
    def elements(self) -> int:
        """Number of elements, each version counted."""
        return sum(len(block.lines) for stretch in self.stretches for block in stretch.blocks)

    @property
    def waits(self) -> int:
        """Number of blocks that somebody must still decide on."""
        return sum(len(stretch.blocks) for stretch in self.stretches if stretch.waits)


def entity_parts(cdm: Tree, blocks: Iterable[Carried]) -> tuple[EntityPart, ...]:
    """Lay out blocks as a page tells them: every entity by name, its newest version and those that something feeds."""
    by_target: dict[int, list[Carried]] = defaultdict(list)
    for block in blocks:
        by_target[block.entity_version.id].append(block)
    parts: list[EntityPart] = []
    number = count(1)
    for entity in sorted(cdm.schemas(), key=lambda entity: entity.name):
        for version_id in entity.version_ids:
            found = sorted(by_target.get(version_id, ()), key=lambda block: (block.schema.name, _place(block)))
            if found or version_id == entity.version_ids[-1]:
                stretches = tuple(Stretch(run, next(number)) for run in _runs(found))
                parts.append(EntityPart(entity, cdm.version(version_id), stretches, len(parts) + 1))
    return tuple(parts)


def _place(block: Carried) -> int:
    return block.schema.version_ids.index(block.version.id)


def _runs(blocks: Sequence[Carried]) -> Iterator[tuple[Carried, ...]]:
    run: list[Carried] = []
    for block in blocks:
        follows = bool(run) and run[-1].schema.id == block.schema.id and _place(block) == _place(run[-1]) + 1
        if run and not (follows and _said(run[-1]) == _said(block)):
            yield tuple(run)
            run = []
        run.append(block)
    if run:
        yield tuple(run)


def _said(block: Carried) -> _Said:
    lines = tuple((x.source.path, x.source.type_text, x.target.path) for x in block.lines)
    losses = tuple((loss.from_path, loss.to_path, loss.reason) for loss in block.block.open_losses)
    kept = block.block
    return lines, losses, kept.status, kept.is_unconfirmed, bool(kept.waits), block.is_held, kept.comment
