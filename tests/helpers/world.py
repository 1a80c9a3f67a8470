"""A small world of schemas and entities, written and read by names."""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.core.changes.draft import Edit, EditContext, Transition, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.revert import Revert
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.compact import CompactBlock, GroupKey, compact_group
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side, Version

Pairs = set[tuple[str, str]]


def declare(name: str, paths: Iterable[str], label: str | None = None) -> VersionDeclaration:
    """Declare a version; ``new=old`` states that ``new`` is what ``old`` was, ``path:type`` gives a type."""
    attributes = []
    for text in paths:
        path, _, type_ = text.partition(":")
        path, _, old = path.partition("=")
        attributes.append(AttributeDeclaration(path, type_ or "string", equivalent_to=(old,) if old else ()))
    return VersionDeclaration(name, tuple(attributes), label)


class World:
    """A document under edit, with everything addressed by names and labels."""

    def __init__(self) -> None:
        self.document = Document()
        self.log: list[Transition] = []

    def do(self, edit: Edit) -> Transition:
        """Apply an edit and keep the result; one that changes nothing makes no state."""
        transition = perform(self.document, edit, EditContext("tester", 1_000 + self.document.state))
        if not transition.change.is_empty:
            self.document = transition.after
            self.log.append(transition)
        return transition

    def undo(self, transition: Transition) -> Transition:
        """Take back an edit."""
        return self.do(Revert(transition.change, transition.title))

    def schema(self, name: str, label: str, *paths: str) -> Transition:
        """Add a schema version."""
        return self.do(AddVersion(Side.EXTRACTION, declare(name, paths, label)))

    def entity(self, name: str, label: str, *paths: str) -> Transition:
        """Add an entity version."""
        return self.do(AddVersion(Side.CDM, declare(name, paths, label)))

    def remove_schema(self, name: str, label: str) -> Transition:
        """Remove a schema version."""
        return self.do(RemoveVersion(Side.EXTRACTION, self.version(Side.EXTRACTION, name, label).id))

    def remove_entity(self, name: str, label: str) -> Transition:
        """Remove an entity version."""
        return self.do(RemoveVersion(Side.CDM, self.version(Side.CDM, name, label).id))

    def map(self, block: str, **pairs: str) -> Transition:
        """Set elements of a block ``s@1:be@2``, each as ``target=source``."""
        return self.do(self.setting(block, **pairs))

    def setting(self, block: str, **pairs: str) -> SetElements:
        """Make the edit that ``map`` applies."""
        key = self.key(block)
        return SetElements(key, ones=tuple(self.element(key, source, target) for target, source in pairs.items()))

    def clearing(self, block: str, source: str, target: str) -> SetElements:
        """Make the edit that clears one element of a block."""
        key = self.key(block)
        return SetElements(key, zeros=(self.element(key, source, target),))

    def version(self, side: Side, name: str, label: str) -> Version:
        """Find a version."""
        schema = self.document.tree(side).named(name)
        assert schema is not None, name
        version = self.document.tree(side).labelled(schema.id, label)
        assert version is not None, label
        return version

    def key(self, block: str) -> BlockKey:
        """Find the key of ``s@1:be@2``."""
        (schema, label), (entity, entity_label) = (part.split("@") for part in block.split(":"))
        v, w = self.version(Side.EXTRACTION, schema, label), self.version(Side.CDM, entity, entity_label)
        return v.id, w.id

    def element(self, key: BlockKey, source: str, target: str) -> Element:
        """Make an element from two paths."""
        p = self.document.extraction.version(key[0]).at_path(source)
        q = self.document.cdm.version(key[1]).at_path(target)
        assert p is not None, source
        assert q is not None, target
        return Element(q.id, p.id)

    def block(self, block: str) -> Block:
        """Find a block that must be there."""
        found = self.document.matrix.block(*self.key(block))
        assert found is not None, block
        return found

    def pairs(self, block: str) -> Pairs:
        """List the elements of a block as (target, source) paths; empty for a null block."""
        found = self.document.matrix.block(*self.key(block))
        return self.named(self.key(block), found.elements) if found else set()

    def named(self, key: BlockKey, elements: Iterable[Element]) -> Pairs:
        """Turn elements into (target, source) paths."""
        columns = {a.id: a.path for a in self.document.extraction.version(key[0]).attributes}
        rows = {a.id: a.path for a in self.document.cdm.version(key[1]).attributes}
        return {(rows[q], columns[p]) for q, p in elements}

    def kept(self, schema: str, entity: str, label: str) -> dict[str, Pairs]:
        """Compact one group: pairs by label of the kept version."""
        found = self.document.extraction.named(schema)
        assert found is not None
        w = self.version(Side.CDM, entity, label)
        versions = self.document.extraction.versions(found.id)
        group: tuple[CompactBlock, ...] = compact_group(versions, self.document.matrix, GroupKey(found.id, w.id))
        labels = {v.id: v.label for v in versions}
        return {labels[k.version]: self.named((k.version, w.id), k.elements) for k in group}
