"""What the automated update does with what is known of blocks, and what a decision then answers.

Source: docs/architecture/model.md, "Algorithms" (A5).
"""

from __future__ import annotations

import pytest

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, RenameLost, RetireBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.blocks import Status, Verdict
from metl_gui.core.review.items import ReviewItem, review_items
from metl_gui.core.suggest.block import suggest_block
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World


def mapped(*paths: str) -> World:
    """One schema version that feeds one entity version, name to name."""
    world = World()
    world.schema("s", "1.0.0", *paths)
    world.entity("be", "1", *paths)
    world.map("s@1.0.0:be@1", **{path: path for path in paths})
    return world


def set_policy(world: World, policy: str) -> None:
    entity = world.document.cdm.named("be")
    assert entity is not None
    world.do(SetSettings(Side.CDM, entity.id, (("policy", policy),)))


def asked(world: World) -> list[tuple[str, list[str], list[str]]]:
    """What the review list asks: block, lost paths, later blocks."""

    def name(key: tuple[int, int]) -> str:
        return f"{world.document.extraction.version(key[0]).label}:{world.document.cdm.version(key[1]).label}"

    def words(item: ReviewItem) -> tuple[str, list[str], list[str]]:
        return name(item.key), [loss.from_path for loss in item.losses], [name(key) for key in item.chain]

    return [words(item) for item in review_items(world.document)]


def unconfirmed(world: World, block: str) -> None:
    """Let nobody have confirmed a block."""
    key = world.key(block)
    elements = world.block(block).elements
    world.do(SetElements(key, zeros=elements))
    world.do(SetElements(key, ones=elements, status=Status.UNCONFIRMED))


def test_a_copy_of_an_unconfirmed_block_is_not_asked_about_and_not_confirmed_either() -> None:
    world = mapped("a")
    unconfirmed(world, "s@1.0.0:be@1")
    world.schema("s", "2.0.0", "a", "b")
    assert world.block("s@2.0.0:be@1").status is Status.UNCONFIRMED
    assert asked(world) == []


def test_accepting_a_loss_confirms_nothing_that_nobody_had_confirmed() -> None:
    world = mapped("a", "b")
    unconfirmed(world, "s@1.0.0:be@1")
    world.schema("s", "2.0.0", "a")
    world.schema("s", "3.0.0", "a", "c")
    assert world.block("s@2.0.0:be@1").status is Status.NEEDS_REVIEW
    world.do(AcceptLosses(world.key("s@2.0.0:be@1"), ("b",)))
    for label in "23":
        assert world.block(f"s@{label}.0.0:be@1").status is Status.UNCONFIRMED


def test_confirming_a_block_that_was_unconfirmed_confirms_it_along_its_chain() -> None:
    world = mapped("a", "b")
    unconfirmed(world, "s@1.0.0:be@1")
    world.schema("s", "2.0.0", "a")
    world.schema("s", "3.0.0", "a", "c")
    world.do(ConfirmBlock(world.key("s@2.0.0:be@1")))
    for label in "23":
        assert world.block(f"s@{label}.0.0:be@1").status is Status.CONFIRMED


def test_a_suggestion_that_settles_a_loss_confirms_it_nowhere_in_the_chain() -> None:
    world = mapped("a", "b")
    world.schema("s", "2.0.0", "a", "bee")
    world.schema("s", "3.0.0", "a", "bee", "c")
    key = world.key("s@2.0.0:be@1")
    world.do(SetElements(key, ones=(world.element(key, "bee", "b"),), status=Status.UNCONFIRMED))
    for label in "23":
        assert world.pairs(f"s@{label}.0.0:be@1") == {("a", "a"), ("b", "bee")}
        assert world.block(f"s@{label}.0.0:be@1").status is Status.UNCONFIRMED


def test_an_entity_that_keeps_parallel_versions_is_asked_about_once_for_each_loss() -> None:
    world = mapped("a", "b")
    set_policy(world, "parallel")
    world.entity("be", "2", "a", "b", "c")
    world.schema("s", "2.0.0", "a")
    world.entity("be", "3", "a", "b", "d")
    assert asked(world) == [("2.0.0:1", ["b"], ["2.0.0:2", "2.0.0:3"])]
    world.do(ConfirmBlock(world.key("s@2.0.0:be@1")))
    assert asked(world) == []


