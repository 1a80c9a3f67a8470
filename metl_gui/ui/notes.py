"""What people said of attributes beside their mapping: comments and masks, in the one form that every list shows."""

from __future__ import annotations

from functools import lru_cache

from metl_gui.core.block_lists import Note, NoteOf
from metl_gui.core.masks import MASK, fed_by_masked, masked_lineages
from metl_gui.core.nodes import Attribute, Side, Version
from metl_gui.core.trees import Tree, TreeBase
from metl_gui.ui.document import OpenProject
from metl_gui.ui.selection import Place


def notes_of(project: OpenProject, versions: tuple[int, int]) -> NoteOf:
    """Return the notes of the attributes of a schema version and an entity version; masks are worked out once."""
    document, comments = project.value, project.comments()
    hidden: dict[Side, frozenset[int]] = {}
    for side, id_ in zip((Side.EXTRACTION, Side.CDM), versions, strict=True):
        tree = document.tree(side)
        found = tree.find_version(id_)
        hidden[side] = masked_lineages(tree, tree.schema(found.schema_id)) if found is not None else frozenset()
    fed = fed_by_masked(document, versions[1]) if has_masks(document.extraction) else frozenset()

    def note(side: Side, version: Version, attribute: Attribute) -> Note:
        said = comments.of_lineage(side, version.schema_id, attribute.lineage) if len(comments) else ()
        is_fed = side is Side.CDM and attribute.id in fed
        return Note("\n".join(c.text for c in said), is_fed or attribute.lineage in hidden[side])

    return note


def note_of_place(project: OpenProject, side: Side, place: Place) -> Note:
    """Return the note of one node, for its tooltip."""
    document, comments = project.value, project.comments()
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    if version is None or attribute is None:
        return Note("\n".join(c.text for c in comments.of_schema(side, place.schema)))
    pair = (version.id, 0) if side is Side.EXTRACTION else (0, version.id)
    return notes_of(project, pair)(side, version, attribute)


def has_masks(tree: Tree) -> bool:
    """Whether any schema has a mask; costs what was edited, once what a base holds is known."""
    edited = (tree.find_schema(id_) for id_ in tree.edited_schemas())
    return _base_has_masks(tree.base) or any(schema.setting(MASK) for schema in edited if schema is not None)


@lru_cache(maxsize=1)
def _base_has_masks(base: TreeBase) -> bool:
    return any(name == MASK for schema in base.schemas.values() for name, _ in schema.settings)
