"""Chains of losses: one item per chain, one decision for all its versions.

Source: docs/architecture/model.md, "Algorithms" (A5).
"""

from __future__ import annotations

import pytest

from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, Postpone, RenameLost, RetireBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.blocks import Status, Verdict
from metl_gui.core.review.items import review_items
from metl_gui.core.review.rename_proposals import proposals
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.helpers.world import World


@pytest.fixture
def world() -> World:
    """Version 5 loses ``code``; versions 6 and 7 inherit that; version 6 also loses ``note``."""
    world = World()
    world.schema("orders", "4", "id", "code", "note", "day")
    world.entity("payment", "1", "id", "code", "note", "day")
    world.map("orders@4:payment@1", id="id", code="code", note="note", day="day")
    world.schema("orders", "5", "id", "code_new", "note", "day")
    world.schema("orders", "6", "id", "code_new", "day", "x")
    world.schema("orders", "7", "id", "code_new", "day", "x", "y")
    return world


def statuses(world: World) -> list[Status]:
    """Statuses of the blocks of versions 5 to 7."""
    return [world.block(f"orders@{label}:payment@1").status for label in "567"]


def test_a_loss_is_asked_about_once_where_it_began(world: World) -> None:
    first, second = review_items(world.document)
    assert first.key == world.key("orders@5:payment@1")
    assert [loss.from_path for loss in first.losses] == ["code"]
    assert first.chain == (world.key("orders@6:payment@1"), world.key("orders@7:payment@1"))
    assert second.key == world.key("orders@6:payment@1")
    assert [loss.from_path for loss in second.losses] == ["note"]
    assert world.block("orders@7:payment@1").verdict is Verdict.SAME


def test_confirming_the_first_block_of_a_chain_settles_only_what_began_there(world: World) -> None:
    world.do(ConfirmBlock(world.key("orders@5:payment@1")))
    assert statuses(world) == [Status.CONFIRMED, Status.NEEDS_REVIEW, Status.NEEDS_REVIEW]
    assert [loss.from_path for loss in world.block("orders@7:payment@1").open_losses] == ["note"]
    world.do(ConfirmBlock(world.key("orders@6:payment@1")))
    assert statuses(world) == [Status.CONFIRMED] * 3
    assert review_items(world.document) == ()


def test_a_rename_accepted_at_version_5_restores_6_and_7(world: World) -> None:
    world.do(RenameLost(world.key("orders@5:payment@1"), "code", "code_new"))
    for label in "567":
        assert ("code", "code_new") in world.pairs(f"orders@{label}:payment@1")
    assert statuses(world) == [Status.CONFIRMED, Status.NEEDS_REVIEW, Status.NEEDS_REVIEW]
    old, new = (world.version(Side.EXTRACTION, "orders", label) for label in "45")
    assert old.at_path("code").lineage == new.at_path("code_new").lineage  # type: ignore[union-attr]


def test_a_rename_restores_the_attribute_in_every_entity_it_fed() -> None:
    world = World()
    world.schema("orders", "1", "id", "code")
    for entity in ("payment", "ledger"):
        world.entity(entity, "1", "code")
        world.map(f"orders@1:{entity}@1", code="code")
    world.schema("orders", "2", "id", "code_ref")
    world.do(RenameLost(world.key("orders@2:payment@1"), "code", "code_ref"))
    assert world.pairs("orders@2:ledger@1") == {("code", "code_ref")}
    assert review_items(world.document) == ()


def test_accepting_one_loss_leaves_the_others_of_the_block_open() -> None:
    world = World()
    world.schema("s", "1", "a", "b", "c")
    world.entity("be", "1", "a", "b", "c")
    world.map("s@1:be@1", a="a", b="b", c="c")
    world.schema("s", "2", "c")
    world.do(AcceptLosses(world.key("s@2:be@1"), ("a",)))
    block = world.block("s@2:be@1")
    assert [loss.from_path for loss in block.open_losses] == ["b"]
    assert block.status is Status.NEEDS_REVIEW


def test_mapping_the_cdm_attribute_by_hand_settles_its_loss_along_the_chain(world: World) -> None:
    world.map("orders@5:payment@1", code="code_new")
    assert statuses(world)[0] is Status.CONFIRMED
    for label in "67":
        assert ("code", "code_new") in world.pairs(f"orders@{label}:payment@1")


def test_an_emptied_block_stays_and_hands_its_losses_on() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.entity("be", "1", "a")
    world.map("s@1:be@1", a="a")
    world.schema("s", "2", "b")
    world.schema("s", "3", "b", "c")
    assert world.block("s@2:be@1").verdict is Verdict.EMPTIED
    assert [loss.from_path for loss in world.block("s@3:be@1").open_losses] == ["a"]
    (item,) = review_items(world.document)
    assert item.chain == (world.key("s@3:be@1"),)
    assert item.new_attributes == ("b",)


def test_a_lost_lineage_that_is_there_again_is_proposed_not_restored(world: World) -> None:
    world.schema("orders", "8", "id", "code", "day")
    block = world.block("orders@8:payment@1")
    assert ("code", "code") not in world.pairs("orders@8:payment@1")
    best = proposals(world.document, block)[0]
    assert (best.lost, best.candidate, best.score) == ("code", "code", 1.0)


