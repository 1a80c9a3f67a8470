"""Notes on attributes and their sample values, in the one form that every list and tree shows.

Notes are what people said of attributes beside their mapping: comments, masks, and that one is never to be mapped.
Sample values belong to the nodes of one tree, for tooltips and beside names; there are none of nodes that are masked.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import msgspec

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments
from metl_gui.core.project.masks import fed_by_masked, masked_lineages, schemas_with_masks
from metl_gui.core.project.sample_profiles import profile_words
from metl_gui.core.search.attribute_facts import ignored_lineages
from metl_gui.core.trees.nodes import Attribute, IgnoredAttribute, Side, Version
from metl_gui.ui.project.block_lists import Note, NoteOf
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.project.text import on
from metl_gui.values import Value
from metl_gui.workbench.samples.project_samples import SHOWN_VALUES, Values

NOTHING = Note()


def notes_of(project: OpenProject, versions: tuple[int, int]) -> NoteOf:
    """Return the notes of the attributes of a schema version and an entity version; masks are worked out once."""
    document, comments = project.value, project.comments()
    hidden: dict[Side, frozenset[int]] = {}
    ignored: dict[Side, dict[int, IgnoredAttribute]] = {}
    for side, id_ in zip((Side.EXTRACTION, Side.CDM), versions, strict=True):
        tree = document.tree(side)
        found = tree.find_version(id_)
        schema = tree.schema(found.schema_id) if found is not None else None
        hidden[side] = masked_lineages(tree, schema) if schema is not None else frozenset()
        ignored[side] = {mark.lineage: mark for mark in schema.ignored} if schema is not None else {}
    fed = fed_by_masked(document, versions[1])
    has_comments = len(comments) > 0

    def note(side: Side, version: Version, attribute: Attribute) -> Note:
        said = comments.of_lineage(side, version.schema_id, attribute.lineage) if has_comments else ()
        is_masked = attribute.lineage in hidden[side] or (side is Side.CDM and attribute.id in fed)
        mark = ignored[side].get(attribute.lineage)
        if not said and not is_masked and mark is None:
            return NOTHING
        return Note(
            "\n".join(c.text for c in said),
            is_masked,
            f"never to be mapped: {reason_words(mark)}" if mark is not None else "",
        )

    return note


def reason_words(mark: IgnoredAttribute) -> str:
    """Say why an attribute is never to be mapped, who said so and when."""
    said = ", ".join(part for part in (mark.who, on(mark.when_ms) if mark.when_ms else "") if part)
    return f"{mark.reason} ({said})" if said else mark.reason


class NodeNotes:
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

    def of(self, place: NodeRef) -> Note:
        """Return the note of a node; it costs next to nothing where nobody has written any."""
        document, comments = self._project.value, self._project.comments()
        if self._known is None or self._known[0] is not document or self._known[1] is not comments:
            self._known, self._of_version = (document, comments), {}
            trees = [document.tree(side) for side in Side]
            self._has_any = bool(len(comments) or any(schemas_with_masks(tree) for tree in trees))
            self._has_any = self._has_any or bool(len(ignored_lineages(document.tree(self._side))))
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


_LONGEST_BESIDE = 24
_NONE: Mapping[int, Values] = {}


class SampleWords(Value):
    """What is said of the sample values of a list of attributes.

    Args:
        beside: what stands beside the names, by attribute id.
        tips: a line for the tooltip of each.
    """

    beside: Mapping[int, str] = msgspec.field(default_factory=dict)
    tips: Mapping[int, str] = msgspec.field(default_factory=dict)


class NodeValues:
    """Values by node, worked out once for each version until samples, document or masks change.

    Args:
        project: asked for its document and samples.
        side: the tree.
    """

    def __init__(self, project: OpenProject, side: Side) -> None:
        self._project, self._side = project, side
        self._known: tuple[weakref.ref[Document], weakref.ref[Document]] | None = None
        self._of_version: dict[int, Mapping[int, Values]] = {}
        project.samples_changed.connect(self._forget)

    def of(self, place: NodeRef) -> Values:
        """Return the values of an attribute, the newest first; it costs next to nothing without samples."""
        if place.version is None or place.attribute is None:
            return ()
        return self.of_version(place.version).get(place.attribute, ())

    def of_version(self, version_id: int) -> Mapping[int, Values]:
        """Return the values of all attributes of a version by id."""
        shelf = self._project.samples
        if shelf is None or not shelf.schemas:
            return _NONE
        now = self._project.value, self._project.newest
        if self._known is None or self._known[0]() is not now[0] or self._known[1]() is not now[1]:
            self._known, self._of_version = (weakref.ref(now[0]), weakref.ref(now[1])), {}
        if version_id not in self._of_version:
            self._of_version[version_id] = self._project.sample_values(self._side, version_id)
        return self._of_version[version_id]

    def beside(self, place: NodeRef) -> str:
        """Return the newest value as it stands beside a name; empty for none."""
        values = self.of(place)
        return beside(values[0]) if values else ""

    def tip(self, place: NodeRef) -> str:
        """Return lines of a tooltip: values and how many there are of them, or what the project knows of them."""
        values = self.of(place)
        counts = None
        if place.version is not None and place.attribute is not None:
            counts = self._project.value_counts(self._side, place.version, place.attribute)
        lines = [f"values: {listed(values)}"] if values else []
        lines += [counts.words()] if counts is not None else []
        return "\n".join(lines) or self._profiled(place)

    def _profiled(self, place: NodeRef) -> str:
        """Say what values look like where only the project's profile is at hand; of extraction attributes only."""
        shelf, document = self._project.samples, self._project.value
        if shelf is None or self._side is not Side.EXTRACTION or place.version is None:
            return ""
        profile = shelf.profile(place.schema)
        version = document.extraction.find_version(place.version)
        attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
        if profile is None or attribute is None:
            return ""
        if shelf.is_masked(document, self._project.newest, place.schema, attribute):
            return ""
        found = profile.of_path(attribute.path)
        words = profile_words(found) if found is not None and found.types else ""
        return f"values: {words}" if words else ""

    def _forget(self) -> None:
        self._known = None


def beside(value: str) -> str:
    """Cut a value to what may stand beside a name."""
    return value if len(value) <= _LONGEST_BESIDE else value[: _LONGEST_BESIDE - 1] + "…"


def listed(values: Values) -> str:
    """List some values."""
    more = " …" if len(values) > SHOWN_VALUES else ""
    return ", ".join(values[:SHOWN_VALUES]) + more
