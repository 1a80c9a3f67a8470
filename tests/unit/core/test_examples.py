"""The worked examples of the paper and our own, with every number in them.

Source: docs/architecture/model.md, "Worked examples".
"""

from __future__ import annotations

import itertools

import pytest

from metl_gui.core.changes.touched_groups import touched_versions
from metl_gui.core.matrix.blocks import Status, Verdict
from metl_gui.core.matrix.compact import compact_all, compact_group, decompact, decompact_all
from metl_gui.core.matrix.partition import partition
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World


@pytest.fixture
def example_a() -> World:
    world = World()
    world.schema("s1", "1", "a1", "a2", "a3")
    world.schema("s1", "2", "a4=a1", "a5=a3")
    world.schema("s2", "1", "a6")
    world.entity("be1", "2", "c3", "c4")
    world.entity("be2", "1", "c5")
    world.entity("be3", "1", "c6", "c7")
    world.map("s1@1:be1@2", c3="a1", c4="a3")
    world.map("s1@2:be1@2", c3="a4", c4="a5")
    world.map("s2@1:be2@1", c5="a6")
    world.map("s1@1:be3@1", c6="a2", c7="a1")
    return world


@pytest.fixture
def example_b() -> World:
    world = World()
    world.schema("s1", "1", "a1", "a2", "a3")
    world.schema("s1", "2", "a4=a1", "a5", "a6=a3")
    world.entity("be1", "1", "c1", "c2")
    world.entity("be2", "1", "c6", "c7")
    world.map("s1@1:be1@1", c1="a1", c2="a3")
    world.map("s1@2:be1@1", c1="a4", c2="a6")
    world.map("s1@1:be2@1", c6="a2", c7="a1")
    return world


def sizes(world: World) -> tuple[int, int]:
    """Count the columns and rows of the matrix."""
    trees = (world.document.extraction, world.document.cdm)
    columns, rows = (sum(len(v.attributes) for v in tree.all_versions()) for tree in trees)
    return columns, rows


def test_example_a_has_a_matrix_of_30_elements_of_which_the_dense_set_keeps_7(example_a: World) -> None:
    columns, rows = sizes(example_a)
    ones = [(block.key, element) for block in example_a.document.matrix.blocks() for element in block.elements]
    blocks = partition(ones)
    assert columns * rows == 30
    assert sum(len(permutation.kept) for permutation in blocks.values()) == 7
    assert not any(permutation.outside for permutation in blocks.values())


def test_example_a_is_compacted_to_5_elements_and_one_null_block(example_a: World) -> None:
    assert example_a.kept("s1", "be1", "2") == {"1": {("c3", "a1"), ("c4", "a3")}}
    assert example_a.kept("s2", "be2", "1") == {"1": {("c5", "a6")}}
    assert example_a.kept("s1", "be3", "1") == {"1": {("c6", "a2"), ("c7", "a1")}, "2": set()}
    document = example_a.document.merged()
    compact = compact_all(document.extraction.base, document.matrix.base)
    assert len(compact.q) == 5
    assert [
        int(v) for v, low, high in zip(compact.version, compact.start, compact.start[1:], strict=False) if low == high
    ] == [example_a.version(Side.EXTRACTION, "s1", "2").id]


def test_example_a_is_decompacted_to_the_same_7_elements(example_a: World) -> None:
    document = example_a.document.merged()
    base = document.matrix.base
    dense = decompact_all(document.extraction.base, compact_all(document.extraction.base, base))
    assert len(dense.q) == 7
    for one, other in itertools.pairwise([base, dense]):
        for name in ("version", "entity_version", "start", "q", "p"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_example_b_event_1_makes_one_smaller_block_and_asks_about_c2(example_b: World) -> None:
    transition = example_b.schema("s1", "3", "a7=a4")
    assert [change.key for change in transition.change.blocks] == [example_b.key("s1@3:be1@1")]
    block = example_b.block("s1@3:be1@1")
    assert example_b.pairs("s1@3:be1@1") == {("c1", "a7")}
    assert block.verdict is Verdict.SMALLER
    assert block.status is Status.NEEDS_REVIEW
    assert [(loss.to_path, loss.from_path, loss.reason) for loss in block.losses] == [
        ("c2", "a6", "a6 was removed in version 3")
    ]
    assert example_b.pairs("s1@2:be2@1") == example_b.pairs("s1@3:be2@1") == set()


def test_example_b_event_2_carries_three_same_blocks_and_the_open_review(example_b: World) -> None:
    example_b.schema("s1", "3", "a7=a4")
    example_b.entity("be1", "2", "c3=c1", "c4=c2")
    assert example_b.pairs("s1@1:be1@2") == {("c3", "a1"), ("c4", "a3")}
    assert example_b.pairs("s1@2:be1@2") == {("c3", "a4"), ("c4", "a6")}
    assert example_b.pairs("s1@3:be1@2") == {("c3", "a7")}
    blocks = [example_b.block(f"s1@{label}:be1@2") for label in "123"]
    assert [block.verdict for block in blocks] == [Verdict.SAME] * 3
    assert [block.status for block in blocks] == [Status.CONFIRMED, Status.CONFIRMED, Status.NEEDS_REVIEW]
    assert [loss.to_path for loss in blocks[2].open_losses] == ["c4"]
    old = example_b.version(Side.CDM, "be1", "1")
    assert example_b.document.matrix.row_set(old.id) == ()
    (item,) = review_items(example_b.document)
    assert item.key == example_b.key("s1@3:be1@2")


def test_example_c_deleting_the_version_of_a_kept_block_loses_no_later_version() -> None:
    world = World()
    for label in ("1", "2", "4"):
        world.schema("s1", label, "x", "y", *(["z"] if label == "4" else []), *(["u"] if label == "2" else []))
    world.entity("be", "1", "c")
    for label in ("1", "2", "4"):
        world.map(f"s1@{label}:be@1", c="x")
    assert world.kept("s1", "be", "1") == {"1": {("c", "x")}}
    transition = world.remove_schema("s1", "1")
    assert world.kept("s1", "be", "1") == {"2": {("c", "x")}}
    assert world.pairs("s1@4:be@1") == {("c", "x")}
    assert {group.entity_version for group in touched_versions(transition)} == {world.version(Side.CDM, "be", "1").id}


def test_the_last_version_is_filled_when_a_group_is_decompacted(example_a: World) -> None:
    schema = example_a.document.extraction.named("s1")
    assert schema is not None
    versions = example_a.document.extraction.versions(schema.id)
    w = example_a.version(Side.CDM, "be1", "2").id
    group = next(iter(touched_versions(example_a.log[-4])))
    dense = decompact(versions, compact_group(versions, example_a.document.matrix, group))
    assert example_a.named((versions[-1].id, w), dense[versions[-1].id]) == {("c3", "a4"), ("c4", "a5")}
