"""What a merge does with versions that both sides added, and with what either decided about them."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.lineages import AttributeKey, SplitLineage
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, RenameLost, RetireBlock
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.merge.sides import ConflictKind
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side, Version
from tests.helpers.world import World
from tests.unit.core.test_merge_cases import Play, merged


def adding_third(world: World) -> None:
    """Add a third version in which a has another name."""
    world.schema("s", "3", "a2", "b", "c")


def adding_entity_version(world: World) -> None:
    """Add a second version of be in which x has another name."""
    world.entity("be", "2", "x2", "y", "z")


ADDED_BY_BOTH = [
    pytest.param(adding_third, "s@3:be@1", "a", "a2", ("x", "a2"), id="schema"),
    pytest.param(adding_entity_version, "s@1:be@2", "x", "x2", ("x2", "a"), id="entity"),
]


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(("adding", "block", "lost", "new", "wanted"), ADDED_BY_BOTH)
def test_a_rename_in_a_version_that_both_sides_added_keeps_its_elements(
    adding: Play, block: str, lost: str, new: str, wanted: tuple[str, str], is_ours: bool
) -> None:
    def renaming(world: World) -> None:
        adding(world)
        world.do(RenameLost(world.key(block), lost, new))

    result, found = merged(renaming, adding) if is_ours else merged(adding, renaming)
    assert result.pairs(block) == {wanted}
    assert result.block(block).status is Status.CONFIRMED
    assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(("adding", "block", "lost", "new", "wanted"), ADDED_BY_BOTH)
def test_a_rename_that_the_other_side_confirmed_as_a_loss_stays_mapped_and_waits(
    adding: Play, block: str, lost: str, new: str, wanted: tuple[str, str], is_ours: bool
) -> None:
    def renaming(world: World) -> None:
        world.do(RenameLost(world.key(block), lost, new))

    def accepting(world: World) -> None:
        world.do(AcceptLosses(world.key(block), (lost,)))

    result, found = merged(renaming, accepting, adding) if is_ours else merged(accepting, renaming, adding)
    assert result.pairs(block) == {wanted}
    assert result.block(block).status is Status.NEEDS_REVIEW
    assert "confirmed that it is lost" in result.block(block).comment
    assert {each.kind for each in found} == {ConflictKind.ELEMENT}


@pytest.mark.parametrize("entity", [False, True])
def test_what_both_sides_inherited_and_one_unmapped_in_a_version_that_both_added_is_gone(entity: bool) -> None:
    def adding(world: World) -> None:
        world.entity("be", "2", "x", "y") if entity else world.schema("s", "3", "a", "b")

    def clearing(world: World) -> None:
        adding(world)
        block = "s@1:be@2" if entity else "s@3:be@1"
        world.do(world.clearing(block, "a", "x"))

    for ours, theirs in ((adding, clearing), (clearing, adding)):
        result, found = merged(ours, theirs)
        assert result.document.matrix.block(*result.key("s@1:be@2" if entity else "s@3:be@1")) is None
        assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_split_in_a_version_that_both_sides_added_stays_and_a_later_version_follows_it(is_ours: bool) -> None:
    def adding(world: World) -> None:
        world.schema("s", "3", "a", "b", "e")

    def splitting(world: World) -> None:
        adding(world)
        third = world.version(Side.EXTRACTION, "s", "3")
        world.do(SplitLineage(Side.EXTRACTION, AttributeKey(third.id, third.attributes[0].id)))

    def adding_more(world: World) -> None:
        adding(world)
        world.schema("s", "4", "a", "b")

    result, found = merged(splitting, adding_more) if is_ours else merged(adding_more, splitting)
    first, *_, third, fourth = (version.attributes[0].lineage for version in versions_of(result, "s"))
    assert third == fourth != first
    assert result.pairs("s@3:be@1") == set()
    assert found == []


def test_a_later_version_of_one_side_follows_the_rename_of_the_other() -> None:
    def adding_fourth(world: World) -> None:
        adding_third(world)
        world.schema("s", "4", "a2", "b")

    def renaming(world: World) -> None:
        adding_third(world)
        world.do(RenameLost(world.key("s@3:be@1"), "a", "a2"))

    for ours, theirs in ((adding_fourth, renaming), (renaming, adding_fourth)):
        result, found = merged(ours, theirs)
        assert len({version.attributes[0].lineage for version in versions_of(result, "s")}) == 1
        assert result.pairs("s@4:be@1") == {("x", "a2")}
        assert found == []


def test_what_one_side_maps_in_a_version_that_both_added_meets_a_later_one_of_the_other() -> None:
    def adding_fourth(world: World) -> None:
        adding_third(world)
        world.schema("s", "4", "a2", "b")

    def mapping(world: World) -> None:
        adding_third(world)
        world.map("s@3:be@1", y="b")

    for ours, theirs in ((adding_fourth, mapping), (mapping, adding_fourth)):
        result, found = merged(ours, theirs)
        assert result.pairs("s@4:be@1") == {("y", "b")}
        assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(("adding", "block"), [(adding_third, "s@3:be@1"), (adding_entity_version, "s@1:be@2")])
def test_a_block_that_one_side_retired_in_a_version_that_both_added_keeps_the_list(
    adding: Play, block: str, is_ours: bool
) -> None:
    def mapping(world: World) -> None:
        world.map("s@1:be@1", y="b")
        world.map("s@2:be@1", y="b")

    def retiring(world: World) -> None:
        adding(world)
        world.do(RetireBlock(world.key(block)))

    result, found = merged(retiring, adding, mapping) if is_ours else merged(adding, retiring, mapping)
    retired = result.block(block)
    assert (retired.status, retired.elements) == (Status.RETIRED, ())
    assert result.named(retired.key, retired.retired) == {("y", "b")}
    assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_type_change_that_one_side_confirmed_in_a_version_that_both_added_is_not_asked_again(is_ours: bool) -> None:
    def adding(world: World) -> None:
        world.schema("s", "3", "a:int32", "b")
        assert world.block("s@3:be@1").waits

    def confirming(world: World) -> None:
        adding(world)
        world.do(ConfirmBlock(world.key("s@3:be@1")))

    result, found = merged(confirming, adding) if is_ours else merged(adding, confirming)
    assert result.block("s@3:be@1").status is Status.CONFIRMED
    assert review_items(result.document) == ()
    assert found == []


def test_what_one_side_maps_again_where_its_source_came_back_stays() -> None:
    def adding(world: World) -> None:
        world.schema("s", "3", "b", "e")
        world.schema("s", "4", "a", "e")

    def mapping(world: World) -> None:
        adding(world)
        world.map("s@4:be@1", x="a")

    for ours, theirs in ((adding, mapping), (mapping, adding)):
        result, found = merged(ours, theirs)
        assert result.pairs("s@4:be@1") == {("x", "a")}
        assert found == []


def versions_of(world: World, schema: str) -> tuple[Version, ...]:
    """List the versions of a schema, oldest first."""
    found = world.document.extraction.named(schema)
    assert found is not None
    return world.document.extraction.versions(found.id)