def test_a_rename_restores_in_every_parallel_entity_version() -> None:
    world = mapped("a", "b")
    set_policy(world, "parallel")
    world.entity("be", "2", "a", "b", "c")
    world.schema("s", "2.0.0", "a", "bee")
    world.do(RenameLost(world.key("s@2.0.0:be@1"), "b", "bee"))
    assert world.pairs("s@2.0.0:be@2") == {("a", "a"), ("b", "bee")}


def test_a_rename_of_a_cdm_attribute_restores_in_later_parallel_versions_too() -> None:
    world = mapped("a", "b")
    set_policy(world, "parallel")
    world.entity("be", "2", "a", "bee")
    world.entity("be", "3", "a", "bee", "c")
    world.do(RenameLost(world.key("s@1.0.0:be@2"), "b", "bee"))
    assert world.pairs("s@1.0.0:be@3") == {("a", "a"), ("bee", "b")}
    assert asked(world) == []


def test_a_decision_answers_only_the_losses_that_its_item_names() -> None:
    world = mapped("a", "b", "c")
    world.schema("s", "2.0.0", "c", "bee")
    world.schema("s", "3.0.0", "c", "x")
    world.map("s@2.0.0:be@1", b="bee")  # version 3 has no bee: there b stays lost
    assert asked(world) == [("2.0.0:1", ["a"], ["3.0.0:1"]), ("3.0.0:1", ["b"], [])]
    world.do(ConfirmBlock(world.key("s@2.0.0:be@1")))
    assert asked(world) == [("3.0.0:1", ["b"], [])]


def test_the_next_version_owns_the_loss_when_the_version_that_began_it_is_deleted() -> None:
    world = mapped("a", "b")
    world.schema("s", "2.0.0", "a", "x")
    world.schema("s", "3.0.0", "a", "y")
    world.remove_schema("s", "2.0.0")
    assert asked(world) == [("3.0.0:1", ["b"], [])]
    world.do(ConfirmBlock(world.key("s@3.0.0:be@1")))
    assert world.block("s@3.0.0:be@1").status is Status.CONFIRMED


def test_a_type_change_is_still_shown_when_the_version_that_made_it_is_deleted() -> None:
    world = World()
    world.schema("s", "1", "a:int32")
    world.entity("be", "1", "a")
    world.map("s@1:be@1", a="a")
    world.schema("s", "2", "a:string")
    world.schema("s", "3", "a:string", "b")
    world.remove_schema("s", "2")
    (item,) = review_items(world.document)
    assert [(change.before, change.after) for change in item.type_changes] == [("int32", "string")]


def test_an_inserted_version_that_lacks_the_same_attribute_makes_one_item_of_both() -> None:
    world = mapped("a", "b")
    world.schema("s", "3.0.0", "a", "x")
    world.schema("s", "4.0.0", "a", "y")
    world.schema("s", "2.0.0", "a", "z")
    assert asked(world) == [("2.0.0:1", ["b"], ["3.0.0:1", "4.0.0:1"])]


def test_an_inserted_version_takes_over_no_loss_that_was_answered_or_began_later() -> None:
    world = mapped("a", "b", "c")
    world.schema("s", "3.0.0", "b", "c")
    world.schema("s", "4.0.0", "c")
    world.do(ConfirmBlock(world.key("s@3.0.0:be@1")))
    world.schema("s", "2.0.0", "b", "c", "x")
    assert asked(world) == [("2.0.0:1", ["a"], []), ("4.0.0:1", ["b"], [])]


def test_an_inserted_version_that_made_the_type_change_already_makes_one_item_of_both() -> None:
    world = World()
    world.schema("s", "1.0.0", "a:int32")
    world.entity("be", "1", "a")
    world.map("s@1.0.0:be@1", a="a")
    world.schema("s", "3.0.0", "a:string")
    world.schema("s", "4.0.0", "a:string", "b")
    world.schema("s", "2.0.0", "a:string", "c")
    assert asked(world) == [("2.0.0:1", [], ["3.0.0:1", "4.0.0:1"])]
    world.schema("s", "1.5.0", "a:int32", "d")
    assert asked(world) == [("2.0.0:1", [], ["3.0.0:1", "4.0.0:1"])]


