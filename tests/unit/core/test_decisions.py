"""Corners of the decisions of a reviewer and of edits on blocks under review.

Source: docs/architecture/model.md, "Algorithms" (A5); docs/architecture/model.md, "States, publishing, being out of
step".
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import AcceptLosses, RenameLost, RetireBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.review.items import review_items
from metl_gui.core.review.loss_choices import loss_name, rename_name
from metl_gui.core.review.rename_proposals import proposals
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.helpers.world import World


def crossed() -> World:
    """``amount`` feeds ``total`` and ``total`` feeds ``amount``; version 2 renames both sources."""
    world = World()
    world.schema("s", "1", "amount", "total")
    world.entity("be", "1", "amount", "total")
    world.map("s@1:be@1", amount="total", total="amount")
    world.schema("s", "2", "amount_2", "total_2")
    return world


def test_a_rename_means_the_lost_end_where_the_other_end_of_another_loss_has_the_same_name() -> None:
    world = crossed()
    world.do(RenameLost(world.key("s@2:be@1"), "amount", "amount_2"))
    assert world.pairs("s@2:be@1") == {("total", "amount_2")}


def test_accepting_a_loss_means_the_lost_end_first() -> None:
    world = crossed()
    world.do(AcceptLosses(world.key("s@2:be@1"), ("total",)))
    assert [loss.from_path for loss in world.block("s@2:be@1").open_losses] == ["amount"]


def test_every_loss_of_attributes_that_were_mapped_crosswise_has_a_name_of_its_own() -> None:
    world = World()
    world.schema("s", "1", "id", "order_id", "c")
    world.entity("be", "1", "id", "order_id", "c")
    world.map("s@1:be@1", id="order_id", order_id="id", c="c")
    world.schema("s", "2", "c", "key")
    block = world.block("s@2:be@1")
    assert len(block.open_losses) == 2
    for loss in block.open_losses:
        accepting, renaming = World(), World()
        accepting.document = renaming.document = world.document
        accepting.do(AcceptLosses(block.key, (loss_name(block, loss),)))
        answered = [each for each in accepting.block("s@2:be@1").losses if not each.is_open]
        assert [each.lineages for each in answered] == [loss.lineages]
        renaming.do(RenameLost(block.key, rename_name(world.document, block, loss), "key"))
        assert (loss.to_path, "key") in renaming.pairs("s@2:be@1")


def test_a_lost_attribute_that_is_there_again_is_restored_without_a_note_on_lineages() -> None:
    world = World()
    world.schema("s", "1", "a", "b")
    world.entity("be", "1", "a")
    world.map("s@1:be@1", a="a")
    world.schema("s", "2", "b")
    world.schema("s", "3", "a", "b", "c")
    world.do(RenameLost(world.key("s@3:be@1"), "a", "a"))
    assert world.pairs("s@3:be@1") == {("a", "a")}
    schema = world.document.extraction.named("s")
    assert schema is not None
    assert schema.succeeds == ()


def test_a_rename_to_an_attribute_mapped_in_the_block_is_refused_though_another_entity_could_take_it() -> None:
    world = World()
    world.schema("s", "1", "a", "c")
    for entity in ("be", "other"):
        world.entity(entity, "1", "a", "c")
        world.map(f"s@1:{entity}@1", a="a")
    world.schema("s", "2", "b", "c")
    world.map("s@2:be@1", c="b")
    before = world.document
    with pytest.raises(EditError, match="b cannot take the place of a"):
        world.do(RenameLost(world.key("s@2:be@1"), "a", "b"))
    assert world.document is before


def test_a_loss_of_a_lineage_that_was_joined_to_an_older_one_is_proposed_when_that_is_there_again() -> None:
    world = World()
    world.schema("s", "1", "code")
    world.entity("be", "1", "code", "x")
    world.map("s@1:be@1", code="code")
    world.schema("s", "2", "ref")
    world.map("s@2:be@1", x="ref")
    world.entity("other", "1", "code")
    world.map("s@1:other@1", code="code")
    world.schema("s", "3", "z")
    world.schema("s", "4", "ref", "z")
    assert [loss.from_path for loss in world.block("s@4:be@1").open_losses] == ["code", "ref"]
    world.do(SetElements(world.key("s@2:be@1"), zeros=(world.element(world.key("s@2:be@1"), "ref", "x"),)))
    world.do(RenameLost(world.key("s@2:be@1"), "code", "ref"))
    found = {(p.lost, p.candidate, p.score) for p in proposals(world.document, world.block("s@4:be@1"))}
    assert ("ref", "ref", 1.0) in found


def test_mapping_by_hand_settles_later_versions_after_the_entity_attribute_was_renamed() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.entity("be", "1", "a")
    world.map("s@1:be@1", a="a")
    world.schema("s", "2", "b")
    world.schema("s", "3", "b", "c")
    world.entity("be", "2", "z")
    world.do(RenameLost(world.key("s@1:be@2"), "a", "z"))
    world.map("s@2:be@2", z="b")
    assert world.pairs("s@3:be@2") == {("z", "b")}
    assert review_items(world.document) == ()


def test_an_unconfirmed_element_set_on_a_block_under_review_does_not_confirm_it() -> None:
    world = crossed()
    key = world.key("s@2:be@1")
    ones = world.element(key, "amount_2", "amount"), world.element(key, "total_2", "total")
    world.do(SetElements(key, ones=ones, status=Status.UNCONFIRMED))
    assert world.block("s@2:be@1").status is Status.UNCONFIRMED


def test_a_block_retired_under_review_is_confirmed_when_it_is_mapped_anew() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.entity("be", "1", "a")
    world.do(replace(world.setting("s@1:be@1", a="a"), status=Status.UNCONFIRMED))
    world.schema("s", "2", "a:int32")
    assert world.block("s@2:be@1").unconfirmed
    world.do(RetireBlock(world.key("s@2:be@1")))
    world.map("s@2:be@1", a="a")
    assert world.block("s@2:be@1").status is Status.CONFIRMED
    assert not world.block("s@2:be@1").is_unconfirmed


def test_a_block_retired_twice_keeps_the_list_of_its_elements() -> None:
    world = crossed()
    key = world.key("s@1:be@1")
    elements = world.block("s@1:be@1").elements
    for _ in range(2):
        world.do(RetireBlock(key))
        assert world.block("s@1:be@1").retired == elements


def test_a_retired_null_block_does_not_take_the_list_of_the_block_retired_with_it() -> None:
    world = World()
    world.schema("s", "1", "a", "b")
    world.entity("be", "1", "a", "b")
    world.map("s@1:be@1", a="a", b="b")
    world.schema("s", "2", "b")
    world.schema("s", "3", "c")
    world.do(RetireBlock(world.key("s@2:be@1")))
    assert world.block("s@3:be@1").status is Status.RETIRED
    assert world.block("s@3:be@1").retired == ()


def test_two_types_of_one_short_name_are_told_apart_in_the_review_list() -> None:
    world = World()
    for label, logical in (("1", "io.debezium.time.Date"), ("2", "org.apache.kafka.connect.data.Date")):
        attribute = AttributeDeclaration("day", "int32", logical)
        world.do(AddVersion(Side.EXTRACTION, VersionDeclaration("s", (attribute,), label)))
        if label == "1":
            world.entity("be", "1", "day:int32")
            world.map("s@1:be@1", day="day")
    ((change,),) = (item.type_changes for item in review_items(world.document))
    assert (change.before, change.after) == (
        "int32 io.debezium.time.Date",
        "int32 org.apache.kafka.connect.data.Date",
    )
    assert not change.is_compatible


def asking(ask: str) -> World:
    """One mapped schema that is set to ask."""
    world = World()
    world.schema("s", "1", "a", "b")
    world.entity("be", "1", "a")
    world.map("s@1:be@1", a="a")
    schema = world.document.extraction.named("s")
    assert schema is not None
    world.do(SetSettings(Side.EXTRACTION, schema.id, (("ask", ask),)))
    return world


def test_a_schema_that_always_asks_does_so_for_a_new_entity_version_too() -> None:
    world = asking("always")
    world.schema("s", "2", "a", "c")
    world.entity("be", "2", "a", "b")
    assert [item.key for item in review_items(world.document)] == [world.key("s@1:be@2"), world.key("s@2:be@2")]


def test_an_attribute_that_comes_back_is_not_asked_about_as_new() -> None:
    world = asking("new attributes too")
    world.schema("s", "2", "a")
    world.schema("s", "3", "a", "b:int32")
    assert world.block("s@3:be@1").status is Status.CONFIRMED
    world.schema("s", "4", "a", "fresh")
    (item,) = review_items(world.document)
    assert item.new_attributes == ("fresh",)
