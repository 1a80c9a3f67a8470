"""Undo and redo: a new state with old content."""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.changes.draft import ChangeSet, Draft, SchemaChange
from metl_gui.core.changes.ignored import mapped_among
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.errors import EditError
from metl_gui.values import Value


class Revert(Value):
    """Put everything that a change replaced back to what it was before; later edits elsewhere stay.

    Args:
        change: the change to take back.
        name: title of what is taken back.
        is_redo: whether this takes back an undo.
    """

    change: ChangeSet
    name: str
    is_redo: bool = False

    def title(self, document: Document) -> str:  # noqa: ARG002 - the title is part of the log
        """Say what is undone or redone."""
        return f"{'Redo' if self.is_redo else 'Undo'}: {self.name}"

    def apply(self, draft: Draft) -> None:
        """Restore the parts.

        Raises:
            EditError: something that the change touched was changed again since.
        """
        self._refuse(set(self._changed_since(draft)))
        taken = list(self._names_of_others(draft))
        for schema in self.change.schemas:
            draft.put_schema(schema.side, schema.id, schema.before)
        for version in self.change.versions:
            draft.put_version(version.side, version.id, version.before)
        for block in self.change.blocks:
            if block.before is None:
                draft.drop_blocks([block.key])
            else:
                draft.put_block(block.before)
        for model in self.change.models:
            draft.put_model(model.name, model.before)
        self._refuse({f"the name {name}" for side, id_, name in taken if _answers_to(draft, side, id_, name)})
        self._refuse(set(self._built_upon(draft)))

    def _refuse(self, in_the_way: set[str]) -> None:
        if in_the_way:
            names = sorted(in_the_way)
            raise EditError(
                f"“{self.name}” cannot be taken back any more.",
                f"Changed since: {', '.join(names[:5])}{' and more' if len(names) > 5 else ''}.",
                "Take the later edits back first, or set it by hand.",
            )

    def _changed_since(self, draft: Draft) -> Iterator[str]:
        for schema in self.change.schemas:
            found = draft.tree(schema.side).find_schema(schema.id)
            if found != schema.after:
                known = found or schema.after
                yield known.name if known else "a schema"
        for version in self.change.versions:
            now = draft.tree(version.side).find_version(version.id)
            if now != version.after:
                yield f"version {now.label}" if now else "a version that is gone"
        for block in self.change.blocks:
            if draft.matrix.block(*block.key) != block.after:
                yield "a block of the mapping"
        for model in self.change.models:
            if draft.model(model.name) != model.after:
                yield f"the warehouse model {model.name}"

    def _names_of_others(self, draft: Draft) -> Iterator[tuple[Side, int, str]]:
        """Find the names of schemas to restore that others answer to now: (side, id of the other, name)."""
        for schema in self.change.schemas:
            for name in schema.before.names if schema.before else ():
                holder = draft.tree(schema.side).named(name)
                if holder is not None and holder.id != schema.id:
                    yield schema.side, holder.id, name

    def _built_upon(self, draft: Draft) -> Iterator[str]:
        """Name what later edits built on the parts that went, or took from the parts that came back."""
        for schema in self.change.schemas:
            if schema.side is Side.CDM and schema.before is not None:
                yield from _mapped_below_newest(draft, schema.before)
            yield from _mapped_again(draft, schema)
        for version in self.change.versions:
            keys = draft.matrix.column_keys if version.side is Side.EXTRACTION else draft.matrix.row_keys
            if version.before is None and version.after is not None and keys(version.id):
                yield f"the mapping of version {version.after.label}"
        for block in self.change.blocks:
            if block.before is not None:
                yield from _missing_ends(draft, block.before)


def _answers_to(draft: Draft, side: Side, id_: int, name: str) -> bool:
    schema = draft.tree(side).find_schema(id_)
    return schema is not None and name in schema.names


def _mapped_below_newest(draft: Draft, entity: Schema) -> Iterator[str]:
    """Name the versions that an entity under policy 3 could not keep the blocks of."""
    for id_ in () if entity.setting("policy") == "parallel" else entity.version_ids[:-1]:
        if draft.matrix.row_keys(id_):
            yield f"the mapping of version {draft.tree(Side.CDM).version(id_).label} of {entity.name}"


def _mapped_again(draft: Draft, change: SchemaChange) -> Iterator[str]:
    """Name the attributes that would be marked as never to be mapped again, and are mapped by now."""
    if change.before is None or not change.before.ignored:
        return
    after = change.after.ignored_lineages if change.after is not None else frozenset()
    for lineage in sorted(mapped_among(draft, change.side, change.id, change.before.ignored_lineages - after)):
        attribute = draft.tree(change.side).newest_of_lineage(change.id, lineage)
        yield f"the mapping of {attribute.path if attribute is not None else '?'}"


def _missing_ends(draft: Draft, block: Block) -> Iterator[str]:
    """Name what a restored block needs and does not find."""
    version = draft.tree(Side.EXTRACTION).find_version(block.version)
    entity_version = draft.tree(Side.CDM).find_version(block.entity_version)
    if version is None or entity_version is None:
        yield "a version that is gone"
        return
    entity = draft.tree(Side.CDM).schema(entity_version.schema_id)
    if entity.setting("policy") != "parallel" and entity.version_ids[-1] != entity_version.id:
        yield f"the newest version of {entity.name}"
    if not {e.p for e in block.elements} <= {a.id for a in version.attributes}:
        yield f"the attributes of version {version.label}"
    if not {e.q for e in block.elements} <= {a.id for a in entity_version.attributes}:
        yield f"the attributes of version {entity_version.label} of {entity.name}"
