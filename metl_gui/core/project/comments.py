"""Comments on schemas, entities, attributes, elements and blocks: beside the states, found again by ids and lineages.

A comment on an attribute or element holds for every version that has the same lineage, whatever becomes of that lineage
later: it follows the attribute it was written on. A comment on a block holds for its schema version against its entity,
so that it stays when the entity gets another version. Source: docs/reference/project-file.md, "States" (comments are no
part of one); docs/guide/mapping.md, "Own the model".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.values import Value


class Spot(Value, order=True):
    """A node of one tree as a comment remembers it; 0 stands for none.

    Args:
        schema: id of the schema or entity.
        version: id of the version.
        attribute: id of the attribute.
        lineage: the attribute's lineage when the comment was written.
    """

    schema: int
    version: int = 0
    attribute: int = 0
    lineage: int = 0


class CommentSubject(Value):
    """What a comment is about: a node of one tree, or with both ends a block or an element."""

    source: Spot | None = None
    target: Spot | None = None

    @property
    def kind(self) -> str:
        """``schema``, ``entity``, ``attribute``, ``block`` or ``element``."""
        ends = [end for end in (self.source, self.target) if end is not None]
        has_attributes = all(end.attribute for end in ends)
        if len(ends) > 1:
            return "element" if has_attributes else "block"
        if has_attributes and ends:
            return "attribute"
        return "schema" if self.source is not None else "entity"


class Comment(Value):
    """What somebody said of a subject; ``when_ms`` in milliseconds since 1970."""

    id: int
    subject: CommentSubject
    text: str
    who: str
    when_ms: int


_Key: TypeAlias = tuple[str, tuple[int, ...]]


class Comments:
    """The comments of a project, asked for nodes, elements and blocks of one document.

    Order: within a subject, the oldest first.
    Cost: building is linear in the comments; asking is one look-up.
    """

    def __init__(self, document: Document = Document(), comments: Iterable[Comment] = ()) -> None:  # noqa: B008 - frozen
        self.document = document
        self.all = tuple(sorted(comments, key=lambda comment: (comment.when_ms, comment.id)))
        self._by_key: dict[_Key, list[Comment]] = defaultdict(list)
        for comment in self.all:
            self._by_key[self._key(comment.subject)].append(comment)

    def __len__(self) -> int:
        return len(self.all)

    def of(self, subject: CommentSubject) -> tuple[Comment, ...]:
        """Return what was said of a subject."""
        return tuple(self._by_key.get(self._key(subject), ()))

    def of_schema(self, side: Side, schema_id: int) -> tuple[Comment, ...]:
        """Return what was said of a schema or entity as a whole."""
        return tuple(self._by_key.get((side.value, (schema_id,)), ()))

    def of_lineage(self, side: Side, schema_id: int, lineage: int) -> tuple[Comment, ...]:
        """Return what was said of an attribute, in whichever version."""
        return tuple(self._by_key.get((side.value, (schema_id, lineage)), ()))

    def of_block(self, key: BlockKey) -> tuple[Comment, ...]:
        """Return what was said of a block as a whole."""
        return self.of(block_subject(self.document, key)) if self.all else ()

    def of_element(self, key: BlockKey, element: Element) -> tuple[Comment, ...]:
        """Return what was said of an element, in whichever version of its schema and entity."""
        return self.of(element_subject(self.document, key, element)) if self.all else ()

    def containing(self, words: str) -> Iterator[Comment]:
        """Yield the comments that hold a text in their words or their writer, whatever its case; the newest first."""
        wanted = words.casefold()
        return (c for c in reversed(self.all) if wanted in c.text.casefold() or wanted in c.who.casefold())

    def _key(self, subject: CommentSubject) -> _Key:
        source, target = subject.source, subject.target
        if subject.kind == "block" and source is not None and target is not None:
            return "block", (source.version, target.schema)
        ends = [
            (side, self._ids(side, end))
            for side, end in ((Side.EXTRACTION, source), (Side.CDM, target))
            if end is not None
        ]
        if len(ends) == 1:
            side, ids = ends[0]
            return side.value, ids
        return "element", tuple(id_ for _, ids in ends for id_ in ids)

    def _ids(self, side: Side, spot: Spot) -> tuple[int, ...]:
        if not spot.attribute:
            return (spot.schema,)
        version = self.document.tree(side).find_version(spot.version)
        attribute = version.attribute(spot.attribute) if version is not None else None
        return spot.schema, attribute.lineage if attribute is not None else spot.lineage


def spot(document: Document, side: Side, version_id: int, attribute_id: int = 0) -> Spot:
    """Make the spot of a version that is there, or of one of its attributes."""
    version = document.tree(side).version(version_id)
    attribute = version.attribute(attribute_id) if attribute_id else None
    if attribute is None:
        return Spot(version.schema_id, version_id)
    return Spot(version.schema_id, version_id, attribute.id, attribute.lineage)


def node_subject(
    document: Document, side: Side, schema_id: int, version_id: int = 0, attribute_id: int = 0
) -> CommentSubject:
    """Make the subject of a node; one of a version is that of its schema or entity."""
    found = Spot(schema_id) if not attribute_id else spot(document, side, version_id, attribute_id)
    return CommentSubject(source=found) if side is Side.EXTRACTION else CommentSubject(target=found)


def block_subject(document: Document, key: BlockKey) -> CommentSubject:
    """Make the subject of a block."""
    return CommentSubject(spot(document, Side.EXTRACTION, key[0]), spot(document, Side.CDM, key[1]))


def element_subject(document: Document, key: BlockKey, element: Element) -> CommentSubject:
    """Make the subject of an element."""
    return CommentSubject(
        spot(document, Side.EXTRACTION, key[0], element.p),
        spot(document, Side.CDM, key[1], element.q),
    )
