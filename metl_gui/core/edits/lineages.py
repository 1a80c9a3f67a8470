"""Edits that correct lineages: *Same as…* and *Not the same as…* on attributes of one schema or entity."""

from __future__ import annotations

from typing import NamedTuple

from metl_gui.core.changes.draft import Draft
from metl_gui.core.changes.lineages import join, restore_everywhere, split
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import MASK, masked_lineages, setting_with
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.errors import EditError
from metl_gui.values import Value


class AttributeKey(NamedTuple):
    """An attribute by the ids of its version and of itself."""

    version: int
    attribute: int


class JoinLineages(Value):
    """Say that two attributes of one schema or entity are the same, and restore what was lost between them.

    The lineage that began first goes on. Where a version has attributes of both, the lineages stay apart, the newer one
    is noted as succeeding the older one, and only the elements are restored (docs/architecture/model.md, "Algorithms").

    Args:
        side: the tree of both.
        one, other: the attributes; where both lineages began in one version, ``one`` takes over from ``other``.
    """

    side: Side
    one: AttributeKey
    other: AttributeKey

    def title(self, document: Document) -> str:
        """Say what is the same as what."""
        tree = document.tree(self.side)
        schema = tree.schema(tree.version(self.one.version).schema_id)
        return f"Say that {_path(tree, self.one)} is the same as {_path(tree, self.other)} in {schema.name}"

    def apply(self, draft: Draft) -> None:
        """Join and restore.

        Raises:
            EditError: an attribute is gone, they belong to different schemas, or they are the same already.
        """
        tree = draft.tree(self.side)
        version, attribute = _found(draft, self.side, self.one)
        other_version, other = _found(draft, self.side, self.other)
        if version.schema_id != other_version.schema_id:
            names = [tree.schema(v.schema_id).name for v in (version, other_version)]
            raise EditError(
                f"{attribute.path} belongs to {names[0]}, {other.path} to {names[1]}.",
                hint="Only attributes of one schema or entity can be the same; map different ones to one target.",
            )
        if attribute.lineage == other.lineage:
            raise EditError(
                f"{attribute.path} is known to be the same as {other.path} already.",
                hint="Choose an attribute that another version calls by another name.",
            )
        older, newer = other.lineage, attribute.lineage
        versions = tree.versions(version.schema_id)
        if _begin(versions, newer) < _begin(versions, older):
            older, newer = newer, older
        joined = join(draft, self.side, version.schema_id, older, newer)
        restore_everywhere(draft, self.side, version.schema_id, older, joined)


class SplitLineage(Value):
    """Say that an attribute, from its version on, is not the one that earlier versions have.

    Elements that an update carried over from there are lost elements now and wait for review; what was mapped above
    the cut by hand stays. What is masked stays masked on both sides, and so does what is never to be mapped.

    Args:
        side: the tree.
        leaf: the attribute in the first version in which it is another one.
    """

    side: Side
    leaf: AttributeKey

    def title(self, document: Document) -> str:
        """Say from where on it is another attribute."""
        tree = document.tree(self.side)
        version = tree.version(self.leaf.version)
        name = tree.schema(version.schema_id).name
        return f"Say that {_path(tree, self.leaf)} of {name} is another attribute from version {version.label} on"

    def apply(self, draft: Draft) -> None:
        """Split and part.

        Raises:
            EditError: the attribute is gone, or no earlier version has it.
        """
        version, attribute = _found(draft, self.side, self.leaf)
        versions = draft.tree(self.side).versions(version.schema_id)
        below = [v for v in versions[: versions.index(version)] if v.of_lineage(attribute.lineage) is not None]
        if not below:
            raise EditError(
                f"No version before {version.label} has {attribute.path}.",
                hint="Name the first version in which it is another attribute than before.",
            )
        schema = draft.schema(self.side, version.schema_id)
        is_hidden = attribute.lineage in masked_lineages(draft.tree(self.side), schema)
        split(draft, self.side, version, attribute, below[-1])
        if is_hidden:  # told apart, and still nobody's to see
            schema = draft.schema(self.side, schema.id)
            value = setting_with(draft.tree(self.side), schema, attribute, is_hidden=True)
            draft.put_schema(self.side, schema.id, schema.with_setting(MASK, value))


def _found(draft: Draft, side: Side, leaf: AttributeKey) -> tuple[Version, Attribute]:
    version = draft.version(side, leaf.version)
    attribute = version.attribute(leaf.attribute)
    if attribute is None:
        raise EditError("The attribute is not in the trees any more.", hint="Look at the newest state first.")
    return version, attribute


def _begin(versions: tuple[Version, ...], lineage: int) -> int:
    """Place of the first version that has a lineage."""
    return next(at for at, version in enumerate(versions) if version.of_lineage(lineage) is not None)


def _path(tree: ReadableTree, leaf: AttributeKey) -> str:
    attribute = tree.version(leaf.version).attribute(leaf.attribute)
    return attribute.path if attribute else "?"
