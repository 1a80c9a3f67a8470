"""What people said of attributes beside their mapping: comments and masks, in the one form that every list shows."""

from __future__ import annotations

from metl_gui.core.block_lists import Note, NoteOf
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments
from metl_gui.core.project.masks import fed_by_masked, masked_lineages, schemas_with_masks
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.ui.document import OpenProject
from metl_gui.ui.selection import Place

NOTHING = Note()


def notes_of(project: OpenProject, versions: tuple[int, int]) -> NoteOf:
    """Return the notes of the attributes of a schema version and an entity version; masks are worked out once."""
    document, comments = project.value, project.comments()
    hidden: dict[Side, frozenset[int]] = {}
    for side, id_ in zip((Side.EXTRACTION, Side.CDM), versions, strict=True):
        tree = document.tree(side)
        found = tree.find_version(id_)
        hidden[side] = masked_lineages(tree, tree.schema(found.schema_id)) if found is not None else frozenset()
    fed = fed_by_masked(document, versions[1])
    has_comments = len(comments) > 0

    def note(side: Side, version: Version, attribute: Attribute) -> Note:
        said = comments.of_lineage(side, version.schema_id, attribute.lineage) if has_comments else ()
        is_masked = attribute.lineage in hidden[side] or (side is Side.CDM and attribute.id in fed)
        return Note("\n".join(c.text for c in said), is_masked) if said or is_masked else NOTHING

    return note


class PlaceNotes:
    """The notes of the nodes of one tree, worked out once for each version until something changes.

    Args:
        project: asked for its document and comments.
        side: the tree.
    """

    def __init__(self, project: OpenProject, side: Side) -> None:
        self._project, self._side = project, side
        self._known: tuple[Document, Comments] | None = None
        self._of_version: dict[int, NoteOf] = {}
        self._has_any = False

    def of(self, place: Place) -> Note:
        """Return the note of a node; it costs next to nothing where nobody has written any."""
        document, comments = self._project.value, self._project.comments()
        if self._known is None or self._known[0] is not document or self._known[1] is not comments:
            self._known, self._of_version = (document, comments), {}
            self._has_any = bool(len(comments) or any(schemas_with_masks(document.tree(side)) for side in Side))
        if not self._has_any:
            return NOTHING
        version = document.tree(self._side).find_version(place.version) if place.version is not None else None
        attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
        if version is not None and attribute is not None:
            return self._note_of(version.id)(self._side, version, attribute)
        if place.version is not None:
            return NOTHING
        return Note("\n".join(c.text for c in comments.of_schema(self._side, place.schema)))

    def _note_of(self, version_id: int) -> NoteOf:
        if version_id not in self._of_version:
            pair = (version_id, 0) if self._side is Side.EXTRACTION else (0, version_id)
            self._of_version[version_id] = notes_of(self._project, pair)
        return self._of_version[version_id]
