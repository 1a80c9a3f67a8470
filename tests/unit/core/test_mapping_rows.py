"""The mapping as a list, against the blocks it is made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.query import parse
from metl_gui.ui.table.rows import MappingColumn, MappingRows
from tests.qt.random_documents import some_document

BASE = some_document(3).merged()


def rows_of(document: Document) -> MappingRows:
    return MappingRows(document)


def edited(document: Document, clears: list[int]) -> Document:
    """Clear an element each of some blocks."""
    for at in clears:
        blocks = [block for block in document.matrix.blocks() if block.elements]
        block = blocks[at % len(blocks)]
        edit = SetElements(block.key, zeros=block.elements[:1], comment="asked finance")
        document = perform(document, edit, EditContext("Grace", 5)).after
    return document


def listed(mapping: MappingRows, rows: list[int]) -> list[tuple[BlockKey, Element]]:
    return [(where.block.key, where.element) for where in map(mapping.where, rows)]


def expected(document: Document) -> set[tuple[BlockKey, Element]]:
    return {(block.key, element) for block in document.matrix.blocks() for element in block.elements}


@given(st.lists(st.integers(0, 40), max_size=6))
def test_the_rows_are_the_elements_each_once(clears: list[int]) -> None:
    document = edited(BASE, clears)
    mapping = rows_of(document)
    found = listed(mapping, mapping.rows.tolist())
    assert len(found) == len(set(found)) == len(mapping) == document.matrix.ones
    assert set(found) == expected(document)
    assert [mapping.row_of(key, element) for key, element in found] == mapping.rows.tolist()
    by_block = {(key, e) for key, elements in mapping.elements(mapping.rows).items() for e in elements}
    assert by_block == expected(document)


@given(st.lists(st.integers(0, 40), max_size=6))
def test_the_rows_stand_in_the_order_of_the_matrix_whatever_was_edited(clears: list[int]) -> None:
    mapping = rows_of(edited(BASE, clears))
    found = listed(mapping, mapping.rows.tolist())
    assert found == sorted(found)


def test_a_cleared_element_has_no_row() -> None:
    document = edited(BASE, [0])
    gone = expected(BASE) - expected(document)
    assert gone
    assert {rows_of(document).row_of(key, element) for key, element in gone} == {-1}


def text_of(document: Document, key: BlockKey, element: Element, column: MappingColumn) -> tuple[object, ...]:
    """Return what a row is sorted by, read off the objects."""
    version, target = document.extraction.version(key[0]), document.cdm.version(key[1])
    schema, entity = document.extraction.schema(version.schema_id), document.cdm.schema(target.schema_id)
    source, sink = version.attribute(element.p), target.attribute(element.q)
    block = document.matrix.block(*key)
    assert source is not None
    assert sink is not None
    assert block is not None
    age, target_age = schema.version_ids.index(version.id), entity.version_ids.index(target.id)
    return {
        MappingColumn.SCHEMA: (schema.name, age),
        MappingColumn.VERSION: (age,),
        MappingColumn.ATTRIBUTE: (source.path,),
        MappingColumn.TYPE: (source.type_text,),
        MappingColumn.ENTITY: (entity.name, target_age),
        MappingColumn.ENTITY_VERSION: (target_age,),
        MappingColumn.CDM_ATTRIBUTE: (sink.path,),
        MappingColumn.CDM_TYPE: (sink.type_text,),
        MappingColumn.STATUS: (list(Status).index(block.status),),
        MappingColumn.WHO: (block.who,),
        MappingColumn.WHEN: (block.when_ms,),
        MappingColumn.COMMENT: (block.comment,),
    }[column]


@pytest.mark.parametrize("is_descending", [False, True])
@pytest.mark.parametrize("column", MappingColumn)
def test_rows_are_sorted_by_what_the_column_says(column: MappingColumn, is_descending: bool) -> None:
    document = edited(BASE, [3, 9, 20])
    mapping = rows_of(document)
    rows = mapping.ordered(mapping.rows, column, is_descending).tolist()
    said = [text_of(document, key, element, column) for key, element in listed(mapping, rows)]
    assert said == sorted(said, reverse=is_descending)
    assert sorted(rows) == sorted(mapping.rows.tolist())


@pytest.mark.parametrize(
    "text",
    ["amount", "in:payments", "type:string", "-type:string", "is:review", "is:mapped", "is:unmapped", "is:new",
     "is:required", "changed:new", "is:commented", "grace", "finance", "-ada id"],
)  # fmt: skip
def test_a_row_passes_when_its_source_its_target_or_its_block_does(text: str) -> None:
    document = edited(BASE, [3, 9, 20])
    mapping = rows_of(document)
    rows = set(mapping.passing(parse(text)).tolist())
    for row in mapping.rows.tolist():
        where = mapping.where(row)
        holds = [_holds(document, where.block.key, where.element, part) for part in text.split()]
        assert (row in rows) == all(holds)


def _holds(document: Document, key: BlockKey, element: Element, part: str) -> bool:
    if part.startswith("-"):
        return not _holds(document, key, element, part[1:])
    version, target, block = (
        document.extraction.version(key[0]),
        document.cdm.version(key[1]),
        document.matrix.block(*key),
    )
    source, sink = version.attribute(element.p), target.attribute(element.q)
    assert block is not None
    assert source is not None
    assert sink is not None
    names = [document.extraction.schema(version.schema_id).name, document.cdm.schema(target.schema_id).name]
    prefix, _, value = part.rpartition(":")
    if prefix == "in":
        return any(value in name for name in names)
    if prefix == "type":
        return value in source.type_text or value in sink.type_text
    if prefix == "changed" or part == "is:new":
        before = document.extraction.previous(version)
        is_new = source in document.extraction.new_attributes(version)
        return is_new if part == "is:new" else before is not None and before.of_lineage(source.lineage) is None
    states = {
        "review": block.status is Status.NEEDS_REVIEW,
        "mapped": True,
        "unmapped": False,
        "required": not sink.optional,
        "commented": bool(block.comment),
    }
    if prefix == "is":
        return states[value]
    texts = [*names, source.path, sink.path, block.who.lower(), block.comment.lower()]
    return any(value in text for text in texts)
