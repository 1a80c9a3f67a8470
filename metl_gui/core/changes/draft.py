"""How an edit changes a document: a draft that notes what it replaces, and the transition that comes out.

The change is what the store writes, what undo turns round and what the window redraws; its size is what was touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec.structs import replace

from metl_gui.core.changes.second_person import awaiting_second, is_own_confirmation
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix import DpmView
from metl_gui.core.trees.nodes import Schema, Side, Version
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.core.warehouse_model import Model
from metl_gui.errors import EditError
from metl_gui.values import Value


class EditContext(Value):
    """Who makes an edit, and when (milliseconds since 1970).

    Args:
        who: the person.
        when_ms: the moment.
        needs_second: the project asks that somebody else confirms what a person set.
    """

    who: str = ""
    when_ms: int = 0
    needs_second: bool = False


UNSTAMPED = EditContext()
"""Of edits of nobody, at no moment."""


class SchemaChange(Value):
    """A schema or entity before and after; ``None`` where it did not exist."""

    side: Side
    id: int
    before: Schema | None
    after: Schema | None


class VersionChange(Value):
    """A version before and after; ``None`` where it did not exist."""

    side: Side
    id: int
    before: Version | None
    after: Version | None


class BlockChange(Value):
    """A block before and after; ``None`` where it did not exist."""

    key: BlockKey
    before: Block | None
    after: Block | None


class ModelChange(Value):
    """A warehouse model before and after; ``None`` where it did not exist."""

    name: str
    before: Model | None
    after: Model | None


class ChangeSet(Value):
    """Everything that one edit replaced, each part once."""

    schemas: tuple[SchemaChange, ...] = ()
    versions: tuple[VersionChange, ...] = ()
    blocks: tuple[BlockChange, ...] = ()
    models: tuple[ModelChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was replaced."""
        return not (self.schemas or self.versions or self.blocks or self.models)

    def inverse(self) -> ChangeSet:
        """Return the change that takes this one back."""
        return ChangeSet(
            tuple(replace(c, before=c.after, after=c.before) for c in self.schemas),
            tuple(replace(c, before=c.after, after=c.before) for c in self.versions),
            tuple(replace(c, before=c.after, after=c.before) for c in self.blocks),
            tuple(replace(c, before=c.after, after=c.before) for c in self.models),
        )


class Transition(Value, eq=False):
    """One committed edit: state i, state i+1 and what differs."""

    before: Document
    after: Document
    change: ChangeSet
    title: str
    stamp: EditContext