def test_what_is_known_of_a_block_moves_with_it_to_the_new_entity_version() -> None:
    world = mapped("a", "b")
    world.schema("s", "2.0.0", "x")
    world.do(RetireBlock(world.key("s@2.0.0:be@1"), "feeds another one"))
    world.schema("s", "3.0.0", "a", "b", "c")
    world.map("s@3.0.0:be@1", a="a", b="b")
    world.do(RetireBlock(world.key("s@3.0.0:be@1"), "given up"))
    world.do(SetElements(world.key("s@1.0.0:be@1"), comment="why"))
    world.entity("be", "2", "b")
    retired = world.block("s@3.0.0:be@2")
    assert (retired.status, retired.comment, retired.who) == (Status.RETIRED, "given up", "tester")
    assert world.named(retired.key, retired.retired) == {("b", "b")}
    assert world.block("s@2.0.0:be@2").comment == "feeds another one"
    assert world.block("s@1.0.0:be@2").comment == "why"


def test_a_parallel_entity_version_takes_no_retired_block_over() -> None:
    world = mapped("a")
    set_policy(world, "parallel")
    world.do(RetireBlock(world.key("s@1.0.0:be@1")))
    world.entity("be", "2", "a", "b")
    assert world.document.matrix.block(*world.key("s@1.0.0:be@2")) is None
    assert world.block("s@1.0.0:be@1").status is Status.RETIRED


@pytest.mark.parametrize("side", list(Side))
def test_an_accepted_loss_whose_attribute_comes_back_is_suggested_and_not_asked(side: Side) -> None:
    world = World()
    world.schema("s", "1.0.0", "a", "field_7")
    world.entity("be", "1", "a", "amount")
    world.map("s@1.0.0:be@1", a="a", amount="field_7")
    name = "field_7" if side is Side.EXTRACTION else "amount"
    add = world.schema if side is Side.EXTRACTION else world.entity
    second, third = ("2.0.0", "3.0.0") if side is Side.EXTRACTION else ("2", "3")
    add("s" if side is Side.EXTRACTION else "be", second, "a")
    (item,) = review_items(world.document)
    world.do(ConfirmBlock(item.key))
    add("s" if side is Side.EXTRACTION else "be", third, "a", name, "other")
    block = "s@3.0.0:be@1" if side is Side.EXTRACTION else "s@1.0.0:be@3"
    assert asked(world) == []
    best = suggest_block(world.document, world.key(block))[0]
    assert best.element == world.element(world.key(block), "field_7", "amount")
    assert best.score > 0.9


def test_an_item_says_in_which_later_version_a_lost_attribute_is_there_again() -> None:
    world = mapped("a", "b")
    world.schema("s", "2.0.0", "a", "x")
    world.schema("s", "3.0.0", "a", "b", "x")
    (item,) = review_items(world.document)
    (again,) = item.there_again
    assert (again.key, again.from_path, again.to_path) == (world.key("s@3.0.0:be@1"), "b", "b")
    world.do(RenameLost(again.key, again.loss.from_path, again.from_path))
    assert world.pairs("s@3.0.0:be@1") == {("a", "a"), ("b", "b")}
    assert asked(world) == [("2.0.0:1", ["b"], [])]


def test_a_schema_that_asks_for_new_attributes_does_so_for_those_of_the_entity_too() -> None:
    world = mapped("a", "b")
    schema = world.document.extraction.named("s")
    assert schema is not None
    world.do(SetSettings(Side.EXTRACTION, schema.id, (("ask", "new attributes too"),)))
    world.entity("be", "2", "a", "b", "fresh")
    (item,) = review_items(world.document)
    assert item.new_targets == ("fresh",)
    assert item.block.verdict is Verdict.SAME
    world.do(ConfirmBlock(item.key))
    world.entity("be", "3", "a", "b:int32", "fresh")
    assert [found.new_targets for found in review_items(world.document)] == [()]