def test_an_attribute_that_comes_back_continues_its_old_lineage(world: World) -> None:
    world.schema("orders", "8", "id", "code", "day")
    old, again = (world.version(Side.EXTRACTION, "orders", label).at_path("code") for label in "48")
    assert old is not None
    assert again is not None
    assert old.lineage == again.lineage


def test_retired_blocks_keep_their_list_and_are_not_copied(world: World) -> None:
    world.do(RetireBlock(world.key("orders@5:payment@1"), "not fed any more"))
    block = world.block("orders@5:payment@1")
    assert block.status is Status.RETIRED
    assert len(block.retired) == 3
    world.schema("orders", "8", "id", "day")
    assert world.document.matrix.block(*world.key("orders@8:payment@1")) is None


def test_a_postponed_block_stays_under_review(world: World) -> None:
    world.do(Postpone(world.key("orders@5:payment@1")))
    assert world.block("orders@5:payment@1").postponed
    assert statuses(world)[0] is Status.NEEDS_REVIEW


def test_an_incompatible_type_change_of_a_mapped_attribute_asks_and_keeps_the_element() -> None:
    world = World()
    world.schema("s", "1", "a:int32", "b:int32")
    world.entity("be", "1", "a:string", "b:string")
    world.map("s@1:be@1", a="a", b="b")
    world.schema("s", "2", "a:int64", "b:string")
    block = world.block("s@2:be@1")
    assert block.verdict is Verdict.SAME
    assert block.status is Status.NEEDS_REVIEW
    (item,) = review_items(world.document)
    changes = {(c.path, c.before, c.after): c.is_compatible for c in item.type_changes}
    assert changes == {("a", "int32", "int64"): True, ("b", "int32", "string"): False}


def test_removing_the_newest_entity_version_carries_its_blocks_down_with_verdicts() -> None:
    world = World()
    world.schema("s", "1", "a", "b")
    world.entity("be", "1", "a")
    world.entity("be", "2", "a", "b")
    world.map("s@1:be@2", a="a", b="b")
    world.remove_entity("be", "2")
    assert world.pairs("s@1:be@1") == {("a", "a")}
    (loss,) = world.block("s@1:be@1").open_losses
    assert loss.reason == "b is not in version 1 of be"


def test_a_lost_cdm_attribute_is_one_item_for_all_versions_of_a_schema() -> None:
    world = World()
    world.schema("s", "1", "a", "b")
    world.schema("s", "2", "a", "b", "c")
    world.entity("be", "1", "a", "b")
    for label in "12":
        world.map(f"s@{label}:be@1", a="a", b="b")
    world.entity("be", "2", "a", "bee")
    (item,) = review_items(world.document)
    assert item.key == world.key("s@1:be@2")
    assert item.chain == (world.key("s@2:be@2"),)
    world.do(RenameLost(item.key, "b", "bee"))
    assert world.pairs("s@2:be@2") == {("a", "a"), ("bee", "b")}
    assert review_items(world.document) == ()


def test_lineages_that_stand_side_by_side_are_not_joined_but_recorded() -> None:
    world = World()
    world.schema("s", "1", "old")
    world.schema("s", "2", "old", "new")
    world.entity("be", "1", "x")
    world.map("s@2:be@1", x="old")
    world.schema("s", "3", "new")
    world.do(RenameLost(world.key("s@3:be@1"), "old", "new"))
    assert world.pairs("s@3:be@1") == {("x", "new")}
    two = world.version(Side.EXTRACTION, "s", "2")
    assert len({a.lineage for a in two.attributes}) == 2
    schema = world.document.extraction.named("s")
    assert schema is not None
    assert len(schema.succeeds) == 1


def test_a_version_inserted_between_two_others_is_filled_alone() -> None:
    world = World()
    world.schema("s", "1.0.0", "a", "b")
    world.entity("be", "1", "a", "b")
    world.map("s@1.0.0:be@1", a="a", b="b")
    world.schema("s", "3.0.0", "a", "b", "c")
    before = world.block("s@3.0.0:be@1")
    world.schema("s", "2.0.0", "a", "d")
    schema = world.document.extraction.named("s")
    assert schema is not None
    assert [v.label for v in world.document.extraction.versions(schema.id)] == ["1.0.0", "2.0.0", "3.0.0"]
    assert world.pairs("s@2.0.0:be@1") == {("a", "a")}
    assert world.block("s@3.0.0:be@1") is before or world.block("s@3.0.0:be@1") == before


def test_one_label_with_two_contents_is_refused(world: World) -> None:
    with pytest.raises(EditError, match="orders version 4 is there already with another content"):
        world.schema("orders", "4", "other")


def test_parallel_policy_keeps_the_blocks_of_the_old_entity_version() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.entity("be", "1", "a")
    entity = world.document.cdm.named("be")
    assert entity is not None
    world.do(SetSettings(Side.CDM, entity.id, (("policy", "parallel"),)))
    world.map("s@1:be@1", a="a")
    world.entity("be", "2", "a", "b")
    assert world.pairs("s@1:be@1") == world.pairs("s@1:be@2") == {("a", "a")}
    switched = world.do(SetSettings(Side.CDM, entity.id, (("policy", "newest"),)))
    assert switched.title == "Set policy = newest for be, removing s 1 → be 1"
    assert world.pairs("s@1:be@1") == set()


def test_a_refused_edit_names_both_elements_that_share_an_end(world: World) -> None:
    with pytest.raises(EditError, match="id to id, day to id"):
        world.map("orders@4:payment@1", id="day")
