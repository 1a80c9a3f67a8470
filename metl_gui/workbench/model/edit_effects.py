"""What an edit does, or would do, to the blocks of the matrix, by names: told before it is done, and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from metl_gui.core.changes.draft import Edit, Transition, perform
from metl_gui.core.changes.effects import BlockEffect, effects
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Dimension, Fact
from metl_gui.values import Value
from metl_gui.workbench.addresses import BlockName, ElementName, known_block_name
from metl_gui.workbench.session import EditGroup, EditOrigin, Workbench


class BlockOutcome(Value):
    """What becomes of one block.

    Args:
        block: the block, by names.
        came_from: the block of another entity version whose place it takes.
        restored, parted: elements that come and go.
        kept: how many stay.
        needs_review: whether it begins to wait for a decision.
        gone: whether the block goes.
    """

    block: BlockName
    came_from: BlockName | None
    restored: tuple[ElementName, ...]
    parted: tuple[ElementName, ...]
    kept: int
    needs_review: bool
    gone: bool

    def as_json(self) -> dict[str, Any]:
        """Return the block with what becomes of it."""
        return {
            "block": self.block.as_json(),
            "came_from": self.came_from.as_json() if self.came_from else None,
            "restored": [element.as_json() for element in self.restored],
            "parted": [element.as_json() for element in self.parted],
            "kept": self.kept,
            "needs_review": self.needs_review,
            "gone": self.gone,
        }

    def words(self) -> str:
        """Describe it in one line."""
        parts = [f"{self.kept} kept"] if self.kept or not (self.restored or self.parted) else []
        parts += [f"{e.from_path} → {e.to_path} is mapped" for e in self.restored]
        parts += [f"{e.from_path} → {e.to_path} parts" for e in self.parted]
        parts += ["the block goes"] if self.gone else []
        parts += ["needs review"] if self.needs_review else []
        return ", ".join(parts)


class EditOutcome(Value):
    """What an edit did, or would do.

    Args:
        state: the state afterwards; the one before where nothing was written.
        title: the edit, for people.
        blocks: what becomes of blocks.
        needs_review: decisions that wait afterwards.
        changed: whether it changes anything at all.
        dry_run: whether this only says what would happen.
        note: what else is to know, in a sentence.
    """

    state: int
    title: str
    blocks: tuple[BlockOutcome, ...]
    needs_review: int
    changed: bool
    dry_run: bool
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl entity``, ``metl link`` and ``metl unlink``."""
        return {
            "state": self.state,
            "title": self.title,
            "changed": self.changed,
            "blocks": [block.as_json() for block in self.blocks],
            "needs_review": self.needs_review,
            "dry_run": self.dry_run,
            "note": self.note,
        }

    def lines(self) -> Iterator[str]:
        """Describe it in lines: the edit, then what becomes of each block."""
        verb = "Would do: " if self.dry_run else ""
        yield f"{verb}{self.title}" if self.changed else f"Nothing changes: {self.title}"
        if self.note:
            yield f"  {self.note}"
        for block in self.blocks:
            yield f"  {block.block}: {block.words()}"
        if not self.blocks and self.changed:
            yield "  No block changes its elements."


def do(
    workbench: Workbench,
    edit: Edit,
    dry_run: bool = False,
    door: EditOrigin = EditOrigin.COMMAND,
    group: EditGroup | None = None,
) -> EditOutcome:
    """Do an edit and say what it did to blocks, or only say what it would do.

    Raises:
        EditError: the rules refuse the edit.
        ProjectError: the project cannot be written.
    """
    if dry_run:
        return named_outcome(perform(workbench.document, edit, workbench.stamp()), is_done=False)
    return named_outcome(workbench.do(edit, door, group))


def preview(document: Document, edit: Edit) -> EditOutcome:
    """Return what an edit would do to blocks, without counting what else waits.

    Raises:
        EditError: the rules refuse the edit.
    """
    return named_outcome(perform(document, edit), is_done=False, counts=False)


def named_outcome(transition: Transition, is_done: bool = True, counts: bool = True) -> EditOutcome:
    """Put what an edit did into names.

    Args:
        transition: of the edit.
        is_done: whether it was written.
        counts: whether to count all decisions that wait, which costs what they hold.
    """
    found = tuple(_outcome(transition, effect) for effect in effects(transition))
    return EditOutcome(
        transition.after.state if is_done else transition.before.state,
        transition.title,
        found,
        len(review_items(transition.after)) if counts else 0,
        not transition.change.is_empty,
        not is_done,
        _note(transition),
    )


def _note(transition: Transition) -> str:
    """Say which tables of warehouses go by the key of an entity that gets another one."""
    tables = sorted({table for entity in _rekeyed(transition) for table in _by_own_key(transition.after, entity)})
    if not tables:
        return ""
    go = f"{tables[0]} goes" if len(tables) == 1 else f"{', '.join(tables)} go"
    return f"In the warehouse {go} by the key: what is loaded already needs a rebuild."


def _rekeyed(transition: Transition) -> Iterator[str]:
    """Name the entities that are there before and after and have another key."""
    before, after = transition.before.cdm, transition.after.cdm
    changed = (change.after or change.before for change in transition.change.versions if change.side is Side.CDM)
    for id_ in {version.schema_id for version in changed if version is not None}:
        if before.find_schema(id_) is None or after.find_schema(id_) is None:
            continue
        keys = {newest.key or () for tree in (before, after) if (newest := tree.newest(id_)) is not None}
        if len(keys) > 1:
            yield after.schema(id_).name


def _by_own_key(document: Document, entity: str) -> Iterator[str]:
    for table in (table for model in document.models for table in model.tables):
        match table:
            case Dimension(entity=own, business_key=()) | Fact(entity=own, grain=()) if own == entity:
                yield table.name


def _outcome(transition: Transition, effect: BlockEffect) -> BlockOutcome:
    return BlockOutcome(
        known_block_name(_holding(transition, effect.key), effect.key),
        known_block_name(_holding(transition, effect.came_from), effect.came_from) if effect.came_from else None,
        tuple(ElementName(*pair) for pair in effect.gained),
        tuple(ElementName(*pair) for pair in effect.lost),
        effect.kept,
        effect.needs_review,
        effect.is_gone,
    )


def _holding(transition: Transition, key: tuple[int, int]) -> Document:
    """Return the state that has both versions of a block."""
    has_all = all(transition.after.tree(side).find_version(id_) for side, id_ in zip(Side, key, strict=True))
    return transition.after if has_all else transition.before