def test_switching_to_the_newest_entity_version_names_every_block_that_goes() -> None:
    world = mapped("a")
    set_policy(world, "parallel")
    world.schema("s", "2.0.0", "a", "b")
    world.entity("be", "2", "z")
    entity = world.document.cdm.named("be")
    assert entity is not None
    title = world.do(SetSettings(Side.CDM, entity.id, (("policy", ""),))).title
    assert title == "Set policy =  for be, removing s 1.0.0 → be 1, s 2.0.0 → be 1"
    assert asked(world) == [("1.0.0:2", ["a"], ["2.0.0:2"])]


def test_what_a_source_states_is_found_behind_versions_that_lacked_the_attribute() -> None:
    world = mapped("a", "code")
    world.schema("s", "2.0.0", "a")
    world.schema("s", "3.0.0", "a", "ref=code")
    first, third = (world.version(Side.EXTRACTION, "s", label) for label in ("1.0.0", "3.0.0"))
    old, new = first.at_path("code"), third.at_path("ref")
    assert old is not None
    assert new is not None
    assert old.lineage == new.lineage


def test_the_same_path_in_a_nearer_version_goes_before_a_name_stated_of_an_older_one() -> None:
    world = mapped("a", "code")
    world.schema("s", "2.0.0", "a", "ref")
    world.map("s@2.0.0:be@1", code="ref")
    world.schema("s", "3.0.0", "a", "ref=code", "b")
    assert world.pairs("s@3.0.0:be@1") == {("a", "a"), ("code", "ref")}


def test_going_back_to_an_older_entity_version_asks_about_no_new_attributes() -> None:
    world = mapped("a", "b")
    world.entity("be", "2", "a", "b", "c")
    world.entity("be", "3", "a", "b", "c", "d")
    schema = world.document.extraction.named("s")
    assert schema is not None
    world.do(SetSettings(Side.EXTRACTION, schema.id, (("ask", "new attributes too"),)))
    world.remove_entity("be", "3")
    assert asked(world) == []


def test_switching_several_entities_at_once_names_every_block_that_goes_too() -> None:
    world = mapped("a")
    set_policy(world, "parallel")
    world.entity("be", "2", "a", "b")
    entity = world.document.cdm.named("be")
    assert entity is not None
    edit = CompositeEdit("Set policy = default for 1 entity", (SetSettings(Side.CDM, entity.id, (("policy", ""),)),))
    assert world.do(edit).title == "Set policy = default for 1 entity, removing s 1.0.0 → be 1"


@pytest.mark.parametrize("decision", ["confirm", "rename", "map"])
def test_later_versions_of_a_chain_carry_who_decided_and_when(decision: str) -> None:
    world = mapped("a", "b")
    world.schema("s", "2.0.0", "a", "bee")
    world.schema("s", "3.0.0", "a", "bee", "c")
    assert world.block("s@3.0.0:be@1").who == ""
    key = world.key("s@2.0.0:be@1")
    by_hand = SetElements(key, ones=(world.element(key, "bee", "b"),))
    edits: dict[str, Edit] = {"confirm": ConfirmBlock(key), "rename": RenameLost(key, "b", "bee"), "map": by_hand}
    stamp = world.do(edits[decision]).stamp
    block = world.block("s@3.0.0:be@1")
    assert (block.status, block.who, block.when_ms) == (Status.CONFIRMED, stamp.who, stamp.when_ms)


def test_nothing_moves_to_the_new_entity_version_of_a_block_that_holds_and_waits_for_nothing() -> None:
    world = mapped("a")
    world.schema("s", "2.0.0", "b")
    key = world.key("s@2.0.0:be@1")
    by_hand = world.element(key, "b", "a")
    world.do(SetElements(key, ones=(by_hand,)))
    world.do(SetElements(key, zeros=(by_hand,)))
    assert world.block("s@2.0.0:be@1").is_null
    world.entity("be", "2", "a", "c")
    assert world.document.matrix.block(*world.key("s@2.0.0:be@2")) is None