class Draft:
    """A document open for one edit. Reads see what the edit wrote so far."""

    def __init__(self, document: Document, stamp: EditContext) -> None:
        self.document = document
        self.stamp = stamp
        self._trees = {side: document.tree(side).draft() for side in Side}
        self._matrix = document.matrix.draft()
        self._ids = {side: document.ids(side) for side in Side}
        self._schemas: dict[tuple[Side, int], Schema | None] = {}
        self._versions: dict[tuple[Side, int], Version | None] = {}
        self._blocks: dict[BlockKey, Block | None] = {}
        self._models: dict[str, Model | None] = {}

    def tree(self, side: Side) -> ReadableTree:
        """Return a tree to read."""
        return self._trees[side]

    def schema(self, side: Side, id_: int) -> Schema:
        """Return a schema or entity that an edit names.

        Raises:
            EditError: it is not there any more.
        """
        found = self._trees[side].find_schema(id_)
        if found is None:
            raise _gone("schema" if side is Side.EXTRACTION else "entity")
        return found

    def version(self, side: Side, id_: int) -> Version:
        """Return a version that an edit names.

        Raises:
            EditError: it is not there any more.
        """
        found = self._trees[side].find_version(id_)
        if found is None:
            raise _gone("version")
        return found

    @property
    def matrix(self) -> DpmView:
        """The matrix to read."""
        return self._matrix

    def model(self, name: str) -> Model | None:
        """Return a warehouse model, ``None`` where there is none."""
        return self._models[name] if name in self._models else self.document.model(name)

    def put_model(self, name: str, model: Model | None) -> None:
        """Set a warehouse model, or remove it with ``None``."""
        self._models[name] = model

    def new_schema_id(self, side: Side) -> int:
        """Allocate the id of a schema or entity."""
        ids = self._ids[side]
        self._ids[side] = replace(ids, schema=ids.schema + 1)
        return ids.schema

    def new_version_id(self, side: Side) -> int:
        """Allocate the id of a version."""
        ids = self._ids[side]
        self._ids[side] = replace(ids, version=ids.version + 1)
        return ids.version

    def new_attribute_ids(self, side: Side, count: int) -> range:
        """Allocate the ids of attributes."""
        ids = self._ids[side]
        self._ids[side] = replace(ids, attribute=ids.attribute + count)
        return range(ids.attribute, ids.attribute + count)

    def new_lineage(self, side: Side) -> int:
        """Allocate the id of a lineage."""
        ids = self._ids[side]
        self._ids[side] = replace(ids, lineage=ids.lineage + 1)
        return ids.lineage

    def put_schema(self, side: Side, id_: int, schema: Schema | None) -> None:
        """Set a schema or entity, or remove it with ``None``."""
        self._schemas.setdefault((side, id_), self._trees[side].find_schema(id_))
        self._trees[side].put_schema(id_, schema)

    def put_version(self, side: Side, id_: int, version: Version | None) -> None:
        """Set a version, or remove it with ``None``."""
        self._versions.setdefault((side, id_), self._trees[side].find_version(id_))
        self._trees[side].put_version(id_, version)

    def put_block(self, block: Block) -> None:
        """Set a block."""
        key = block.version, block.entity_version
        self._blocks.setdefault(key, self._matrix.put(key, block))

    def drop_blocks(self, keys: Iterable[BlockKey]) -> None:
        """Remove blocks."""
        for key in keys:
            self._blocks.setdefault(key, self._matrix.put(key, None))

    def await_second(self) -> None:
        """Leave what the edit set to be confirmed by a second person.

        Raises:
            EditError: somebody would confirm what they set themselves.
        """
        # What was there first, because what was carried along from it follows it.
        for key, before in sorted(self._blocks.items(), key=lambda noted: noted[1] is None):
            after = self._matrix.block(*key)
            if after is None or after == before:
                continue
            if is_own_confirmation(before, after, self.stamp.who):
                raise self._own_confirmation(after)
            self.put_block(awaiting_second(before, after, self._source(after), self.stamp.who))

    def unmark_mapped(self) -> None:
        """Take the marks of attributes that are never to be mapped from those that the edit maps.

        Cost: a look at each version with a changed block, and at the elements of blocks where its schema has marks.
        """
        marked: dict[Side, dict[int, bool]] = {side: {} for side in Side}
        for key, before in self._blocks.items():
            for (side, known), id_ in zip(marked.items(), key, strict=True):
                if id_ not in known:
                    known[id_] = self._has_marks(side, id_)
                after = self._matrix.block(*key) if known[id_] else None
                if after is not None:
                    new = set(after.elements) - set(before.elements if before is not None else ())
                    self._unmark(side, id_, new)

    def _has_marks(self, side: Side, version_id: int) -> bool:
        tree = self._trees[side]
        schema = tree.find_schema(tree.schema_of(version_id)) if tree.has_version(version_id) else None
        return schema is not None and bool(schema.ignored)

    def _unmark(self, side: Side, version_id: int, new: set[Element]) -> None:
        tree = self._trees[side]
        schema = tree.schema(tree.schema_of(version_id))
        ends = {e.p if side is Side.EXTRACTION else e.q for e in new}
        mapped = {a.lineage for a in tree.version(version_id).attributes if a.id in ends}
        left = tuple(each for each in schema.ignored if each.lineage not in mapped)
        if left != schema.ignored:
            self.put_schema(side, schema.id, replace(schema, ignored=left))

    def _source(self, block: Block) -> Block | None:
        """Find the block that another came from, as it was before where this edit removed it."""
        key = block.came_from
        return None if key is None else self._matrix.block(*key) or self._blocks.get(key)

    def _own_confirmation(self, block: Block) -> EditError:
        version = self._trees[Side.EXTRACTION].version(block.version)
        entity_version = self._trees[Side.CDM].version(block.entity_version)
        schema = self._trees[Side.EXTRACTION].schema(version.schema_id).name
        entity = self._trees[Side.CDM].schema(entity_version.schema_id).name
        return EditError(
            f"{self.stamp.who} cannot confirm {schema} {version.label} → {entity} {entity_version.label}.",
            "In this project a second person confirms, and it holds work of their own.",
            "Let somebody else confirm it.",
        )

    def _change(self) -> ChangeSet:
        schemas = (SchemaChange(s, i, b, self._trees[s].find_schema(i)) for (s, i), b in self._schemas.items())
        versions = (VersionChange(s, i, b, self._trees[s].find_version(i)) for (s, i), b in self._versions.items())
        blocks = (BlockChange(key, before, self._matrix.block(*key)) for key, before in self._blocks.items())
        models = (ModelChange(name, self.document.model(name), after) for name, after in self._models.items())
        return ChangeSet(
            tuple(c for c in schemas if c.before != c.after),
            tuple(c for c in versions if c.before != c.after),
            tuple(c for c in blocks if c.before != c.after),
            tuple(c for c in models if c.before != c.after),
        )

    def _models_after(self, change: ChangeSet) -> tuple[Model, ...]:
        if not change.models:
            return self.document.models
        changed = {each.name: each.after for each in change.models}
        found = {model.name: model for model in self.document.models} | changed
        return tuple(model for _, model in sorted(found.items()) if model is not None)

    def finish(self, title: str) -> Transition:
        """Freeze the draft as the next state."""
        change = self._change()
        after = Document(
            self.document.state + 1,
            self._trees[Side.EXTRACTION].finish(),
            self._trees[Side.CDM].finish(),
            self._matrix.finish(),
            self._ids[Side.EXTRACTION],
            self._ids[Side.CDM],
            self._models_after(change),
        )
        return Transition(self.document, after, change, title, self.stamp)


def _gone(what: str) -> EditError:
    return EditError(f"The {what} is not in the trees any more.", hint="Look at the newest state first.")


class Edit(Protocol):
    """A named change of a document, itself a small frozen value."""

    def title(self, document: Document) -> str:
        """Say in the imperative what the edit does, with the names of the document it applies to."""

    def apply(self, draft: Draft) -> None:
        """Make the change on a draft.

        Raises:
            EditError: the rules refuse it; the draft is thrown away.
        """


def perform(document: Document, edit: Edit, stamp: EditContext = UNSTAMPED) -> Transition:
    """Apply an edit.

    Returns:
        The transition to the next state; its change is empty when the edit changed nothing.

    Raises:
        EditError: the rules refuse the edit, or somebody would confirm their own work where a second person must.
    """
    draft = Draft(document, stamp)
    edit.apply(draft)
    draft.unmark_mapped()
    if stamp.needs_second:
        draft.await_second()
    return draft.finish(edit.title(document))
