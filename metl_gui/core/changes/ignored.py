"""Marks of attributes that are never to be mapped: by lineage, in their schema or entity; what is mapped has none.

An edit that maps an attribute takes its mark away (``Draft.unmark_mapped``).
Source: docs/guide/mapping.md, "What is to do".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.matrix.blocks import Block, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import IgnoredAttribute, Side


def blocks_of(reader: Draft | Document, side: Side, schema_id: int) -> Iterator[Block]:
    """Yield the blocks of all versions of a schema or entity."""
    members = reader.matrix.column_set if side is Side.EXTRACTION else reader.matrix.row_set
    for version_id in reader.tree(side).schema(schema_id).version_ids:
        yield from members(version_id)


def elements_of(reader: Draft | Document, side: Side, block: Block, lineages: frozenset[int]) -> dict[Element, int]:
    """Return the elements of a block that map attributes of some lineages of one side, each with its lineage."""
    version = reader.tree(side).find_version(block.version if side is Side.EXTRACTION else block.entity_version)
    ends = {a.id: a.lineage for a in version.attributes if a.lineage in lineages} if version is not None else {}
    pairs = ((e, ends.get(e.p if side is Side.EXTRACTION else e.q)) for e in block.elements)
    return {element: lineage for element, lineage in pairs if lineage is not None}


def mapped_among(reader: Draft | Document, side: Side, schema_id: int, lineages: Iterable[int]) -> frozenset[int]:
    """Return those of some lineages that a block maps, in any version of their schema or entity."""
    asked = frozenset(lineages)
    blocks = blocks_of(reader, side, schema_id) if asked else ()
    return frozenset(found for block in blocks for found in elements_of(reader, side, block, asked).values())


def follow_lineage(
    draft: Draft, side: Side, schema_id: int, lineage: int, new: int, *, keeps_old: bool = False
) -> None:
    """Let the mark of a lineage go over to another one that its attributes, or some of them, got.

    The mark of one that is mapped goes.

    Args:
        draft: the document being edited.
        side, schema_id: of which schema or entity.
        lineage: that of the attributes before.
        new: that of them now.
        keeps_old: whether some of them keep the one before.
    """
    schema = draft.tree(side).find_schema(schema_id)
    if schema is None or not schema.ignored:
        return
    marks = {each.lineage: each for each in schema.ignored}
    if lineage in marks:
        marks.setdefault(new, replace(marks[lineage], lineage=new))
        if not keeps_old:
            del marks[lineage]
    mapped = mapped_among(draft, side, schema_id, (lineage, new))
    put_marks(draft, side, schema_id, (mark for mark in marks.values() if mark.lineage not in mapped))


def put_marks(draft: Draft, side: Side, schema_id: int, marks: Iterable[IgnoredAttribute]) -> None:
    """Set the marks of a schema or entity."""
    schema = draft.schema(side, schema_id)
    ordered = tuple(sorted(marks))
    if ordered != schema.ignored:
        draft.put_schema(side, schema_id, replace(schema, ignored=ordered))
