"""Joining and splitting lineages: what comes back, what parts, what stays as it was.

Source: docs/architecture/model.md, "Algorithms" (A3); docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.changes.draft import perform
from metl_gui.core.changes.touched_groups import touched_versions
from metl_gui.core.edits.lineages import AttributeKey, JoinLineages, SplitLineage
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, RenameLost
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.matrix.compact import GroupKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import masked_lineages
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.helpers.histories import Steps, steps, world_of
from tests.helpers.world import World
from tests.unit.core.test_rules import content_of, groups_of


@pytest.fixture
def world() -> World:
    """Payments called ``amount`` in version 1 and ``total`` from version 2 on; the loss waits."""
    world = World()
    world.schema("s", "1", "amount", "ref")
    world.entity("be", "1", "value", "id")
    world.map("s@1:be@1", value="amount", id="ref")
    world.schema("s", "2", "total", "ref")
    world.schema("s", "3", "total", "ref", "note")
    return world


def leaf(world: World, side: Side, name: str, label: str, path: str) -> AttributeKey:
    version = world.version(side, name, label)
    attribute = version.at_path(path)
    assert attribute is not None
    return AttributeKey(version.id, attribute.id)


def same(world: World, one: str, other: str, name: str = "s", side: Side = Side.EXTRACTION) -> JoinLineages:
    (path, label), (other_path, other_label) = one.split("@"), other.split("@")
    return JoinLineages(side, leaf(world, side, name, label, path), leaf(world, side, name, other_label, other_path))


def not_same(world: World, at: str, name: str = "s", side: Side = Side.EXTRACTION) -> SplitLineage:
    path, label = at.split("@")
    return SplitLineage(side, leaf(world, side, name, label, path))


def elements_of(document: Document) -> dict[tuple[int, int], tuple[Element, ...]]:
    return {block.key: block.elements for block in document.matrix.blocks() if block.elements}


def test_a_join_restores_what_was_lost_in_every_later_version(world: World) -> None:
    world.do(same(world, "total@2", "amount@1"))
    assert world.pairs("s@2:be@1") == {("value", "total"), ("id", "ref")}
    assert world.pairs("s@3:be@1") == {("value", "total"), ("id", "ref")}
    assert review_items(world.document) == ()
    assert world.block("s@2:be@1").status is Status.CONFIRMED


def test_a_join_leaves_only_the_first_of_the_equal_blocks_in_the_compact_set(world: World) -> None:
    assert set(world.kept("s", "be", "1")) == {"1", "2"}
    world.do(same(world, "total@2", "amount@1"))
    assert set(world.kept("s", "be", "1")) == {"1"}


def test_whichever_attribute_is_named_first_the_older_lineage_goes_on(world: World) -> None:
    lineage = world.version(Side.EXTRACTION, "s", "1").attributes[0].lineage
    world.do(same(world, "amount@1", "total@3"))
    assert world.version(Side.EXTRACTION, "s", "3").attributes[0].lineage == lineage


def test_a_loss_that_a_person_confirmed_does_not_come_back(world: World) -> None:
    world.do(AcceptLosses(world.key("s@2:be@1"), ("amount",)))
    world.do(same(world, "total@2", "amount@1"))
    assert world.pairs("s@2:be@1") == {("id", "ref")}


def test_an_end_that_is_taken_meanwhile_is_not_taken_away(world: World) -> None:
    world.map("s@3:be@1", value="note")
    world.do(same(world, "total@2", "amount@1"))
    assert world.pairs("s@3:be@1") == {("value", "note"), ("id", "ref")}
    assert world.pairs("s@2:be@1") == {("value", "total"), ("id", "ref")}


def test_attributes_that_stand_side_by_side_stay_two_and_only_elements_come_back() -> None:
    world = World()
    world.schema("s", "1", "amount")
    world.entity("be", "1", "value")
    world.map("s@1:be@1", value="amount")
    world.schema("s", "2", "amount", "total")
    world.schema("s", "3", "total")
    world.do(same(world, "total@2", "amount@2"))
    version = world.version(Side.EXTRACTION, "s", "2")
    assert len({a.lineage for a in version.attributes}) == 2
    schema = world.document.extraction.schema(version.schema_id)
    assert schema.succeeds == ((version.attributes[1].lineage, version.attributes[0].lineage),)
    assert world.pairs("s@2:be@1") == {("value", "amount")}
    assert world.pairs("s@3:be@1") == {("value", "total")}


def test_attributes_of_two_schemas_are_not_the_same(world: World) -> None:
    world.schema("t", "1", "amount")
    edit = JoinLineages(
        Side.EXTRACTION,
        leaf(world, Side.EXTRACTION, "s", "1", "amount"),
        leaf(world, Side.EXTRACTION, "t", "1", "amount"),
    )
    with pytest.raises(EditError, match="amount belongs to s, amount to t"):
        world.do(edit)


def test_what_is_the_same_already_is_not_joined_again(world: World) -> None:
    with pytest.raises(EditError, match="is known to be the same"):
        world.do(same(world, "ref@1", "ref@2"))


def test_a_join_in_the_canonical_model_restores_what_the_new_entity_version_lost(world: World) -> None:
    world.do(ConfirmBlock(world.key("s@2:be@1")))
    world.entity("be", "2", "price", "id")
    assert world.pairs("s@1:be@2") == {("id", "ref")}
    world.do(same(world, "price@2", "value@1", "be", Side.CDM))
    assert world.pairs("s@1:be@2") == {("price", "amount"), ("id", "ref")}


def test_a_split_parts_the_elements_that_were_carried_over_the_cut(world: World) -> None:
    world.do(not_same(world, "ref@2"))
    assert world.pairs("s@1:be@1") == {("value", "amount"), ("id", "ref")}
    assert world.pairs("s@2:be@1") == world.pairs("s@3:be@1") == set()
    reasons = {loss.reason for loss in world.block("s@3:be@1").open_losses}
    assert "ref in version 2 is not ref of version 1" in reasons


def test_a_split_is_one_decision_for_the_whole_chain(world: World) -> None:
    world.do(ConfirmBlock(world.key("s@2:be@1")))
    world.do(not_same(world, "ref@2"))
    (item,) = review_items(world.document)
    assert (item.key, item.chain) == (world.key("s@2:be@1"), (world.key("s@3:be@1"),))
    world.do(RenameLost(item.key, "ref", "ref"))
    assert world.pairs("s@3:be@1") == {("id", "ref")}


def test_what_was_mapped_above_the_cut_by_hand_stays(world: World) -> None:
    world.map("s@2:be@1", value="total")
    world.do(not_same(world, "total@3"))
    assert world.pairs("s@2:be@1") == {("value", "total"), ("id", "ref")}
    world.undo(world.log[-1])
    world.schema("s", "4", "total", "ref", "note", "more")
    world.do(not_same(world, "total@3"))
    assert world.pairs("s@3:be@1") == {("id", "ref")}
    assert world.pairs("s@4:be@1") == {("id", "ref")}


def test_blocks_that_no_update_carried_keep_their_elements() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.schema("s", "2", "a", "b")
    world.entity("be", "1", "x")
    world.map("s@1:be@1", x="a")
    world.map("s@2:be@1", x="a")
    world.do(not_same(world, "a@2"))
    assert world.pairs("s@2:be@1") == {("x", "a")}
    assert set(world.kept("s", "be", "1")) == {"1", "2"}


def test_a_split_in_the_canonical_model_parts_what_the_new_version_took_over(world: World) -> None:
    world.do(ConfirmBlock(world.key("s@2:be@1")))
    world.entity("be", "2", "value", "id", "more")
    world.do(not_same(world, "id@2", "be", Side.CDM))
    assert world.pairs("s@1:be@2") == {("value", "amount")}
    assert world.pairs("s@3:be@2") == set()
    (item,) = review_items(world.document)
    assert len(item.chain) == 2


def test_nothing_can_be_parted_from_the_first_version(world: World) -> None:
    with pytest.raises(EditError, match="No version before 1 has ref"):
        world.do(not_same(world, "ref@1"))


def test_losses_that_an_update_made_above_the_cut_follow_the_new_attribute(world: World) -> None:
    world.map("s@3:be@1", value="total")
    world.schema("s", "4", "note")
    world.do(not_same(world, "ref@2"))
    ends = {(loss.from_path, loss.since) for loss in world.block("s@4:be@1").open_losses}
    second, fourth = (world.version(Side.EXTRACTION, "s", label).id for label in ("2", "4"))
    assert ends >= {("ref", second), ("total", fourth)}
    assert len([path for path, _ in ends if path == "ref"]) == 1


@given(steps, st.integers(0, 1 << 30))
def test_a_join_takes_no_element_away_and_a_split_gives_none(history: Steps, seed: int) -> None:
    del seed
    for transition in world_of(history).log:
        is_join, is_split = (transition.title.startswith("Say that") and words in transition.title for words in WORDS)
        for change in transition.change.blocks if is_join or is_split else ():
            before = set(change.before.elements) if change.before else set()
            after = set(change.after.elements) if change.after else set()
            assert before <= after if is_join else after <= before
            if is_split and change.after is not None:
                assert len(change.after.open_losses) >= len(before - after)


WORDS = ("is the same as", "is another attribute")


@given(steps, st.integers(0, 1 << 30))
def test_joining_what_was_just_split_brings_every_element_back(history: Steps, seed: int) -> None:
    world, random = world_of(history), Random(seed)
    side = random.choice(list(Side))
    tree = world.document.tree(side)
    cuts = [
        (AttributeKey(low.id, a.id), AttributeKey(high.id, b.id))
        for schema in tree.schemas()
        for low, high in zip(tree.versions(schema.id), tree.versions(schema.id)[1:], strict=False)
        for a in low.attributes
        for b in high.attributes
        if a.lineage == b.lineage
    ]
    if not cuts:
        return
    below, above = random.choice(cuts)
    before = world.document
    split = perform(before, SplitLineage(side, above))
    joined = perform(split.after, JoinLineages(side, above, below)).after
    assert elements_of(joined) == elements_of(before)
    assert groups_of(joined) == groups_of(before)
    assert [v.attributes for v in joined.tree(side).all_versions()] == [v.attributes for v in tree.all_versions()]


@given(steps)
def test_a_join_that_is_not_possible_changes_no_lineage(history: Steps) -> None:
    for transition in world_of(history).log:
        if transition.change.schemas and WORDS[0] in transition.title:
            assert transition.change.versions == ()


def test_undoing_a_split_puts_losses_and_lineages_back(world: World) -> None:
    before = content_of(world.document)
    world.undo(world.do(not_same(world, "ref@2")))
    assert content_of(world.document) == before


def test_a_join_writes_every_group_whose_compact_form_changes(world: World) -> None:
    transition = world.do(same(world, "total@2", "amount@1"))
    schema = world.version(Side.EXTRACTION, "s", "1").schema_id
    assert set(touched_versions(transition)) == {GroupKey(schema, world.version(Side.CDM, "be", "1").id)}


def hidden_in(document: Document) -> set[tuple[Side, int]]:
    """The attributes that are masked themselves."""
    return {
        (side, attribute.id)
        for side in Side
        for schema in document.tree(side).schemas()
        for version in document.tree(side).versions(schema.id)
        for attribute in version.attributes
        if attribute.lineage in masked_lineages(document.tree(side), schema)
    }


@given(steps)
def test_only_undo_shows_what_was_masked(history: Steps) -> None:
    for transition in world_of(history).log:
        if transition.title.startswith("Undo"):
            continue
        left = {
            (side, attribute.id)
            for side in Side
            for version in transition.after.tree(side).all_versions()
            for attribute in version.attributes
        }
        assert hidden_in(transition.before) & left <= hidden_in(transition.after), transition.title
