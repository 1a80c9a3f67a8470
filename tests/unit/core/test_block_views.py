"""A block as two lists, from block to block, and the version super-block."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.review import RetireBlock
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.search.lineage_search import BlockChangeKind
from metl_gui.core.search.super_block import ElementChangeKind, SuperBlock, super_block
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.core.trees.type_verdicts import TypeVerdict
from metl_gui.ui.project.block_lists import BlockLists, ListOrder, ListRow, Note, arranged, lists_of, neighbour
from tests.helpers.world import World


@pytest.fixture
def world() -> World:
    world = World()
    world.entity("payment", "1", "id", "payer", "amount:int64", "note")
    world.entity("audit", "1", "id")
    world.schema("orders", "1", "id", "customer", "amount", "memo")
    world.map("orders@1:payment@1", id="id", payer="customer", note="memo")
    world.map("orders@1:audit@1", id="id")
    return world


def lists(world: World, block: str) -> BlockLists:
    return lists_of(world.document, world.key(block))


def paths(rows: tuple[ListRow, ...]) -> list[str]:
    return [row.attribute.path for row in rows]


def test_both_lists_name_what_each_attribute_is_mapped_with(world: World) -> None:
    found = lists(world, "orders@1:payment@1")
    partners = {row.attribute.path: row.partner.path if row.partner else None for row in found.left}
    assert partners == {"id": "id", "customer": "payer", "amount": None, "memo": "note"}
    assert {row.attribute.path: row.partner is not None for row in found.right}["amount"] is False


def test_unmapped_first_and_last_keep_the_order_within_each_part(world: World) -> None:
    found = lists(world, "orders@1:payment@1")
    assert paths(arranged(found, Side.CDM, ListOrder.UNMAPPED_FIRST)) == ["amount", "id", "payer", "note"]
    assert paths(arranged(found, Side.CDM, ListOrder.UNMAPPED_LAST)) == ["id", "payer", "note", "amount"]
    assert paths(arranged(found, Side.CDM, ListOrder.SOURCE)) == ["id", "payer", "amount", "note"]


def test_a_text_finds_an_attribute_by_what_it_is_mapped_with_too(world: World) -> None:
    found = lists(world, "orders@1:payment@1")
    assert paths(arranged(found, Side.EXTRACTION, ListOrder.SOURCE, "PAYER")) == ["customer"]
    assert paths(arranged(found, Side.CDM, ListOrder.SOURCE, "payer")) == ["payer"]
    assert paths(arranged(found, Side.CDM, ListOrder.SOURCE, "int64")) == ["amount"]


def test_both_ends_of_an_element_have_the_verdict_on_its_types_and_no_other_row_has_one(world: World) -> None:
    world.map("orders@1:payment@1", amount="amount")
    found = lists(world, "orders@1:payment@1")
    for rows in (found.left, found.right):
        told = {row.attribute.path: row.verdict for row in rows if row.verdict is not TypeVerdict.LOSSLESS}
        assert told == {"amount": TypeVerdict.MAY_REFUSE}


def test_a_lost_element_leaves_its_reason_on_the_end_that_is_still_there(world: World) -> None:
    world.schema("orders", "2", "id", "customer", "amount", "channel")
    found = lists(world, "orders@2:payment@1")
    lost = {row.attribute.path: row.lost for row in found.right if row.lost}
    assert list(lost) == ["note"]
    assert "memo" in lost["note"]
    assert [row.attribute.path for row in found.left if row.is_new] == ["channel"]


def test_notes_are_asked_for_once_for_each_attribute(world: World) -> None:
    def note(side: Side, version: Version, attribute: Attribute) -> Note:
        is_masked = side is Side.CDM and version.label == "1"
        return Note("ask the bank", is_masked) if attribute.path == "id" else Note()

    found = lists_of(world.document, world.key("orders@1:payment@1"), note)
    assert [row.note.is_masked for row in found.left] == [False] * 4
    assert [row.note.is_masked for row in found.right] == [True, False, False, False]
    assert paths(arranged(found, Side.CDM, ListOrder.SOURCE, "bank")) == ["id"]


def test_blocks_follow_each_other_version_by_version_and_end_at_both_ends(world: World) -> None:
    world.schema("orders", "2", "id", "customer", "amount", "memo", "day")
    first, last = world.key("orders@1:payment@1"), world.key("orders@2:audit@1")
    walk, key = [first], neighbour(world.document, first, 1)
    while key is not None:
        walk.append(key)
        key = neighbour(world.document, key, 1)
    assert walk == [first, world.key("orders@1:audit@1"), world.key("orders@2:payment@1"), last]
    assert neighbour(world.document, first, -1) is None


def test_along_versions_a_block_of_zeros_is_not_left_out(world: World) -> None:
    world.entity("later", "1", "id")
    world.schema("orders", "2", "id", "customer", "amount", "memo", "day")
    world.map("orders@2:later@1", id="id")
    first = neighbour(world.document, world.key("orders@2:later@1"), -1, along_versions=True)
    assert first == world.key("orders@1:later@1")
    assert first is not None
    assert neighbour(world.document, first, 1) == world.key("orders@2:payment@1")


def test_blocks_of_a_version_that_is_gone_have_no_neighbours(world: World) -> None:
    assert neighbour(world.document, (99, 1), 1) is None


def steps(found: SuperBlock) -> list[tuple[str, BlockChangeKind | None, int]]:
    return [(part.label, part.step, part.element_count) for part in found.parts]


def read(world: World, entity: str = "payment") -> SuperBlock:
    schema = world.document.extraction.named("orders")
    target = world.version(Side.CDM, entity, "1")
    assert schema is not None
    return super_block(world.document, schema.id, target.id)


def test_the_super_block_tells_each_versions_step(world: World) -> None:
    world.schema("orders", "2", "id", "customer", "amount", "memo", "day")
    world.map("orders@2:payment@1", amount="amount")
    world.schema("orders", "3", "id", "customer", "amount", "day")
    world.schema("orders", "4", "x")
    found = read(world)
    assert steps(found) == [
        ("1", BlockChangeKind.FIRST, 3),
        ("2", BlockChangeKind.LARGER, 4),
        ("3", BlockChangeKind.SMALLER, 3),
        ("4", BlockChangeKind.EMPTIED, 0),
    ]
    assert found.parts[2].status is Status.NEEDS_REVIEW
    assert [cell.words for cell in found.parts[2].cells if cell.fate is ElementChangeKind.LOST] == ["memo → note"]
    assert [cell.words for cell in found.parts[1].cells if cell.fate is ElementChangeKind.ADDED] == ["amount → amount"]


def test_an_attribute_keeps_its_place_through_the_versions(world: World) -> None:
    world.schema("orders", "2", "fresh", "memo", "amount", "customer", "id")
    world.map("orders@2:payment@1", amount="fresh")
    found = read(world)
    assert (found.rows, found.columns) == (4, 4)
    before = {cell.words: (cell.row, cell.column) for cell in found.parts[0].cells}
    after = {cell.words: (cell.row, cell.column) for cell in found.parts[1].cells}
    assert {words: after[words] for words in before} == before
    assert len(set(after.values())) == 4


def test_versions_before_the_first_mapped_one_have_no_step(world: World) -> None:
    world.entity("later", "1", "id")
    world.schema("orders", "2", "id", "customer", "amount", "memo", "day")
    world.map("orders@2:later@1", id="id")
    assert steps(read(world, "later")) == [("1", None, 0), ("2", BlockChangeKind.FIRST, 1)]


def test_a_retired_block_says_so_in_the_super_block(world: World) -> None:
    world.do(RetireBlock(world.key("orders@1:payment@1")))
    assert [(part.step, part.status) for part in read(world).parts] == [(None, Status.RETIRED)]
